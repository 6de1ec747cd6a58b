"""The steps of a retirement, row by row of facts reconcile §7 and facts shutdown §2 to §4."""

from dataclasses import replace

import pytest
from modeldeployment.api import Retirement, RetirementState
from modeldeployment.reconcile.retiring.evidence import Leg, Stage
from modeldeployment.reconcile.retiring.intents import Held
from modeldeployment.reconcile.retiring.machine import BUDGETS
from modeldeployment.reconcile.retiring.reservation import read
from modeldeployment.router.withdrawal import Verdict
from retiring_worlds import (
    IMPOSSIBLE,
    NOW,
    PROVEN,
    WAITING,
    advance,
    after,
    evidence,
    intent,
    leaver,
    reason,
    reserved,
    scene,
    state,
    walk,
)


def test_from_no_reservation_a_scale_down_shows_its_states_pass_by_pass() -> None:
    assert walk(None, scene(evidence=evidence()), 7) == [
        *("Admitted", "Disqualified", "Withdrawing", "Draining", "Deleting", "Settling", ""),
    ]


def test_without_an_intent_nothing_begins() -> None:
    turn = advance(None, replace(scene(), intents=()))
    assert (turn.reservation, turn.deletes, turn.stage, turn.until) == (None, False, None, None)


def test_the_admitting_pass_reserves_and_deletes_nothing() -> None:
    turn = advance(None, scene(intent(leaver("c"), leaver("b"), ordinal=0), evidence=evidence()))
    assert turn.reservation == reserved("Admitted", ordinal=0, members=frozenset("bc"), reason=reason(turn))
    assert not turn.deletes
    assert turn.until == after(30)


def test_a_reservation_is_written_with_its_ordinal_even_if_it_is_0_and_its_uids_in_order() -> None:
    body = reserved("Admitted", ordinal=0, members=frozenset("cab"), workload="").body()
    assert body["replicaOrdinal"] == 0
    assert body["targetMemberUIDs"] == ["a", "b", "c"]
    assert body["targetWorkloadUID"] == ""
    assert body["startedAt"] == "2030-01-01T12:00:00Z"
    assert "lastConsumedRetryToken" not in body


def test_what_a_later_release_calls_a_state_deletes_nothing() -> None:
    stored = read(Retirement.model_validate({**reserved().body(), "state": "Teleporting"}))
    assert stored is not None
    assert stored.state is RetirementState.ABORTED
    assert not advance(stored, scene(evidence=evidence())).deletes


def test_an_operation_without_times_has_spent_them_and_ends_aborted() -> None:
    body = {"roleName": "server", "replicaOrdinal": 1, "state": "Draining", "targetMemberUIDs": ["b"]}
    stored = read(Retirement.model_validate(body))
    assert state(advance(stored, scene(evidence=evidence()))) == "Aborted"


def test_admitted_waits_until_no_member_carries_the_label() -> None:
    seen = scene(target=(leaver(eligible=True),))
    assert state(advance(reserved("Admitted"), seen)) == "Admitted"
    turn = advance(reserved("Admitted"), scene())
    assert state(turn) == "Disqualified"
    assert turn.stage is Stage.WITHDRAWING


def test_admitted_and_disqualified_share_one_budget() -> None:
    turn = advance(reserved("Admitted"), scene(), after(10))
    assert turn.reservation is not None
    assert turn.reservation.phase_started == NOW
    assert turn.until == after(30)
    assert state(advance(turn.reservation, scene(evidence=evidence(withdrawal=WAITING)), after(30))) == "Aborted"


def test_disqualified_waits_for_every_router_to_let_go() -> None:
    turn = advance(reserved("Disqualified"), scene(evidence=evidence(withdrawal=WAITING)))
    assert state(turn) == "Disqualified"
    assert WAITING.reason in reason(turn)
    assert state(advance(reserved("Disqualified"), scene(evidence=evidence()), after(9))) == "Withdrawing"


def test_disqualified_waits_while_nobody_has_witnessed_anything() -> None:
    turn = advance(reserved("Disqualified"), scene())
    assert (state(turn), turn.stage) == ("Disqualified", Stage.WITHDRAWING)


def test_evidence_about_other_members_is_none() -> None:
    seen = scene(evidence=evidence(members="a"))
    assert state(advance(reserved("Disqualified"), seen)) == "Disqualified"
    assert not advance(reserved("Draining"), seen).deletes


def test_withdrawing_goes_on_at_once_and_each_phase_starts_its_time_anew() -> None:
    first = advance(reserved("Disqualified"), scene(evidence=evidence()), after(9)).reservation
    assert first is not None
    assert (first.state, first.phase_started) == (RetirementState.WITHDRAWING, after(9))
    then = advance(first, scene(evidence=evidence()), after(10)).reservation
    assert then is not None
    assert (then.state, then.phase_started, then.deadline) == (RetirementState.DRAINING, after(10), after(300))


def test_draining_waits_for_idleness() -> None:
    busy = Leg(Verdict.WAITING, "pod-b runs 3 requests")
    turn = advance(reserved("Draining"), scene(evidence=evidence(idle=busy)))
    assert (state(turn), turn.deletes, turn.stage) == ("Draining", False, Stage.DRAINING)
    assert "pod-b runs 3 requests" in reason(turn)


def test_draining_goes_on_asking_routers_and_waits_where_one_took_it_up_again() -> None:
    turn = advance(reserved("Draining"), scene(evidence=evidence(withdrawal=WAITING)))
    assert (state(turn), turn.deletes) == ("Draining", False)


def test_draining_waits_where_somebody_put_the_label_back() -> None:
    turn = advance(reserved("Draining"), scene(target=(leaver(eligible=True),), evidence=evidence()))
    assert (state(turn), turn.deletes) == ("Draining", False)


def test_the_pass_that_has_both_proofs_stores_deleting_and_deletes() -> None:
    turn = advance(reserved("Draining"), scene(evidence=evidence()))
    assert (state(turn), turn.deletes, turn.stage) == ("Deleting", True, None)


def test_deleting_asks_again_while_a_pod_is_there_and_never_aborts() -> None:
    for stays in (leaver(), leaver(leaving=True)):
        turn = advance(reserved("Deleting"), replace(scene(), target=(stays,), intents=()), after(10_000))
        assert (state(turn), turn.deletes) == ("Deleting", True)


def test_deleting_goes_on_once_every_captured_pod_is_gone() -> None:
    turn = advance(reserved("Deleting"), replace(scene(), target=(), intents=()))
    assert (state(turn), turn.deletes) == ("Settling", True)


def test_settling_ends_once_the_workload_is_gone() -> None:
    gone = replace(scene(), target=(), intents=(), workload=False)
    turn = advance(reserved("Settling"), gone)
    assert (turn.reservation, turn.ended) == (None, RetirementState.COMPLETED)


def test_settling_out_of_time_stays_and_says_so() -> None:
    seen = replace(scene(), target=(), intents=())
    assert "longer" not in reason(advance(reserved("Settling"), seen, after(29)))
    late = advance(reserved("Settling"), seen, after(30))
    assert state(late) == "Settling"
    assert "longer than 30 s" in reason(late)


def test_a_pass_that_changes_nothing_leaves_the_reservation_as_it_is() -> None:
    seen = scene(evidence=evidence(idle=WAITING))
    once = advance(reserved("Draining"), seen).reservation
    assert advance(once, seen, after(5)).reservation == once


@pytest.mark.parametrize("name", ["Admitted", "Disqualified", "Withdrawing", "Draining"])
def test_budgets_are_spent_at_equality(name: str) -> None:
    seen = scene(target=(leaver(eligible=True),)) if name == "Admitted" else scene()
    budget = BUDGETS[RetirementState(name)].total_seconds()
    assert state(advance(reserved(name), seen, after(budget - 0.001))) != "Aborted"
    assert state(advance(reserved(name), seen, after(budget))) == "Aborted"


def test_the_budgets_are_those_of_the_protocol() -> None:
    assert {name.value: each.total_seconds() for name, each in BUDGETS.items()} == {
        "Admitted": 30,
        "Disqualified": 30,
        "Withdrawing": 30,
        "Draining": 240,
        "Settling": 30,
    }


def test_the_deadline_of_the_whole_operation_ends_a_phase_that_has_time_left() -> None:
    stored = reserved("Draining", phase_started=after(100))
    assert state(advance(stored, scene(), after(299))) == "Draining"
    assert state(advance(stored, scene(), after(300))) == "Aborted"


def test_a_proof_that_comes_when_the_time_is_spent_comes_too_late() -> None:
    turn = advance(reserved("Draining"), scene(evidence=evidence()), after(240))
    assert (state(turn), turn.deletes) == ("Aborted", False)


def test_a_router_that_can_prove_nothing_aborts_at_once_and_keeps_the_capacity() -> None:
    turn = advance(reserved("Disqualified"), scene(evidence=evidence(withdrawal=IMPOSSIBLE)), after(1))
    assert (state(turn), turn.deletes) == ("Aborted", False)
    assert IMPOSSIBLE.reason in reason(turn)


def test_an_engine_that_can_never_be_read_aborts_at_once() -> None:
    turn = advance(reserved("Draining"), scene(evidence=evidence(withdrawal=WAITING, idle=IMPOSSIBLE)))
    assert state(turn) == "Aborted"
    assert IMPOSSIBLE.reason in reason(turn)


def test_a_half_of_a_pair_stays_idle_for_its_handoff_window_before_it_goes() -> None:
    half = intent(window=after(30) - NOW)
    seen = scene(half, window=half.window, evidence=evidence())
    early = advance(reserved("Draining"), seen, after(29))
    assert (state(early), early.deletes, early.until) == ("Draining", False, after(30))
    assert "handoff window of 30 s" in reason(early)
    assert advance(reserved("Draining"), seen, after(30)).deletes


def test_a_half_that_is_busy_at_the_end_of_its_window_waits_on() -> None:
    seen = scene(window=after(30) - NOW, evidence=evidence(idle=WAITING))
    assert not advance(reserved("Draining"), seen, after(31)).deletes


def test_a_window_that_cannot_end_within_the_drain_is_not_begun() -> None:
    long = intent(window=after(240) - NOW)
    turn = advance(None, scene(long))
    assert (turn.reservation, turn.held) == (None, ((long, Held.WINDOW_TOO_LONG),))
    assert advance(None, scene(intent(window=after(239) - NOW))).reservation is not None


def test_the_last_worker_of_a_kind_is_held_and_does_not_hold_back_others() -> None:
    last, other = intent(role="decode", last=True), intent(leaver("c"), role="prefill")
    turn = advance(None, scene(last, other))
    assert turn.reservation is not None
    assert turn.reservation.role == "prefill"
    alone = advance(None, scene(last))
    assert (alone.reservation, alone.held) == (None, ((last, Held.LAST_OF_KIND),))


def test_one_that_becomes_the_last_of_its_kind_is_given_up() -> None:
    turn = advance(reserved("Draining"), scene(last=True, evidence=evidence()))
    assert (state(turn), turn.deletes) == ("Aborted", False)
    assert "last worker of its kind" in reason(turn)


def test_a_member_without_a_uid_cannot_be_reserved() -> None:
    nameless = intent(leaver(""))
    turn = advance(None, scene(nameless))
    assert (turn.reservation, turn.deletes, turn.held) == (None, False, ((nameless, Held.NO_UID),))


def test_of_a_replica_of_several_pods_only_the_leader_has_to_have_been_reached() -> None:
    leader, follower = leaver("b", untouched=True), leaver("c", leads=False)
    stored = reserved("Draining", members=frozenset("bc"))
    assert advance(stored, scene(intent(leader, follower), target=(leader, follower))).deletes
    reached = replace(leader, untouched=False)
    assert not advance(stored, scene(intent(reached, follower), target=(reached, follower))).deletes


def test_a_replica_whose_engine_never_answered_needs_no_evidence_but_takes_every_step() -> None:
    fresh = leaver(untouched=True)
    seen = scene(intent(fresh), target=(fresh,))
    assert walk(None, seen, 6) == ["Admitted", "Disqualified", "Withdrawing", "Draining", "Deleting", "Settling"]


def test_a_second_intent_waits_for_the_one_under_way_and_is_told_so() -> None:
    second = intent(leaver("a"), ordinal=0)
    turn = advance(reserved("Draining"), scene(intent(), second, evidence=evidence(idle=WAITING)))
    assert turn.held == ((second, Held.OTHER_UNDER_WAY),)
    assert "1 more waits its turn, one replica at a time" in reason(turn)


def test_how_many_wait_is_said_once_for_all() -> None:
    others = [intent(leaver(uid), ordinal=3) for uid in "cde"]
    assert "3 more wait their turn" in reason(advance(reserved("Draining"), scene(intent(), *others)))


def test_surplus_pods_leave_as_one_operation() -> None:
    turn = advance(None, scene(intent(leaver("x"), leaver("y"), ordinal=2, workload="")))
    assert turn.reservation is not None
    assert turn.reservation.members == frozenset("xy")
    assert turn.reservation.workload == ""


def test_evidence_must_prove_both_legs_in_one_pass() -> None:
    for withdrawal, idle in ((PROVEN, WAITING), (WAITING, PROVEN), (WAITING, WAITING)):
        seen = scene(evidence=evidence(withdrawal=withdrawal, idle=idle))
        assert not advance(reserved("Draining"), seen).deletes
