"""What set admission leaves in the message of a check, to be found again after a restart and by status.

Source: facts atomic-admission §6, facts api-dependencies §2 (parked); decisions D18 (yielding).
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

PARKED: Final = "parked rather than held"
"""In the message of a Workload that was deactivated because its set never fit."""

_STAMP: Final = "%Y-%m-%dT%H:%M:%SZ"
_YIELDING: Final = re.compile(
    r"yielding to (?P<namespace>[^/ ]+)/(?P<name>[^ ]+) \(generation (?P<generation>\d+)\) "
    r"since (?P<since>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"
)


@dataclass(frozen=True, slots=True)
class Yield:
    """To whom a set gave way: the older set as it was then, and when."""

    namespace: str
    name: str
    generation: int
    since: datetime

    @property
    def older(self) -> str:
        """The older set, as people write it."""
        return f"{self.namespace}/{self.name}"

    def marker(self) -> str:
        """What is written into the message; `yielded` reads it back."""
        return f"yielding to {self.older} (generation {self.generation}) since {self.since.strftime(_STAMP)}"


def parked(message: str) -> bool:
    """Whether a check's message says that its Workload was parked."""
    return PARKED in message


def yielded(message: str) -> Yield | None:
    """The yield that a check's message speaks of, if any."""
    found = _YIELDING.search(message)
    if found is None:
        return None
    try:
        since = datetime.strptime(found["since"], _STAMP).replace(tzinfo=UTC)
    except ValueError:  # digits that are no date: somebody's hand
        return None
    return Yield(found["namespace"], found["name"], int(found["generation"]), since)
