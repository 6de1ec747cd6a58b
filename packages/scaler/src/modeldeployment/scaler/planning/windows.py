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
from itertools import repeat
from operator import attrgetter, floordiv, mul, sub
from typing import Final, Protocol, TypeVar

from modeldeployment.api.scalerstatus import HISTORY
from modeldeployment.scaler.planning.memory import Demanded, Recommended

HOLE_SECONDS: Final = 300
"""Longest time between two samples that one rate can cover (facts scaler §2)."""

_AT: Final = attrgetter("at")
_NANOS: Final = attrgetter("tokens_per_second.nanos")
_SECOND: Final = timedelta(seconds=1)
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


def windows(history: Sequence[Demanded], at: datetime, *lengths: int) -> tuple[Window, ...]:
    """Answer the windows of so many seconds that end at an instant, their left edges excluded.

    A sample covers the time since the one before it and weighs as many seconds of that as lie in the window; the first
    covers none. The instant is not before the newest sample. Source: decisions D12 and D37.
    """
    if len(history) < 2:
        return tuple(Window(length, 0, 0) for length in lengths)
    # A history may have hundreds of samples, and every role of every scaler is reckoned in every pass.
    instants = list(map(_AT, history))
    seconds = map(floordiv, map(sub, instants[1:], instants), repeat(_SECOND))
    tokens = list(map(mul, seconds, map(_NANOS, history[1:])))
    return tuple(_window(history, instants, tokens, length, max(at, instants[-1])) for length in lengths)


def _window(
    history: Sequence[Demanded], instants: list[datetime], tokens: list[int], length: int, at: datetime
) -> Window:
    """One window: whole samples, less what the oldest of them covers on the far side of the left edge."""
    left = at - timedelta(seconds=length)
    first = max(1, bisect_right(instants, left))
    if first == len(history):
        return Window(length, 0, 0)
    outside = max(0, (left - instants[first - 1]) // _SECOND)
    covered = (instants[-1] - instants[first - 1]) // _SECOND - outside
    nanos = sum(tokens[first - 1 :]) - outside * history[first].tokens_per_second.nanos
    return Window(length, covered, nanos)


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
        replicas = entry.replicas
        if lowest <= replicas <= highest:
            continue
        kept.append(entry)
        highest, lowest = max(highest, replicas), min(lowest, replicas)
    if kept[-1] is not history[0]:
        kept.append(history[0])
    return tuple(reversed(kept))
