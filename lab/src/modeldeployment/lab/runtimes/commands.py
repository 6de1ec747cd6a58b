"""Runs the commands of runtimes that are programs of their own."""

import asyncio
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Mapping, Sequence
from typing import Final

from .runtime import CommandFailed, ProgramAbsent

_TAIL: Final = 600
"""Characters of a failed command's output that an error carries."""


async def run(argv: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """Run one command to its end and return what it printed; raises ProgramAbsent and CommandFailed."""
    try:
        process = await asyncio.create_subprocess_exec(*argv, stdout=PIPE, stderr=STDOUT, env=environment)
    except FileNotFoundError as error:
        raise ProgramAbsent(f"program {argv[0]!r} is not on PATH; install it or choose another runtime") from error
    output, _ = await process.communicate()
    text = output.decode(errors="replace").strip()
    if process.returncode:
        raise CommandFailed(f"{' '.join(argv)} ended with {process.returncode}: {text[-_TAIL:] or 'it said nothing'}")
    return text
