"""Deployments that have come to rest: every Pod Running, every status written, nothing left to do."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final

from modeldeployment.kube.kinds import PODS as POD_KIND
from modeldeployment.lab.bench import audits, manifests
from modeldeployment.lab.bench.arrivals import until_count
from modeldeployment.lab.bench.errors import TooSlow
from modeldeployment.lab.bench.operating import Operator, operator
from modeldeployment.lab.bench.telling import Tell
from modeldeployment.lab.bench.wire import connections, post_all
from modeldeployment.lab.bench.worlds import DEPLOYED, NAMESPACE, PODS, World

_SECONDS: Final = 600.0
_QUIET_SECONDS: Final = 5.0


@contextlib.asynccontextmanager
async def settled(world: World, name: str, *, deployments: int, replicas: int, tell: Tell) -> AsyncIterator[Operator]:
    """Make deployments and yield the operator that looks after them once all is at rest. Raises TooSlow."""
    total = deployments * replicas
    tell(f"settling {deployments} deployments of {replicas} replicas")
    bodies = [
        manifests.compact(
            manifests.deployment(f"{name}-{number}", NAMESPACE, world.provision.instance_type, replicas=replicas)
        )
        for number in range(deployments)
    ]
    audit = world.audit()
    async with operator(world) as running:
        await running.until_ready()
        async with connections(world.driver, 4) as senders:
            await post_all(senders, DEPLOYED, bodies)
        await until_count(world.driver, PODS, total, _SECONDS)
        await until_running(world, total)
        await until_quiet(audit)
        yield running


async def until_quiet(audit: audits.Log) -> None:
    """Wait until the operator has asked for nothing but watches and Leases for some seconds. Raises TooSlow."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _SECONDS
    since = loop.time()
    asked: dict[tuple[str, str], int] = {}
    while loop.time() - since < _QUIET_SECONDS:
        await asyncio.sleep(0.25)
        if now := audits.besides_watches_and_leases(audit.since_last()):
            asked, since = now, loop.time()
        if loop.time() > deadline:
            raise TooSlow(f"the operator is not at rest after {_SECONDS:.0f} s; it asks for {audits.told(asked)}")


async def until_running(world: World, total: int) -> None:
    """Wait until so many Pods are Running. Raises TooSlow."""
    running = 0
    try:
        async with asyncio.timeout(_SECONDS):
            while running < total:
                await asyncio.sleep(1.0)
                listing = await world.client.list_metadata(POD_KIND, NAMESPACE, fields="status.phase=Running")
                running = len(listing.items)
    except TimeoutError as error:
        raise TooSlow(f"{running} of {total} Pods are Running after {_SECONDS:.0f} s") from error
