"""The account of one engine: every request it was sent, and what became of each. Pure.

A request is known by its mark, the first word of its prompt, so that whoever sent it can find it again.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum


class Outcome(StrEnum):
    """What became of a request at an engine."""

    UNDER_WAY = "under-way"
    ANSWERED = "answered"
    """Every byte of the answer was handed to the connection."""
    CUT = "cut"
    """Work began, and the connection was lost or the engine ended before the answer was complete."""
    FAILED = "failed"
    """Work began and could not be done; the caller was told."""
    REFUSED = "refused"
    """Told so before any work began."""


@dataclass(slots=True)
class Entry:
    """One request. `life` counts the restarts before it came, `status` is what it was answered, 0 for nothing yet."""

    mark: str
    life: int
    stream: bool = False
    outcome: Outcome = Outcome.UNDER_WAY
    status: int = 0
    cause: str = ""


@dataclass(slots=True)
class Ledger:
    """Every request of one engine, oldest first."""

    entries: list[Entry] = field(default_factory=list)

    def begin(self, mark: str, life: int, *, stream: bool = False) -> Entry:
        """Write down a request that arrived."""
        self.entries.append(Entry(mark, life, stream))
        return self.entries[-1]

    def count(self, outcome: Outcome) -> int:
        """Count the requests that came to this."""
        return sum(each.outcome is outcome for each in self.entries)

    @property
    def under_way(self) -> int:
        """How many have come to nothing yet."""
        return self.count(Outcome.UNDER_WAY)

    def of(self, mark: str) -> tuple[Entry, ...]:
        """Answer what became of every request with a mark: none, one, or more where somebody tried again."""
        return tuple(each for each in self.entries if each.mark == mark)

    def causes(self) -> Counter[str]:
        """Count what was cut, failed or refused, by cause."""
        return Counter(each.cause for each in self._lost())

    def _lost(self) -> Iterator[Entry]:
        return (each for each in self.entries if each.outcome in (Outcome.CUT, Outcome.FAILED, Outcome.REFUSED))


def settle(entry: Entry, outcome: Outcome, *, status: int = 0, cause: str = "") -> None:
    """Write down what became of a request; what is settled stays as it is."""
    if entry.outcome is Outcome.UNDER_WAY:
        entry.outcome, entry.status, entry.cause = outcome, status, cause
