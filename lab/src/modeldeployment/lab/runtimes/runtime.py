"""What every way of getting a cluster has in common.

LabError
└── RuntimeFailure
    ├── RuntimeUnknown      no runtime has that name
    ├── ProgramAbsent       a program the runtime needs is not on PATH
    ├── CommandFailed       one of its commands ended with an error
    └── ClusterUnfit        the cluster answers, but something the lab needs is missing
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from modeldeployment.lab.errors import LabError

Which = Callable[[str], str | None]
"""Finds a program: its path, or None; `shutil.which` in life."""


class RuntimeFailure(LabError):
    """Base of this package's errors; the message is one sentence that names the way out."""


class RuntimeUnknown(RuntimeFailure):
    """No runtime has that name."""


class ProgramAbsent(RuntimeFailure):
    """A program the runtime needs is not on PATH."""


class CommandFailed(RuntimeFailure):
    """One of the runtime's commands ended with an error; the message carries the end of what it said."""


class ClusterUnfit(RuntimeFailure):
    """The cluster answers, but something the lab needs is missing on it."""


@dataclass(frozen=True, slots=True)
class RuntimeStatus:
    """Whether a runtime's cluster answers now, and a sentence about it."""

    running: bool
    message: str


class Runtime(Protocol):
    """A cluster that can be brought up, looked at and taken down; all three may be repeated."""

    @property
    def name(self) -> str:
        """The word for it on the command line."""

    async def up(self) -> Path:
        """Bring the cluster up, wait until it can be used, and return its kubeconfig; raises RuntimeFailure."""

    async def down(self) -> None:
        """Take down what `up` started and nothing else; raises RuntimeFailure."""

    async def status(self) -> RuntimeStatus:
        """Say how the cluster stands; an absent one is a status, not an error."""


@dataclass(frozen=True, slots=True)
class Usable:
    """The runtime can be used here."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """The runtime cannot be used here, and why."""

    reason: str


Availability = Usable | Skipped


def engine_found(which: Which) -> str | None:
    """Return the first container engine there is, in the order docker, podman, nerdctl."""
    return next((engine for engine in ("docker", "podman", "nerdctl") if which(engine)), None)


def needs(runtime: str, program: str, which: Which) -> Availability:
    """Say whether a runtime's program and a container engine for it are there."""
    if not which(program):
        return Skipped(f"runtime {runtime!r} is skipped: no program {program!r} on PATH; install it or use processes")
    if not engine_found(which):
        return Skipped(
            f"runtime {runtime!r} is skipped: no docker, podman or nerdctl on PATH; install one or use processes"
        )
    return Usable()
