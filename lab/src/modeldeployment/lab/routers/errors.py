"""What can go wrong with a router that is run for real.

LabError
└── RouterError
    ├── CommandUnknown   the rendered command line is none that the lab knows how to run
    └── RouterFailed     the program ended, or did not listen in time; carries the tail of its log
"""

from collections.abc import Sequence
from pathlib import Path

from modeldeployment.lab.errors import LabError


class RouterError(LabError):
    """Base of this package's errors; the message is one sentence with value, reason and way out."""


class CommandUnknown(RouterError):
    """The rendered command line is none that the lab knows how to run."""


class RouterFailed(RouterError):
    """The program ended or does not answer; `why` and the last lines of its `log` say more."""

    def __init__(self, why: str, log: Path, lines: Sequence[str]) -> None:
        self.why = why
        self.log = log
        shown = "\n".join(f"  | {line}" for line in lines) or "  | (its log is empty)"
        super().__init__(f"{why}; the last lines of {log}:\n{shown}")
