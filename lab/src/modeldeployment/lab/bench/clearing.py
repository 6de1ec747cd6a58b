"""Taking a round's objects away, so that the next one meets the same API server."""

import asyncio
from collections.abc import Iterable
from typing import Any, Final

from modeldeployment.kube import Kind, NotFound, PatchType
from modeldeployment.kube import kinds as kube_kinds
from modeldeployment.lab.bench.arrivals import until_count
from modeldeployment.lab.bench.errors import TooSlow
from modeldeployment.lab.bench.wire import Connection, connections, delete_all
from modeldeployment.lab.bench.worlds import DEPLOYED, DEPLOYMENTS, NAMESPACE, PODS, WORKLOADS, World

_CONNECTIONS: Final = 16
_SECONDS: Final = 300.0
_AGAIN_SECONDS: Final = 2.0


async def clear(world: World) -> None:
    """Delete every Pod, Workload and deployment of the namespace while no operator runs; raises BenchError.

    Pods first, since a Workload that goes before them is composed again; but Kueue lets go of a group's Pods only when
    their Workload is gone, so both are asked for until neither is left. Deployments last: the garbage collector would
    delete their Pods too. Objects go one by one over many connections, for a collection is deleted by one worker.
    """
    async with connections(world.driver, _CONNECTIONS) as senders:
        left = -1
        try:
            async with asyncio.timeout(_SECONDS):
                while left != 0:
                    left = await _delete(world, senders, kube_kinds.PODS, PODS)
                    left += await _delete(world, senders, kube_kinds.WORKLOADS, WORKLOADS)
                    await asyncio.sleep(_AGAIN_SECONDS if left else 0.0)
        except TimeoutError as error:
            raise TooSlow(f"{left} Pods and Workloads of a round are still there after {_SECONDS:.0f} s") from error
        for stored in (await world.client.list(DEPLOYMENTS, NAMESPACE)).items:
            name = stored.metadata.name
            try:
                if stored.metadata.finalizers:
                    body = {"metadata": {"finalizers": None}}
                    await world.client.patch(DEPLOYMENTS, name, body, NAMESPACE, how=PatchType.MERGE)
                await world.client.delete(DEPLOYMENTS, name, NAMESPACE)
            except NotFound:
                continue
    await until_count(world.driver, DEPLOYED, 0, _SECONDS)


async def _delete(world: World, senders: Iterable[Connection], kind: Kind[Any], path: str) -> int:
    """Delete what is not being deleted yet; the answer is how many there were in all."""
    items = (await world.client.list_metadata(kind, NAMESPACE)).items
    standing = [each.metadata.name for each in items if not each.metadata.deletion_timestamp]
    await delete_all(senders, [f"{path}/{name}" for name in standing])
    return len(items)
