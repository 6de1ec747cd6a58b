"""Statistics of rounds: best, median and what lies between."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rounds:
    """The same thing measured several times, larger being better or not."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one; of an even number, the mean of the two in the middle."""
        return statistics.median(self.values)

    @property
    def highest(self) -> float:
        """The largest."""
        return max(self.values)

    @property
    def lowest(self) -> float:
        """The smallest."""
        return min(self.values)


def lists_beyond(seconds: Sequence[float], lists: Sequence[float], free: float) -> float:
    """How many raw LISTs fit into what medians leave after `free` seconds; never below 0."""
    return max(0.0, (statistics.median(seconds) - free) / statistics.median(lists))


def differences(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """What each process used between two readings; processes that are only in the second count from 0."""
    return {name: round(used - before.get(name, 0.0), 2) for name, used in after.items()}


def medians(readings: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The median by name over several readings."""
    gathered: dict[str, list[float]] = {}
    for reading in readings:
        for name, value in reading.items():
            gathered.setdefault(name, []).append(value)
    return {name: statistics.median(values) for name, values in gathered.items()}
