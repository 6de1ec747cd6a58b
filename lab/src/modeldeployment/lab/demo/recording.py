"""Watches a namespace and keeps every change it is told of."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any, Final, assert_never

from modeldeployment.kube import Added, Bookmark, Changed, Client, Expired, Gone, Kind, Unreachable
from modeldeployment.kube.shapes import Object
from modeldeployment.lab.demo.errors import StoryTorn
from modeldeployment.lab.demo.history import Change, Window, World
from modeldeployment.lab.demo.reading import KINDS, seen

_AGAIN_SECONDS: Final = 0.2


class Recorder:
    """The history of one namespace since `recording` began; complete, or StoryTorn is raised from every wait.

    `on_change` is called with the world after each change.
    """

    def __init__(self, client: Client, namespace: str, on_change: Callable[[World], None]) -> None:
        self._client = client
        self._namespace = namespace
        self._on_change = on_change
        self._cut = World()
        self._changes: list[Change] = []
        self._versions: dict[str, int] = {}
        self._now = World()
        self._changed = asyncio.Event()
        self._watches: list[asyncio.Task[None]] = []

    @property
    def now(self) -> World:
        """The world as far as it was told of."""
        return self._now

    @contextlib.asynccontextmanager
    async def recording(self) -> AsyncIterator[None]:
        """Record while the context is open."""
        starts = [(kind, labels, await self._list(kind, labels)) for kind, labels in KINDS.items()]
        self._watches = [asyncio.create_task(self._follow(*start)) for start in starts]
        try:
            yield
        finally:
            for watch in self._watches:
                watch.cancel()
            await asyncio.gather(*self._watches, return_exceptions=True)

    async def until(self, reached: Callable[[World], bool]) -> None:
        """Return once the world satisfies `reached` and nothing is under way to us; the caller sets the time limit.

        Raises StoryTorn, and the client's errors of a watch that was refused.
        """
        while True:
            self._changed.clear()
            if reached(self._now) and await self._caught_up() and reached(self._now):
                return
            waiting = asyncio.create_task(self._changed.wait())
            try:
                await asyncio.wait({waiting, *self._watches}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                waiting.cancel()
            for watch in self._watches:
                if watch.done():
                    watch.result()

    def cut(self, told: tuple[str, ...] = ()) -> Window:
        """Return what happened since the last cut, in the API server's order, and what was told meanwhile."""
        window = Window(self._cut, tuple(sorted(self._changes, key=lambda change: change.revision)), told)
        self._cut, self._changes = window.after, []
        return window

    async def _list(self, kind: Kind[Any], labels: str) -> str:
        listing = await self._client.list(kind, self._namespace, labels=labels or None)
        for thing in listing.items:
            self._take(kind, thing, gone=False)
        return listing.resource_version

    async def _follow(self, kind: Kind[Any], labels: str, version: str) -> None:
        while True:
            watch = self._client.watch(kind, self._namespace, labels=labels or None, resource_version=version)
            try:
                async with contextlib.aclosing(watch) as events:
                    async for event in events:
                        match event:
                            case Added(thing) | Changed(thing):
                                self._take(kind, thing, gone=False)
                                version = thing.metadata.resource_version
                            case Gone(thing):
                                self._take(kind, thing, gone=True)
                                version = thing.metadata.resource_version
                            case Bookmark(newer):
                                version = newer
                            case Expired(message):
                                raise StoryTorn(
                                    f"the watch of {kind} cannot be resumed ({message}), so the story has a hole; "
                                    "run the demo again"
                                )
                            case other:
                                assert_never(other)
            except Unreachable:
                await asyncio.sleep(_AGAIN_SECONDS)

    def _take(self, kind: Kind[Any], thing: Object, *, gone: bool) -> None:
        meta = thing.metadata
        revision = int(meta.resource_version)
        change = Change(revision, meta.uid, None if gone else seen(kind, thing))
        self._versions[meta.uid] = revision
        self._changes.append(change)
        self._now = self._now.after(change)
        self._changed.set()
        self._on_change(self._now)

    async def _caught_up(self) -> bool:
        """Whether every watch has told of all that the server knows at this moment."""
        listings = await asyncio.gather(
            *(
                self._client.list_metadata(kind, self._namespace, labels=labels or None)
                for kind, labels in KINDS.items()
            )
        )
        there = {thing.metadata.uid: int(thing.metadata.resource_version) for each in listings for thing in each.items}
        return there.keys() == self._now.objects.keys() and all(
            self._versions[uid] >= version for uid, version in there.items()
        )
