"""The scaler as one hat of the process.

It has a Lease of its own: a process that scales alone must not keep others from reconciling, nor the other way round,
and with both hats on two processes may share the work. Only its holder writes; every write names the version it was
ruled on, so two that believe themselves leaders for a moment cannot both commit.
"""

import asyncio
import contextlib
import logging
import uuid
from collections.abc import AsyncIterator

from prometheus_client.registry import Collector

from modeldeployment.kube import Client, Controller, Elector, KubeError, Recorder, WorkQueue, fetching
from modeldeployment.operator import health, leading, metrics
from modeldeployment.operator.settings import Settings
from modeldeployment.reconcile import utc_now
from modeldeployment.scaler import Key, ScalerController, Shared, Tally, Watched
from modeldeployment.scaler.journal import Journal
from modeldeployment.scaler.sampling import ALTOGETHER, Sampler

log = logging.getLogger(__name__)

LEASE = "modeldeployment-scaler"
COMPONENT = "modeldeployment-scaler"

SIDE_BY_SIDE = 64
"""Passes side by side: most of one is waiting for engines, and silent ones must not hold the others up."""
AGAIN_SECONDS = 1.0
"""How long a lead that could not read what was remembered waits before it tries again."""


class Scaling:
    """Everybody keeps the stores warm; only the holder of the Lease scales.

    `shared` are the stores of a process that reconciles as well; without them it keeps its own.
    """

    def __init__(
        self, settings: Settings, client: Client, identity: str, journal: Journal, shared: Shared | None = None
    ) -> None:
        self._client = client
        self._identity = identity
        self._journal = journal
        self._queue: WorkQueue[Key] = WorkQueue()
        self._watched = Watched(self._queue.add, shared)
        self._reflectors = self._watched.reflectors(client)
        self._recorder = Recorder(client, COMPONENT, identity)
        self._tally = Tally()
        self._scaler: ScalerController | None = None
        self._passes = Controller("scalers", self._pass, workers=SIDE_BY_SIDE, queue=self._queue)
        elector = Elector(client, LEASE, settings.leader_namespace, identity, timing=settings.timing())
        self._leadership = leading.Leadership(elector if settings.leader_election else None)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the stores current, and a session open to ask engines with."""
        async with fetching.session(ALTOGETHER) as http:
            self._scaler = ScalerController(
                self._client,
                self._watched,
                self._recorder,
                Sampler(http),
                self._journal,
                utc_now,
                _decision,
                self._tally,
            )
            loops = (each.run() for each in self._reflectors)
            async with leading.beside(*loops, health.report(self._reflectors), self._recorder.run()):
                yield

    async def work(self, stop: asyncio.Event) -> None:
        """Scale whenever the Lease is ours, until asked to stop."""
        await self._leadership.work(self._scale, stop)

    def finish(self) -> None:
        """End with the passes in hand."""
        self._passes.stop()

    def take_over(self, settings: Settings) -> bool:  # noqa: ARG002 (the hats' common way)
        """Use none of the settings that may change while a process runs."""
        return False

    def waiting(self) -> tuple[str, ...]:
        """What keeps it from being ready."""
        return health.unready(self._watched.stores())

    def collector(self) -> Collector:
        """Its series."""
        return metrics.ScalerCollector(
            self._passes.counters,
            self._tally,
            scaled=lambda: tuple(self._scaler.scaled()) if self._scaler is not None else (),
            scalers=lambda: len(self._watched.scalers),
            leading=lambda: self._leadership.leading,
        )

    async def _scale(self) -> None:
        scaler = self._scaler
        assert scaler is not None, "it works while it runs"
        await self._watched.wait_synced()
        while True:
            try:
                await scaler.begin()
                break
            except KubeError as error:
                log.warning("scalers not read", extra={"object": self._identity, "reason": str(error)})
                await asyncio.sleep(AGAIN_SECONDS)
        log.info("scaling", extra={"object": self._identity})
        try:
            await self._passes.run()
        finally:
            scaler.rest()

    async def _pass(self, key: Key) -> float | None:
        assert self._scaler is not None, "it works while it runs"
        return await self._scaler.reconcile(key)


def _decision() -> str:
    return f"d-{uuid.uuid4().hex[:12]}"
