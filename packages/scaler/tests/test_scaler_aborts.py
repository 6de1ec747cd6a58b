"""Spec 3 §Pacing and guards: a retirement that ends as Aborted; facts scaler §7, decisions D39 and D42."""

from modeldeployment.api import RetirementState
from modeldeployment.api.scaler import StepPolicy, StepType
from modeldeployment.api.scalerstatus import Outcome
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.memory import Memory, ScaleDown
from modeldeployment.scaler.planning.observed import Target
from modeldeployment.scaler.planning.outcome import Move, Plan
from planning_passes import agreed, counted, growing, leaving, paced, passed, read, retiring, short, shrinking, words
from planning_worlds import at, memory, role, target

BEFORE, AFTER = {"prefill": 2, "decode": 3}, {"prefill": 2, "decode": 2}
STILL = read(prefill=2, decode=2)


def _given_up(ordinal: int = 2, name: str = "decode", **replicas: int) -> Target:
    counts = {**AFTER, **replicas}
    roles = (leaving(each, count, 3 - count if each == "decode" else 0) for each, count in counts.items())
    return target(*roles, retirement=retiring(name, ordinal, RetirementState.ABORTED))


def test_a_scale_down_remembers_the_vector_of_before() -> None:
    plan = passed(read(prefill=2, decode=1), counted(**BEFORE), paced(), memory(roles=agreed(prefill=2, decode=1)))
    assert _last(plan) == ScaleDown(role="decode", ordinal=2, before=BEFORE, outcome=Outcome.COMMITTED)


def test_of_a_larger_step_the_first_to_leave_is_named() -> None:
    wider = paced(down_step=StepPolicy(type=StepType.PODS, value=2))
    before = memory(roles=agreed(prefill=2, decode=1))
    plan = passed(read(prefill=2, decode=1), counted(prefill=2, decode=4), wider, before)
    assert plan.vector == {"prefill": 2, "decode": 2}
    assert _last(plan).ordinal == 3


def test_an_aborted_retirement_restores_the_vector_of_before_in_one_write() -> None:
    plan = passed(STILL, _given_up(), paced(), shrinking(BEFORE, AFTER))
    assert (plan.move, plan.vector) == (Move.RESTORE, BEFORE)
    assert words(plan)["Blocked"] == words(plan)["decode"] == "ScaleDownAborted"
    assert plan.findings[1].cause is Cause.RETIREMENT_ABORTED
    last = _last(plan)
    assert (last.outcome, last.aborted_at, last.cooldown_until) == (Outcome.ABORTED, at(0), at(300))


def test_any_replica_of_a_larger_step_restores_all_of_it() -> None:
    before = shrinking({"prefill": 2, "decode": 4}, AFTER)
    stays = retiring("decode", 2, RetirementState.ABORTED)
    standing = target(role("prefill", 2), leaving("decode", 2), retirement=stays)
    plan = passed(STILL, standing, paced(), before)
    assert plan.vector == {"prefill": 2, "decode": 4}
    assert (_last(plan).role, _last(plan).ordinal) == ("decode", 2)


def test_a_restore_is_no_growth() -> None:
    committed = _committed(passed(STILL, _given_up(), paced(), shrinking(BEFORE, AFTER)))
    assert committed.cohort is None
    assert committed.roles["decode"].grown_at is None


def test_it_is_restored_once() -> None:
    committed = _committed(passed(STILL, _given_up(), paced(), shrinking(BEFORE, AFTER)))
    standing = counted(2, retiring("decode", 2, RetirementState.ABORTED), **BEFORE)
    again = passed(STILL, standing, paced(), committed, now=at(15))
    assert (again.move, again.vector) == (None, BEFORE)


def test_a_retirement_that_goes_on_restores_nothing() -> None:
    standing = target(role("prefill", 2), leaving("decode", 2), retirement=retiring("decode", 2))
    assert passed(STILL, standing, paced(), shrinking(BEFORE, AFTER)).move is None


def test_an_abort_of_somebody_elses_removal_restores_nothing() -> None:
    stays = retiring("prefill", 2, RetirementState.ABORTED)
    standing = target(leaving("prefill", 2), role("decode", 2), retirement=stays)
    assert passed(STILL, standing, paced(), shrinking(BEFORE, AFTER)).move is None


def test_roles_that_grew_meanwhile_keep_what_they_grew_to() -> None:
    before = growing({"prefill": 2, "decode": 2}, {"prefill": 4, "decode": 2}, last_scale_down=_last_of(BEFORE))
    standing = target(
        short("prefill", 4, 2), leaving("decode", 2), retirement=retiring("decode", 2, RetirementState.ABORTED)
    )
    plan = passed(STILL, standing, paced(), before)
    assert plan.vector == {"prefill": 4, "decode": 3}
    cohort = _committed(plan).cohort
    assert cohort is not None
    assert (cohort.baseline, cohort.target) == ({"prefill": 2, "decode": 3}, {"prefill": 4, "decode": 3})


def test_counts_that_the_spec_of_now_does_not_allow_are_not_restored_but_the_cooldown_begins() -> None:
    narrower = paced({"prefill": (1, 16), "decode": (1, 2)})
    plan = passed(STILL, _given_up(), narrower, shrinking(BEFORE, AFTER))
    assert (plan.move, plan.vector) == (None, AFTER)
    assert _kept(plan).outcome is Outcome.ABORTED


def test_counts_that_somebody_wrote_meanwhile_are_not_overwritten() -> None:
    stays = retiring("decode", 2, RetirementState.ABORTED)
    standing = target(role("prefill", 3), leaving("decode", 2), generation=2, retirement=stays)
    plan = passed(read(prefill=3, decode=2), standing, paced(), shrinking(BEFORE, AFTER))
    assert plan.vector == {"prefill": 3, "decode": 2}
    assert plan.memory.last_scale_down is None


def _last_of(before: dict[str, int]) -> ScaleDown:
    return ScaleDown(role="decode", ordinal=2, before=before, outcome=Outcome.COMMITTED)


def _committed(plan: Plan) -> Memory:
    assert plan.committed is not None
    return plan.committed


def _last(plan: Plan) -> ScaleDown:
    last = _committed(plan).last_scale_down
    assert last is not None
    return last


def _kept(plan: Plan) -> ScaleDown:
    assert plan.memory.last_scale_down is not None
    return plan.memory.last_scale_down
