"""Which Workloads are deleted, and when they stay (facts reconcile §6)."""

from modeldeployment.reconcile import Blocked, PodPhase, Wait
from modeldeployment.reconcile.deciding import departing
from modeldeployment.reconcile.deciding.roster import Roster
from modeldeployment.reconcile.deciding.steps import DeletePod, DeleteWorkload
from modeldeployment.reconcile.deciding.turnover import Cause, Departure
from reconcile_worlds import decision, deployment, pod, proven, rendering, snapshot, steps, workload


def test_a_workload_whose_pods_are_all_leaving_is_released() -> None:
    gone, stays = pod(ordinal=0, leaving=True), pod(ordinal=1)
    seen = snapshot(members=[gone, stays], workloads=[workload(gone, name="w0"), workload(stays, name="w1")])
    assert steps(seen) == (DeleteWorkload("w0", "wl-w0"),)


def test_a_workload_that_still_owns_a_live_pod_is_not_stranded() -> None:
    of = deployment(replicas=1, size=2)
    leaving, live = pod(rendering(of), leaving=True), pod(rendering(of), index=1)
    assert departing.stranded(Roster((leaving, live), (workload(leaving, live),))) == []


def test_a_workload_that_is_going_is_not_deleted_again() -> None:
    gone = pod(ordinal=1, leaving=True)
    seen = snapshot(members=[pod(), gone], workloads=[workload(pod()), workload(gone, leaving=True)])
    outcome = decision(seen).next
    assert isinstance(outcome, Blocked)
    assert outcome.on is Wait.DEPARTURE


def test_stranded_workloads_are_released_in_the_order_of_their_names() -> None:
    first, second = pod(ordinal=0, leaving=True), pod(ordinal=1, leaving=True)
    seen = snapshot(members=[first, second], workloads=[workload(first, name="z"), workload(second, name="a")])
    assert [step.name for step in steps(seen) if isinstance(step, DeleteWorkload)] == ["a", "z"]


def test_a_workload_stranded_beyond_the_declared_count_is_released_too() -> None:
    gone = pod(ordinal=5, leaving=True)
    seen = snapshot(members=[pod(), pod(ordinal=1), gone], workloads=[workload(gone, name="w5")])
    assert steps(seen) == (DeleteWorkload("w5", "wl-w5"),)


def test_a_workload_stranded_by_an_orphan_is_released_too() -> None:
    gone = pod(ordinal=None, leaving=True)
    seen = snapshot(members=[pod(), pod(ordinal=1), gone], workloads=[workload(gone, name="wx")])
    assert steps(seen) == (DeleteWorkload("wx", "wl-wx"),)


def test_a_stranded_workload_is_released_in_the_pass_that_also_deletes_others() -> None:
    gone, beyond = pod(ordinal=1, leaving=True), pod(ordinal=2)
    seen = snapshot(members=[pod(), gone, beyond], workloads=[workload(gone, name="w1"), workload(beyond, name="w2")])
    assert steps(proven(seen)) == (
        DeleteWorkload("w1", "wl-w1"),
        DeletePod("chat-server-2-0", "uid-chat-server-2-0"),
        DeleteWorkload("w2", "wl-w2"),
    )


def test_a_departing_replica_takes_its_workload_with_it() -> None:
    member = pod()
    departure = Departure(Cause.ROLLOUT, (member,), workload(member, name="w"))
    assert departing.steps_of([departure], [member]) == [
        DeletePod("chat-server-0-0", "uid-chat-server-0-0"),
        DeleteWorkload("w", "wl-w"),
    ]


def test_a_workload_that_owns_a_live_pod_outside_the_departure_is_kept() -> None:
    member, outside = pod(), pod(ordinal=1)
    departure = Departure(Cause.ROLLOUT, (member,), workload(member, outside))
    assert departing.steps_of([departure], [member, outside]) == [DeletePod("chat-server-0-0", "uid-chat-server-0-0")]


def test_a_workload_shared_by_two_departures_goes_once_with_the_last_of_its_pods() -> None:
    member, other = pod(), pod(ordinal=1)
    shared = workload(member, other, name="w")
    departures = [Departure(Cause.SCALE_DOWN, (each,), shared) for each in (other, member)]
    assert departing.steps_of(departures, [member, other]) == [
        DeletePod("chat-server-1-0", "uid-chat-server-1-0"),
        DeletePod("chat-server-0-0", "uid-chat-server-0-0"),
        DeleteWorkload("w", "wl-w"),
    ]


def test_owners_that_are_long_gone_do_not_keep_a_workload() -> None:
    member, gone = pod(), pod(name="gone")
    departure = Departure(Cause.ROLLOUT, (member,), workload(member, gone, name="w"))
    assert departing.steps_of([departure], [member])[-1] == DeleteWorkload("w", "wl-w")


def test_a_terminal_replica_s_workload_is_deleted_although_its_pod_no_longer_runs() -> None:
    done = pod(ordinal=1, phase=PodPhase.SUCCEEDED)
    seen = snapshot(members=[pod(), done], workloads=[workload(done, name="w1")])
    assert steps(seen)[-1] == DeleteWorkload("w1", "wl-w1")
