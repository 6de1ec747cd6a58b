"""The witness: asks routers and engines on behalf of retirements, beside the API server and beside passes.

Routers it also asks unbidden, what they send requests to. For a retirement a pass says what it needs to know; the
witness finds it out in the background, keeps it in memory alone, and wakes the deployment when a pass may decide
otherwise. After a restart it begins anew, which is safe. Only the process that reconciles has one at work.
Source: facts shutdown §2, status §6, routers-measured §7, decisions D6 to D10, D23.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from modeldeployment.api import keys
from modeldeployment.kube import Client, fetching, shapes
from modeldeployment.reconcile import testimony, weighing
from modeldeployment.reconcile.deciding.seen import Views
from modeldeployment.reconcile.looking import Looking
from modeldeployment.reconcile.retiring.evidence import Evidence, Inquiry, Stage
from modeldeployment.reconcile.sources import Sources
from modeldeployment.reconcile.testimony import Testimony
from modeldeployment.reconcile.viewing import Viewing
from modeldeployment.reconcile.watching import Key, Watched

log = logging.getLogger(__name__)

GRANTS: Final = testimony.GRANTS
"""What witnessing asks of the API server."""
AT_ONCE: Final = 64
"""Requests to routers and engines that are under way at one time, over all deployments."""
TELL: Final = timedelta(seconds=5)
"""How often a deployment is woken at most for a sentence that reads otherwise and changes nothing."""
_AGAIN: Final = 5.0
_KEPT: Final = (Stage.WITHDRAWING, Stage.DRAINING)


@dataclass(slots=True)
class _Heard:
    testimony: Testimony
    task: asyncio.Task[None]
    evidence: Evidence | None = None
    woken: datetime | None = None


@dataclass(slots=True)
class Tally:
    """What the witness has done since it started, for the operator's metrics."""

    inquiries: int = 0
    wakes: int = 0


class Witness:
    """Answers inquiries; `wake` is called with the key of a deployment whose evidence has changed.

    `clock` is the only source of time. Outside of `running` it hears nobody.
    """

    def __init__(
        self,
        client: Client,
        watched: Watched,
        wake: Callable[[Key], None],
        clock: Callable[[], datetime],
        *,
        at_once: int = AT_ONCE,
    ) -> None:
        self._client = client
        self._watched = watched
        self._wake = wake
        self._clock = clock
        self._at_once = at_once
        self._sources: Sources | None = None
        self._viewing: Viewing | None = None
        self._heard: dict[Key, _Heard] = {}
        self.tally = Tally()
        watched.pods.subscribe(self._pod)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hear inquiries meanwhile; what was heard is forgotten at the end."""
        async with fetching.session(self._at_once, keep=True) as http:
            self._sources = Sources(self._client, self._watched, http, self._steady(), self._at_once)
            self._viewing = Viewing(self._sources, self._wake)
            looks = Looking(self._sources, self._inquired, self._viewing).run()
            sweeping = asyncio.get_running_loop().create_task(looks)
            try:
                yield
            finally:
                self._sources = self._viewing = None
                tasks = [sweeping, *(heard.task for heard in self._heard.values())]
                self._heard.clear()
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    def _inquired(self, key: Key) -> frozenset[str]:
        heard = self._heard.get(key)
        return heard.testimony.inquiry.members if heard is not None else frozenset()

    def _steady(self) -> Callable[[], datetime]:
        """A clock that begins with the time of day and is not set: a proof is no shorter for a clock that was."""
        loop, began = asyncio.get_running_loop(), self._clock()
        at = loop.time()
        return lambda: began + timedelta(seconds=loop.time() - at)

    def inquire(self, key: Key, inquiry: Inquiry | None) -> None:
        """Find out what an inquiry asks from now on; None ends what was asked before, and forgets it.

        One that only goes on to drain keeps what was heard.
        """
        heard = self._heard.get(key)
        if inquiry is None or self._sources is None:
            if heard is not None:
                del self._heard[key]
                heard.task.cancel()
            return
        if heard is not None and _continues(heard.testimony.inquiry, inquiry):
            heard.testimony.inquiry = inquiry
            return
        if heard is not None:
            heard.task.cancel()
        one = Testimony(key, inquiry, self._sources, lambda evidence: self._told(key, one, evidence))
        self._heard[key] = _Heard(one, asyncio.get_running_loop().create_task(self._hear(key, one)))
        self.tally.inquiries += 1

    def evidence(self, key: Key) -> Evidence | None:
        """Answer what is known by now for a deployment's inquiry; None where nothing is."""
        heard = self._heard.get(key)
        return heard.evidence if heard is not None else None

    def views(self, key: Key) -> Views | None:
        """Answer what the routers of a deployment send requests to; None before anybody looked."""
        return self._viewing.of(key) if self._viewing is not None else None

    async def _hear(self, key: Key, one: Testimony) -> None:
        """Run a testimony; one that breaks is begun anew after a while, and what it found is not believed."""
        while True:
            try:
                await one.run()
            except* Exception as broken:
                log.exception("witness failed", extra={"object": str(key), "reason": str(broken.exceptions[0])})
            else:
                return
            heard = self._heard.get(key)
            if heard is None or heard.testimony is not one or self._sources is None:
                return
            heard.evidence = None
            self._wake(key)
            await asyncio.sleep(_AGAIN)
            one = heard.testimony = self._anew(key, one)

    def _anew(self, key: Key, before: Testimony) -> Testimony:
        assert self._sources is not None
        one = Testimony(key, before.inquiry, self._sources, lambda evidence: self._told(key, one, evidence))
        return one

    def _told(self, key: Key, one: Testimony, evidence: Evidence) -> None:
        heard = self._heard.get(key)
        if heard is None or heard.testimony is not one:
            return
        before, heard.evidence = heard.evidence, evidence
        now = self._clock()
        due = heard.woken is None or now - heard.woken >= TELL
        if weighing.material(before, evidence) or (due and before != evidence):
            heard.woken = now
            self.tally.wakes += 1
            self._wake(key)

    def _pod(self, old: shapes.Pod | None, new: shapes.Pod | None) -> None:
        pod = new or old
        if pod is None or keys.ROUTER not in pod.metadata.labels:
            return
        key = Key(pod.metadata.namespace, pod.metadata.labels.get(keys.INSTANCE, ""))
        heard = self._heard.get(key)
        if heard is not None:
            heard.testimony.look()


def _continues(before: Inquiry, after: Inquiry) -> bool:
    """Whether what was heard for one inquiry is what another asks for."""
    about = ((each.members, each.answering, each.router, each.engine, each.kind) for each in (before, after))
    if len(set(about)) > 1:
        return False
    return before.stage is after.stage or (before.stage in _KEPT and after.stage in _KEPT)
