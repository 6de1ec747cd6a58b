"""The real controllers in the fake world: determinism, faults of the wire, deaths of the process."""

import asyncio

import pytest
from modeldeployment.api import kueue
from modeldeployment.kube import ServerFailure, Uncertain
from modeldeployment.kube.errors import Details
from modeldeployment.lab.model import Event, Fate, Killed, ModelError, World, Write

CHECKS = (kueue.JOINT_CHECK,)


def _told(seed: int | None) -> list[str]:
    with World(seed) as world:
        world.fleet()
        world.start()
        world.create(world.manifest("chat", replicas=2))
        world.settle()
        world.edit("chat", "/spec/roles/0/image", "lab/two")
        world.settle()
        assert world.outcome("chat").phase == "Ready"
        return [str(entry) for entry in world.story]


def test_one_seed_tells_one_story_and_another_seed_another() -> None:
    assert _told(3) == _told(3)
    assert _told(3) != _told(4)
    assert _told(None) == _told(None)


def test_every_order_of_moves_ends_alike() -> None:
    outcomes = set()
    for seed in (None, *range(12)):
        with World(seed) as world:
            world.fleet()
            world.start()
            world.create(world.manifest("chat", replicas=2, size=2))
            world.settle()
            assert world.process is not None
            assert world.process.failures == []
            outcomes.add((world.outcome("chat"), world.ever("pods"), world.ever("workloads")))
    assert len(outcomes) == 1


def test_a_settled_deployment_is_written_to_no_more() -> None:
    with World() as world:
        world.fleet()
        process = world.start()
        world.create(world.pair(replicas=2))
        world.settle()
        writes = process.client.writes
        world.run(3600)
        assert process.client.writes == writes


@pytest.mark.parametrize("fate", [Fate.LATE, Fate.MERGED, Fate.DROPPED])
@pytest.mark.parametrize("plural", ["pods", "workloads", "services", "modeldeployments"])
def test_events_that_come_late_merged_or_not_at_all_change_no_outcome(fate: Fate, plural: str) -> None:
    def meet(event: Event) -> Fate:
        return fate if event.plural == plural else Fate.NOW

    with World() as world:
        world.fleet()
        process = world.start()
        process.wire.fate = meet
        world.create(world.manifest("chat", replicas=2))
        world.settle()
        assert world.outcome("chat").phase == "Ready"
        assert world.ever("pods") == (2, 0)
        assert (process.wire.lists > 20) is (fate is Fate.DROPPED)


@pytest.mark.parametrize("after", [False, True])
def test_a_process_that_dies_around_its_third_write_is_followed_by_one_that_ends_its_work(after: bool) -> None:
    def die(write: Write) -> None:
        if write.plural == "pods":
            raise Killed(str(write))

    with World() as world:
        world.fleet()
        process = world.start()
        if after:
            process.client.after = die
        else:
            process.client.before = die
        world.create(world.manifest("chat", replicas=2))
        world.run(5)
        assert world.process is None
        assert world.ever("pods") == ((1, 0) if after else (0, 0))
        world.start()
        world.settle()
        assert world.outcome("chat").phase == "Ready"
        assert world.ever("pods") == (2, 0)


def test_a_write_whose_answer_is_lost_is_not_made_twice() -> None:
    lost: list[Write] = []

    def lose(write: Write) -> None:
        if write.plural == "pods" and not lost:
            lost.append(write)
            raise Uncertain("answer lost")

    with World() as world:
        world.fleet()
        world.start().client.after = lose
        world.create(world.manifest("chat", replicas=2))
        world.settle()
        assert world.outcome("chat").phase == "Ready"
        assert world.ever("pods") == (2, 0)


def test_a_server_that_fails_is_asked_again_and_the_failure_is_told() -> None:
    refused: list[Write] = []

    def refuse(write: Write) -> None:
        if write.plural == "pods" and len(refused) < 3:
            refused.append(write)
            raise ServerFailure(500, "InternalError", "no", Details())

    with World() as world:
        world.fleet()
        process = world.start()
        process.client.before = refuse
        world.create(world.manifest("chat", replicas=2))
        world.settle()
        assert world.outcome("chat").phase == "Ready"
        assert [each.controller for each in process.failures] == ["deployments", "deployments"]
        notes = [each["reason"] for each in world.server.items("events")]
        assert "ReplicaNotCreated" in notes


def test_a_pair_short_of_quota_runs_nothing_until_capacity_arrives() -> None:
    for seed in (None, 1, 2, 3):
        with World(seed) as world:
            queue = world.fleet(checks=CHECKS)
            world.start()
            world.settle()
            world.quota(queue, 3)
            world.create(world.pair("qwen", replicas=2))
            world.settle()
            assert [group.admitted for group in world.outcome("qwen").groups] == [False] * 4
            assert not any(pod["spec"].get("nodeName") for pod in world.pods("qwen"))
            world.quota(queue, 4)
            world.settle()
            assert world.outcome("qwen").phase == "Ready"
            assert world.ever("pods") == (4, 0)


def test_two_pairs_that_hold_parts_of_one_quota_come_apart_within_thirty_five_seconds() -> None:
    for seed in (1, 3):
        with World(seed) as world:
            queue = world.fleet(checks=CHECKS)
            world.start()
            world.settle()
            world.quota(queue, 4)
            for name in ("a", "b"):
                world.create(world.pair(name, replicas=2))
            world.run(35 + 5)
            assert [world.outcome(name).phase for name in ("a", "b")] == ["Ready", "Starting"]


def test_a_set_that_never_fits_is_parked_after_half_an_hour() -> None:
    with World() as world:
        queue = world.fleet(checks=CHECKS)
        world.start()
        world.settle()
        world.quota(queue, 3)
        world.create(world.pair("qwen", replicas=2))
        world.run(29 * 60)
        assert all(group.active for group in world.outcome("qwen").groups)
        world.run(3 * 60)
        assert ("QuotaReserved", "False", "Parked") in world.outcome("qwen").conditions


def test_a_drained_node_loses_its_replicas_and_a_node_that_is_gone_after_a_while() -> None:
    with World() as world:
        world.fleet(nodes=3, cards=1)
        world.start()
        world.create(world.manifest("chat", replicas=2))
        world.settle()
        (first, second) = sorted(pod["spec"]["nodeName"] for pod in world.pods("chat"))
        world.drain(first)
        world.settle()
        assert min(pod["spec"]["nodeName"] for pod in world.pods("chat")) == second
        world.server.merge("nodes", first, "", {"spec": {"unschedulable": None}}, by="x")
        world.delete(second, "Node")
        world.run(40)
        assert world.ever("pods") == (3, 1)
        world.settle()
        assert world.outcome("chat").phase == "Ready"
        assert world.ever("pods") == (4, 2)


def test_pods_of_a_node_that_is_not_ready_are_unready_and_evicted_after_five_minutes() -> None:
    with World() as world:
        world.fleet(nodes=2, cards=1)
        world.start()
        world.create(world.manifest("chat"))
        world.settle()
        world.node_ready(world.pods("chat")[0]["spec"]["nodeName"], ready=False)
        world.settle()
        assert [seat.ready for seat in world.outcome("chat").seats] == [False]
        assert world.ever("pods") == (1, 0)
        world.settle(still=400)
        assert world.outcome("chat").phase == "Ready"
        assert world.ever("pods") == (2, 1)


async def test_inside_another_event_loop_it_says_how_to_be_called() -> None:
    with World() as world, pytest.raises(ModelError, match=r"asyncio\.to_thread"):
        world.start()
    assert asyncio.get_running_loop().is_running()
