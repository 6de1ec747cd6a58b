"""The process: stores, controllers, leadership and endpoints, put together and taken apart in order."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

from modeldeployment.kube import Access, Client, Controller, Elector, Recorder, Timing, WorkQueue
from modeldeployment.operator import health, metrics, serving
from modeldeployment.operator.errors import SettingsError
from modeldeployment.operator.settings import Settings, load
from modeldeployment.reconcile import DeploymentController, Key, Watched, utc_now

log = logging.getLogger(__name__)

LEASE = "modeldeployment-operator"
COMPONENT = "modeldeployment-operator"
FINISH_SECONDS = 20.0
"""How long passes in hand may take to finish after SIGTERM; cutting one short is safe, only untidy."""

SETTINGS_SECONDS = 5.0
"""How often the settings file is looked at."""


async def run(settings: Settings, access: Access, file: Path | None = None) -> None:
    """Run until SIGTERM or SIGINT: passes in hand are finished and the Lease is handed on.

    Everybody serves the endpoints and keeps stores warm; only the holder of the Lease reconciles. Raises ListenError
    where the endpoints' address is taken.
    """
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    identity = f"{socket.gethostname()}_{os.getpid()}_{uuid.uuid4().hex[:8]}"
    async with Client(access, concurrency=settings.requests, field_manager=COMPONENT) as client:
        process = _Process(settings, client, identity)
        async with serving.endpoints(settings.address(), process.endpoints()), process.watching():
            log.info("started", extra={"object": identity, "server": access.server})
            settled = asyncio.create_task(process.lead(stop))
            follow = asyncio.create_task(process.follow_settings(file))
            try:
                await asyncio.wait({settled, asyncio.create_task(stop.wait())}, return_when=asyncio.FIRST_COMPLETED)
                log.info("stopping", extra={"object": identity, "reason": "asked to" if stop.is_set() else "ended"})
                process.deployments.stop()
                async with asyncio.timeout(FINISH_SECONDS):
                    await settled
            except TimeoutError:
                log.warning("passes cut short", extra={"object": identity, "reason": f"not over in {FINISH_SECONDS} s"})
            finally:
                follow.cancel()


class _Process:
    """Everything that lives as long as the process does."""

    def __init__(self, settings: Settings, client: Client, identity: str) -> None:
        self._settings = settings
        self._client = client
        self._identity = identity
        queue: WorkQueue[Key] = WorkQueue()
        self._watched = Watched(queue.add)
        self._reflectors = self._watched.reflectors(client)
        self._recorder = Recorder(client, COMPONENT, identity)
        self._reconciler = DeploymentController(client, self._watched, self._recorder, settings.policy(), utc_now)
        self.deployments = Controller("deployments", self._reconciler.reconcile, workers=settings.workers, queue=queue)
        self._elector = Elector(client, LEASE, settings.leader_namespace, identity, timing=_timing(settings))
        self._leading_without_lease = False

    @contextlib.asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Keep the stores current, and say once when the API server cannot be read and once when it can again.

        None of these loops ends by itself: one that does is a defect, and ends the process rather than leave it blind.
        """
        loops = [reflector.run() for reflector in self._reflectors]
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(loop) for loop in (*loops, health.report(self._reflectors), self._recorder.run())
            ]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()

    async def lead(self, stop: asyncio.Event) -> None:
        """Reconcile whenever the Lease is ours, until asked to stop."""
        if not self._settings.leader_election:
            self._leading_without_lease = True
            await self._work()
            return
        while not stop.is_set():
            campaign = asyncio.create_task(self._elector.run(self._work))
            stopped = asyncio.create_task(stop.wait())
            await asyncio.wait({campaign, stopped}, return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            if not self._elector.leading:
                campaign.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await campaign

    async def _work(self) -> None:
        await self._watched.wait_synced()
        log.info("reconciling", extra={"object": self._identity})
        await self.deployments.run()

    async def follow_settings(self, file: Path | None) -> None:
        """Take over changed settings that rendering reads; every deployment is then looked at again."""
        while file is not None:
            await asyncio.sleep(SETTINGS_SECONDS)
            try:
                policy = load(file).policy()
            except SettingsError as error:  # the settings that worked stay
                log.warning("settings not taken over", extra={"object": str(file), "reason": str(error)})
                continue
            if self._reconciler.set_policy(policy):
                log.info("settings taken over", extra={"object": str(file)})
                self._watched.wake_all()

    def endpoints(self) -> serving.Endpoints:
        """What the endpoints answer."""
        collector = metrics.OperatorCollector(
            self.deployments.counters,
            self._reconciler.tally,
            stores=lambda: {name: len(store) for name, store in self._watched.stores().items()},
            lists=lambda: {reflector.kind.plural: reflector.lists for reflector in self._reflectors},
            leading=lambda: self._leading_without_lease or self._elector.leading,
        )
        registry = metrics.registry(collector)
        return serving.Endpoints(
            metrics=lambda: metrics.exposition(registry), ready=lambda: health.unready(self._watched)
        )


def _timing(settings: Settings) -> Timing:
    lease = settings.lease_seconds
    return Timing(lease=lease, deadline=lease * 2 / 3, renew=lease * 2 / 15)
