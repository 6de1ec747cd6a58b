"""Everything a ModelDeployment needs to run on a fleet, put on a cluster and taken away again."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from modeldeployment.api import kueue
from modeldeployment.kube import Client
from modeldeployment.kube.kinds import (
    CLUSTER_QUEUES,
    LOCAL_QUEUES,
    NAMESPACES,
    RESOURCE_FLAVORS,
)
from modeldeployment.lab.fleets import keys
from modeldeployment.lab.fleets.applying import put_fleet, remove_fleet, standing_fleets, wait_until_ready
from modeldeployment.lab.fleets.errors import QueueInactive
from modeldeployment.lab.fleets.fleet import Fleet

from .installing import INSTANCE_TYPES, TOPOLOGIES, install_kinds, require_kueue
from .instance_types import instance_type, instance_type_status
from .names import flavor_name, local_queue_name
from .pools import Pool, pool_of
from .queues import cluster_queue, local_queue_manifest, resource_flavors, topology
from .writing import apply, remove, until

_SYSTEM: Final = ("kube-", "kueue-")
_PATIENCE: Final = 60.0
"""Seconds for a queue to become active."""


@dataclass(frozen=True, slots=True)
class Provision:
    """Names of what was provided; `local_queue` is the same name in every namespace."""

    fleet: Fleet
    instance_type: str
    cluster_queue: str
    local_queue: str
    namespaces: tuple[str, ...]


async def provide(
    client: Client,
    fleet: Fleet,
    *,
    namespaces: Iterable[str] = (),
    admission_checks: tuple[str, ...] = (),
) -> Provision:
    """Put the fleet's nodes, its flavors and queues and its InstanceType with status; doing it again changes nothing.

    The quota is that of every fleet standing on the cluster with the same InstanceType; the ClusterQueue's checks
    are those of the latest call. Returns when the nodes are Ready and the ClusterQueue is active, except that a
    queue with admission checks may wait for those. Raises PoolMismatch, FleetError and the client's errors.
    """
    await require_kueue(client)
    await install_kinds(client)
    others = [standing.fleet for standing in await standing_fleets(client) if standing.fleet.name != fleet.name]
    pool = pool_of([fleet, *(other for other in others if other.instance_type == fleet.instance_type)])
    await put_fleet(client, fleet)
    await put_pool(client, pool, admission_checks)
    entered = tuple([await local_queue(client, namespace, pool.name) for namespace in namespaces])
    await wait_until_ready(client, fleet)
    if not admission_checks:
        await _until_active(client, pool.name)
    return Provision(fleet, pool.name, pool.name, local_queue_name(pool.name), entered)


async def put_pool(client: Client, pool: Pool, admission_checks: tuple[str, ...] = ()) -> None:
    """Put a pool's Topology, flavors, ClusterQueue and InstanceType with status; raises the client's errors."""
    await apply(client, TOPOLOGIES, topology())
    for flavor in resource_flavors(pool):
        await apply(client, RESOURCE_FLAVORS, flavor)
    await apply(client, CLUSTER_QUEUES, cluster_queue(pool, admission_checks))
    await apply(client, INSTANCE_TYPES, instance_type(pool))
    await apply(client, INSTANCE_TYPES, instance_type_status(pool), subresource="status")


async def local_queue(client: Client, namespace: str, instance_type_name: str) -> str:
    """Let one namespace into an InstanceType's ClusterQueue and return the namespace; raises the client's errors."""
    manifest = local_queue_manifest(namespace, instance_type_name)
    await apply(client, LOCAL_QUEUES, manifest, namespace=namespace)
    return namespace


async def open_namespaces(client: Client) -> tuple[str, ...]:
    """Return every namespace but the system's own, which get no queues (facts api-dependencies §2)."""
    names = (namespace.metadata.name for namespace in (await client.list(NAMESPACES)).items)
    return tuple(sorted(name for name in names if not name.startswith(_SYSTEM)))


async def withdraw(client: Client, name: str, *, admission_checks: tuple[str, ...] = ()) -> int:
    """Take a fleet away by name and return how many nodes it had.

    Fleets left in its pool keep their queues with the smaller quota; after the last one, the pool's LocalQueues,
    ClusterQueue, flavors and InstanceType go too. Kueue keeps a ClusterQueue until its Workloads are gone. The
    Topology stays: all pools share it. Raises FleetNotFound and the client's errors.
    """
    standing = [each.fleet for each in await standing_fleets(client)]
    removed = await remove_fleet(client, name)
    fleet = next(each for each in standing if each.name == name)
    left = [each for each in standing if each.instance_type == fleet.instance_type and each.name != name]
    if left:
        await put_pool(client, pool_of(left), admission_checks)
    if flavor_name(fleet) not in {flavor_name(each) for each in left}:
        await _withdraw_pool(client, fleet, whole=not left)
    return removed


async def _withdraw_pool(client: Client, fleet: Fleet, *, whole: bool) -> None:
    if whole:
        for queue in (await client.list(LOCAL_QUEUES, labels=f"{keys.TYPE}={fleet.instance_type}")).items:
            await remove(client, LOCAL_QUEUES, queue.metadata.name, queue.metadata.namespace)
        await remove(client, CLUSTER_QUEUES, fleet.instance_type)
        await remove(client, INSTANCE_TYPES, fleet.instance_type)
    await remove(client, RESOURCE_FLAVORS, flavor_name(fleet))


async def _until_active(client: Client, queue: str) -> None:
    try:
        async with asyncio.timeout(_PATIENCE):
            await until(client, CLUSTER_QUEUES, queue, kueue.QueueCondition.ACTIVE)
    except TimeoutError as error:
        conditions = (await client.get(CLUSTER_QUEUES, queue)).status.conditions
        why = next((each.message for each in conditions if each.type == kueue.QueueCondition.ACTIVE), "Kueue is silent")
        raise QueueInactive(f"ClusterQueue {queue!r} is not active after {_PATIENCE:.0f} s: {why}") from error
