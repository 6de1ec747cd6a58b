"""How a retirement is given up, and what becomes of what is retained: adopted, retried, superseded, or gone."""

from dataclasses import replace

import pytest
from modeldeployment.api import RetirementState
from modeldeployment.reconcile.retiring import wording
from modeldeployment.reconcile.retiring.evidence import Stage
from modeldeployment.reconcile.retiring.intents import Held
from modeldeployment.reconcile.retiring.retrying import Refused, Retry, parse
from retiring_worlds import (
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
)

GONE = replace(scene(), target=(), intents=(), workload=False)
DECLARED = replace(scene(), intents=())
"""The target stands and the spec declares it again."""


def test_an_abort_by_budget_names_the_step_and_what_is_retained_and_stamps_the_deadline() -> None:
    stored = reserved("Draining", phase_started=after(10), members=frozenset("bc"))
    members = (leaver("b"), leaver("c", leads=False))
    seen = scene(intent(*members), target=members, evidence=evidence(idle=WAITING, members="bc"))
    turn = advance(stored, seen, after(250))
    aborted = turn.reservation
    assert aborted is not None
    assert (aborted.state, aborted.deadline, aborted.phase_started) == (RetirementState.ABORTED, after(250), after(10))
    assert aborted.reason == (
        f"drain took all of its time: {WAITING.reason}; retained: 2 members, its Workload and their capacity"
    )
    assert turn.ended is RetirementState.ABORTED
    assert turn.until is None


def test_every_state_before_the_delete_names_its_step() -> None:
    named = {name: wording.STEPS[RetirementState(name)] for name in ("Admitted", "Disqualified", "Draining")}
    assert named == {
        "Admitted": "taking the eligibility label off",
        "Disqualified": "withdrawal from routers",
        "Draining": "drain",
    }


def test_an_aborted_operation_stays_aborted_under_the_same_intent() -> None:
    stored = reserved("Aborted")
    turn = advance(stored, scene(evidence=evidence()), after(100_000))
    assert (turn.reservation, turn.deletes, turn.until) == (stored, False, None)


def test_what_is_retained_is_given_back_to_routers() -> None:
    assert advance(reserved("Aborted"), scene()).stage is Stage.RESTORING


def test_what_is_retained_refuses_a_second_removal() -> None:
    second = intent(leaver("a"), ordinal=0)
    turn = advance(reserved("Aborted"), scene(intent(), second))
    assert turn.held == ((second, Held.OTHER_RETAINED),)
    assert state(turn) == "Aborted"
    assert "retirement-retry=server:1:TOKEN" in wording.held(second, Held.OTHER_RETAINED, turn.reservation)


@pytest.mark.parametrize("name", ["Admitted", "Disqualified", "Withdrawing", "Draining"])
@pytest.mark.parametrize("left", [(), (leaver(leaving=True),), (leaver(over=True),)])
def test_a_target_that_is_terminated_from_outside_ends_aborted_and_holds_nothing(name: str, left: tuple[()]) -> None:
    turn = advance(reserved(name), replace(scene(evidence=evidence()), target=left, intents=()))
    assert (state(turn), turn.deletes, turn.stage) == ("Aborted", False, None)
    assert "terminated from outside" in reason(turn)
    assert "retained" not in reason(turn)


def test_a_replica_that_lost_one_of_its_members_is_no_target_any_more() -> None:
    stored = reserved("Draining", members=frozenset("bc"))
    turn = advance(stored, scene(intent(leaver("b")), target=(leaver("b"),), evidence=evidence(members="bc")))
    assert (state(turn), turn.deletes) == ("Aborted", False)


def test_after_an_external_termination_the_next_intent_is_admitted() -> None:
    seen = replace(GONE, intents=(intent(leaver("a"), ordinal=0),))
    turn = advance(reserved("Aborted", token="t"), seen, after(5))
    assert turn.reservation is not None
    assert (turn.reservation.ordinal, turn.reservation.members) == (0, frozenset("a"))
    assert turn.reservation.token == "t"


def test_an_external_termination_stays_told_until_there_is_something_new() -> None:
    assert state(advance(reserved("Aborted"), GONE, after(1000))) == "Aborted"
    assert state(advance(reserved("Aborted"), replace(GONE, generation=3))) == ""


@pytest.mark.parametrize("name", ["Admitted", "Disqualified", "Withdrawing", "Draining"])
def test_an_operation_whose_intent_is_taken_back_before_the_delete_is_given_up(name: str) -> None:
    turn = advance(reserved(name), replace(DECLARED, generation=3, evidence=evidence()))
    assert (state(turn), turn.deletes) == ("Aborted", False)
    assert "no longer asks" in reason(turn)


@pytest.mark.parametrize("name", ["Deleting", "Settling"])
def test_an_intent_taken_back_after_the_delete_changes_nothing(name: str) -> None:
    turn = advance(reserved(name), replace(DECLARED, generation=3))
    assert (state(turn), turn.deletes) == (name, True)


def test_a_replica_that_is_declared_again_and_healthy_and_restored_is_adopted() -> None:
    seen = replace(DECLARED, healthy=True, generation=3, evidence=evidence(restored=PROVEN))
    assert advance(reserved("Aborted"), seen).reservation is None


def test_a_replica_that_is_not_healthy_is_not_adopted() -> None:
    seen = replace(DECLARED, healthy=False, generation=3, evidence=evidence(restored=PROVEN))
    assert state(advance(reserved("Aborted"), seen)) == "Aborted"


def test_adopting_waits_for_routers_no_longer_than_they_are_given() -> None:
    seen = replace(DECLARED, healthy=True, generation=3, evidence=evidence(restored=WAITING))
    stored = reserved("Aborted", deadline=NOW)
    early = advance(stored, seen, after(29))
    assert (state(early), early.until, early.stage) == ("Aborted", after(30), Stage.RESTORING)
    assert advance(stored, seen, after(30)).reservation is None


def test_a_sick_replica_that_is_declared_again_refuses_nobody_for_ever() -> None:
    other = intent(leaver("a"), ordinal=0)
    seen = replace(DECLARED, generation=3, intents=(other,))
    stored = reserved("Aborted", deadline=NOW)
    assert advance(stored, seen, after(29)).reservation == stored
    turn = advance(stored, seen, after(30))
    assert turn.reservation is not None
    assert turn.reservation.members == frozenset("a")


def test_a_new_generation_that_still_wants_it_gone_asks_anew() -> None:
    turn = advance(reserved("Aborted", token="t"), scene(generation=3), after(50))
    assert turn.reservation == reserved(
        "Admitted",
        generation=3,
        reason=reason(turn),
        started=after(50),
        phase_started=after(50),
        deadline=after(350),
        token="t",
    )


def test_a_new_generation_does_not_disturb_an_operation_that_is_under_way() -> None:
    turn = advance(reserved("Draining"), scene(generation=9, evidence=evidence(idle=WAITING)))
    assert turn.reservation is not None
    assert turn.reservation.generation == 2


def test_an_intent_that_was_taken_back_and_is_there_again_asks_anew_without_an_edit() -> None:
    given_up = advance(reserved("Admitted"), DECLARED).reservation
    assert state(advance(given_up, DECLARED, after(5))) == "Aborted"
    assert state(advance(given_up, scene(), after(5))) == "Admitted"


# Retry.


def test_a_retry_begins_anew_and_stores_its_token_before_the_annotation_goes() -> None:
    seen = scene(retry="server:1:again")
    turn = advance(reserved("Aborted"), seen, after(50))
    assert turn.reservation == reserved(
        "Admitted",
        reason=reason(turn),
        started=after(50),
        phase_started=after(50),
        deadline=after(350),
        token="again",
    )
    assert (turn.done_with_retry, turn.refused) == (False, None)
    assert advance(turn.reservation, seen, after(51)).done_with_retry


@pytest.mark.parametrize("name", list(RetirementState)[:-1])
def test_a_token_that_was_heeded_only_takes_the_annotation_off(name: RetirementState) -> None:
    stored = reserved(name.value, token="again")
    plain = advance(stored, scene())
    turn = advance(stored, scene(retry="server:1:again"))
    assert turn.done_with_retry
    assert turn.reservation == plain.reservation


@pytest.mark.parametrize(
    "annotation",
    ["", "server", "server:1", "server:1:a:b", ":1:a", "server::a", "server:1:", "server:-1:a", "server:x:a", "s:²:a"],
)
def test_a_malformed_retry_is_no_retry(annotation: str) -> None:
    assert parse(annotation) is None
    turn = advance(reserved("Aborted"), scene(retry=annotation))
    assert state(turn) == "Aborted"
    assert turn.refused is (Refused.MALFORMED if annotation else None)
    assert not turn.done_with_retry


def test_a_retry_has_a_role_an_ordinal_and_a_token() -> None:
    assert parse("server:0:t-1") == Retry("server", 0, "t-1")


@pytest.mark.parametrize("annotation", ["server:0:t", "other:1:t"])
def test_a_retry_of_another_replica_is_refused(annotation: str) -> None:
    turn = advance(reserved("Aborted"), scene(retry=annotation))
    assert (state(turn), turn.refused) == ("Aborted", Refused.OTHER_TARGET)
    assert advance(None, replace(GONE, retry=annotation)).refused is Refused.OTHER_TARGET


@pytest.mark.parametrize("name", ["Admitted", "Disqualified", "Withdrawing", "Draining", "Deleting", "Settling"])
def test_a_retry_is_heeded_only_once_the_operation_was_aborted(name: str) -> None:
    turn = advance(reserved(name), scene(retry="server:1:t"))
    assert turn.refused is Refused.NOT_ABORTED
    assert turn.reservation is not None
    assert turn.reservation.token == ""


def test_a_retry_of_what_is_gone_or_declared_again_is_refused() -> None:
    assert advance(reserved("Aborted"), replace(GONE, retry="server:1:t")).refused is Refused.GONE
    assert advance(reserved("Aborted"), replace(DECLARED, retry="server:1:t")).refused is Refused.NOT_WANTED


def test_a_retry_of_the_last_worker_of_its_kind_waits() -> None:
    turn = advance(reserved("Aborted"), scene(intent(last=True), retry="server:1:t"))
    assert state(turn) == "Aborted"


@pytest.mark.parametrize("why", list(Refused))
def test_every_refusal_of_a_retry_names_the_annotation_and_the_way_out(why: Refused) -> None:
    said = wording.refused(why, "server:1:t")
    assert said.startswith("annotation modeldeployment.gpustack.ai/retirement-retry is 'server:1:t', ")
    assert ";" in said


@pytest.mark.parametrize("why", list(Held))
def test_every_hold_names_the_replica(why: Held) -> None:
    assert wording.held(intent(window=after(300) - NOW), why, reserved()).startswith("replica server/1 ")
