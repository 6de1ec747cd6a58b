"""Looks at what every router process sends requests to, over and over: status tells it, and lists are put right.

A ghost is a worker whose Pod is gone: a router that does not see the API server for a while keeps it for ever, and its
address may be given to somebody else. It is taken out. A Pod that `vllm-router` gave up on, since it was slow to answer
once, is never sent anything: it is shown anew by an annotation. Source: facts status §6, routers-measured §1 and §7.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from modeldeployment.api import RouterName
from modeldeployment.kube import KubeError, shapes
from modeldeployment.reconcile import acting, processes
from modeldeployment.reconcile.processes import Identity, Process
from modeldeployment.reconcile.sources import Sources
from modeldeployment.reconcile.viewing import Viewing
from modeldeployment.reconcile.watching import Key
from modeldeployment.router.withdrawal import BY_ID, Ask, Heard, ghosts, missed, views

log = logging.getLogger(__name__)

EVERY: Final = 10.0
"""Seconds between two looks at each router process: a view of it is fresh for little longer."""
_AT_ONCE: Final = 16


class Looking:
    """Looks at router processes; `inquired` answers the members of a deployment that are on their way out or back."""

    def __init__(self, sources: Sources, inquired: Callable[[Key], frozenset[str]], viewing: Viewing) -> None:
        self._sources = sources
        self._inquired = inquired
        self._viewing = viewing
        self._seen: dict[Identity, ghosts.Seen] = {}
        self._missed: dict[Identity, missed.Missed] = {}
        self._keyed: dict[Identity, Process] = {}

    async def run(self, every: float = EVERY) -> None:
        """Look every so many seconds, until it is cancelled; a round that breaks is told, and the next one follows."""
        while True:
            try:
                await self.round()
            except Exception as broken:
                log.exception("routers not looked at", extra={"object": "routers", "reason": str(broken)})
            await asyncio.sleep(every)

    async def round(self) -> None:
        """Look at every router process once, a few at a time."""
        free = asyncio.Semaphore(_AT_ONCE)
        routers = self._sources.routers()
        asked = [(key, router, pod) for key, (router, pods) in routers.items() for pod in pods]
        present = {processes.identity(pod) for _, _, pod in asked}
        self._seen = {each: seen for each, seen in self._seen.items() if each in present}
        self._missed = {each: seen for each, seen in self._missed.items() if each in present}
        self._keyed = {each: known for each, known in self._keyed.items() if each in present}
        async with asyncio.TaskGroup() as group:
            for key, router, pod in asked:
                group.create_task(self._look(key, router, pod, free))
        self._viewing.settle(routers)

    async def _look(self, key: Key, router: RouterName, pod: shapes.Pod, free: asyncio.Semaphore) -> None:
        async with free:
            identity, ask = processes.identity(pod), views.asks(router)
            known = self._keyed.get(identity)
            heard = await self._sources.ask(known or processes.stranger(pod, router), ask)
            if heard.forbidden:
                known = await self._known(key, router, identity)
                if known is not None:
                    self._keyed[identity] = known
                    heard = await self._sources.ask(known, ask)
            self._viewing.note(identity, router, heard)
            if router not in BY_ID:
                return
            if router is RouterName.VLLM and processes.serves(pod, key.name):
                await self._announce(key, pod, heard)
            for removal in self._laid(key, router, identity, heard):
                known = known or await self._known(key, router, identity)
                if known is None or known.program is None:
                    return
                log.info("ghost taken out", extra={"object": str(key), "reason": f"{known} {removal.path}"})
                await self._sources.ask(known, removal)

    def _laid(self, key: Key, router: RouterName, identity: Identity, heard: Heard) -> tuple[Ask, ...]:
        live = self._sources.addresses(key, self._inquired(key))
        before = self._seen.get(identity, ghosts.Seen())
        now = self._sources.clock()
        self._seen[identity], asks = ghosts.lay(before, heard, live, now, by_id=BY_ID[router])
        return asks

    async def _announce(self, key: Key, router: shapes.Pod, heard: Heard) -> None:
        """Show a router anew the Pods that it gave up on."""
        ready, identity = self._sources.ready(key, self._inquired(key)), processes.identity(router)
        now, before = self._sources.clock(), self._missed.get(identity, missed.Missed())
        self._missed[identity], due = missed.due(before, heard, ready, now, by_id=BY_ID[RouterName.VLLM])
        for pod in map(ready.__getitem__, due):
            try:
                await acting.announce(self._sources.client, pod, now)
            except KubeError as error:
                log.debug("replica not announced", extra={"object": str(key), "reason": str(error)})
                continue
            reason = f"router Pod {router.metadata.name} does not list {pod.metadata.name}"
            log.info("replica announced anew", extra={"object": str(key), "reason": reason})

    async def _known(self, key: Key, router: RouterName, identity: Identity) -> Process | None:
        """Answer a process as the API server has it now; None where it is not the router's, or another by now."""
        try:
            found = await processes.of(self._sources.client, key.namespace, key.name, router)
        except KubeError as error:
            log.debug("router Pods not listed", extra={"object": str(key), "reason": str(error)})
            return None
        return next((each for each in found if each.identity == identity), None)
