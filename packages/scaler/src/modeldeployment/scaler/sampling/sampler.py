"""Asks the engines of a scaler's target what they report, no sooner than they may be asked again.

One GET to each engine's own Pod, bounded and trusted in nothing (decisions D23, `kube.fetching`).

Sources: spec 3 §Resource and §Limitations, facts scaler §2.
"""

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeAlias, assert_never

from aiohttp import ClientSession

from modeldeployment.kube import fetching
from modeldeployment.kube.fetching import Failure, Fetched
from modeldeployment.render import ENGINES
from modeldeployment.scaler.planning.observed import Reading, Silence, Unread
from modeldeployment.scaler.sampling.asked import MOST, Engine, chosen
from modeldeployment.scaler.sampling.rounds import Answer, Read, Sampled, settled
from modeldeployment.scaler.sampling.tallies import Fault, tally

AT_ONCE: Final = 32
"""Engines of one scaler that are asked at once, so that slow ones of one delay nobody else's."""
ALTOGETHER: Final = 256
"""Engines that are asked at once; the session of a Sampler has to allow as many."""
_OK: Final = 200

Standing: TypeAlias = Callable[[Engine], bool]
"""Whether who was asked is still there, in the same life and at the same address."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds that one engine may take, and a whole round; how many are asked at once, of one scaler and of all."""

    each: float = fetching.PATIENCE
    round: float = 8.0
    at_once: int = AT_ONCE
    altogether: int = ALTOGETHER


class Sampler:
    """Reads engines for all scalers of a process; one call at a time for each of them.

    `clock` answers seconds that only go forward. What is kept of a scaler is what its next reading is compared with.
    """

    def __init__(
        self, http: ClientSession, clock: Callable[[], float] = time.monotonic, pace: Pace | None = None
    ) -> None:
        self._http = http
        self._clock = clock
        self._pace = pace or Pace()
        self._free = asyncio.Semaphore(self._pace.altogether)
        self._kept: dict[str, Sampled] = {}

    def rest(self, scaler: str, interval_seconds: int) -> float:
        """Answer the seconds until a scaler's target may be read again; 0 where it may be now."""
        kept = self._kept.get(scaler)
        return max(0.0, kept.began + interval_seconds - self._clock()) if kept is not None else 0.0

    def forget(self, scaler: str) -> None:
        """Let go of all that is kept of a scaler: it is gone, or has another target."""
        self._kept.pop(scaler, None)

    async def sample(
        self,
        scaler: str,
        interval_seconds: int,
        members: Sequence[Engine],
        now: datetime,
        *,
        ready: Mapping[str, int],
        standing: Standing,
    ) -> Reading:
        """Read the engines of a target, and answer a reading of every role in `ready`.

        Where the interval has not passed since the last round began, answers the reading it has. `members` are the
        answering members of ready replicas, `ready` counts those replicas by role, and `now` is an aware instant.
        Raises nothing.
        """
        kept, began = self._kept.get(scaler), self._clock()
        if kept is not None and began < kept.began + interval_seconds:
            return kept.reading
        before = kept or Sampled(began)
        self._kept[scaler] = Sampled(began, before.reading, before.engines, before.heard)
        asked, beyond = chosen(members, ready)
        answers = list(zip(asked, await self._round(asked, standing), strict=True))
        answers += [(engine, _unread(engine, Silence.BEYOND, MOST)) for engine in beyond]
        at = now.astimezone(UTC).replace(microsecond=0)
        after = settled(before, answers, ready, began=began, interval=interval_seconds, at=at)
        if scaler in self._kept:  # not forgotten meanwhile
            self._kept[scaler] = after
        return after.reading

    async def _round(self, asked: Sequence[Engine], standing: Standing) -> list[Answer]:
        free = asyncio.Semaphore(self._pace.at_once)
        until = asyncio.get_running_loop().time() + self._pace.round
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._ask(engine, standing, free, until)) for engine in asked]
        return [task.result() for task in tasks]

    async def _ask(self, engine: Engine, standing: Standing, free: asyncio.Semaphore, until: float) -> Answer:
        if engine.url is None:
            return _unread(engine, Silence.NOT_SAYING)
        try:
            async with asyncio.timeout_at(until), free, self._free:
                fetched = await fetching.fetch(self._http, engine.url, patience=self._pace.each)
        except TimeoutError:
            return _unread(engine, Silence.LATE, math.ceil(self._pace.round))
        at = self._clock()
        if not standing(engine):
            return _unread(engine, Silence.REPLACED)
        match fetched.failure:
            case Failure.UNREACHABLE:
                return _unread(engine, Silence.UNREACHABLE)
            case Failure.LATE:
                return _unread(engine, Silence.LATE, math.ceil(self._pace.each))
            case Failure.TOO_LARGE:
                return _unread(engine, Silence.TOO_LARGE, fetching.LARGEST)
            case None:
                return _told(engine, fetched, at)
            case other:
                assert_never(other)


def _told(engine: Engine, fetched: Fetched, at: float) -> Answer:
    if fetched.status != _OK:
        return _unread(engine, Silence.REFUSED, fetched.status)
    told = tally(fetched.body, ENGINES[engine.name].signals, engine.kind)
    return Read(told, at) if not isinstance(told, Fault) else _unread(engine, told.silence, series=told.series)


def _unread(engine: Engine, silence: Silence, number: int | None = None, series: str = "") -> Unread:
    return Unread(pod=engine.pod, silence=silence, number=number, series=series)
