"""Each row of facts atomic-admission §2 to §6 and §8."""

from dataclasses import replace
from datetime import timedelta

import pytest
from modeldeployment.reconcile.sets import markers, verdicts
from modeldeployment.reconcile.sets.counting import count
from modeldeployment.reconcile.sets.seen import Pod, Role, Stranger, Workload
from sets_worlds import NOW, admitted, ago, answers, entry, judged, pair, reserved, shelved, workload

READY = ("Ready", "every replica of the set holds its quota")
HELD = ("Pending", "1 of 2 replicas of the set hold quota; waiting for role decode, and all start together")
PARKED = (
    "parked rather than held: the set did not get its quota within 30 minutes, role decode is still waiting; free "
    "capacity and set spec.active=true on the Workload, or delete the deployment and create it again; applying the "
    "same manifest changes nothing"
)


@pytest.mark.parametrize(
    "skipped",
    [
        pytest.param(workload(), id="no reservation"),
        pytest.param(reserved(evicted=True), id="evicted, still reserved"),
        pytest.param(reserved(finished=True), id="finished"),
        pytest.param(reserved(active=False), id="not active"),
        pytest.param(admitted(), id="admitted"),
        pytest.param(reserved(entries=()), id="no check of ours"),
        pytest.param(reserved(leaving=True), id="leaving"),
        pytest.param(reserved(entries=(entry("Retry"),)), id="a state of somebody else"),
    ],
)
def test_what_is_not_judged_is_not_written(skipped: Workload) -> None:
    assert verdicts.alone(skipped, Stranger.FOREIGN, NOW) == verdicts.Verdicts()
    assert verdicts.exempt((skipped,), NOW) == verdicts.Verdicts()
    assert answers(judged(pair(skipped, reserved("d0"), roles=(Role("decode", ("group-d0",)), Role("none", ()))))) == {
        "d0": READY
    }


def test_a_reservation_that_its_workload_is_losing_does_not_count() -> None:
    # Kueue may give the quota of one that was deactivated to a sibling before its status says that it holds none.
    parked = reserved("d0", active=False, admitted=False)
    assert answers(judged(pair(reserved("p0"), parked))) == {"p0": HELD}


def test_a_workload_that_is_not_ours_is_ready_at_once() -> None:
    decided = verdicts.alone(reserved(), Stranger.FOREIGN, NOW)
    assert answers(decided) == {"p0": ("Ready", "not part of a ModelDeployment; nothing is waited for")}
    assert decided.again is None


def test_a_workload_that_nobody_can_be_found_for_waits_in_words_of_its_own_and_is_read_again() -> None:
    decided = verdicts.alone(reserved(), Stranger.UNDECIDED, NOW)
    unknown = (
        "whose Workload this is cannot be told yet: its Pod or deployment was not found; it is read again every 15 s"
    )
    assert answers(decided) == {"p0": ("Pending", unknown)}
    assert decided.again == NOW + timedelta(seconds=15)
    said = replace(reserved(), entries=decided.moves[0].entries)  # type: ignore[union-attr]
    assert verdicts.alone(said, Stranger.UNDECIDED, NOW).moves == ()


def test_replicas_of_one_role_are_ready_as_they_come() -> None:
    alone = pair(reserved("p0"), prefill=3, roles=(Role("prefill", ("group-p0", "group-p1", "group-p2")),))
    assert answers(judged(alone)) == {
        "p0": ("Ready", "a deployment of one role is not held together; its replicas start as they get quota")
    }


def test_a_set_opens_when_its_last_group_holds_quota() -> None:
    assert answers(judged(pair(reserved("p0"), reserved("d0")))) == {"p0": READY, "d0": READY}


def test_a_set_that_gets_its_quota_as_it_comes_is_not_written_before_it_opens() -> None:
    coming = pair(reserved("p0", since=ago(seconds=2)), workload("d0"))
    assert judged(coming).moves == ()
    assert judged(coming).again == NOW + timedelta(seconds=3)


def test_a_held_workload_says_how_many_hold_quota_and_which_roles_wait() -> None:
    held = judged(pair(reserved("p0"), workload("d0")))
    assert answers(held) == {"p0": HELD}


def test_what_is_said_already_is_not_said_again() -> None:
    said = reserved("p0", entries=(entry("Pending", HELD[1]),))
    assert judged(pair(said, workload("d0"))).moves == ()
    opened = reserved("p0", entries=(entry("Ready", READY[1]),))
    assert judged(pair(opened, reserved("d0", entries=(entry("Ready", READY[1]),)))).moves == ()


def test_a_sentence_that_changes_waits_for_its_turn() -> None:
    said = pair(reserved("p0", entries=(entry("Pending", "other"),)), workload("d0"))
    decided = judged(said, spoken=ago(seconds=1))
    assert decided.moves == ()
    assert decided.again == NOW + timedelta(seconds=4.05)


def test_while_other_sets_open_a_held_one_is_told_nothing_for_ten_seconds() -> None:
    short, long = (
        pair(reserved("p0", since=ago(seconds=seconds)), workload("d0", since=ago(minutes=1))) for seconds in (5, 10)
    )
    decided = judged(short, opened=ago(seconds=1))
    assert decided.moves == ()
    assert decided.again == NOW + timedelta(seconds=4)
    assert answers(judged(short, opened=ago(seconds=5))) == {"p0": HELD}
    assert answers(judged(long, opened=ago(seconds=1))) == {"p0": HELD}


def test_a_new_state_has_a_new_time_and_a_new_sentence_has_not() -> None:
    [held] = judged(pair(reserved("p0"), workload("d0"))).moves
    [ready, _] = judged(pair(reserved("p0"), reserved("d0"))).moves
    assert isinstance(held, verdicts.Answer)
    assert isinstance(ready, verdicts.Answer)
    assert held.entries[0].since == ago(minutes=1)
    assert ready.entries[0].since == NOW


def test_a_workload_goes_back_at_once_when_a_sibling_lost_its_reservation_first() -> None:
    opened = reserved("p0", since=ago(seconds=1), entries=(entry("Ready", READY[1]),))
    assert answers(judged(pair(opened, workload("d0")))) == {"p0": HELD}


def test_every_check_of_ours_is_answered_and_written_as_a_whole() -> None:
    two = reserved("p0", entries=(entry(), replace(entry("Ready", READY[1]), name="second")))
    [move, _] = judged(pair(two, reserved("d0"))).moves
    assert isinstance(move, verdicts.Answer)
    assert [(each.name, each.state, each.message) for each in move.entries] == [
        ("gpustack-model-deployment-joint", *READY),
        ("second", *READY),
    ]


# --- §4: how a slot reads ---


def test_a_group_that_is_replaced_by_us_holds_its_place() -> None:
    rolling = pair(reserved("p0"), pods={"d0": (Pod("pod-d0", leaving=True),)})
    assert count(rolling).complete


def test_a_group_that_was_preempted_is_waited_for() -> None:
    preempted = pair(reserved("p0"), workload("d0"), pods={"d0": (Pod("pod-d0", leaving=True),)})
    assert count(preempted).waiting == ("decode",)


def test_a_group_of_terminating_pods_that_still_holds_quota_is_there() -> None:
    assert count(pair(reserved("p0"), reserved("d0"), pods={"d0": (Pod("pod-d0", leaving=True),)})).complete


def test_a_group_without_pods_is_still_assembled_and_the_set_says_so() -> None:
    assembling = pair(reserved("p0", since=ago(minutes=31), entries=(entry(since=ago(minutes=31)),)), pods={"d0": ()})
    assert count(assembling).assembling == ("decode",)
    assert not count(assembling).settled
    assert answers(judged(assembling)) == {
        "p0": ("Pending", "the set is not complete yet: role decode still gets Pods; nothing starts before")
    }


def test_a_live_pod_without_a_workload_is_waited_for_and_settled() -> None:
    assert count(pair(reserved("p0"))).settled


def test_a_deployment_that_is_deleted_replaces_nothing() -> None:
    going = pair(reserved("p0"), pods={"d0": (Pod("pod-d0", leaving=True),)}, deleting=True)
    assert count(going).waiting == ("decode",)


def test_a_group_is_found_by_its_pods_and_not_by_a_name() -> None:
    other = pair(reserved("anything", owners=frozenset({"pod-p0", "x"})), reserved("d0"))
    assert count(other).complete


def test_roles_are_named_in_their_order() -> None:
    assert count(pair(pods={"p0": (), "d0": ()})).assembling == ("prefill", "decode")


# --- §6: the bound ---


def long(**fields: object) -> Workload:
    return reserved(**{"since": ago(minutes=31), "entries": (entry(since=ago(minutes=31)),), **fields})  # type: ignore[arg-type]


def test_a_set_that_was_held_for_too_long_parks_and_says_the_way_out() -> None:
    decided = judged(pair(long(), workload("d0")))
    assert shelved(decided.moves) == {"p0": PARKED}
    assert markers.parked(PARKED)


def test_the_bound_must_be_passed() -> None:
    at = ago(minutes=30)
    edge = judged(pair(long(since=at, entries=(entry("Pending", HELD[1], at),)), workload("d0")))
    assert edge.moves == ()
    assert edge.again == NOW + timedelta(seconds=1)


def test_a_workload_that_queued_for_hours_has_the_whole_bound_from_its_reservation_on() -> None:
    queued = long(since=ago(minutes=10), entries=(entry(since=ago(minutes=300)),))
    assert shelved(judged(pair(queued, workload("d0"))).moves) == {}


def test_the_last_of_a_set_that_parks_does_not_keep_what_the_others_gave_back() -> None:
    old = ago(minutes=31)
    parked = workload("p0", active=False, entries=(entry("Pending", PARKED, old),))
    last = reserved("d0", since=ago(seconds=1), entries=(entry(since=old),))
    assert list(shelved(judged(pair(parked, last)).moves)) == ["d0"]
    newcomer = reserved("d0", since=ago(seconds=1), entries=(entry(since=ago(minutes=29)),))
    assert shelved(judged(pair(parked, newcomer)).moves) == {}


def test_what_somebody_lets_queue_again_has_the_whole_bound_anew_whatever_its_siblings_say() -> None:
    old = ago(minutes=40)
    parked = workload("p0", active=False, entries=(entry("Pending", PARKED, old),))
    back = reserved("d0", since=ago(seconds=10), entries=(entry("Pending", PARKED, old),))
    [move] = judged(pair(parked, back)).moves
    assert isinstance(move, verdicts.Answer)
    assert [each.since for each in move.entries] == [NOW]
    spoken = reserved("d0", since=ago(minutes=20), entries=(entry("Pending", HELD[1], ago(minutes=20)),))
    assert shelved(judged(pair(parked, spoken)).moves) == {}


def test_without_a_time_nothing_has_elapsed() -> None:
    assert shelved(judged(pair(long(entries=(entry(since=None),)), workload("d0"))).moves) == {}


def test_a_ready_in_between_starts_the_clock_anew() -> None:
    reopened = long(entries=(entry("Ready", READY[1], ago(minutes=31)),))
    decided = judged(pair(reopened, workload("d0")))
    assert answers(decided) == {"p0": HELD}
    assert shelved(decided.moves) == {}


def test_a_set_that_fits_at_last_opens_however_late() -> None:
    assert answers(judged(pair(long(), reserved("d0")))) == {"p0": READY, "d0": READY}


def test_what_stopped_between_the_words_and_the_deed_is_finished() -> None:
    [move] = judged(pair(long(entries=(entry("Pending", PARKED, ago(minutes=31)),)), workload("d0"))).moves
    assert isinstance(move, verdicts.Shelve)
    assert move.said


# --- §8: scaling up ---


def test_newcomers_of_all_roles_open_together_and_what_runs_is_left_alone() -> None:
    running = [admitted("p0"), admitted("d0")]
    waiting = pair(*running, reserved("p1"), workload("d1"), prefill=2, decode=2)
    assert answers(judged(waiting)) == {
        "p1": (
            "Pending",
            "3 of 4 replicas of the set hold quota; waiting for role decode, and all start together",
        )
    }
    opened = pair(*running, reserved("p1"), reserved("d1"), prefill=2, decode=2)
    assert answers(judged(opened)) == {"p1": READY, "d1": READY}
