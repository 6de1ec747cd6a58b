"""Whole stories: a settled world, an edit or a fault, and every pass until all is still again."""

from dataclasses import replace

import pytest
from modeldeployment.reconcile import PodPhase
from reconcile_stories import new, running
from reconcile_worlds import deployment, pod, role, snapshot, workload


def test_a_new_deployment_gets_finalizer_replicas_and_services_in_one_pass() -> None:
    world = new(deployment(replicas=2, finalizers=()))
    story = world.play()
    assert story.steps == ["add finalizer, create server/0, create server/1, front chat, front chat-server"]
    assert story.asked == ["RoleGroups", "Names"]
    assert story.walk("server/0") == ["Empty", "Gated", "Reserved", "Admitted", "Ready"]
    assert world.status["phase"] == "Ready"


def test_growing_from_one_to_four_creates_three_and_touches_no_survivor() -> None:
    world = running(deployment(replicas=1))
    before = world.uids()
    story = world.edit(replicas=4).play()
    assert story.steps == ["create server/1, create server/2, create server/3"]
    assert world.uids()[:1] == before
    assert story.lowest() == 1
    assert story.events == []


def test_scaling_from_four_to_eight_to_three_sheds_the_highest_ordinals_and_keeps_the_same_pods() -> None:
    world = running(deployment(replicas=4))
    before = world.uids()
    world.edit(replicas=8).play()
    assert world.uids()[:4] == before
    story = world.edit(replicas=3).play()
    assert story.steps == [
        line
        for ordinal in (7, 6, 5, 4, 3)
        for line in (f"unlabel server/{ordinal}", f"delete server/{ordinal}, release server/{ordinal}")
    ]
    assert story.retired[:7] == [
        *("server/7 Admitted", "server/7 Disqualified", "server/7 Withdrawing", "server/7 Draining"),
        *("server/7 Deleting", "server/7 Settling", "nobody"),
    ]
    assert world.uids() == before[:3]
    assert story.walk("server/7") == ["Ready", "Retiring", "Departing", "Empty"]
    assert story.lowest() == 3


def test_a_rollout_replaces_three_replicas_one_at_a_time_from_the_highest_ordinal() -> None:
    world = running(deployment(replicas=3))
    before = set(world.uids())
    story = world.edit(image="engine:2").play()
    assert story.steps == [
        "delete server/2, release server/2",
        "create server/2",
        "delete server/1, release server/1",
        "create server/1",
        "delete server/0, release server/0",
        "create server/0",
    ]
    assert story.waits == [
        *("wait Departure", "wait Admission", "wait Readiness"),
        *("wait Departure", "wait Admission", "wait Readiness"),
        *("wait Departure", "done"),
    ]
    assert story.lowest() == 2
    assert not before & set(world.uids())


def test_a_rollout_on_a_full_pool_waits_for_capacity_and_sheds_nothing() -> None:
    world = running(deployment(replicas=3), quota=2)
    before = world.uids()
    story = world.edit(image="engine:2").play()
    assert (story.steps, story.waits) == ([], ["wait Admission"])
    assert world.uids() == before
    world.cluster.quota = 3
    story = world.play()
    assert story.steps[0] == "delete server/2, release server/2"
    assert story.lowest() == 2
    assert story.waits[-1] == "done"


def test_a_lost_pod_is_replaced_only_after_its_slot_reads_empty() -> None:
    world = running(deployment(replicas=2))
    kept = world.uids()[1]
    world.cluster.delete(world.uids()[0])
    story = world.play()
    assert story.steps == ["release server/0", "create server/0"]
    assert story.walk("server/0") == ["Stranded", "Departing", "Empty", "Gated", "Reserved", "Admitted", "Ready"]
    assert story.walk("server/1") == ["Ready"]
    assert world.uids()[1] == kept


def test_losing_one_member_of_two_replaces_the_whole_replica_and_no_other() -> None:
    world = running(deployment(replicas=2, size=2))
    before = world.uids()
    world.cluster.delete(before[1])
    story = world.play()
    assert story.steps == ["delete server/0.0, release server/0", "create server/0"]
    assert story.walk("server/0")[:3] == ["Incomplete", "Departing", "Empty"]
    assert world.uids()[2:] == before[2:]
    assert not set(before[:2]) & set(world.uids())


def test_a_failed_replica_is_replaced_whole_without_asking_the_guard() -> None:
    world = running(deployment(replicas=3), quota=2)
    failed = world.members()[0]
    world.cluster.place(replace(failed, phase=PodPhase.FAILED, ready=False))
    story = world.play()
    assert story.steps == ["delete server/0, release server/0", "create server/0"]
    assert story.walk("server/0")[:3] == ["Terminal", "Departing", "Empty"]


def test_a_replica_on_a_lost_node_is_never_replaced() -> None:
    world = running(deployment(replicas=2))
    before = world.uids()
    world.cluster.place(replace(world.members()[1], ready=False))
    story = world.play()
    assert (story.steps, world.uids()) == ([], before)
    assert world.status["phase"] == "Degraded"


def test_two_roles_turn_over_one_replica_each_in_the_same_pass() -> None:
    world = running(deployment(roles=[role("first"), role("second")]))
    story = world.edit("first", image="engine:2").edit("second", image="engine:2").play()
    assert story.steps == [
        "delete first/1, release first/1, delete second/1, release second/1",
        "create first/1, create second/1",
        "delete first/0, release first/0, delete second/0, release second/0",
        "create first/0, create second/0",
    ]
    assert (story.lowest("first"), story.lowest("second")) == (1, 1)


def test_one_role_rolls_while_another_grows() -> None:
    world = running(deployment(roles=[role("first"), role("second")]))
    story = world.edit("first", image="engine:2").edit("second", replicas=3).play()
    assert story.steps[0] == "delete first/1, release first/1, create second/2"


def test_an_edit_in_the_middle_of_a_rollout_starts_over_with_the_newest_spec() -> None:
    world = running(deployment(replicas=3))
    first = world.edit(image="engine:2").live(8)
    assert first.steps == ["delete server/2, release server/2", "create server/2", "delete server/1, release server/1"]
    story = world.edit(image="engine:3").play()
    assert story.steps == [
        "create server/1",
        "delete server/2, release server/2",
        "create server/2",
        "delete server/0, release server/0",
        "create server/0",
    ]
    assert story.lowest() == 2


def test_taking_an_edit_back_rolls_only_what_it_had_reached() -> None:
    world = running(deployment(replicas=3))
    before = world.uids()
    world.edit(image="engine:2").live(3)
    story = world.edit(image=None).play()
    assert story.steps == ["delete server/2, release server/2", "create server/2"]
    assert world.uids()[:2] == before[:2]


def test_a_bad_image_stops_the_rollout_after_one_replica_and_the_next_edit_mends_it() -> None:
    world = running(deployment(replicas=3))
    world.cluster.starts = False
    story = world.edit(image="bad:1").play()
    assert story.steps == ["delete server/2, release server/2", "create server/2"]
    assert story.waits[-1] == "wait Readiness"
    assert story.lowest() == 2
    world.cluster.starts = True
    story = world.edit(image="engine:2").play()
    assert story.steps[0] == "delete server/2, release server/2"
    assert (story.waits[-1], story.lowest()) == ("done", 2)


def test_scaling_down_comes_before_rolling() -> None:
    world = running(deployment(replicas=3))
    story = world.edit(replicas=2, image="engine:2").play()
    assert story.steps[:3] == [
        *("unlabel server/2", "delete server/2, release server/2", "delete server/1, release server/1"),
    ]


def test_growing_comes_before_rolling() -> None:
    world = running(deployment(replicas=1))
    story = world.edit(replicas=2, image="engine:2").play()
    assert story.steps == ["create server/1", "delete server/0, release server/0", "create server/0"]
    assert story.lowest() == 1


def test_a_deployment_deleted_while_pending_leaves_nothing() -> None:
    world = new(deployment(replicas=2, finalizers=()), quota=1)
    world.live(6)
    story = world.delete().play()
    assert story.steps == [
        "delete server/0, delete server/1, release server/0, release server/1",
        "unfront chat, unfront chat-server, drop finalizer",
    ]
    assert story.waits == ["wait Teardown"]
    assert world.cluster.gone
    assert (world.cluster.pods, world.cluster.workloads) == ({}, {})


def test_a_settled_world_writes_asks_and_says_nothing() -> None:
    story = running(deployment(replicas=2, size=2)).play()
    assert (story.steps, story.waits, story.asked, story.events) == ([], ["done"], [], [])


@pytest.mark.parametrize("survived", range(8))
def test_a_process_killed_between_any_two_requests_of_a_pass_goes_on_where_it_was(survived: int) -> None:
    world = new(deployment(replicas=2, size=2, finalizers=()))
    world.cuts = iter([survived, *[None] * 100])
    world.play()
    assert world.status["phase"] == "Ready"
    assert len(world.uids()) == 4


def test_an_impossible_world_is_refused() -> None:
    with pytest.raises(ValueError, match="no member 1"):
        pod(index=1)
    with pytest.raises(ValueError, match="share a UID"):
        snapshot(members=[pod(uid="same"), pod(ordinal=1, uid="same")])
    with pytest.raises(ValueError, match="at least one Pod"):
        workload()
    with pytest.raises(ValueError, match="without a reservation"):
        snapshot(workloads=[replace(workload(pod()), reserved=False)])
