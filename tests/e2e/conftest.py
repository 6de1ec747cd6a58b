"""Fixtures of the end-to-end tests.

Ordinary tests share the run's control plane. Each worker of pytest-xdist runs one operator against it; they share one
Lease, so one of them writes and the others stand by until it stops. Tests that kill operators or components use the
worker's breakable control plane, where each test runs operators of its own under a Lease of its own.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from e2e_accounts import account
from e2e_board import watching
from e2e_installed import Hooks
from e2e_operators import Operator, Start
from e2e_picked import picked as picked
from e2e_picked import picker as picker
from e2e_retiring import breakable_serving as breakable_serving
from e2e_retiring import serving as serving
from e2e_webhooks import webhook_namespace as webhook_namespace
from e2e_worlds import MakeWorld, World
from modeldeployment.kube import Client, load
from modeldeployment.kube.kinds import NAMESPACES
from modeldeployment.lab.controlplane import ControlPlane
from modeldeployment.lab.flavors.installing import install_kinds
from modeldeployment.lab.flavors.providing import provide
from modeldeployment.lab.fleets.fleet import Fleet
from modeldeployment.lab.pytest_plugin import ProvideFleet, await_account
from modeldeployment.lab.pytest_plugin.sharing import private_control_plane

_numbers = pytest.StashKey[Iterator[int]]()


@pytest.fixture(scope="session")
def operator(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    """This worker's operator on the run's control plane, with its own account's rights."""
    asyncio.run(_install(control_plane))
    folder = tmp_path_factory.mktemp("operator")
    kubeconfig = asyncio.run(account(control_plane, "default", folder))
    started = Operator(kubeconfig, folder, "operator", {})
    yield started
    asyncio.run(started.stop())


@pytest.fixture
async def make_world(
    control_plane: ControlPlane, operator: Operator, kube_client: Client, namespace: str, provide_fleet: ProvideFleet
) -> AsyncIterator[MakeWorld]:
    """Return a function that makes the test's world; its arguments are the fleet's."""
    assert operator.process.poll() is None, operator.tail()
    async with watching(kube_client, namespace) as board:
        made: list[World] = []

        async def make(**fleet: Any) -> World:
            made.append(World(control_plane, kube_client, namespace, await provide_fleet(**fleet), board))
            return made[-1]

        yield make
    for world in made[:1]:
        await world.clear()


@pytest.fixture
async def world(make_world: MakeWorld) -> World:
    """Return a world with two nodes of eight NVIDIA A10G each."""
    return await make_world()


@pytest.fixture(scope="session")
def breakable_control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane that this worker's tests may break, as long as they mend it."""
    with private_control_plane(tmp_path_factory.mktemp("breakable") / "lab") as control_plane:
        yield control_plane


@pytest.fixture
async def breakable(request: pytest.FixtureRequest, breakable_control_plane: ControlPlane) -> AsyncIterator[World]:
    """Return a world on the breakable control plane, with three nodes of eight cards and no operator yet."""
    numbers = request.config.stash.setdefault(_numbers, itertools.count(1))
    namespace = f"breakable-{next(numbers)}"
    async with Client(load(breakable_control_plane.kubeconfig), field_manager="modeldeployment-lab") as client:
        await install_kinds(client)
        await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        await await_account(client, namespace)
        fleet = Fleet(maker="nvidia", nodes=3, name=namespace, instance_type=f"{namespace}-a10g")
        provision = await provide(client, fleet, namespaces=(namespace,))
        async with watching(client, namespace) as board:
            world = World(breakable_control_plane, client, namespace, provision, board)
            yield world
        # After the watches: their connections take a moment to say goodbye, and the event loop must still run then.
        await world.clear()


@pytest.fixture
async def start_operator(breakable: World, tmp_path: Path) -> AsyncIterator[Start]:
    """Return a function that starts an operator on the breakable world; all are killed after the test.

    Each has the rights of the account that the test's namespace holds, and no other.
    """
    started: list[Operator] = []
    kubeconfig = await account(breakable.control_plane, breakable.namespace, tmp_path)

    def start(**settings: str) -> Operator:
        chosen = {"GPUSTACK_LEADER_NAMESPACE": breakable.namespace, "GPUSTACK_LEASE_SECONDS": "4", **settings}
        name = f"operator-{len(started)}"
        started.append(Operator(kubeconfig, tmp_path, name, chosen))
        return started[-1]

    yield start
    for each in started:
        each.kill()


@pytest.fixture
async def hooks(breakable: World, tmp_path: Path) -> AsyncIterator[Hooks]:
    """Return what starts webhooks for the breakable world; all are ended, their configurations gone, after the test."""
    kubeconfig = await account(breakable.control_plane, breakable.namespace, tmp_path)
    started = Hooks(breakable, kubeconfig, tmp_path)
    yield started
    await started.clear()


async def _install(control_plane: ControlPlane) -> None:
    async with Client(load(control_plane.kubeconfig), field_manager="modeldeployment-lab") as client:
        await install_kinds(client)
