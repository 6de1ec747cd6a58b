"""Seats that are contested: strangers in a replica's group, and Workloads that claim it twice."""

import asyncio
import json
from typing import Any, Final

import pytest
from e2e_board import owners, ready, uids
from e2e_standing import standing, stayed
from e2e_worlds import WHOLE_PODS, World
from modeldeployment.api import keys, kueue, names
from modeldeployment.kube.kinds import PODS, WORKLOADS

pytestmark = pytest.mark.lab

WHILE: Final = 3.0
"""Seconds for which something is watched not to happen."""


async def test_a_stranger_of_the_same_shape_in_a_group_is_the_one_that_goes(world: World) -> None:
    await world.create("chat", replicas=2)
    await world.settled("chat")
    before = standing(world.board, "chat")
    await _join(world, "stranger", "chat", 1)
    await world.board.until(
        lambda: [pod.metadata.name for pod in world.board.deleted(PODS)] == ["stranger"], what="Kueue turns it away"
    )
    await asyncio.sleep(WHILE)
    assert world.board.settled("chat")
    assert stayed(before, standing(world.board, "chat")) == before.keys()
    assert len(world.board.came(PODS)) == 3


async def test_a_stranger_of_another_shape_in_a_group_waits_for_ever_and_harms_nobody(world: World) -> None:
    await world.create("chat", replicas=2)
    await world.settled("chat")
    before = standing(world.board, "chat")
    await _join(world, "stranger", "chat", 1, role="other")
    await world.board.until(lambda: world.board.pods.get(world.namespace, "stranger"), what="it is there")
    await world.scale("chat", 3)
    await world.settled("chat")
    await asyncio.sleep(WHILE)
    assert world.board.settled("chat")
    assert stayed(before, standing(world.board, "chat")) == before.keys()
    assert len(world.board.came(PODS)) == 4
    assert world.board.deleted(PODS) == []


@pytest.mark.usefixtures("serving")
async def test_a_replica_that_two_workloads_claim_stays_and_leaves_both_free_when_it_goes(world: World) -> None:
    await world.create("chat", replicas=2)
    await world.settled("chat")
    before, (claimed,) = standing(world.board, "chat"), world.board.replicas("chat")[1]
    workload = world.board.workload_of(claimed)
    assert workload is not None
    whole = json.loads((await world.kubectl("get", "workload", workload.metadata.name, "-o", "json")).out)
    claim = {
        "apiVersion": kueue.API_VERSION,
        "kind": "Workload",
        "metadata": {"name": "a-claim", "ownerReferences": whole["metadata"]["ownerReferences"]},
        "spec": whole["spec"],
    }
    await world.client.create(WORKLOADS, json.dumps(claim).encode(), world.namespace)
    await world.board.until(lambda: world.board.workloads.get(world.namespace, "a-claim"), what="it claims")
    await asyncio.sleep(WHILE)
    assert stayed(before, standing(world.board, "chat")) == before.keys()
    assert world.board.status("chat")["phase"] == "Ready"

    await world.scale("chat", 1)
    await world.board.until(lambda: len(world.board.all_pods("chat")) == 1, what="the claimed replica is gone")
    await world.board.until(
        lambda: not [each for each in world.board.workloads.items() if claimed.metadata.uid in owners(each)],
        what="nothing claims it any more",
    )
    await world.settled("chat")
    assert uids(world.board.deleted(PODS)) == [claimed.metadata.uid]


async def test_the_workload_of_two_members_deleted_by_hand_costs_that_replica_and_no_other(world: World) -> None:
    await world.create("wide", replicas=2, size=2)
    await world.settled("wide")
    before, replica = standing(world.board, "wide"), world.board.replicas("wide")[0]
    workload = world.board.workload_of(replica[0])
    assert workload is not None
    said = await world.kubectl("delete", "workload", workload.metadata.name, "--timeout=60s")
    assert said.code == 0, said.err
    await world.board.until(
        lambda: (
            len(now := world.board.replicas("wide").get(0, [])) == 2
            and all(map(ready, now))
            and not set(uids(now)) & set(uids(replica))
        ),
        what="replica 0 is replaced whole",
    )
    await world.settled("wide")
    assert stayed(before, standing(world.board, "wide")) == {("server", 1, 0), ("server", 1, 1)}
    assert set(uids(world.board.deleted(PODS))) == set(uids(replica))
    assert len(world.board.came(PODS)) == 6


async def test_a_group_that_a_stranger_holds_before_us_is_waited_for_and_not_stormed(world: World) -> None:
    await world.create("example", replicas=1)
    await world.settled("example")
    await _join(world, "stranger", "example", 0, group=names.group_name(world.namespace, "chat", "server", 0))
    await world.board.until(
        lambda: (pod := world.board.pods.get(world.namespace, "stranger")) and pod.status.phase == "Running",
        what="the stranger runs",
    )
    await world.create("chat", replicas=2)
    await world.board.until(lambda: 1 in world.board.replicas("chat"), what="the other replica comes")
    await asyncio.sleep(WHILE)
    assert [pod.metadata.name for pod in world.board.deleted(PODS) if pod.metadata.name == "stranger"] == []
    assert len(world.board.came(PODS)) <= 4, "created again and again, as Kueue deletes what is in excess"
    await world.board.until(lambda: world.board.notes("NameTaken"), what="it is said")
    assert world.board.notes("NameTaken")[0].startswith("replica server/0 is not created: Pod stranger, ")
    await world.client.delete(PODS, "stranger", world.namespace)
    group = names.group_name(world.namespace, "chat", "server", 0)
    await world.client.delete(WORKLOADS, group, world.namespace)
    await world.settled("chat")


async def _join(
    world: World, name: str, deployment: str, number: int, *, role: str = "server", group: str = ""
) -> None:
    """Create a Pod of nobody's in the group of a replica, or in another, of the replica's shape or another."""
    (pod,) = world.board.replicas(deployment)[number]
    whole: dict[str, Any] = await world.whole(WHOLE_PODS, pod.metadata.name)
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {
                keys.QUEUE_NAME: world.provision.local_queue,
                keys.GROUP_NAME: group or pod.metadata.labels[keys.GROUP_NAME],
            },
            "annotations": {keys.GROUP_TOTAL: "1", keys.ROLE_HASH: role, keys.GROUP_SERVING: "true"},
        },
        "spec": {
            "terminationGracePeriodSeconds": 1,
            "containers": [
                {"name": "main", "image": "lab/none", "resources": whole["spec"]["containers"][0]["resources"]}
            ],
        },
    }
    await world.client.create(PODS, json.dumps(body).encode(), world.namespace)
