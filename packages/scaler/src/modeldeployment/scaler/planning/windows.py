"""What a history says of the last so many seconds, and how one goes on.

A history is trusted as far as the clock can be. One whose newest entry lies ahead of the clock (which was set back), or
further back than anybody samples (which was set forward, or nobody was planning), says nothing about the time since, so
it begins anew: windows are then not established and nothing shrinks until they are. A sample from before the newest one
is late and left out, and the same instant twice is the same sample.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from operator import attrgetter
from typing import Final, Protocol, TypeVar

from modeldeployment.api.scalerstatus import HISTORY
from modeldeployment.scaler.planning.memory import Demanded, Recommended

HOLE_SECONDS: Final = 300
"""Longest time between two samples that one rate can cover (facts scaler §2)."""

_AT: Final = attrgetter("at")
_LARGEST: Final = 2**31 - 1


class _Dated(Protocol):
    @property
    def at(self) -> datetime: ...


_Entry = TypeVar("_Entry", bound=_Dated)


@dataclass(frozen=True, slots=True)
class Window:
    """Samples of the last so many seconds: how long a time they cover, and what was asked for in it."""

    seconds: int
    covered: int
    """Seconds of the window that samples cover."""
    nanos: int
    """Nano-tokens that were asked for in them."""

    @property
    def established(self) -> bool:
        """Whether samples span at least half of it (decisions D12)."""
        return self.covered > 0 and 2 * self.covered >= self.seconds

    @property
    def rate(self) -> Fraction:
        """The mean, weighted by time, in nano-tokens per second; 0 where nothing is covered."""
        return Fraction(self.nanos, self.covered) if self.covered else Fraction(0)


def window(history: Sequence[Demanded], seconds: int, at: datetime) -> Window:
    """Answer the window of that many seconds that ends at an instant, its left edge excluded.

    A sample covers the time since the one before it and weighs as many seconds of that as lie in the window; the first
    covers none. Source: decisions D12 and D37.
    """
    left = at - timedelta(seconds=seconds)
    covered = nanos = 0
    for index in range(len(history) - 1, 0, -1):
        newer, older = history[index], history[index - 1].at
        if newer.at <= left:
            break
        since = newer.at - max(older, left)
        weight = since.days * 86400 + since.seconds
        covered += weight
        nanos += weight * newer.tokens_per_second.nanos
    return Window(seconds, covered, nanos)


def sampled(
    history: tuple[Demanded, ...], sample: Demanded, *, now: datetime, seconds: int, interval_seconds: int
) -> tuple[Demanded, ...]:
    """Add a sample of demand; answers the same history where there is nothing to add.

    Kept are the samples of the last `seconds` and the one before them, which says since when the oldest counts.
    """
    continued = _continued(history, sample.at, now, interval_seconds)
    if continued and sample.at <= continued[-1].at:
        return history
    return _recent((*continued, sample), sample.at - timedelta(seconds=seconds))[-HISTORY:]


def noted(
    history: tuple[Recommended, ...], entry: Recommended, *, now: datetime, seconds: int, interval_seconds: int
) -> tuple[Recommended, ...]:
    """Add a recommendation; another one of the same instant takes its place.

    Kept is what tells the highest and the lowest of the last `seconds` and that they are spanned: of a recommendation
    that repeats, the first and the last time. So 256 entries span half an hour whatever the sampling interval is.
    """
    continued = _continued(history, entry.at, now, interval_seconds)
    if continued and entry.at < continued[-1].at:
        return history
    if continued and entry.at == continued[-1].at:
        continued = continued[:-1]
    if len(continued) > 1 and continued[-1].replicas == continued[-2].replicas == entry.replicas:
        continued = continued[:-1]
    kept = _recent((*continued, entry), entry.at - timedelta(seconds=seconds))
    return kept if len(kept) <= HISTORY else _telling(kept)[-HISTORY:]


def spans(history: Sequence[_Entry], seconds: int, now: datetime) -> bool:
    """Whether a history reaches back to where the window begins."""
    return bool(history) and history[0].at <= now - timedelta(seconds=seconds)


def within(history: Sequence[Recommended], seconds: int, now: datetime) -> Sequence[Recommended]:
    """Answer the recommendations of the last `seconds`, the oldest instant included."""
    return history[bisect_left(history, now - timedelta(seconds=seconds), key=_AT) :]


def _continued(history: tuple[_Entry, ...], at: datetime, now: datetime, interval_seconds: int) -> tuple[_Entry, ...]:
    """The history that an entry of that instant goes on from: none where it cannot be trusted."""
    if not history:
        return ()
    newest = history[-1].at
    if newest > max(at, now) or at - newest > timedelta(seconds=max(HOLE_SECONDS, 2 * interval_seconds)):
        return ()
    return history


def _recent(history: tuple[_Entry, ...], left: datetime) -> tuple[_Entry, ...]:
    """What lies after an instant, and the last entry before it."""
    if history[0].at > left:
        return history
    return history[max(0, bisect_right(history, left, key=_AT) - 1) :]


def _telling(history: tuple[Recommended, ...]) -> tuple[Recommended, ...]:
    """The oldest entry, and those that are the highest or the lowest of all that came after them."""
    highest, lowest = -1, _LARGEST + 1
    kept: list[Recommended] = []
    for entry in reversed(history):
        if entry.replicas > highest or entry.replicas < lowest or entry is history[0]:
            kept.append(entry)
        highest, lowest = max(highest, entry.replicas), min(lowest, entry.replicas)
    return tuple(reversed(kept))
