"""Takes ghosts out of routers' lists: workers whose Pods are gone, in every deployment, over and over.

A router that does not see the API server for a while keeps a Pod that was deleted meanwhile for ever, and the address
may be given to somebody else. Source: facts routers-measured §1 and §7.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from modeldeployment.api import RouterName
from modeldeployment.kube import KubeError, shapes
from modeldeployment.reconcile import processes
from modeldeployment.reconcile.processes import Process
from modeldeployment.reconcile.sources import Sources
from modeldeployment.reconcile.watching import Key
from modeldeployment.router.withdrawal import LIST, Ask, Heard, ghosts

log = logging.getLogger(__name__)

EVERY: Final = 30.0
"""Seconds between two looks at the list of each router process."""
_AT_ONCE: Final = 4
_BY_ID: Final = {RouterName.VLLM: False, RouterName.SGLANG: True}
"""The routers that keep a list of workers, and whether they name them by ids of their own."""

Identity = tuple[str, int]


class Haunting:
    """Looks for ghosts; `inquired` answers the members of a deployment that are on their way out or back."""

    def __init__(self, sources: Sources, inquired: Callable[[Key], frozenset[str]]) -> None:
        self._sources = sources
        self._inquired = inquired
        self._seen: dict[Identity, ghosts.Seen] = {}

    async def run(self) -> None:
        """Look over and over, until it is cancelled."""
        while True:
            await asyncio.sleep(EVERY)
            await self.round()

    async def round(self) -> None:
        """Look at the list of every router process once, a few at a time."""
        free = asyncio.Semaphore(_AT_ONCE)
        asked = [
            (key, router, pod)
            for key, (router, pods) in self._sources.routers().items()
            for pod in pods
            if router in _BY_ID
        ]
        present = {_identity(pod) for _, _, pod in asked}
        self._seen = {identity: seen for identity, seen in self._seen.items() if identity in present}
        async with asyncio.TaskGroup() as group:
            for key, router, pod in asked:
                group.create_task(self._look(key, router, pod, free))

    async def _look(self, key: Key, router: RouterName, pod: shapes.Pod, free: asyncio.Semaphore) -> None:
        async with free:
            identity = _identity(pod)
            stranger = Process(
                uid=pod.metadata.uid,
                name=pod.metadata.name,
                address=pod.status.pod_ip,
                restarts=identity[1],
                running=True,
                leaving=False,
                router=router,
                version="",
                paired=False,
            )
            heard = await self._sources.ask(stranger, LIST)
            known: Process | None = None
            if heard.forbidden:
                known = await self._known(key, router, identity)
                heard = await self._sources.ask(known, LIST) if known is not None else heard
            for ask in self._laid(key, router, identity, heard):
                known = known or await self._known(key, router, identity)
                if known is None or known.program is None:
                    return
                log.info("ghost taken out", extra={"object": str(key), "reason": f"{known} {ask.path}"})
                await self._sources.ask(known, ask)

    def _laid(self, key: Key, router: RouterName, identity: Identity, heard: Heard) -> tuple[Ask, ...]:
        live = self._sources.addresses(key, self._inquired(key))
        before = self._seen.get(identity, ghosts.Seen())
        now = self._sources.clock()
        self._seen[identity], asks = ghosts.lay(before, heard, live, now, by_id=_BY_ID[router])
        return asks

    async def _known(self, key: Key, router: RouterName, identity: Identity) -> Process | None:
        """Answer a process as the API server has it now; None where it is not the router's, or another by now."""
        try:
            found = await processes.of(self._sources.client, key.namespace, key.name, router)
        except KubeError as error:
            log.debug("router Pods not listed", extra={"object": str(key), "reason": str(error)})
            return None
        return next((each for each in found if each.identity == identity), None)


def _identity(pod: shapes.Pod) -> Identity:
    return pod.metadata.uid, sum(each.restart_count for each in pod.status.container_statuses)
