"""What is kept between two rounds of asking, and what comes of the next one; pure.

Seconds are those of a clock that only goes forward, so that a wall clock that is set changes no rate and no age. A
reading bears the wall clock's instant as it is: where that was set back, an instant before the last one.

Sources: spec 3 §Engine signals and §Role observations, facts scaler §2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeAlias

from modeldeployment.render import ENGINES
from modeldeployment.scaler.planning.observed import Reading, RoleReading, Unread
from modeldeployment.scaler.sampling import growth, readings
from modeldeployment.scaler.sampling.asked import Engine
from modeldeployment.scaler.sampling.readings import Heard
from modeldeployment.scaler.sampling.tallies import Tally

_LASTS: Final = 3
"""Intervals that a tally lasts as what the next one is compared with: one round may fail in between."""


@dataclass(frozen=True, slots=True)
class Read:
    """What an engine said, and when."""

    tally: Tally
    at: float


Answer: TypeAlias = Read | Unread


@dataclass(frozen=True, slots=True)
class Sampled:
    """What is kept of one scaler: when its last round began, what came of it, and what the next is compared with."""

    began: float
    reading: Reading = field(default_factory=lambda: Reading(roles={}))
    engines: Mapping[str, tuple[Engine, Read]] = field(default_factory=dict)
    """By UID of their Pods."""
    heard: Mapping[str, tuple[float, RoleReading]] = field(default_factory=dict)
    """By role: when the last round began in which anybody of it was read, and what came of that."""


def settled(
    kept: Sampled,
    answers: Sequence[tuple[Engine, Answer]],
    ready: Mapping[str, int],
    *,
    began: float,
    interval: int,
    at: datetime,
) -> Sampled:
    """Turn the answers of a round into a reading of every role in `ready`, and what is kept for the next one.

    Of engines that were not asked nothing is kept.
    """
    engines: dict[str, tuple[Engine, Read]] = {}
    heard: dict[str, list[Heard]] = {role: [] for role in ready}
    unread: dict[str, list[Unread]] = {role: [] for role in ready}
    for engine, answer in answers:
        before = _comparable(kept, engine, began - _LASTS * interval)
        if isinstance(answer, Read):
            engines[engine.uid] = engine, answer
            heard[engine.role].append(_heard(engine, before, answer))
        else:
            unread[engine.role].append(answer)
            if before is not None:
                engines[engine.uid] = engine, before
    roles: dict[str, RoleReading] = {}
    last = {role: each for role, each in kept.heard.items() if role in ready}
    for role, count in ready.items():
        if heard[role]:
            roles[role] = readings.reading(count, heard[role], unread[role], at)
            last[role] = began, roles[role]
        else:
            when, reading = last.get(role, (began, None))
            roles[role] = readings.unheard(reading, count, unread[role], age=began - when, interval=interval)
    return Sampled(began, Reading(roles=roles), engines, last)


def _comparable(kept: Sampled, engine: Engine, since: float) -> Read | None:
    """Answer what this engine said before, in the same life and not too long ago."""
    before, read = kept.engines.get(engine.uid, (None, None))
    if before is None or read is None or before.life != engine.life or read.at < since:
        return None
    return read


def _heard(engine: Engine, before: Read | None, now: Read) -> Heard:
    nanoseconds = round((now.at - before.at) * 10**9) if before is not None else 0
    if before is None or nanoseconds <= 0:
        return Heard(now.tally)
    return Heard(now.tally, growth.between(before.tally, now.tally, ENGINES[engine.name].signals), nanoseconds)
