"""What the scaler's controller has done, in plain counters: the operator's metrics read them."""

from dataclasses import dataclass, field
from typing import Final

BOUNDS: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds, in seconds, of how late a pass that plans begins."""


@dataclass(slots=True)
class Lateness:
    """How late passes that plan began, by bucket of `BOUNDS` and above."""

    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one pass."""
        self.buckets[next((place for place, bound in enumerate(BOUNDS) if seconds <= bound), len(BOUNDS))] += 1
        self.seconds += seconds


@dataclass(slots=True)
class Tally:
    """Since the process started."""

    plans: int = 0
    commits: dict[str, int] = field(default_factory=dict)
    """By what the write was for."""
    unwritten: dict[str, int] = field(default_factory=dict)
    """Commits that do not stand, by why: Abandoned, Refused, Lost."""
    bindings: dict[str, int] = field(default_factory=dict)
    """Bindings by what was done: Acquired, Released."""
    adopted: int = 0
    status_writes: int = 0
    events: int = 0
    lateness: Lateness = field(default_factory=Lateness)

    def count(self, of: dict[str, int], what: str) -> None:
        """Count one more of something."""
        of[what] = of.get(what, 0) + 1
