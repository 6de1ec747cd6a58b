"""Asks the ready leaders of deployments with a cache what they say of the shared store, over and over.

One GET of an engine's metrics at the Pod's address, where its scrape annotations say (decisions D23); nothing goes
through the API server, and an engine is not trusted (`kube.fetching`). Source: facts status §10 `CacheAttached`.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec
from aiohttp import ClientSession

from modeldeployment.api import RoleKind, scraping
from modeldeployment.kube import fetching, shapes
from modeldeployment.reconcile import accounts
from modeldeployment.reconcile.watching import Watched

log = logging.getLogger(__name__)

_OK: Final = 200


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between two rounds, that one engine may take, and to wait for the first round; how many at once."""

    every: float = 30.0
    each: float = 2.0
    first: float = 1.0
    at_once: int = 16


@dataclass(frozen=True, slots=True)
class Leader:
    """An engine that is asked: its Pod, where it answers, and whether it is the Decode half of a pair."""

    uid: str
    url: str
    decodes: bool


class _Role(msgspec.Struct):
    name: str = ""
    kind: str = RoleKind.SERVER.value


class _Spec(msgspec.Struct, rename="camel"):
    roles: list[_Role] = []
    kv_cache: dict[str, msgspec.Raw] | None = None


_spec = msgspec.json.Decoder(_Spec)


class Gauging:
    """Fills `watched.accounts`; one process does it, the one that reconciles."""

    def __init__(self, watched: Watched, pace: Pace | None = None) -> None:
        self._watched = watched
        self._pace = pace or Pace()
        self._first = asyncio.Event()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Ask over and over meanwhile; what was heard is forgotten at the end.

        Begins with one round, as far as it gets in the time it has: a status written before would take back what the
        process before this one knew.
        """
        try:
            async with asyncio.TaskGroup() as group:
                asking = group.create_task(self._run())
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._pace.first):  # wait_for of Python 3.11 can swallow a cancellation
                        await self._first.wait()
                try:
                    yield
                finally:
                    asking.cancel()
        finally:
            self._watched.accounts.forget()
            self._first.clear()

    async def _run(self) -> None:
        async with fetching.session(self._pace.at_once) as http:
            while True:
                await self._round(http)
                self._first.set()
                await asyncio.sleep(self._pace.every)

    async def _round(self, http: ClientSession) -> None:
        asked = {leader.uid: leader for leader in leaders(self._watched)}
        self._watched.accounts.keep(asked)
        free = asyncio.Semaphore(self._pace.at_once)
        async with asyncio.TaskGroup() as group:
            for leader in asked.values():
                group.create_task(self._ask(http, leader, free))

    async def _ask(self, http: ClientSession, leader: Leader, free: asyncio.Semaphore) -> None:
        async with free:
            fetched = await fetching.fetch(http, leader.url, patience=self._pace.each)
        if fetched.status != _OK:
            log.debug("metrics not read", extra={"object": leader.url, "reason": fetched.why or fetched.status})
            self._watched.accounts.miss(leader.uid)
        elif _answers_still(self._watched, leader):
            self._watched.accounts.hear(leader.uid, accounts.tally(fetched.body), decodes=leader.decodes)


def leaders(watched: Watched) -> Iterator[Leader]:
    """Find who can be asked: ready leaders of deployments with a cache, where they say that they answer."""
    for stored in watched.deployments.items():
        kinds = _kinds(stored)
        for pod in watched.pods.by_index("owner", stored.metadata.uid) if kinds else ():
            kind, url = kinds.get(watched.members.of(pod).role), _url(watched, pod)
            if kind is not None and url is not None:
                yield Leader(pod.metadata.uid, url, decodes=kind == RoleKind.DECODE)


def _answers_still(watched: Watched, leader: Leader) -> bool:
    """Whether who was asked is still there: else its address may be somebody else's by now."""
    return any(_url(watched, pod) == leader.url for pod in watched.pods.by_index("uid", leader.uid))


def _kinds(stored: shapes.Custom) -> Mapping[str, str]:
    """Answer the kind of each role of a deployment with a cache; nothing of any other."""
    try:
        spec = _spec.decode(stored.spec)
    except msgspec.DecodeError:
        return {}
    return {role.name: role.kind for role in spec.roles} if spec.kv_cache is not None else {}


def _url(watched: Watched, pod: shapes.Pod) -> str | None:
    """Answer where a ready leader is scraped; None where it does not say so or cannot be reached."""
    member = watched.members.of(pod)
    if member.index or member.ordinal is None or member.leaving or not member.ready:
        return None
    return scraping.url(pod.metadata.annotations, pod.status.pod_ip)
