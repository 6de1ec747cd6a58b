"""Keeps a store like the server: list once, then follow, resume after every cut, list again when too old."""

import asyncio
import contextlib
import logging
import secrets
from typing import Any, Final, Generic, assert_never

from modeldeployment.kube import errors, requests
from modeldeployment.kube.client import Client
from modeldeployment.kube.kinds import Kind, T
from modeldeployment.kube.store import Store

_log: Final = logging.getLogger(__name__)

_LONGEST_PAUSE: Final = 5.0  # stores that lag behind a server which is back again hold everything up
_CALM_SECONDS: Final = 5.0  # a watch that lasted this long was healthy, whether or not anything happened


class Reflector(Generic[T]):
    """Feeds one store from one kind, in one namespace or all, until it is cancelled.

    A watch that ends is normal: the server ends them after minutes, and much sooner under load (control-plane facts
    §9). It is resumed from the last version seen, bookmarks included; a 410 leads to a new list, whose comparison with
    the store yields the deletions nobody reported. When the server is away or refuses, the pause doubles up to a few
    seconds, with jitter. `kind` is what it follows, `lists` and `cuts` count what happened, `failing` is the error of
    the last try, if it failed.
    """

    def __init__(
        self,
        client: Client,
        kind: Kind[T],
        store: Store[T],
        namespace: str | None = None,
        labels: str | None = None,
        *,
        fields: str | None = None,
        seed: int | None = None,
    ) -> None:
        self._client = client
        self.kind = kind
        self._store = store
        self._where: dict[str, Any] = {"namespace": namespace, "labels": labels, "fields": fields}
        self._seed = secrets.randbits(32) if seed is None else seed
        self._seconds = 240 + self._seed % 120  # many reflectors must not come back all at once
        self._since = ""  # resume from here; empty: list
        self.lists = 0
        self.cuts = 0
        self.failing: errors.KubeError | None = None

    async def run(self) -> None:
        """Run until cancelled; never returns by itself."""
        attempt = 0
        while True:
            try:
                if not self._since:
                    await self._list()
                healthy = await self._watch()
            except errors.KubeError as error:
                healthy = False
                if type(error) is not type(self.failing):
                    # Whoever runs several reflectors reads `failing` and says it once.
                    _log.debug("watch fails", extra={"object": str(self.kind), "reason": str(error)})
                self.failing = error
            attempt = 0 if healthy else attempt + 1
            if attempt:
                asked = self.failing.retry_after if isinstance(self.failing, errors.TooManyRequests) else 0
                await asyncio.sleep(asked + requests.backoff(attempt, self._seed, most=_LONGEST_PAUSE))

    def _recovered(self) -> None:
        # Not when the watch ends, which may be minutes from now: until then people would read that it still fails.
        self.failing = None

    async def _list(self) -> None:
        listing = await self._client.list(self.kind, **self._where)
        self.lists += 1
        self._store.replace(listing.items, listing.resource_version)
        self._since = listing.resource_version

    async def _watch(self) -> bool:
        """Follow one watch to its end; says whether it was of any use."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        useful = False
        watch = self._client.watch(
            self.kind, **self._where, resource_version=self._since, seconds=self._seconds, on_open=self._recovered
        )
        async with contextlib.aclosing(watch) as events:
            async for event in events:
                match event:
                    case requests.Added(new) | requests.Changed(new):
                        self._store.put(new)
                        self._since = new.metadata.resource_version
                    case requests.Gone(last):
                        self._store.remove(last)
                        self._since = last.metadata.resource_version
                    case requests.Bookmark(version):
                        self._store.advance(version)
                        self._since = version
                    case requests.Expired(message):
                        _log.info("list again", extra={"object": str(self.kind), "reason": message})
                        self._since = ""
                        return useful
                    case other:
                        assert_never(other)
                useful = True
        self.cuts += 1
        return useful or loop.time() - began >= _CALM_SECONDS
