"""Taking a round's objects away, so that the next one meets the same API server."""

from collections.abc import Iterable
from typing import Any, Final

from modeldeployment.kube import Kind, NotFound, PatchType
from modeldeployment.kube import kinds as kube_kinds
from modeldeployment.lab.bench.arrivals import until_count
from modeldeployment.lab.bench.wire import Connection, connections, delete_all
from modeldeployment.lab.bench.worlds import DEPLOYED, DEPLOYMENTS, NAMESPACE, PODS, WORKLOADS, World

_CONNECTIONS: Final = 16
_SECONDS: Final = 300.0


async def clear(world: World) -> None:
    """Delete every Pod, Workload and deployment of the namespace while no operator runs; raises BenchError.

    Pods first, since a Workload that goes before them is composed again; but Kueue lets go of a group's Pods only when
    their Workload is gone. A deployment that went before would have the garbage collector delete its Pods too. Objects
    are deleted one by one over many connections: the server would walk through a collection with a single worker.
    """
    async with connections(world.driver, _CONNECTIONS) as senders:
        await _delete(world, senders, kube_kinds.PODS, PODS)
        await _delete(world, senders, kube_kinds.WORKLOADS, WORKLOADS)
        await until_count(world.driver, PODS, 0, _SECONDS)
        await until_count(world.driver, WORKLOADS, 0, _SECONDS)
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


async def _delete(world: World, senders: Iterable[Connection], kind: Kind[Any], path: str) -> None:
    listing = await world.client.list_metadata(kind, NAMESPACE)
    await delete_all(senders, [f"{path}/{each.metadata.name}" for each in listing.items])
