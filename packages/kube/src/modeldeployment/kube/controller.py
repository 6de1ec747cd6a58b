"""Binds a queue to a function: workers take keys, call it, and arrange the next visit from what came back."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from modeldeployment.kube.queue import K, WorkQueue

_log: Final = logging.getLogger(__name__)

R = TypeVar("R")


@dataclass(slots=True)
class Counters:
    """What a controller has done since it started; whoever serves metrics reads it."""

    passes: int = 0
    failures: int = 0
    busy: int = 0
    work_seconds: float = 0.0
    wall_seconds: float = 0.0


class Controller(Generic[K]):
    """Calls `reconcile` for every key its queue gives out, `workers` at a time, one pass per key at once.

    `reconcile` returns the seconds until it wants to see the key again, or None. An exception is logged once for as
    long as it stays the same, and the key retried with backoff.
    """

    def __init__(
        self,
        name: str,
        reconcile: Callable[[K], Awaitable[float | None]],
        *,
        workers: int = 4,
        queue: WorkQueue[K] | None = None,
    ) -> None:
        self.name: Final = name
        self.queue: Final[WorkQueue[K]] = WorkQueue() if queue is None else queue
        self.counters: Final = Counters()
        self._reconcile = reconcile
        self._workers = workers
        self._told: dict[K, str] = {}

    async def run(self) -> None:
        """Work until `stop` or cancelled; after `stop` the passes in hand are finished first."""
        async with asyncio.TaskGroup() as group:
            for number in range(self._workers):
                group.create_task(self._work(), name=f"{self.name}/{number}")

    def stop(self) -> None:
        """Take no new keys; `run` returns when the passes in hand are done."""
        self.queue.close()

    async def _work(self) -> None:
        async for key in self.queue:
            began = time.perf_counter()
            watch = Stopwatch(_called(self._reconcile, key))
            self.counters.busy += 1
            try:
                after = await watch
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one key must not stop the others
                self.counters.failures += 1
                self._tell(key, error)
                self.queue.retry(key)
            else:
                self._told.pop(key, None)
                self.queue.forget(key)
                if after is not None:
                    self.queue.wake(key, after)
            finally:
                self.counters.busy -= 1
                self.counters.passes += 1
                self.counters.work_seconds += watch.worked
                self.counters.wall_seconds += time.perf_counter() - began
                self.queue.done(key, watch.worked)

    def _tell(self, key: K, error: Exception) -> None:
        told = f"{type(error).__name__}: {error}"
        if self._told.get(key) != told:
            self._told[key] = told
            extra = {"controller": self.name, "object": str(key), "reason": told}
            _log.error("pass failed", extra=extra, exc_info=error)


async def _called(reconcile: Callable[[K], Awaitable[R]], key: K) -> R:
    return await reconcile(key)


class Stopwatch(Generic[R]):
    """Awaits a coroutine and measures the seconds it held the event loop, its waits left out.

    Work in tasks which the coroutine starts is not counted.
    """

    def __init__(self, coroutine: Coroutine[Any, Any, R], clock: Callable[[], float] = time.perf_counter) -> None:
        self._coroutine = coroutine
        self._clock = clock
        self.worked = 0.0

    def __await__(self) -> Generator[Any, Any, R]:
        step: Callable[[Any], Any] = self._coroutine.send
        given: Any = None
        while True:
            began = self._clock()
            try:
                wanted = step(given)
            except StopIteration as stop:
                result: R = stop.value
                return result
            finally:
                self.worked += self._clock() - began
            try:
                step, given = self._coroutine.send, (yield wanted)
            except BaseException as thrown:  # noqa: BLE001 - handed on to the coroutine, cancellation included
                step, given = self._coroutine.throw, thrown
