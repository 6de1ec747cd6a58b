"""Taking a round's objects away, so that the next one meets the same API server."""

from typing import Final

from modeldeployment.kube import NotFound, PatchType
from modeldeployment.lab.bench.arrivals import until_count
from modeldeployment.lab.bench.errors import Unexpected
from modeldeployment.lab.bench.wire import Connection
from modeldeployment.lab.bench.worlds import DEPLOYED, DEPLOYMENTS, NAMESPACE, PODS, WORKLOADS, World

_SECONDS: Final = 60.0


async def clear(world: World) -> None:
    """Delete every Pod, Workload and deployment of the namespace while no operator runs; raises TooSlow.

    Pods first, since a Workload that goes before them is composed again; but Kueue lets go of a group's Pods only when
    their Workload is gone. A deployment that went before would have the garbage collector delete its Pods too.
    """
    connection = await Connection.open(world.driver)
    try:
        await _delete(connection, PODS)
        await _delete(connection, WORKLOADS)
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
    finally:
        await connection.close()


async def _delete(connection: Connection, path: str) -> None:
    status, said = await connection.call("DELETE", path)
    if status not in (200, 202):
        raise Unexpected(f"DELETE {path}: the API server answered {status}: {said[:300].decode(errors='replace')}")
