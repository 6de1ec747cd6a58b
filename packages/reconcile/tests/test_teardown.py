"""Taking a deployment down: Pods and Workloads first, and the finalizer last (facts reconcile §9)."""

from dataclasses import replace

from modeldeployment.api import keys
from modeldeployment.reconcile import Answers, Ask, Blocked, Decision, Done, Fact, Wait
from modeldeployment.reconcile.deciding.seen import MARKS, Insisted, Lost
from modeldeployment.reconcile.deciding.steps import (
    SOON,
    Advance,
    DeleteObject,
    DeletePod,
    DeleteWorkload,
    DropFinalizer,
    Reclaim,
)
from reconcile_stories import running
from reconcile_worlds import NOW, decision, deployment, pod, question, refusal, relabelled, snapshot, steps, workload

DELETED = deployment(deleted=True)


def test_every_live_pod_and_every_workload_is_deleted_in_one_pass() -> None:
    members = [pod(ordinal=0), pod(ordinal=1, leaving=True), pod(role="ape"), pod(ordinal=None)]
    seen = snapshot(DELETED, members, [workload(members[0], name="w0"), workload(members[1], name="w1")])
    assert steps(seen) == (
        DeletePod("chat-server-0-0", "uid-chat-server-0-0"),
        DeletePod("chat-ape-0-0", "uid-chat-ape-0-0"),
        DeletePod("chat-server-x-0", "uid-chat-server-x-0"),
        DeleteWorkload("w0", "wl-w0"),
        DeleteWorkload("w1", "wl-w1"),
    )


def test_the_phase_is_deleting_and_says_how_many_pods_are_left() -> None:
    assert decision(snapshot(DELETED)).status == {"phase": "Deleting", "phaseMessage": "2 Pods left"}
    assert decision(snapshot(DELETED, [pod()])).status == {"phase": "Deleting", "phaseMessage": "1 Pod left"}


def test_a_phase_that_says_so_already_is_not_written_again() -> None:
    seen = snapshot(DELETED, status={"phase": "Deleting", "phaseMessage": "2 Pods left"})
    assert decision(seen).status is None


def test_while_pods_are_going_the_pass_waits() -> None:
    seen = snapshot(DELETED, [pod(leaving=True)], [workload(pod(leaving=True), leaving=True)])
    assert decision(seen).next == Blocked(Wait.TEARDOWN, NOW + SOON)


def test_without_pods_in_the_store_the_api_server_is_asked_before_the_finalizer_goes() -> None:
    assert question(snapshot(DELETED, [])) == Ask(Fact.PODS_LEFT)


def test_pods_that_only_the_api_server_knows_keep_the_finalizer() -> None:
    seen = replace(snapshot(DELETED, []), answers=Answers(pods_left=1))
    assert decision(seen) == Decision(Blocked(Wait.TEARDOWN, NOW + SOON))


def test_a_pod_that_is_not_watched_any_more_gets_its_mark_back_before_the_finalizer_goes() -> None:
    hidden = Answers(pods_left=2, lost=(Lost("p", "uid-p", "group"), Lost("q", "uid-q", "group", leaving=True)))
    seen = replace(snapshot(DELETED, []), answers=hidden)
    mark = {keys.NAME: keys.NAME_VALUE}
    assert decision(seen) == Decision(Advance((Reclaim("p", "uid-p", mark), Reclaim("q", "uid-q", mark))))


def test_a_pod_that_does_not_keep_its_mark_is_waited_for_and_told_of() -> None:
    hidden = Answers(pods_left=1, lost=(Lost("p", "uid-p", "group"),))
    seen = replace(snapshot(DELETED, []), answers=hidden, insisted={"uid-p": Insisted(3, NOW)})
    decided = decision(seen)
    assert decided.next == Blocked(Wait.TEARDOWN, NOW + SOON)
    assert [each.about for each in decided.events] == ["marks/p"]


def test_a_pod_that_lost_all_of_its_marks_goes_with_its_workload_before_the_deployment_does() -> None:
    world = running()
    world.cluster.place(relabelled(world.members()[1], dict.fromkeys(MARKS)))
    lost = world.members("")[0]
    story = world.delete().play()
    assert story.steps == [
        "delete server/0, release server/0",
        f"reclaim {lost.name}",
        "delete /orphan, release /None",
        "unfront chat, unfront chat-server, drop finalizer",
    ]
    assert world.cluster.gone
    assert (world.cluster.pods, world.cluster.workloads) == ({}, {})


def test_the_services_and_then_the_finalizer_go_when_the_api_server_holds_no_pod() -> None:
    seen = replace(snapshot(DELETED, []), answers=Answers(pods_left=0))
    services = tuple(DeleteObject(each.kind, each.name, each.uid) for each in seen.objects)
    assert [each.name for each in services] == ["chat", "chat-server"]
    assert decision(seen) == Decision(Advance((*services, DropFinalizer())))


def test_a_deployment_that_others_hold_is_none_of_our_business_any_more() -> None:
    seen = snapshot(deployment(deleted=True, finalizers=("somebody/else",)), [])
    assert decision(seen) == Decision(Done())


def test_a_deployment_that_cannot_be_rendered_is_torn_down_all_the_same() -> None:
    seen = replace(snapshot(DELETED, [pod()], [workload(pod(), name="w")]), rendering=refusal())
    outcome = decision(seen)
    assert outcome.next == Advance((DeletePod("chat-server-0-0", "uid-chat-server-0-0"), DeleteWorkload("w", "wl-w")))
    assert outcome.events == ()


def test_teardown_says_which_pods_leave() -> None:
    seen = snapshot(DELETED, [pod(leaving=True), pod(ordinal=1)])
    assert [each.reason for each in decision(seen).events] == ["ReplicaLeaving"]


def test_a_whole_teardown_takes_two_writing_passes_and_leaves_nothing() -> None:
    world = running()
    story = world.delete().play()
    assert story.steps == [
        "delete server/0, delete server/1, release server/0, release server/1",
        "unfront chat, unfront chat-server, drop finalizer",
    ]
    assert story.asked == ["PodsLeft"]
    assert world.cluster.gone
    assert world.status["phase"] == "Deleting"
