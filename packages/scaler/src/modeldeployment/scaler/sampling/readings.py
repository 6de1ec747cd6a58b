"""What the engines of one role say together; pure.

Sources: spec 3 §Engine signals and §Role observations, facts scaler §2.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Final

import msgspec

from modeldeployment.api import Quantity
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.scaler.planning.observed import RoleReading, Unread
from modeldeployment.scaler.sampling import latency
from modeldeployment.scaler.sampling.growth import Growth
from modeldeployment.scaler.sampling.tallies import Tally

STALE: Final = 2
"""Intervals that a reading lasts where none follows it."""
_TOLD: Final = 8
"""Engines that were not read, of which a reading tells."""
_SECOND: Final = 10**9


@dataclass(frozen=True, slots=True)
class Heard:
    """One engine that was read; `growth` is None where it has not been read before in this life."""

    tally: Tally
    growth: Growth | None = None
    nanoseconds: int = 0
    """Since the reading before."""


def reading(ready: int, heard: Sequence[Heard], unread: Sequence[Unread], at: datetime) -> RoleReading:
    """Add up what engines said: sums of what those that were read have, which is less than all where some were not.

    `ready` are the replicas that serve. Where an engine's counters say nothing and another's do, a sum of rates is of
    some engines alone, and the reading is not complete.
    """
    rated = [each for each in heard if each.growth is not None]
    prompt = _rates(heard, lambda growth: growth.prompt)
    generation = _rates(heard, lambda growth: growth.generation)
    even = all(len(rates) in (0, len(heard)) for rates in (prompt, generation))
    complete = 0 < ready <= len(heard) and not unread and even and len(rated) in (0, len(heard))
    usages = [Fraction(each.tally.usage) for each in heard if each.tally.usage is not None]
    running = sum(each.tally.running for each in heard)
    waiting = sum(each.tally.waiting for each in heard)
    working = running or waiting or any(prompt) or any(generation)
    return RoleReading(
        state=_state(rated=bool(rated), idle=complete and not working),
        ready=ready,
        complete=complete,
        read=len(heard),
        rated=len(rated),
        unread=told(unread),
        at=at,
        running_requests=running,
        waiting_requests=waiting,
        prompt_tokens_per_second=_sum(prompt),
        generation_tokens_per_second=_sum(generation),
        kv_cache_usage=_amount(sum(usages, Fraction()) / len(usages)) if usages else None,
        ttft_milliseconds=latency.milliseconds([each.growth.first for each in heard if each.growth is not None]),
        itl_milliseconds=latency.milliseconds([each.growth.between for each in heard if each.growth is not None]),
    )


def unheard(
    last: RoleReading | None, ready: int, unread: Sequence[Unread], *, age: float = 0, interval: int
) -> RoleReading:
    """Answer what holds of a role of which nobody was read: its last reading, which is `age` seconds old, for a while.

    It is not complete any more, so that nothing shrinks on it. Its instant is that of the last: it is no new sample.
    """
    if last is None:
        return RoleReading(state=SignalState.MISSING, ready=ready, unread=told(unread))
    if age > STALE * interval:
        return RoleReading(state=SignalState.STALE, ready=ready, unread=told(unread), at=last.at)
    state = SignalState.FRESH if last.state is SignalState.IDLE else last.state
    return msgspec.structs.replace(last, state=state, ready=ready, complete=False, read=0, rated=0, unread=told(unread))


def told(unread: Sequence[Unread]) -> tuple[Unread, ...]:
    """Answer the first few engines that were not read, by name."""
    return tuple(sorted(unread, key=lambda each: each.pod)[:_TOLD])


def _state(*, rated: bool, idle: bool) -> SignalState:
    if not rated:
        return SignalState.MISSING
    return SignalState.IDLE if idle else SignalState.FRESH


def _rates(heard: Sequence[Heard], tokens: Callable[[Growth], float | None]) -> list[Fraction]:
    """Answer the tokens per second of every engine that counts them."""
    grown = ((tokens(each.growth), each.nanoseconds) for each in heard if each.growth is not None)
    return [Fraction(count) * _SECOND / nanoseconds for count, nanoseconds in grown if count is not None]


def _sum(rates: Sequence[Fraction]) -> Quantity | None:
    return _amount(sum(rates, Fraction())) if rates else None


def _amount(number: Fraction) -> Quantity:
    """Write a number to the thousandth, which is finer than any of these is known."""
    return Quantity(round(number * 1000) * 10**6)
