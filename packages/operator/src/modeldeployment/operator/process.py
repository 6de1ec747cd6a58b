"""The process: its hats and its endpoints, put together and taken apart in order."""

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
import uuid
from collections.abc import Collection
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from prometheus_client.registry import Collector

from modeldeployment.kube import Access, Client
from modeldeployment.operator import journaling, metrics, serving
from modeldeployment.operator.admitting import Admission
from modeldeployment.operator.controlling import COMPONENT, Controllers
from modeldeployment.operator.errors import SettingsError
from modeldeployment.operator.scaling import Scaling
from modeldeployment.operator.settings import Settings, load
from modeldeployment.scaler import Shared
from modeldeployment.scaler.journal import Journal

log = logging.getLogger(__name__)

FINISH_SECONDS = 20.0
"""How long passes in hand may take to finish after SIGTERM; cutting one short is safe, only untidy."""

SETTINGS_SECONDS = 5.0
"""How often the settings file is looked at."""


class Hat(StrEnum):
    """What a process can do; all of it unless told otherwise."""

    WEBHOOK = "webhook"
    CONTROLLERS = "controllers"
    SCALER = "scaler"


class _Hat(Protocol):
    """One of them, under way."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Everything that lives as long as the process."""

    async def work(self, stop: asyncio.Event) -> None:
        """What has to be finished before the process ends."""

    def finish(self) -> None:
        """Take on nothing new."""

    def take_over(self, settings: Settings) -> bool:
        """Use changed settings; tells whether any of its own has changed."""

    def waiting(self) -> tuple[str, ...]:
        """What keeps it from being ready."""

    def collector(self) -> Collector:
        """Its series."""


async def run(settings: Settings, access: Access, file: Path | None = None, hats: Collection[Hat] = tuple(Hat)) -> None:
    """Run until SIGTERM or SIGINT: passes in hand are finished and Leases are handed on.

    Everybody serves the endpoints and reviews, and keeps stores warm; only the holder of the Lease reconciles. Raises
    ListenError where an address is taken, SettingsError where the webhook alone is wanted and nothing leads to it.
    """
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    identity = f"{socket.gethostname()}_{os.getpid()}_{uuid.uuid4().hex[:8]}"
    async with (
        Client(access, concurrency=settings.requests, field_manager=COMPONENT) as client,
        contextlib.AsyncExitStack() as stack,
    ):
        journal = stack.enter_context(journaling.kept(settings))
        worn = _worn(settings, access, client, identity, journal, hats)
        await stack.enter_async_context(serving.endpoints(settings.address(), _endpoints(worn, journal)))
        for hat in worn:
            await stack.enter_async_context(hat.running())
        _settle_memory()
        log.info("started", extra={"object": identity, "server": access.server})
        settled = asyncio.create_task(_work(worn, stop))
        follow = asyncio.create_task(_follow_settings(file, worn))
        try:
            await asyncio.wait({settled, asyncio.create_task(stop.wait())}, return_when=asyncio.FIRST_COMPLETED)
            log.info("stopping", extra={"object": identity, "reason": "asked to" if stop.is_set() else "ended"})
            for hat in worn:
                hat.finish()
            async with asyncio.timeout(FINISH_SECONDS):
                await settled
        except TimeoutError:
            log.warning("passes cut short", extra={"object": identity, "reason": f"not over in {FINISH_SECONDS} s"})
        finally:
            follow.cancel()


def _settle_memory() -> None:
    """Look for garbage less often, and never in what is there at the start, of which next to nothing is garbage.

    A review makes thousands of small objects and no cycles; looking through them while it runs is what its slowest
    hundredth would wait for.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


async def _work(worn: tuple[_Hat, ...], stop: asyncio.Event) -> None:
    await asyncio.gather(*(hat.work(stop) for hat in worn))


def _worn(
    settings: Settings, access: Access, client: Client, identity: str, journal: Journal, hats: Collection[Hat]
) -> tuple[_Hat, ...]:
    """The hats of this process; the webhook first and so the last to go: it reviews what the others write."""
    worn: list[_Hat] = []
    if Hat.WEBHOOK in hats:
        plan = settings.webhook()
        way = "set webhook-url or webhook-service"
        if plan is not None:
            worn.append(Admission(plan, settings, access, client, identity))
        elif set(hats) == {Hat.WEBHOOK}:
            raise SettingsError(f"the webhook cannot be installed: nothing leads to it; {way}")
        else:
            log.warning("writes are not reviewed", extra={"reason": f"nothing leads to the webhook; {way}"})
    shared: Shared | None = None
    if Hat.CONTROLLERS in hats:
        controllers = Controllers(settings, client, identity)
        shared = controllers.shared()
        worn.append(controllers)
    if Hat.SCALER in hats:
        worn.append(Scaling(settings, client, identity, journal, shared))
    return tuple(worn)


async def _follow_settings(file: Path | None, worn: tuple[_Hat, ...]) -> None:
    """Take over changed settings that rendering and admission read."""
    while file is not None:
        await asyncio.sleep(SETTINGS_SECONDS)
        try:
            settings = load(file)
        except SettingsError as error:  # the settings that worked stay
            log.warning("settings not taken over", extra={"object": str(file), "reason": str(error)})
            continue
        taken = [hat.take_over(settings) for hat in worn]
        if any(taken):
            log.info("settings taken over", extra={"object": str(file)})


def _endpoints(worn: tuple[_Hat, ...], journal: Journal) -> serving.Endpoints:
    """What the endpoints answer."""
    registry = metrics.registry(*(hat.collector() for hat in worn))
    return serving.Endpoints(
        metrics=lambda: metrics.exposition(registry),
        ready=lambda: [each for hat in worn for each in hat.waiting()],
        journal=journal.of,
    )
