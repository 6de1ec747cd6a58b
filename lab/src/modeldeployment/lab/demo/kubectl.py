"""kubectl as a user runs it: the command line that is shown, and what it printed."""

import asyncio
import os
import shlex
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Told:
    """The command somebody ran, as it is typed, and the lines it printed."""

    command: str = ""
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kubectl:
    """A kubectl program and the cluster it talks to; `path` is where it finds `kubectl md`."""

    program: Path
    kubeconfig: Path
    path: str = os.defpath

    async def run(self, *arguments: str) -> Told:
        """Run it to its end, with none of the caller's own settings; both streams are read as one."""
        with tempfile.TemporaryDirectory(prefix="md-lab-kubectl-") as home:
            process = await asyncio.create_subprocess_exec(
                self.program,
                *arguments,
                env={"HOME": home, "KUBECONFIG": str(self.kubeconfig), "PATH": self.path},
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=STDOUT,
                start_new_session=True,
            )
            try:
                printed, _ = await process.communicate()
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
        return Told(shlex.join(["kubectl", *arguments]), tuple(printed.decode(errors="replace").splitlines()))
