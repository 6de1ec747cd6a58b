"""A set of which one replica does not fit runs nothing, over time; once there is room all of it runs."""

import asyncio
from pathlib import Path

import pytest
from e2e_board import uids
from e2e_sets import create, pair, started, workloads
from e2e_worlds import MakeWorld, World
from modeldeployment.api import kueue
from modeldeployment.kube.kinds import PODS
from modeldeployment.kube.shapes import Pod
from modeldeployment.lab.pytest_plugin import ObtainProgram
from modeldeployment.lab.serving import Serving

pytestmark = pytest.mark.lab

CHECKED = (kueue.JOINT_CHECK,)

A_WHILE = 6.0
"""Seconds over which it is watched that nothing starts."""


async def starves(world: World, name: str, waiting: int, of: int) -> None:
    """Assert that a set gets Pods and quota, that so many replicas wait, and that nothing starts meanwhile."""
    running = world.board.follow(lambda: len(started(world, name)))
    said = f"{waiting} of {of} replicas wait for quota"
    await world.board.until(
        lambda: (
            world.board.says(name, "QuotaReserved", "False", "Pending")
            and world.board.condition(name, "QuotaReserved")["message"].startswith(said)
        ),
        what=said,
    )
    await asyncio.sleep(A_WHILE)
    assert max(running) == 0
    assert world.board.status(name)["phase"] == "Starting"
    assert world.board.status(name)["roleSummary"] == "0P0D"


async def test_roles_on_two_makers_start_together_or_not_at_all(make_world: MakeWorld) -> None:
    nvidia = await make_world(nodes=1, admission_checks=CHECKED)
    ascend = await make_world(maker="ascend", nodes=1, admission_checks=CHECKED)
    full = {"resources": {"accelerator": 8}}
    roles = [
        nvidia.role("prefill", kind="Prefill", replicas=1, **full),
        ascend.role("decode", kind="Decode", replicas=2, **full),
    ]
    await create(nvidia, nvidia.manifest("mixed", roles=roles))
    await starves(nvidia, "mixed", 1, 3)
    before = set(uids(nvidia.board.all_pods("mixed")))

    await make_world(maker="ascend", nodes=1, admission_checks=CHECKED)
    await nvidia.settled("mixed")
    assert set(uids(nvidia.board.all_pods("mixed"))) == before
    assert nvidia.board.deleted(PODS) == []
    flavors = [role["assignedFlavors"] for role in nvidia.board.status("mixed")["roles"]]
    assert len(flavors) == 2
    assert all(len(each) == 1 for each in flavors)


async def test_replicas_of_two_pods_in_one_rack_start_together_or_not_at_all(make_world: MakeWorld) -> None:
    # Four nodes of eight cards have room for both replicas by count; one of the racks is too small for any.
    world = await make_world(nodes=4, nodes_per_rack=3, admission_checks=CHECKED)
    wide = {"size": 2, "resources": {"accelerator": 8}, "topology": {"requiredLevel": "lab/rack"}}
    await create(world, pair(world, "wide", 1, 1, **wide))
    await starves(world, "wide", 1, 2)

    await make_world(nodes=2, nodes_per_rack=3, admission_checks=CHECKED)
    await world.settled("wide")
    assert len(world.board.came(PODS)) == 4
    for role in ("prefill", "decode"):
        [members] = world.board.replicas("wide", role).values()
        assert len({pod.spec.node_name for pod in members}) == 2


async def test_a_set_grows_together_and_what_runs_is_not_touched(make_world: MakeWorld) -> None:
    world = await make_world(nodes=1, admission_checks=CHECKED)
    await create(world, pair(world, "chat", 2, 2))
    await world.settled("chat")
    before = set(uids(world.board.all_pods("chat")))
    more = world.board.follow(lambda: len(started(world, "chat")))

    await world.edit("chat", "/spec/roles/0/replicas", 4)
    await world.edit("chat", "/spec/roles/1/replicas", 5)
    await world.board.until(lambda: len(workloads(world, "chat")) == 9, what="the newcomers queue")
    await asyncio.sleep(A_WHILE)
    assert max(more) == 4
    await world.edit("chat", "/spec/roles/1/replicas", 4)
    await world.settled("chat")

    assert before <= set(uids(world.board.all_pods("chat")))
    gone = {pod.metadata.uid for pod in world.board.deleted(PODS)}
    assert not gone & before
    assert len(gone) == 1  # the newcomer that nothing fits for any more


async def test_a_burst_of_counts_over_a_running_set_restarts_nothing(
    make_world: MakeWorld, program: ObtainProgram, tmp_path: Path
) -> None:
    world = await make_world(nodes=2, admission_checks=CHECKED)
    # A newcomer that became ready before its count went leaves once its engine says that it is idle.
    async with Serving(world.client, world.control_plane, world.namespace, tmp_path, program):
        await create(world, pair(world, "chat", 2, 2))
        await world.settled("chat")
        first = {
            (role, ordinal): members[0] for role in ("prefill", "decode") for ordinal, members in _seats(world, role)
        }

        for prefill, decode in ((5, 2), (3, 6), (7, 1), (2, 4), (1, 8), (4, 4), (2, 2)):
            await world.edit("chat", "/spec/roles/0/replicas", prefill)
            await world.edit("chat", "/spec/roles/1/replicas", decode)
        await world.settled("chat")

    for role, ordinal in (("prefill", 0), ("decode", 0)):
        [now] = dict(_seats(world, role))[ordinal]
        assert now.metadata.uid == first[role, ordinal].metadata.uid
        assert sum(each.restart_count for each in now.status.container_statuses) == 0


def _seats(world: World, role: str) -> list[tuple[int, list[Pod]]]:
    return list(world.board.replicas("chat", role).items())
