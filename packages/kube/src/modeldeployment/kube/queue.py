"""Which key to look at next, and when: a pure agenda, and the asynchronous queue around it."""

import asyncio
import collections
import heapq
import zlib
from collections.abc import AsyncIterator, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from modeldeployment.kube.requests import backoff

K = TypeVar("K", bound=Hashable)


@dataclass(slots=True)
class _Entry:
    due: float | None = None  # when the next pass is wanted; None: not wanted
    rested: float = 0.0  # no pass begins before this
    failures: int = 0
    busy: bool = False

    def idle(self, now: float) -> bool:
        return self.due is None and not self.busy and not self.failures and self.rested <= now


class Agenda(Generic[K]):
    """The pure half: every method is given the time (seconds, any origin).

    Events of one key coalesce into one pass; a key is never in two passes at once, and an event during its pass leads
    to one more. A pass that took d seconds of work is followed by a rest of d * (1/share - 1), at most `longest_rest`,
    so one busy key cannot take more than `share` of a core from the others; the first event after a quiet time runs at
    once.
    """

    def __init__(self, *, seed: int = 0, share: float = 0.1, longest_rest: float = 1.0, most_backoff: float = 60.0):
        self._seed = seed
        self._rest_factor = 1.0 / share - 1.0
        self._longest_rest = longest_rest
        self._most_backoff = most_backoff
        self._entries: dict[K, _Entry] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, key: K, now: float) -> None:
        """Let a key have a pass now: something happened to it."""
        self.wake(key, now)

    def wake(self, key: K, at: float) -> None:
        """Let a key have a pass at a time, unless it gets one sooner already."""
        entry = self._entries.setdefault(key, _Entry())
        if entry.due is None or at < entry.due:
            entry.due = at
            self._plan(key, entry)

    def retry(self, key: K, now: float) -> None:
        """Note that a pass failed: one more follows, after a pause that doubles with each failure in a row."""
        entry = self._entries.setdefault(key, _Entry())
        entry.failures += 1
        pause = backoff(entry.failures, self._seed ^ zlib.crc32(repr(key).encode()), most=self._most_backoff)
        self.wake(key, now + pause)

    def forget(self, key: K) -> None:
        """Note that a pass succeeded: the next failure is a first one."""
        if entry := self._entries.get(key):
            entry.failures = 0

    def take(self, now: float) -> tuple[K, ...]:
        """Give the key whose turn it is, as a tuple of one, or an empty tuple; it is busy until `done`."""
        while self._heap and self._heap[0][0] <= now:
            at, _, key = heapq.heappop(self._heap)
            entry = self._entries.get(key)
            if entry is None or entry.busy:
                continue
            if entry.due is None:
                if entry.idle(now):
                    del self._entries[key]
            elif max(entry.due, entry.rested) == at:  # else it was planned anew since
                entry.due = None
                entry.busy = True
                return (key,)
        return ()

    def done(self, key: K, now: float, worked: float = 0.0) -> None:
        """Note that the pass of a key is over after so many seconds of work."""
        entry = self._entries[key]
        entry.busy = False
        entry.rested = now + min(self._longest_rest, worked * self._rest_factor)
        if entry.idle(now):
            del self._entries[key]
        elif entry.due is not None or not entry.failures:
            self._plan(key, entry)  # for its pass, or to be forgotten when it has rested

    def next_at(self) -> float | None:
        """When `take` may next succeed; None when only a new event can bring that about."""
        return self._heap[0][0] if self._heap else None

    def _plan(self, key: K, entry: _Entry) -> None:
        if not entry.busy:
            self._count += 1
            due = entry.rested if entry.due is None else max(entry.due, entry.rested)
            heapq.heappush(self._heap, (due, self._count, key))


class Closed(Exception):
    """The queue was closed: there is no next key."""


class WorkQueue(Generic[K]):
    """The agenda on the event loop's clock; `get` waits for the next key and every `get` is answered by one `done`.

    `share` is the part of one core a single key may use, `longest_rest` (seconds) bounds the rest it then takes.
    """

    def __init__(self, *, seed: int = 0, share: float = 0.1, longest_rest: float = 1.0) -> None:
        self._agenda: Agenda[K] = Agenda(seed=seed, share=share, longest_rest=longest_rest)
        self._waiting: collections.deque[asyncio.Future[None]] = collections.deque()
        self._alarm: asyncio.TimerHandle | None = None
        self._closed = False

    def __len__(self) -> int:
        return len(self._agenda)

    def add(self, key: K) -> None:
        """Let a key have a pass now: something happened to it."""
        self._agenda.add(key, self._now())
        self._rouse()

    def wake(self, key: K, after: float) -> None:
        """Let a key have a pass after so many seconds, unless it gets one sooner already."""
        self._agenda.wake(key, self._now() + after)
        self._rouse()

    def retry(self, key: K) -> None:
        """Note that a pass failed: one more follows, after a pause that doubles with each failure in a row."""
        self._agenda.retry(key, self._now())
        self._rouse()

    def forget(self, key: K) -> None:
        """Note that a pass succeeded: the next failure is a first one."""
        self._agenda.forget(key)

    async def get(self) -> K:
        """Wait for the next key; it is nobody else's until `done`. Raises Closed."""
        loop = asyncio.get_running_loop()
        while not self._closed:
            for key in self._agenda.take(loop.time()):
                self._rouse()
                return key
            waiting = loop.create_future()
            self._waiting.append(waiting)
            self._rouse()
            try:
                await waiting
            except asyncio.CancelledError:
                waiting.cancel()
                self._rouse()  # the turn may have been ours
                raise
        raise Closed

    def done(self, key: K, worked: float = 0.0) -> None:
        """Note that the pass of a key is over after so many seconds of work."""
        self._agenda.done(key, self._now(), worked)
        self._rouse()

    def close(self) -> None:
        """Give out no more keys; whoever waits is told."""
        self._closed = True
        self._rouse()

    async def __aiter__(self) -> AsyncIterator[K]:
        while True:
            try:
                yield await self.get()
            except Closed:
                return

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    def _rouse(self) -> None:
        """Wake one waiter when a key is due, else set the alarm for when one will be."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        at = self._agenda.next_at()
        if self._closed:
            while self._waiting:
                _wake(self._waiting.popleft())
        elif at is not None and self._waiting:
            loop = asyncio.get_running_loop()
            if at > loop.time():
                self._alarm = loop.call_at(at, self._rouse)
                return
            while self._waiting and not _wake(self._waiting.popleft()):
                pass  # that one was cancelled meanwhile


def _wake(waiting: asyncio.Future[None]) -> bool:
    if waiting.done():
        return False
    waiting.set_result(None)
    return True
