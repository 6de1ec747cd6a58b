"""What somebody's hand did to our Pods and Workloads: no other replica is harmed, and what can be put back is.

Each story starts from a settled deployment, changes one thing, and says what happens until all is still again.
"""

from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest
from modeldeployment.api import keys
from modeldeployment.kube import shapes
from modeldeployment.reconcile import Member, observing
from modeldeployment.reconcile.deciding.steps import DeletePod, DeleteWorkload
from modeldeployment.render import Seat
from reconcile_stories import Story, World, running
from reconcile_worlds import (
    composed,
    decision,
    deployment,
    pod,
    proven,
    relabelled,
    rendered_role,
    rendering,
    replica,
    settled,
    snapshot,
    steps,
    workload,
)

THREE = deployment(replicas=3)
WIDE = deployment(replicas=2, size=2)


def changed(world: World, place: int, labels: dict[str, str | None], **fields: object) -> Story:
    """Let a hand change one Pod, its labels or what is read of the rest of it, and play until all is still."""
    pod = relabelled(world.members()[place], labels)
    world.cluster.place(replace(pod, **fields))  # type: ignore[arg-type]
    return world.play()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"fingerprint": "else"}, ["delete server/2, release server/2", "create server/2"]),
        ({"fingerprint": ""}, ["delete server/2, release server/2", "create server/2"]),
        ({"eligible": False}, ["label server/2"]),
        ({"group": "else"}, []),
    ],
    ids=["hash-other", "hash-gone", "eligible-gone", "group-other"],
)
def test_what_else_was_changed_of_a_pod_costs_no_replica_but_its_own(
    fields: dict[str, object], expected: list[str]
) -> None:
    world = running(THREE)
    before = world.uids()
    story = changed(world, 2, {}, **fields)
    assert story.steps == expected
    assert world.uids()[:2] == before[:2]
    assert len(world.uids()) == 3
    assert story.lowest() >= 2
    assert all(member.ready and member.eligible for member in world.members())


def test_a_member_index_that_was_changed_is_put_back_and_costs_nobody_anything() -> None:
    world = running(WIDE)
    before = world.uids()
    story = changed(world, 3, {keys.MEMBER_INDEX: "0"})
    assert story.steps == ["reclaim chat-server-r1-m1"]
    assert world.uids() == before
    assert story.lowest() == 2


def test_an_ordinal_twice_costs_the_seat_nothing_and_the_double_goes() -> None:
    world = running(THREE)
    before = world.uids()
    double = replace(world.members()[1], name="again", uid="again", fingerprint="else")
    world.cluster.excess = "nothing"
    world.cluster.place(double)
    story = world.play()
    assert story.steps == ["unlabel server/1", "delete server/1"]
    assert world.uids() == before
    assert story.lowest() == 3


def test_a_changed_ordinal_that_doubles_another_is_put_back_and_both_stay() -> None:
    world = running(THREE)
    before = world.uids()
    story = changed(world, 2, {keys.ORDINAL: "1"})
    assert story.steps == ["reclaim chat-server-003"]
    assert world.uids() == before
    assert [member.ordinal for member in world.members()] == [0, 1, 2]


def test_a_workload_that_claims_pods_of_two_replicas_is_not_deleted_from_under_the_one_that_stays() -> None:
    narrower = deployment(replicas=1)
    members = [pod(), pod(ordinal=1)]
    both = workload(*members, name="both")
    assert [
        type(each) for each in steps(proven(snapshot(narrower, members, [both]))) if isinstance(each, DeleteWorkload)
    ] == []


def test_a_pod_that_two_workloads_claim_leaves_with_the_first_and_the_second_is_released_after_it() -> None:
    narrower = deployment(replicas=1)
    members = [pod(), pod(ordinal=1)]
    twice = [workload(members[0], name="w0"), workload(members[1], name="a"), workload(members[1], name="z")]
    first = steps(proven(snapshot(narrower, members, twice)))
    assert [each.name for each in first if isinstance(each, DeletePod | DeleteWorkload)] == ["chat-server-1-0", "a"]
    gone = replace(members[1], leaving=True, ready=False)
    then = snapshot(narrower, [members[0], gone], [twice[0], replace(twice[2])])
    assert [each.name for each in steps(then) if isinstance(each, DeleteWorkload)] == ["z"]


def test_orphans_over_the_count_go_at_once_and_only_they() -> None:
    world = running(THREE)
    before = world.uids()
    world.cluster.excess = "nothing"
    for number in range(2):
        world.cluster.place(Member(f"stray-{number}", f"stray-{number}", "server", None, group=f"stray-{number}"))
    story = world.play()
    assert story.steps == ["delete server/orphan, delete server/orphan"]
    assert world.uids() == before


def made(change: Callable[[dict[str, object]], None]) -> tuple[Member, Member]:
    """A rendered Pod as it is reduced, before and after a hand changed its metadata."""
    body = msgspec.json.decode(rendered_role(rendering()).template.body(Seat(0, 0)))
    body["metadata"].update(uid="u", name="p", finalizers=["kueue.x-k8s.io/managed"])
    before = observing.member(msgspec.json.decode(msgspec.json.encode(body), type=shapes.Pod))
    change(body["metadata"])
    return before, observing.member(msgspec.json.decode(msgspec.json.encode(body), type=shapes.Pod))


@pytest.mark.parametrize(
    "change",
    [
        lambda meta: meta.update(finalizers=[]),
        lambda meta: meta["finalizers"].append("somebody/else"),
        lambda meta: meta["labels"].update({"app.kubernetes.io/version": "2"}),
        lambda meta: meta["annotations"].update({"prometheus.io/scrape": "false"}),
    ],
    ids=["kueues-finalizer-gone", "other-finalizer", "other-label", "scrape-off"],
)
def test_what_no_decision_reads_changes_nothing(change: Callable[[dict[str, object]], None]) -> None:
    before, after = made(change)
    assert before == after


def test_a_pod_with_our_labels_and_another_owner_is_not_of_the_snapshot_at_all() -> None:
    owners = (shapes.OwnerReference(kind="ModelDeployment", name="chat", uid="somebody", controller=True),)
    assert observing.controllers(owners) == ("somebody",)
    assert observing.controllers([msgspec.structs.replace(owners[0], controller=False)]) == ()


def test_a_finalizer_of_ours_that_was_removed_is_put_back_and_nothing_else_is_done() -> None:
    seen = replace(settled(), deployment=deployment(finalizers=()))
    assert [type(each).__name__ for each in steps(seen)] == ["AddFinalizer"]


def test_two_replicas_that_were_given_each_others_fingerprints_turn_over_one_at_a_time() -> None:
    members = [pod(ordinal=each) for each in range(2)]
    swapped = [replace(each, fingerprint=other.fingerprint) for each, other in zip(members, members[::-1], strict=True)]
    deleted = [each.name for each in steps(snapshot(members=swapped)) if isinstance(each, DeletePod)]
    assert deleted == ["chat-server-1-0"]


def test_a_workload_that_was_deleted_under_running_members_is_not_mourned_while_they_run() -> None:
    seen = snapshot(WIDE, [*replica(rendering(WIDE), 0), *replica(rendering(WIDE), 1)])
    without = replace(seen, workloads=tuple(composed(seen.members)[:1]))
    outcome = decision(without)
    assert type(outcome.next).__name__ == "Done"
