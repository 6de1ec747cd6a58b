"""What the demo needs on a cluster: kinds, a fleet with its queues, a namespace; and taking it all away again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from modeldeployment.api.crds import crds
from modeldeployment.kube import Client, Kind, NotFound
from modeldeployment.kube.kinds import (
    CUSTOM_RESOURCE_DEFINITIONS,
    LEASES,
    NAMESPACES,
    PODS,
    SERVICE_ACCOUNTS,
    WORKLOADS,
)
from modeldeployment.lab.demo.errors import ClusterLost, DemoRefused
from modeldeployment.lab.demo.reading import DEPLOYMENTS
from modeldeployment.lab.flavors.installing import TOPOLOGIES, install_kinds
from modeldeployment.lab.flavors.names import topology_name
from modeldeployment.lab.flavors.providing import provide, withdraw
from modeldeployment.lab.flavors.writing import remove
from modeldeployment.lab.fleets.errors import FleetNotFound
from modeldeployment.lab.fleets.fleet import Fleet

LEASES_TAKEN: Final = ("modeldeployment-operator", "modeldeployment-scaler")
"""The operator's Leases, left behind by it in this namespace."""
LEASE_NAMESPACE: Final = "default"

_PATIENCE: Final = 60.0
_PULSE: Final = 0.1
_CLUSTER_WIDE: Final[tuple[tuple[Kind[Any], str], ...]] = (
    *((CUSTOM_RESOURCE_DEFINITIONS, crd["metadata"]["name"]) for crd in reversed(crds())),
    (TOPOLOGIES, topology_name()),
)


async def install(client: Client) -> None:
    """Install this project's kinds, so that the operator finds them."""
    await install_kinds(client)


async def furnish(client: Client, fleet: Fleet, namespace: str) -> None:
    """Put the fleet, its flavors, queues and InstanceType, and open them to the namespace, which is made.

    Raises ClusterLost where no Pod could be created in it, and what providing raises.
    """
    await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    await provide(client, fleet, namespaces=(namespace,))
    # Pods are refused until their namespace has a service account.
    try:
        async with asyncio.timeout(_PATIENCE):
            await _until(client, SERVICE_ACCOUNTS, "default", namespace, there=True)
    except TimeoutError as error:
        raise ClusterLost(
            f"namespace {namespace!r} has no service account after {_PATIENCE:.0f} s; "
            "see whether kube-controller-manager runs"
        ) from error


@asynccontextmanager
async def borrowed(client: Client, fleet: Fleet, namespace: str) -> AsyncIterator[None]:
    """Remember what a cluster had and leave it so; the operator must have ended by then.

    Raises DemoRefused where the namespace exists, and ClusterLost where something does not go away.
    """
    if await _exists(client, NAMESPACES, namespace):
        raise DemoRefused(f"namespace {namespace!r} exists on this cluster; name a new one with --namespace")
    foreign = [(kind, name) for kind, name in _CLUSTER_WIDE if not await _exists(client, kind, name)]
    leases = [name for name in LEASES_TAKEN if not await _exists(client, LEASES, name, LEASE_NAMESPACE)]
    try:
        yield
    finally:
        try:
            async with asyncio.timeout(_PATIENCE):
                await _clear(client, namespace)
                await _take_away(client, fleet)
                for name in leases:
                    await remove(client, LEASES, name, LEASE_NAMESPACE)
                for kind, name in foreign:
                    await remove(client, kind, name)
                await _until(client, NAMESPACES, namespace, there=False)
        except TimeoutError as error:
            raise ClusterLost(
                f"namespace {namespace!r} and what was in it are not gone after {_PATIENCE:.0f} s; "
                f"look for finalizers: kubectl get workloads,pods -n {namespace} -o yaml"
            ) from error


async def _clear(client: Client, namespace: str) -> None:
    """Empty and delete the namespace of a story that broke off; nodes must still be there to end the Pods."""
    for stored in await _listed(client, DEPLOYMENTS, namespace):
        # The operator that would have dropped the finalizer has ended.
        await client.patch(DEPLOYMENTS, stored, {"metadata": {"finalizers": None}}, namespace)
        await remove(client, DEPLOYMENTS, stored, namespace)
    await remove(client, NAMESPACES, namespace)
    while pods := await _listed(client, PODS, namespace):
        for workload in await _listed(client, WORKLOADS, namespace):
            await remove(client, WORKLOADS, workload, namespace)
        for pod in pods:
            await remove(client, PODS, pod, namespace)
        await asyncio.sleep(_PULSE)


async def _take_away(client: Client, fleet: Fleet) -> None:
    try:
        await withdraw(client, fleet.name)
    except FleetNotFound:
        return


async def _listed(client: Client, kind: Kind[Any], namespace: str) -> tuple[str, ...]:
    try:
        return tuple(each.metadata.name for each in (await client.list_metadata(kind, namespace)).items)
    except NotFound:
        return ()


async def _exists(client: Client, kind: Kind[Any], name: str, namespace: str | None = None) -> bool:
    try:
        await client.get(kind, name, namespace)
    except NotFound:
        return False
    return True


async def _until(client: Client, kind: Kind[Any], name: str, namespace: str | None = None, *, there: bool) -> None:
    while await _exists(client, kind, name, namespace) != there:  # noqa: ASYNC110 - the server is asked, not told
        await asyncio.sleep(_PULSE)
