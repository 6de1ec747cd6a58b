"""What nodes do to replicas: drained, evicting, gone, or silent. A sibling elsewhere never notices."""

import asyncio
import json
from typing import Final

import pytest
from e2e_board import ready, uids
from e2e_nodes import silence
from e2e_standing import crowded, standing, stayed
from e2e_worlds import MakeWorld, World
from modeldeployment.kube import PatchType
from modeldeployment.kube.kinds import NODES, PODS
from modeldeployment.kube.shapes import Pod

pytestmark = pytest.mark.lab

WHILE: Final = 4.0
"""Seconds for which something is watched not to happen."""


async def test_a_drained_node_gives_its_replica_to_another_and_no_sibling_moves(make_world: MakeWorld) -> None:
    world = await make_world(nodes=3)
    await world.create("chat", replicas=2, resources={"accelerator": 8})
    await world.settled("chat")
    before, (moved,) = standing(world.board, "chat"), world.board.replicas("chat")[1]
    crowd = world.board.follow(lambda: crowded(world.board, "chat"))

    drained = ("--ignore-daemonsets", "--timeout=60s")
    said = await world.kubectl("drain", moved.spec.node_name, *drained)
    assert said.code == 0, said.err
    await world.board.until(lambda: _replaced(world, 1, moved), what="the replica runs elsewhere")
    await world.settled("chat")
    (now,) = world.board.replicas("chat")[1]
    assert now.spec.node_name != moved.spec.node_name
    assert stayed(before, standing(world.board, "chat")) == {("server", 0, 0)}
    assert uids(world.board.deleted(PODS)) == [moved.metadata.uid]
    assert max(crowd) == 1


async def test_a_disruption_budget_keeps_a_replica_from_being_drained(make_world: MakeWorld) -> None:
    world = await make_world(nodes=2)
    await world.create("chat", replicas=1)
    await world.settled("chat")
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "chat"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app.kubernetes.io/instance": "chat"}}},
    }
    await world.kubectl("create", "-f", "-", stdin=json.dumps(budget))
    before = standing(world.board, "chat")
    (pod,) = world.board.replicas("chat")[0]
    said = await world.kubectl("drain", pod.spec.node_name, "--timeout=3s")
    assert said.code == 1
    assert "Cannot evict pod as it would violate the pod's disruption budget" in said.err
    assert stayed(before, standing(world.board, "chat")) == {("server", 0, 0)}
    assert world.board.deleted(PODS) == []


async def test_a_follower_that_its_kubelet_evicts_takes_its_replica_and_no_other(make_world: MakeWorld) -> None:
    world = await make_world(nodes=2)
    await world.create("wide", replicas=2, size=2)
    await world.settled("wide")
    before, replica = standing(world.board, "wide"), world.board.replicas("wide")[0]
    evicted = {"status": {"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory."}}
    await world.client.patch(
        PODS, "wide-server-r0-m1", evicted, world.namespace, how=PatchType.MERGE, subresource="status"
    )
    await world.board.until(lambda: _replaced(world, 0, replica[0], "wide"), what="replica 0 is replaced")
    await world.settled("wide")
    assert stayed(before, standing(world.board, "wide")) == {("server", 1, 0), ("server", 1, 1)}
    assert set(uids(world.board.deleted(PODS))) == set(uids(replica))
    note = "replica Pod wide-server-r0-m1 was evicted by its node; its siblings lose the cached blocks it held "
    assert [each for each in world.board.notes("ReplicaEvicted") if each.startswith(note)]


@pytest.mark.parametrize("member", [0, 1])
async def test_kubectl_delete_pod_on_a_member_of_two_ends_when_the_whole_replica_is_replaced(
    world: World, member: int
) -> None:
    await world.create("wide", replicas=2, size=2)
    await world.settled("wide")
    before, replica = standing(world.board, "wide"), world.board.replicas("wide")[1]
    said = await world.kubectl("delete", "pod", f"wide-server-r1-m{member}", "--timeout=60s")
    assert (said.code, said.err) == (0, "")
    await world.board.until(lambda: _replaced(world, 1, replica[member], "wide"), what="replica 1 is replaced")
    await world.settled("wide")
    assert stayed(before, standing(world.board, "wide")) == {("server", 0, 0), ("server", 0, 1)}
    assert set(uids(world.board.deleted(PODS))) == set(uids(replica))
    assert len(world.board.came(PODS)) == 6


async def test_a_replica_deleted_by_force_is_replaced_once_and_never_doubled(world: World) -> None:
    await world.create("chat", replicas=2)
    await world.settled("chat")
    before, (lost,) = standing(world.board, "chat"), world.board.replicas("chat")[0]
    crowd = world.board.follow(lambda: crowded(world.board, "chat"))
    said = await world.kubectl("delete", "pod", lost.metadata.name, "--force", "--grace-period=0")
    assert said.code == 0, said.err
    await world.board.until(lambda: _replaced(world, 0, lost), what="ordinal 0 is replaced")
    await world.settled("chat")
    assert stayed(before, standing(world.board, "chat")) == {("server", 1, 0)}
    assert (len(world.board.came(PODS)), max(crowd)) == (3, 1)


async def test_a_replica_on_a_silent_node_is_kept_and_new_ones_go_elsewhere(make_world: MakeWorld) -> None:
    world = await make_world(nodes=3)
    await world.create("chat", replicas=2, resources={"accelerator": 8})
    await world.settled("chat")
    before, (lonely,) = standing(world.board, "chat"), world.board.replicas("chat")[1]
    await silence(world, lonely.spec.node_name, lonely.metadata.name)
    await world.board.until(lambda: world.board.status("chat")["phase"] == "Degraded", what="that is said")

    await world.scale("chat", 3)
    await world.board.until(lambda: world.board.status("chat")["roles"][0]["ready"] == 2, what="a third replica runs")
    await asyncio.sleep(WHILE)
    assert stayed(before, standing(world.board, "chat")) == {("server", 0, 0), ("server", 1, 0)}
    assert world.board.deleted(PODS) == []
    assert world.board.replicas("chat")[2][0].spec.node_name != lonely.spec.node_name
    assert world.board.status("chat")["phase"] == "Degraded"


async def test_a_replica_whose_node_was_deleted_is_replaced_once_its_pod_is_given_up_and_on_a_silent_node_none_is(
    make_world: MakeWorld,
) -> None:
    world = await make_world(nodes=4)
    await world.create("chat", replicas=3, resources={"accelerator": 8})
    await world.settled("chat")
    before, replicas = standing(world.board, "chat"), world.board.replicas("chat")
    (lost,), (lonely,) = replicas[1], replicas[2]
    crowd = world.board.follow(lambda: crowded(world.board, "chat"))
    await silence(world, lonely.spec.node_name, lonely.metadata.name)
    # Nobody but the garbage collector of Pods gives up a Pod without a node; it takes most of a minute.
    await world.client.delete(NODES, lost.spec.node_name)
    await world.board.until(lambda: _replaced(world, 1, lost), what="ordinal 1 is replaced", within=180)
    assert stayed(before, standing(world.board, "chat")) == {("server", 0, 0), ("server", 2, 0)}
    assert (len(world.board.came(PODS)), max(crowd)) == (4, 1)
    (now,) = world.board.replicas("chat")[1]
    assert now.spec.node_name not in ("", lost.spec.node_name, lonely.spec.node_name)
    await world.board.until(
        lambda: [each["ready"] for each in world.board.status("chat")["roles"]] == [2], what="two of three serve"
    )


def _replaced(world: World, slot: int, old: Pod, name: str = "chat") -> bool:
    members = world.board.replicas(name).get(slot, [])
    return bool(members) and all(ready(pod) for pod in members) and old.metadata.uid not in uids(members)
