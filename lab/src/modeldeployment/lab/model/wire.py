"""The watches of one process: events wait on a channel for each kind until they are delivered to its store."""

import enum
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import msgspec

from modeldeployment.kube import Kind, Store, requests
from modeldeployment.lab.model import selectors
from modeldeployment.lab.model.moves import Move
from modeldeployment.lab.model.resources import JSON
from modeldeployment.lab.model.selectors import Matches
from modeldeployment.lab.model.server import Entry, Server
from modeldeployment.reconcile import OWNED, Watched, watching

PATIENCE: Final = 5.0
"""Seconds after which a late event arrives, whether or not a pass came first."""


class Fate(enum.Enum):
    """What becomes of an event on its way."""

    NOW = enum.auto()
    LATE = enum.auto()
    MERGED = enum.auto()
    DROPPED = enum.auto()


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a watch, numbered from 1 over all kinds: `type` is ADDED, MODIFIED or DELETED."""

    number: int
    plural: str
    type: str
    object: JSON
    by: str

    def __str__(self) -> str:
        return f"#{self.number} {self.plural} {self.object['metadata']['name']} {self.type}"


@dataclass(slots=True)
class _Channel:
    kind: Kind[Any]
    store: Store[Any]
    matches: Matches
    decoder: msgspec.json.Decoder[Any]
    waiting: deque[Event] = field(default_factory=deque)
    held: Fate = Fate.NOW
    since: float = 0.0
    passes: int = 0

    def decoded(self, thing: JSON) -> Any:
        return requests.decode(self.decoder, msgspec.json.encode(thing))


def _now(_: Event) -> Fate:
    return Fate.NOW


class Wire:
    """All watches of one process.

    Events of one kind arrive in order: behind one that is held, the others of its kind wait. A held one is let go when
    the process has made another pass (`passes` counts them), or after PATIENCE seconds.
    """

    def __init__(self, server: Server, watched: Watched, passes: Callable[[], int]) -> None:
        self._server = server
        self._passes = passes
        self.fate: Callable[[Event], Fate] = _now
        self.events = 0
        self.lists = 0
        self._channels = dict(_channels(watched))
        server.watchers.append(self._hear)
        for channel in self._channels.values():
            self._list(channel)

    def close(self) -> None:
        """Hear no more."""
        if self._hear in self._server.watchers:
            self._server.watchers.remove(self._hear)
        for channel in self._channels.values():
            channel.waiting.clear()

    def flush(self) -> None:
        """Deliver everything that is not held."""
        for channel in self._channels.values():
            while (channel.waiting or channel.held is Fate.DROPPED) and self._free(channel):
                self._deliver(channel)

    def moves(self) -> Iterator[Move]:
        """The next delivery of each kind."""
        for plural, channel in self._channels.items():
            if not channel.waiting and channel.held is not Fate.DROPPED:
                continue
            at = self._server.clock.seconds if self._free(channel) else channel.since + PATIENCE
            yield Move(at, "wire", f"{plural} {channel.held.name}", partial(self._deliver, channel))

    def cut(self, plural: str) -> None:
        """Lose what is under way of a kind; a list follows after the next pass."""
        self._hold(self._channels[plural], Fate.DROPPED)

    # --- events ---

    def _hear(self, entry: Entry) -> None:
        channel = self._channels.get(entry.plural)
        if channel is None:
            return
        was = entry.old is not None and channel.matches(entry.old)
        now = entry.new is not None and channel.matches(entry.new)
        if not was and not now:
            return
        kind = "MODIFIED" if was and now else "ADDED" if now else "DELETED"
        self.events += 1
        event = Event(self.events, entry.plural, kind, entry.thing, entry.by)
        channel.waiting.append(event)
        fate = self.fate(event)
        if fate is not Fate.NOW and channel.held is Fate.NOW:
            self._hold(channel, fate)

    def _hold(self, channel: _Channel, fate: Fate) -> None:
        channel.held, channel.since, channel.passes = fate, self._server.clock.seconds, self._passes()

    def _free(self, channel: _Channel) -> bool:
        return (
            channel.held is Fate.NOW
            or self._passes() > channel.passes
            or self._server.clock.seconds >= channel.since + PATIENCE
        )

    def _deliver(self, channel: _Channel) -> None:
        held, channel.held = channel.held, Fate.NOW
        if held is Fate.DROPPED:
            channel.waiting.clear()
            self._list(channel)
            return
        if held is Fate.MERGED:
            latest = {_where(each.object): each for each in channel.waiting}
            channel.waiting = deque(sorted(latest.values(), key=lambda each: each.number))
        event = channel.waiting.popleft()
        thing = channel.decoded(event.object)
        if event.type == "DELETED":
            channel.store.remove(thing)
        else:
            channel.store.put(thing)

    def _list(self, channel: _Channel) -> None:
        self.lists += 1
        things = [each for each in self._server.items(channel.kind.plural) if channel.matches(each)]
        channel.store.replace([channel.decoded(each) for each in things], str(self._server.revision))


def _where(thing: JSON) -> tuple[str, str]:
    return thing["metadata"].get("namespace", ""), thing["metadata"]["name"]


def _channels(watched: Watched) -> Iterator[tuple[str, _Channel]]:
    """What the operator's own reflectors would follow, by plural."""
    labels = {OWNED[kind].plural: label for kind, label in watching.LABELS.items()} | {"pods": watching.OURS}
    kinds: dict[str, Kind[Any]] = {grant.kind.plural: grant.kind for grant in watching.GRANTS}
    for plural, store in watched.stores().items():
        kind = kinds[plural]
        yield (
            plural,
            _Channel(kind, store, selectors.by_labels(labels.get(plural, "")), msgspec.json.Decoder(kind.shape)),
        )
