"""Tells people what happened to an object, as Events of events.k8s.io/v1.

An Event that repeats becomes a series: one object with a count, patched ever more rarely. Nothing here may disturb the
work it tells about: memory is bounded, sending happens in `run`, and what cannot be sent is dropped and counted.
"""

import asyncio
import collections
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import msgspec

from modeldeployment.kube import errors, requests
from modeldeployment.kube.client import Client
from modeldeployment.kube.grants import Grant
from modeldeployment.kube.kinds import EVENTS
from modeldeployment.kube.shapes import ObjectReference

_log: Final = logging.getLogger(__name__)

EventType: TypeAlias = Literal["Normal", "Warning"]

GRANTS: Final = (Grant(EVENTS, ("create", "patch"), "tell what happened to an object"),)

_QUIET_SECONDS: Final = 360.0  # a repetition after more than this is a new Event
_PATCH_SECONDS: Final = 30.0  # a series is patched no more often than this
_PAUSE_SECONDS: Final = 0.02  # between two Events: a storm must not take the API server from the work it tells about


@dataclass(frozen=True, slots=True)
class Occurrence:
    """What was said about an object; equal occurrences make one series."""

    regarding: ObjectReference
    type: EventType
    reason: str
    note: str
    action: str


@dataclass(slots=True)
class Series:
    """How often one occurrence was seen, and what of that the server knows (times in epoch seconds)."""

    occurrence: Occurrence
    name: str
    first: float
    last: float
    count: int = 1
    sent: int = 0
    sent_at: float = float("-inf")

    def due(self, now: float) -> bool:
        """Whether the server should hear of it now: the first two sightings at once, later ones in batches."""
        return self.count > self.sent and (self.sent < 2 or now - self.sent_at >= _PATCH_SECONDS)


class Ledger:
    """The pure half: the series of the last minutes, at most `bound`; the oldest are forgotten first.

    `dropped` counts Events that were forgotten before they were sent.
    """

    def __init__(self, bound: int = 1024) -> None:
        self._bound = bound
        self._series: collections.OrderedDict[Occurrence, Series] = collections.OrderedDict()
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._series)

    def note(self, occurrence: Occurrence, now: float) -> None:
        """Take in one sighting."""
        series = self._series.get(occurrence)
        if series is not None and now - series.last <= _QUIET_SECONDS:
            series.count += 1
            series.last = now
        else:
            name = f"{occurrence.regarding.name[:220]}.{int(now * 1e9):x}{len(self._series):x}"
            self._series[occurrence] = Series(occurrence, name, now, now)
        self._series.move_to_end(occurrence)
        while len(self._series) > self._bound:
            _, oldest = self._series.popitem(last=False)
            self.dropped += oldest.count > oldest.sent

    def due(self, now: float) -> list[Series]:
        """Series to send now; those that are quiet and sent are forgotten."""
        for occurrence, series in list(self._series.items()):
            if now - series.last > _QUIET_SECONDS and series.sent:
                del self._series[occurrence]
        return [series for series in self._series.values() if series.due(now)]


class Recorder:
    """Records Events in the name of one component and one running process of it; `run` sends them.

    `emit` neither waits nor raises. `ledger.dropped` and `refused` count what people will not see.
    """

    def __init__(
        self, client: Client, component: str, instance: str, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._client = client
        self._component = component
        self._instance = instance[:128]
        self._clock = clock
        self._news = asyncio.Event()
        self.ledger: Final = Ledger()
        self.refused = 0

    async def emit(self, regarding: ObjectReference, type: EventType, reason: str, note: str, action: str) -> None:  # noqa: A002 - the field's name
        """Say that something happened to an object: a CamelCase reason and action (128), a sentence (1,024 bytes)."""
        crop = note if len(note.encode()) <= 1024 else note.encode()[:1021].decode(errors="ignore") + "…"
        self.ledger.note(Occurrence(regarding, type, reason[:128], crop, action[:128] or reason[:128]), self._clock())
        self._news.set()

    async def run(self) -> None:
        """Send until cancelled; then send once more what is due."""
        try:
            while True:
                with contextlib.suppress(TimeoutError):  # batches of running series come due without news
                    async with asyncio.timeout(_PATCH_SECONDS):
                        await self._news.wait()
                self._news.clear()
                await self.flush()
                await asyncio.sleep(0.5)  # equal Events of one burst share a patch
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2.0):
                    await self.flush()

    async def flush(self) -> None:
        """Send what is due now."""
        for series in self.ledger.due(self._clock()):
            count = series.count
            try:
                await self._send(series)
            except errors.KubeError as error:
                self.refused += 1
                extra = {"object": series.occurrence.regarding.name, "reason": str(error)}
                _log.warning("event not sent", extra=extra)
            series.sent = count
            series.sent_at = self._clock()
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _send(self, series: Series) -> None:
        namespace = series.occurrence.regarding.namespace or "default"
        if series.sent:
            patch = {"series": {"count": series.count, "lastObservedTime": requests.micro_time(series.last)}}
            try:
                await self._client.patch(EVENTS, series.name, patch, namespace)
            except errors.NotFound:
                pass  # the server forgets Events after an hour
            else:
                return
        with contextlib.suppress(errors.AlreadyExists):  # sent before, and the answer was lost
            await self._client.create(EVENTS, event(series, namespace, self._component, self._instance), namespace)


def event(series: Series, namespace: str, component: str, instance: str) -> dict[str, Any]:
    """Build the Event object of a series."""
    occurrence = series.occurrence
    body: dict[str, Any] = {
        "apiVersion": EVENTS.api_version,
        "kind": EVENTS.kind,
        "metadata": {"name": series.name, "namespace": namespace},
        "eventTime": requests.micro_time(series.first),
        "type": occurrence.type,
        "reason": occurrence.reason,
        "action": occurrence.action,
        "note": occurrence.note,
        "regarding": msgspec.to_builtins(occurrence.regarding),
        "reportingController": component,
        "reportingInstance": instance,
    }
    if series.count > 1:
        body["series"] = {"count": series.count, "lastObservedTime": requests.micro_time(series.last)}
    return body
