"""The fixtures."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final, Protocol

import pytest

from modeldeployment.kube import Client, NotFound, load
from modeldeployment.kube.kinds import NAMESPACES, PODS, SERVICE_ACCOUNTS, WORKLOADS
from modeldeployment.lab.controlplane import ControlPlane
from modeldeployment.lab.flavors.providing import Provision, provide, withdraw
from modeldeployment.lab.flavors.writing import remove
from modeldeployment.lab.fleets import keys
from modeldeployment.lab.fleets.fleet import Fleet

from . import sharing
from .naming import namespace_name

FIELD_MANAGER: Final = "modeldeployment-lab"

_COUNTS: Final = pytest.StashKey[Iterator[int]]()
_ACCOUNT_SECONDS: Final = 30.0
_CLEARING_SECONDS: Final = 5.0


class ProvideFleet(Protocol):
    """Provides a fleet to the test's namespace; `fields` are those of `Fleet` but its names, which are the test's own.

    Two calls with the same hardware make one InstanceType with the sum of both quotas.
    """

    async def __call__(
        self, *, maker: str = "nvidia", nodes: int = 2, admission_checks: tuple[str, ...] = (), **fields: Any
    ) -> Provision:
        """Return the names of what was provided; raises FleetError and the client's errors."""


@pytest.fixture(scope="session")
def control_plane(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ControlPlane:
    """Return the control plane of this run, starting it if this is the first test to ask; ended by the run itself."""
    return sharing.control_plane(request.config, tmp_path_factory.getbasetemp())


@pytest.fixture
def own_control_plane(tmp_path: Path) -> Iterator[ControlPlane]:
    """Return a control plane for this test alone, which may break it."""
    with sharing.private_control_plane(tmp_path / "lab") as control_plane:
        yield control_plane


@pytest.fixture
async def kube_client(control_plane: ControlPlane) -> AsyncIterator[Client]:
    """Return an open client of the run's control plane."""
    async with Client(load(control_plane.kubeconfig), field_manager=FIELD_MANAGER) as client:
        yield client


@pytest.fixture
async def namespace(request: pytest.FixtureRequest, kube_client: Client) -> AsyncIterator[str]:
    """Return a fresh namespace's name; its deletion is begun after the test and not waited for.

    Its Pods go to its own fleets' nodes and to no others: a node that ends with its test takes the Pods on it along.
    """
    counts = request.config.stash.setdefault(_COUNTS, itertools.count(1))
    name = namespace_name(request.node.name, sharing.worker_name(request.config), next(counts))
    own_nodes = {keys.NODE_SELECTOR: f"{keys.NAMESPACE}={name}"}
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "annotations": own_nodes}}
    await kube_client.create(NAMESPACES, made)
    await await_account(kube_client, name)
    yield name
    await remove(kube_client, NAMESPACES, name)


@pytest.fixture
async def provide_fleet(kube_client: Client, namespace: str) -> AsyncIterator[ProvideFleet]:
    """Return a function that provides fleets to the test's namespace; all are taken away after the test."""
    provided: list[str] = []

    async def one(
        *,
        maker: str = "nvidia",
        nodes: int = 2,
        admission_checks: tuple[str, ...] = (),
        labels: tuple[tuple[str, str], ...] = (),
        **fields: Any,
    ) -> Provision:
        hardware = Fleet(maker=maker, nodes=nodes, **fields).hardware
        fleet = Fleet(
            maker=maker,
            nodes=nodes,
            name=f"{namespace}-{len(provided)}",
            instance_type=f"{namespace}-{hardware}",
            labels=(*labels, (keys.NAMESPACE, namespace)),
            **fields,
        )
        provided.append(fleet.name)
        return await provide(kube_client, fleet, namespaces=(namespace,), admission_checks=admission_checks)

    yield one
    await _clear(kube_client, namespace)
    for name in provided:
        await withdraw(kube_client, name)


@pytest.fixture
async def queues(provide_fleet: ProvideFleet) -> Provision:
    """Return a small fleet of the test's own: two nodes of eight NVIDIA A10G."""
    return await provide_fleet()


async def await_account(client: Client, namespace: str) -> None:
    """Wait until a namespace has its service account: until then its Pods are refused."""
    async with asyncio.timeout(_ACCOUNT_SECONDS):
        while True:
            try:
                await client.get(SERVICE_ACCOUNTS, "default", namespace)
            except NotFound:
                await asyncio.sleep(0.05)
            else:
                return


async def _clear(client: Client, namespace: str) -> None:
    # Kueue holds a group's Pods until its Workload goes, and nodes must outlive their Pods: without a node,
    # nobody plays the kubelet that ends them.
    for workload in (await client.list_metadata(WORKLOADS, namespace)).items:
        await remove(client, WORKLOADS, workload.metadata.name, namespace)
    try:
        async with asyncio.timeout(_CLEARING_SECONDS):
            while pods := (await client.list_metadata(PODS, namespace)).items:
                for pod in pods:
                    if not pod.metadata.deletion_timestamp or pod.metadata.deletion_grace_period_seconds:
                        await _end(client, pod.metadata.name, namespace)
                await asyncio.sleep(0.05)
    except TimeoutError:
        return


async def _end(client: Client, pod: str, namespace: str) -> None:
    try:
        await client.delete(PODS, pod, namespace, grace_seconds=0)
    except NotFound:
        return
