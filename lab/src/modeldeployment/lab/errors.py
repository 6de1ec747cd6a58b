"""What can go wrong in the lab, each said in one sentence with the way out.

```text
LabError
├── ToolchainError
│   ├── GoMissing           no Go, and none could be installed
│   ├── GoTooOld            the Go named by the user is older than the modules need
│   ├── ModulesUnreachable  the Go module proxy (or the package index) did not answer
│   ├── DiskFull            no space left while building
│   ├── OutOfMemory         the compiler was killed
│   ├── CompileFailed       anything else the go command said
│   ├── SourceChanged       a build-time source change no longer fits its source
│   ├── ProgramsMissing     a directory of ready programs lacks some
│   └── NotInstallable      a program of the package index cannot be installed, or does not run here
└── ControlPlaneError
    ├── AlreadyUp           a control plane of this name is running
    ├── NotUp               none is running
    ├── StateUnusable       the state directory cannot be used
    ├── PortTaken           a port someone asked for is in use
    ├── ComponentFailed     a program ended; carries the tail of its log
    ├── NotReady            a program runs but did not become ready in time
    ├── SupervisorLost      the supervising process does not answer
    ├── UnknownComponent    no program of that name in this control plane
    └── Refused             the API server refused an object of ours
```
"""

from collections.abc import Sequence
from pathlib import Path

TAIL_LINES = 12
"""Lines of a log that travel inside an error: enough for a cause, few enough to read."""


class LabError(Exception):
    """Base of every error of the lab; its text is written for the person at the terminal."""


class ToolchainError(LabError):
    """The programs of the control plane could not be found or built."""


class GoMissing(ToolchainError):
    """No usable Go compiler, and none could be installed."""


class GoTooOld(ToolchainError):
    """The Go compiler named by MODELDEPLOYMENT_GO is older than the pinned modules need."""


class ModulesUnreachable(ToolchainError):
    """Sources could not be downloaded."""


class DiskFull(ToolchainError):
    """The file system filled up while building."""


class OutOfMemory(ToolchainError):
    """The system killed the compiler."""


class CompileFailed(ToolchainError):
    """The go command failed for a reason without a sentence of its own."""


class SourceChanged(ToolchainError):
    """A line that a build-time change replaces is not there exactly once."""


class ProgramsMissing(ToolchainError):
    """The directory named by MODELDEPLOYMENT_LAB_BIN lacks programs."""


class NotInstallable(ToolchainError):
    """A program of the Python package index cannot be installed here, or does not run here."""


class ControlPlaneError(LabError):
    """The control plane could not be started, reached or stopped."""


class AlreadyUp(ControlPlaneError):
    """A control plane with this state directory is running."""


class NotUp(ControlPlaneError):
    """No control plane with this state directory is running."""


class StateUnusable(ControlPlaneError):
    """The state directory belongs to something else or cannot be written."""


class PortTaken(ControlPlaneError):
    """The port is in use by another program."""

    def __init__(self, message: str, *, port: int) -> None:
        super().__init__(message)
        self.port = port


class ComponentFailed(ControlPlaneError):
    """A component ended; `component`, `why` and the last lines of its `log` say more."""

    def __init__(self, component: str, why: str, log: Path, tail: Sequence[str]) -> None:
        self.component = component
        self.why = why
        self.log = log
        self.tail = tuple(tail)
        shown = "\n".join(f"  | {line}" for line in self.tail) or "  | (its log is empty)"
        super().__init__(f"{component} {why}; the last lines of {log}:\n{shown}")


class NotReady(ControlPlaneError):
    """A component runs but did not become ready in time."""


class SupervisorLost(ControlPlaneError):
    """The process that owns the components is gone or does not answer."""


class UnknownComponent(ControlPlaneError):
    """This control plane has no component of that name."""


class Refused(ControlPlaneError):
    """The API server refused one of the objects the lab installs."""


def tail(log: Path, lines: int = TAIL_LINES) -> tuple[str, ...]:
    """Return the last lines of a log that say something, cropped to 400 characters; empty if there is no log."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - 400 * (lines + 1)))
            text = file.read().decode(errors="replace")
    except OSError:
        return ()
    return tuple(line[:400] for line in [line for line in text.splitlines() if line.strip()][-lines:])
