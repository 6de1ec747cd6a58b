"""Spec 3 §Resource rebalancing, sentence by sentence; facts scaler §8, decisions D40 and D41."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from modeldeployment.api import RetirementState
from modeldeployment.api.scaler import RebalancePolicy, StepPolicy, StepType
from modeldeployment.api.scalerconditions import RebalanceReason, ScalerCondition, ScalerReason
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.memory import Memory, Rebalance
from modeldeployment.scaler.planning.observed import Reading, Target
from modeldeployment.scaler.planning.outcome import Move, Plan
from modeldeployment.scaler.planning.policy import Policy
from planning_passes import (
    aborted,
    agreed,
    asking,
    counted,
    leaving,
    paced,
    passed,
    read,
    retiring,
    short,
    spent,
    words,
)
from planning_worlds import at, band, memory, remembered, role, steady, target

COUNTS = {"prefill": 2, "decode": 3}
WANTS = Reading(roles={"prefill": asking(4), "decode": asking(2, ready=3)})
"""Prefill wants to grow, and decode to shrink."""
PRIORITY = RebalancePolicy.PRIORITY
ORDER = ("prefill", "decode")


def _exhausted(**fields: Any) -> Memory:
    """Prefill's growth was rolled back just now; decode's window keeps it from shrinking by itself."""
    episode = Rebalance(reason=RebalanceReason.RESOURCE_EXHAUSTED, episode=1)
    return memory(**{"exhaustion": spent("prefill", baseline=COUNTS), "rebalance": episode} | fields)


def _tried(
    by: Policy | None = None, seen: Reading = WANTS, of: Target | None = None, before: Memory | None = None
) -> Plan:
    return passed(seen, of or counted(**COUNTS), by or paced(), before or _exhausted())


def _move(plan: Plan, *, kept: bool = False) -> Rebalance:
    remembered = plan.memory if kept else plan.committed
    assert remembered is not None
    assert remembered.rebalance is not None
    return remembered.rebalance


def test_the_donor_gives_first() -> None:
    plan = _tried()
    assert (plan.move, plan.vector) == (Move.DONOR_RELEASE, {"prefill": 2, "decode": 2})
    assert _move(plan) == Rebalance(
        reason=RebalanceReason.DONOR_RELEASE,
        episode=1,
        receiver="prefill",
        donor="decode",
        donor_replicas=2,
        receiver_replicas=3,
        started_at=at(0),
    )
    assert plan.committed is not None
    assert plan.committed.last_scale_down is not None
    assert plan.committed.last_scale_down.before == COUNTS


def test_the_down_stabilization_window_does_not_bind_a_donor() -> None:
    plan = _tried()
    window = next(step for step in plan.trail if step.cause is Cause.DOWN_WINDOW)
    assert (window.role, window.after) == ("decode", 3)
    assert plan.vector["decode"] == 2


def test_it_starts_only_after_a_rollback() -> None:
    assert _tried(before=memory()).move is not Move.DONOR_RELEASE
    over = _exhausted(exhaustion=spent("prefill", baseline=COUNTS, until=0))
    assert _tried(before=over).move is Move.PLANNED


def test_it_starts_only_where_the_receiver_still_wants_to_grow() -> None:
    seen = Reading(roles={"prefill": asking(2), "decode": asking(2, ready=3)})
    assert _tried(seen=seen).move is None


def test_disabled_attempts_no_donation() -> None:
    plan = _tried(paced(rebalance=RebalancePolicy.DISABLED))
    assert (plan.move, _move(plan, kept=True).reason) == (None, RebalanceReason.RESOURCE_EXHAUSTED)


def test_opposing_takes_only_from_a_role_that_shrinks_by_itself() -> None:
    holding = Reading(roles={"prefill": asking(4), "decode": asking(3, ready=3)})
    plan = _tried(seen=holding)
    assert (plan.move, _move(plan, kept=True).reason) == (None, ScalerReason.REBALANCE_NOT_APPLICABLE)
    assert [step.cause for step in plan.trail if step.role == "prefill"][-1] is Cause.NO_DONOR


def test_priority_takes_from_a_role_that_holds() -> None:
    holding = Reading(roles={"prefill": asking(4), "decode": asking(3, ready=3)})
    plan = _tried(paced(rebalance=PRIORITY, priority=ORDER), holding)
    assert (plan.move, plan.vector) == (Move.DONOR_RELEASE, {"prefill": 2, "decode": 2})
    assert _move(plan).attempted


def test_priority_takes_nothing_from_a_role_that_wants_to_grow() -> None:
    growing = Reading(roles={"prefill": asking(4), "decode": asking(5, ready=3)})
    before = _exhausted(exhaustion=spent("prefill", "decode", baseline=COUNTS))
    plan = _tried(paced(rebalance=PRIORITY, priority=ORDER), growing, before=before)
    assert (plan.move, _move(plan, kept=True).reason) == (None, ScalerReason.REBALANCE_NOT_APPLICABLE)


def test_priority_starts_with_the_next_listed_role() -> None:
    bounds = {"server": (1, 9), "prefill": (1, 9), "decode": (1, 9)}
    listed = paced(bounds, rebalance=PRIORITY, priority=("prefill", "decode", "server"))
    plan = _tried(listed, read(server=2, prefill=4, decode=2), counted(server=2, prefill=2, decode=2))
    assert plan.vector == {"server": 2, "prefill": 2, "decode": 1}


@pytest.mark.parametrize("priority", [("decode", "prefill"), ("decode",), ("prefill",)])
def test_roles_before_the_receiver_and_unlisted_ones_give_nothing(priority: tuple[str, ...]) -> None:
    assert _tried(paced(rebalance=PRIORITY, priority=priority)).move is None


def test_an_unlisted_role_receives_nothing() -> None:
    plan = _tried(paced(rebalance=PRIORITY, priority=("decode",)))
    assert (plan.move, _move(plan, kept=True).reason) == (None, RebalanceReason.RESOURCE_EXHAUSTED)


@pytest.mark.parametrize(("pool", "other"), [("h100", "a10"), ("", "")])
def test_donor_and_receiver_use_the_same_nonempty_instance_type(pool: str, other: str) -> None:
    standing = target(role("prefill", 2, instance_type=pool), role("decode", 3, instance_type=other))
    plan = _tried(of=standing)
    assert _move(plan, kept=True).reason is ScalerReason.REBALANCE_NOT_APPLICABLE


def test_the_donor_is_above_its_minimum() -> None:
    plan = _tried(paced({"prefill": (1, 16), "decode": (3, 16)}))
    assert _move(plan, kept=True).reason is ScalerReason.REBALANCE_NOT_APPLICABLE


@pytest.mark.parametrize(
    "bound",
    [
        paced(bands=(band("prefill", "decode", high="0.8"),)),
        paced({"prefill": (1, 2), "decode": (1, 16)}),
        paced(up_step=StepPolicy(type=StepType.PODS, value=0)),
        paced(down_step=StepPolicy(type=StepType.PODS, value=0)),
    ],
    ids=["ratio", "maximum", "no growth", "no shrinkage"],
)
def test_both_vectors_keep_bounds_ratios_and_what_steps_forbid(bound: Policy) -> None:
    plan = _tried(bound)
    assert (plan.move, _move(plan, kept=True).reason) == (None, ScalerReason.REBALANCE_BLOCKED)
    assert [step.cause for step in plan.trail if step.role == "prefill"][-1] is Cause.DONOR_BLOCKED


def test_incomplete_coverage_binds_a_release() -> None:
    seen = Reading(roles={"prefill": asking(4), "decode": asking(2, ready=3, complete=False)})
    plan = _tried(seen=seen)
    assert (plan.move, plan.trail[-1].cause, plan.trail[-1].role) == (None, Cause.COVERAGE_INCOMPLETE, "decode")
    assert _move(plan, kept=True).reason is RebalanceReason.RESOURCE_EXHAUSTED


def test_an_active_retirement_binds_a_release() -> None:
    assert _tried(of=counted(1, retiring("decode", 3), **COUNTS)).move is None


def test_a_cooldown_binds_a_release() -> None:
    plan = _tried(before=_exhausted(last_scale_down=aborted(until=60)))
    assert (plan.move, plan.trail[-1].cause) == (None, Cause.ABORT_COOLDOWN)


def test_the_grace_of_a_decode_role_binds_a_release() -> None:
    known = {"decode": remembered(recommended=steady(3, until=-15), grown_at=at(-60), grown_from=2)}
    plan = _tried(before=_exhausted(roles=known))
    assert (plan.move, plan.trail[-1].cause) == (None, Cause.DECODE_GRACE)


def test_other_growth_goes_first() -> None:
    bounds = {"prefill": (1, 9), "decode": (1, 9), "server": (1, 9)}
    seen = Reading(roles={**WANTS.roles, "server": asking(4)})
    plan = _tried(paced(bounds), seen, counted(**COUNTS, server=2))
    assert (plan.move, plan.vector) == (Move.PLANNED, {"prefill": 2, "decode": 3, "server": 4})


def test_what_the_donor_gives_up_anyway_is_the_donation() -> None:
    plan = _tried(before=_exhausted(roles=agreed(prefill=4, decode=2)))
    assert (plan.move, plan.vector) == (Move.DONOR_RELEASE, {"prefill": 2, "decode": 2})


# --- the second leg --------------------------------------------------------------------------------------------------


def _released(**fields: Any) -> Memory:
    plan = _tried(paced(rebalance=PRIORITY, priority=ORDER))
    assert plan.committed is not None
    return msgspec.structs.replace(plan.committed, **fields)


LEFT = {"prefill": 2, "decode": 2}


def _then(of: Target, by: Policy | None = None, before: Memory | None = None) -> Plan:
    listed = by or paced(rebalance=PRIORITY, priority=ORDER)
    return passed(WANTS, of, listed, before or _released(), now=at(15))


def test_the_receiver_waits_while_the_donor_retires() -> None:
    standing = target(role("prefill", 2), leaving("decode", 2), generation=2, retirement=retiring("decode", 2))
    plan = _then(standing)
    assert (plan.move, plan.vector) == (None, LEFT)


def test_the_receiver_waits_until_the_donors_workload_is_gone() -> None:
    assert _then(target(role("prefill", 2), leaving("decode", 2), generation=2)).move is None


def test_meanwhile_neither_of_them_moves_otherwise() -> None:
    seen = Reading(roles={"prefill": asking(1), "decode": asking(9)})
    standing = target(role("prefill", 2), leaving("decode", 2), generation=2)
    before = _released(roles=agreed(prefill=1, decode=9))
    assert passed(seen, standing, paced(), before, now=at(15)).vector == LEFT


def test_a_donor_whose_retirement_does_not_begin_is_named_and_waited_for_without_end() -> None:
    standing = target(role("prefill", 2), leaving("decode", 2), generation=2)
    plan = passed(WANTS, standing, paced(), _released(), now=at(3600))
    assert (plan.move, plan.vector) == (None, LEFT)
    assert _move(plan, kept=True).reason is RebalanceReason.DONOR_RELEASE
    (found,) = (each for each in plan.findings if each.condition is ScalerCondition.BLOCKED)
    assert (found.cause, found.roles) == (Cause.DONOR_LEAVING, ("prefill",))
    assert found.numbers == {"donor": "decode", "role": "decode", "ordinal": 2, "state": "Surplus"}


def test_whoever_disables_rebalancing_gives_a_donation_up_and_the_receiver_may_grow_by_itself() -> None:
    standing = target(role("prefill", 2), leaving("decode", 2), generation=2)
    edited = replace(paced(rebalance=RebalancePolicy.DISABLED), generation=2)
    plan = passed(WANTS, standing, edited, _released(policy_generation=1), now=at(3600))
    assert plan.memory.rebalance is None
    assert (plan.move, plan.vector["prefill"]) == (Move.PLANNED, 4)


def test_then_the_receiver_gets_one_replica_as_a_cohort() -> None:
    plan = _then(counted(2, **LEFT))
    assert (plan.move, plan.vector) == (Move.RECEIVER_ACQUIRE, {"prefill": 3, "decode": 2})
    assert _move(plan).reason is RebalanceReason.RECEIVER_ACQUIRE
    assert plan.committed is not None
    assert plan.committed.cohort is not None
    assert plan.committed.cohort.baseline == LEFT


def test_a_pending_workload_of_the_receiver_keeps_it_waiting() -> None:
    assert _then(target(short("prefill", 2, 1, waiting=True), role("decode", 2), generation=2)).move is None


def test_a_receiver_that_no_longer_fits_blocks_the_transaction() -> None:
    plan = _then(counted(2, **LEFT), paced({"prefill": (1, 2), "decode": (1, 9)}, rebalance=PRIORITY, priority=ORDER))
    assert (plan.move, _move(plan, kept=True).reason) == (None, ScalerReason.REBALANCE_BLOCKED)
    assert _move(plan, kept=True).attempted


def test_an_aborted_donor_retirement_restores_the_vector_and_cancels_the_transaction() -> None:
    stays = retiring("decode", 2, RetirementState.ABORTED)
    plan = _then(target(role("prefill", 2), leaving("decode", 2), generation=2, retirement=stays))
    assert (plan.move, plan.vector) == (Move.RESTORE, COUNTS)
    assert _move(plan) == Rebalance(reason=ScalerReason.SCALE_DOWN_ABORTED, episode=1, attempted=True)


def _acquired() -> Memory:
    plan = _then(counted(2, **LEFT))
    assert plan.committed is not None
    return plan.committed


def test_what_landed_ends_the_wait_and_leaves_the_one_donation_by_priority_used() -> None:
    plan = _then(counted(3, prefill=3, decode=2), before=_acquired())
    assert plan.memory.exhaustion is None
    assert _move(plan, kept=True) == Rebalance(reason=RebalanceReason.DONATION_ATTEMPTED, episode=1, attempted=True)


def test_a_receiver_that_finds_no_quota_is_rolled_back_in_the_same_episode() -> None:
    listed = paced(rebalance=PRIORITY, priority=ORDER)
    standing = target(short("prefill", 3, 2), role("decode", 2), generation=3)
    plan = passed(WANTS, standing, listed, _acquired(), now=at(15 + 301))
    assert (plan.move, plan.vector) == (Move.ROLLBACK, LEFT)
    assert _move(plan) == Rebalance(reason=RebalanceReason.RESOURCE_EXHAUSTED, episode=1, attempted=True)
    assert plan.committed is not None
    assert plan.committed.exhaustion is not None
    assert plan.committed.exhaustion.rollbacks == 2


def test_a_receiver_that_shrinks_again_before_it_is_admitted_ends_the_transaction() -> None:
    acquired = _acquired()
    assert acquired.cohort is not None
    gone = msgspec.structs.replace(acquired, cohort=msgspec.structs.replace(acquired.cohort, target=LEFT))
    plan = _then(counted(3, **LEFT), before=gone)
    assert plan.memory.cohort is None
    assert _move(plan, kept=True).reason is not RebalanceReason.RECEIVER_ACQUIRE


def test_an_episode_has_one_donation_by_priority() -> None:
    used = Rebalance(reason=RebalanceReason.DONATION_ATTEMPTED, episode=1, attempted=True)
    plan = _tried(paced(rebalance=PRIORITY, priority=ORDER), before=_exhausted(rebalance=used))
    assert (plan.move, _move(plan, kept=True).reason) == (None, ScalerReason.REBALANCE_BLOCKED)
    assert _tried(before=_exhausted(rebalance=used)).move is Move.DONOR_RELEASE


def test_quota_that_is_not_there_is_told_before_what_a_rebalance_lacks() -> None:
    plan = _tried(of=target(role("prefill", 2), role("decode", 3, instance_type="a10")))
    assert words(plan)["Blocked"] == words(plan)["prefill"] == "ResourceExhausted"
    assert plan.findings[1].numbers["rebalance"] == "RebalanceNotApplicable"
