"""Where two readings of the same things part: of a thousand that were read again most are as they were."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

T = TypeVar("T")
Made = TypeVar("Made")

_STRIDE: Final = 64
"""How many are compared at a time: one comparison of many is cheaper than many of one."""


@dataclass(frozen=True, slots=True)
class Parting:
    """The first `start` of both readings are equal, and so is what follows `before` of the one and `now` of the other.

    What came, went or changed is in between, and may be other than alone there.
    """

    start: int
    before: int
    now: int

    @property
    def alike(self) -> bool:
        """Whether nothing came, went or changed."""
        return self.start == self.before == self.now

    def went(self, before: tuple[T, ...]) -> tuple[T, ...]:
        """What is in between of the reading before."""
        return before[self.start : self.before]

    def came(self, now: tuple[T, ...]) -> tuple[T, ...]:
        """What is in between of the reading now."""
        return now[self.start : self.now]

    def remade(self, made: tuple[Made, ...], now: tuple[T, ...], make: Callable[[T], Made]) -> tuple[Made, ...]:
        """Make of each of now what was made of each of before: what is equal keeps what was made of it."""
        return (*made[: self.start], *map(make, self.came(now)), *made[self.before :])


def of(before: tuple[T, ...], now: tuple[T, ...]) -> Parting:
    """Compare two readings."""
    start = _common(before, now)
    if start == len(before) == len(now):
        return Parting(start, start, start)
    end = _common(before[start:][::-1], now[start:][::-1])
    return Parting(start, len(before) - end, len(now) - end)


def _common(before: tuple[T, ...], now: tuple[T, ...]) -> int:
    """How many of the first are equal."""
    least = min(len(before), len(now))
    for start in range(0, least, _STRIDE):
        stop = min(start + _STRIDE, least)
        if before[start:stop] != now[start:stop]:
            return next(place for place in range(start, stop) if before[place] != now[place])
    return least
