import json

import pytest
from e2e_board import ordinal, owners, ready, restarts, uids
from e2e_worlds import WHOLE_PODS, MakeWorld, World
from modeldeployment.kube import PatchType, custom
from modeldeployment.kube.kinds import CLUSTER_QUEUES, PODS, WORKLOADS
from modeldeployment.kube.shapes import Pod

pytestmark = pytest.mark.lab

PRIORITIES = custom("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False)


async def test_a_lost_replica_is_replaced_once_its_slot_is_empty(world: World) -> None:
    await world.create("chat", replicas=2)
    await world.settled("chat")
    (lost,), (kept,) = world.board.replicas("chat")[1], world.board.replicas("chat")[0]
    of_slot_one = world.board.follow(lambda: sum(ordinal(pod) == 1 for pod in world.board.all_pods("chat")))

    said = await world.kubectl("delete", "pod", lost.metadata.name, "--wait=false")
    assert said.code == 0
    await world.board.until(lambda: _replaced(world, 1, lost.metadata.uid), what="ordinal 1 is replaced")
    await world.settled("chat")

    assert max(of_slot_one) == 1
    assert uids(world.board.deleted(PODS)) == [lost.metadata.uid]
    assert len(world.board.came(PODS)) == 3
    (survivor,) = world.board.replicas("chat")[0]
    assert (survivor.metadata.uid, restarts(survivor)) == (kept.metadata.uid, 0)
    leaving = f"replica Pod {lost.metadata.name} is leaving; its siblings lose the cached blocks it held after 30 s"
    await world.board.until(lambda: leaving in world.board.notes("ReplicaLeaving"), what="the departure is said")


async def test_a_lost_member_takes_its_whole_replica_with_it(world: World) -> None:
    await world.create("wide", replicas=2, size=2)
    await world.settled("wide")
    whole, other = world.board.replicas("wide")[0], world.board.replicas("wide")[1]

    await world.client.delete(PODS, "wide-server-r0-m1", world.namespace)
    await world.board.until(lambda: _replaced(world, 0, whole[0].metadata.uid), what="replica 0 is replaced")
    await world.settled("wide")

    assert set(uids(world.board.deleted(PODS))) == set(uids(whole))
    assert uids(world.board.replicas("wide")[1]) == uids(other)
    assert len(world.board.came(PODS)) == 6


async def test_a_workload_deleted_by_hand_costs_its_replica_and_no_other(world: World) -> None:
    await world.create("chat", replicas=2)
    await world.settled("chat")
    (victim,), (kept,) = world.board.replicas("chat")[0], world.board.replicas("chat")[1]
    workload = world.board.workload_of(victim)
    assert workload is not None

    await world.client.delete(WORKLOADS, workload.metadata.name, world.namespace)
    await world.board.until(
        lambda: [each for each in world.board.deleted(WORKLOADS) if each.metadata.uid == workload.metadata.uid],
        what="the Workload is gone",
    )
    await world.board.until(
        lambda: (
            (now := world.board.replicas("chat").get(0))
            and (held := world.board.workload_of(now[0]))
            and held.metadata.uid != workload.metadata.uid
        ),
        what="ordinal 0 has another Workload",
    )
    await world.settled("chat")
    assert uids(world.board.replicas("chat")[1]) == [kept.metadata.uid]
    assert [ordinal(pod) for pod in world.board.deleted(PODS)] in ([], [0])


async def test_a_preempted_replica_comes_back_when_the_preemptor_leaves(make_world: MakeWorld) -> None:
    world = await make_world(nodes=1)
    policy = {"spec": {"preemption": {"withinClusterQueue": "LowerPriority"}}}
    await world.client.patch(CLUSTER_QUEUES, world.provision.cluster_queue, policy, how=PatchType.MERGE)
    await world.create("chat", replicas=2, resources={"accelerator": 4})
    await world.settled("chat")
    replicas = world.board.replicas("chat")
    priority = {"metadata": {"name": world.namespace}, "value": 1000}
    await world.client.create(PRIORITIES, priority)
    try:
        await _outrank(world, replicas[0][0].metadata.name)
        await world.board.until(lambda: world.board.deleted(PODS), what="a replica is preempted")
        (victim,) = world.board.deleted(PODS)
        (kept,) = [members[0] for members in replicas.values() if members[0].metadata.uid != victim.metadata.uid]
        await world.board.until(
            lambda: (
                world.board.says("chat", "QuotaReserved", "False", "Pending")
                and "1 of 2 replicas wait for quota" in world.board.condition("chat", "QuotaReserved")["message"]
            ),
            what="the replacement waits for quota",
        )
        assert world.board.status("chat")["phase"] == "Degraded"
        replacement = world.board.replicas("chat")[ordinal(victim)]
        assert uids(replacement) != [victim.metadata.uid]

        await world.client.delete(PODS, "outranks", world.namespace)
        await world.settled("chat")
        assert uids(world.board.replicas("chat")[ordinal(victim)]) == uids(replacement)
        assert uids(world.board.replicas("chat")[ordinal(kept)]) == [kept.metadata.uid]
        assert uids(world.board.deleted(PODS)) == [victim.metadata.uid, *uids(_named(world, "outranks"))]
        preempted = [each for each in world.board.deleted(WORKLOADS) if victim.metadata.uid in owners(each)]
        assert len(preempted) == 1
    finally:
        await world.client.delete(PRIORITIES, world.namespace)


async def test_a_failed_replica_is_replaced_with_its_workload(world: World) -> None:
    await world.create("chat", replicas=2)
    await world.settled("chat")
    (failed,), (kept,) = world.board.replicas("chat")[1], world.board.replicas("chat")[0]
    evicted = {"status": {"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory."}}
    await world.client.patch(
        PODS, failed.metadata.name, evicted, world.namespace, how=PatchType.MERGE, subresource="status"
    )
    await world.board.until(lambda: _replaced(world, 1, failed.metadata.uid), what="ordinal 1 is replaced")
    await world.settled("chat")
    assert uids(world.board.replicas("chat")[0]) == [kept.metadata.uid]
    note = f"replica Pod {failed.metadata.name} was evicted by its node; its siblings lose the cached blocks it held "
    assert [each for each in world.board.notes("ReplicaEvicted") if each.startswith(note)]


def _replaced(world: World, slot: int, old: str) -> bool:
    members = [members for number, members in _all_replicas(world).items() if number == slot]
    return bool(members) and all(ready(pod) and pod.metadata.uid != old for pod in members[0])


def _all_replicas(world: World) -> dict[int, list[Pod]]:
    (deployment,) = world.board.deployments.items()
    return world.board.replicas(deployment.metadata.name)


async def _outrank(world: World, like: str) -> None:
    """Create a Pod of high priority that asks for what a replica asks for, in the same queue."""
    replica = await world.whole(WHOLE_PODS, like)
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "outranks",
            "labels": {"kueue.x-k8s.io/queue-name": world.provision.local_queue},
        },
        "spec": {
            "priorityClassName": world.namespace,
            "terminationGracePeriodSeconds": 1,
            "containers": [
                {"name": "main", "image": "lab/none", "resources": replica["spec"]["containers"][0]["resources"]}
            ],
        },
    }
    await world.client.create(PODS, json.dumps(body).encode(), world.namespace)


def _named(world: World, name: str) -> list[Pod]:
    return [pod for pod in world.board.came(PODS) if pod.metadata.name == name]
