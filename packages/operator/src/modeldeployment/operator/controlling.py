"""The controllers as one hat of the process: stores, work queue and the Lease that lets one process write."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

from prometheus_client.registry import Collector

from modeldeployment.kube import Client, Controller, Elector, KubeError, Recorder, WorkQueue
from modeldeployment.operator import health, leading, metrics
from modeldeployment.operator.settings import Settings
from modeldeployment.reconcile import (
    CheckKeeper,
    DeploymentController,
    Gauging,
    Joint,
    Key,
    SetController,
    Watched,
    Witness,
    utc_now,
)
from modeldeployment.scaler import Shared

log = logging.getLogger(__name__)

LEASE = "modeldeployment-operator"
COMPONENT = "modeldeployment-operator"

ANSWERERS = 16
"""Passes of set admission side by side; one over a single Workload is a single write, and spends its time waiting."""


class Controllers:
    """Everybody keeps the stores warm; only the holder of the Lease reconciles."""

    def __init__(self, settings: Settings, client: Client, identity: str) -> None:
        self._identity = identity
        queue: WorkQueue[Key] = WorkQueue()
        self._watched = Watched(queue.add)
        self._reflectors = self._watched.reflectors(client)
        self._gauging = Gauging(self._watched)
        self._recorder = Recorder(client, COMPONENT, identity)
        self._witness = Witness(client, self._watched, queue.add, utc_now)
        self._reconciler = DeploymentController(
            client,
            self._watched,
            self._recorder,
            settings.policy(),
            utc_now,
            self._witness,
            busy=lambda: self._sets.counters.busy > 0 or self._joiner.opening(),
        )
        self._deployments = Controller("deployments", self._reconciler.reconcile, workers=settings.workers, queue=queue)
        joint: WorkQueue[Joint] = WorkQueue()
        self._joiner = SetController(client, self._watched, joint, utc_now)
        self._sets = Controller("sets", self._joiner.reconcile, workers=ANSWERERS, queue=joint)
        named: WorkQueue[str] = WorkQueue()
        self._keeper = CheckKeeper(client, self._watched, named, utc_now)
        self._checks = Controller("checks", self._keeper.reconcile, workers=1, queue=named)
        elector = Elector(client, LEASE, settings.leader_namespace, identity, timing=settings.timing())
        self._leadership = leading.Leadership(elector if settings.leader_election else None)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the stores current, and say once when the API server cannot be read and once when it can again."""
        loops = (reflector.run() for reflector in self._reflectors)
        async with leading.beside(*loops, health.report(self._reflectors), self._recorder.run()):
            yield

    async def work(self, stop: asyncio.Event) -> None:
        """Reconcile whenever the Lease is ours, until asked to stop."""
        await self._leadership.work(self._reconcile, stop)

    def finish(self) -> None:
        """End with the passes in hand."""
        for each in (self._deployments, self._sets, self._checks):
            each.stop()

    def take_over(self, settings: Settings) -> bool:
        """Use changed settings that rendering reads; every deployment is then looked at again."""
        changed = self._reconciler.set_policy(settings.policy())
        if changed:
            self._watched.wake_all()
        return changed

    def waiting(self) -> tuple[str, ...]:
        """What keeps it from being ready."""
        return health.unready(self._watched.stores())

    def shared(self) -> Shared:
        """The stores that a scaler in the same process reads as well."""
        return Shared(self._watched.deployments, self._watched.pods, self._watched.workloads)

    def collector(self) -> Collector:
        """Its series."""
        return metrics.OperatorCollector(
            self._deployments.counters,
            self._reconciler.tally,
            sets=(self._sets.counters, self._joiner.tally),
            stores=lambda: {name: len(store) for name, store in self._watched.stores().items()},
            lists=lambda: {reflector.kind.plural: reflector.lists for reflector in self._reflectors},
            leading=lambda: self._leadership.leading,
            asked=self._witness.tally,
        )

    async def _reconcile(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._keep_checks())
            await self._prepare()
            await self._watched.wait_synced()
            log.info("reconciling", extra={"object": self._identity})
            group.create_task(self._join())
            async with self._gauging.running(), self._witness.running():
                await self._decide()

    async def _prepare(self) -> None:
        with contextlib.suppress(KubeError):  # the first pass asks again, and tells
            await self._reconciler.prepare()

    async def _decide(self) -> None:
        try:
            await self._deployments.run()
        finally:
            self._reconciler.rest()

    async def _join(self) -> None:
        self._joiner.begin()
        try:
            await self._sets.run()
        finally:
            self._joiner.rest()

    async def _keep_checks(self) -> None:
        # They need nothing but themselves, and queues that ask for them wait.
        await self._keeper.begin()
        await self._checks.run()
