"""The files of a journal: numbered, one line a pass, oldest first."""

import os
import re
from pathlib import Path
from typing import Final

_NAME: Final = re.compile(r"journal-(\d{6,})\.jsonl")
_MODE: Final = 0o640


def of(directory: Path) -> list[Path]:
    """The journal files of a directory, oldest first; raises OSError where it cannot be listed."""
    return [path for _, path in _numbered(directory)]


def begin(directory: Path, count: int) -> int:
    """Make the next file, take the oldest away so that there are at most `count`, and answer its descriptor.

    Raises OSError where that cannot be done.
    """
    directory.mkdir(parents=True, exist_ok=True)
    there = _numbered(directory)
    number = there[-1][0] if there else 0
    for _, path in there[: max(0, len(there) - count + 1)]:
        path.unlink(missing_ok=True)
    while True:
        number += 1
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
            return os.open(directory / f"journal-{number:06}.jsonl", flags, _MODE)
        except FileExistsError:
            continue  # another process was faster


def _numbered(directory: Path) -> list[tuple[int, Path]]:
    return sorted((int(match[1]), path) for path in directory.iterdir() if (match := _NAME.fullmatch(path.name)))
