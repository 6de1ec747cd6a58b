"""What an edit by somebody else ends; spec 3 §Resource rebalancing (episodes), decisions D41."""

from typing import Any

from modeldeployment.api.scaler import RebalancePolicy
from modeldeployment.api.scalerconditions import RebalanceReason
from modeldeployment.scaler.planning.memory import Memory, Rebalance
from modeldeployment.scaler.planning.observed import Target
from modeldeployment.scaler.planning.outcome import Plan
from planning_passes import (
    PAIR,
    aborted,
    committed,
    counted,
    growing,
    paced,
    passed,
    read,
    short,
    shrinking,
    spent,
)
from planning_worlds import memory, role, target

NOW, BEFORE = {"prefill": 3, "decode": 2}, {"prefill": 2, "decode": 2}
STILL = read(prefill=2, decode=2)
USED = Rebalance(reason=RebalanceReason.DONATION_ATTEMPTED, episode=1, attempted=True)
UNDER_WAY = Rebalance(
    reason=RebalanceReason.DONOR_RELEASE,
    episode=1,
    receiver="prefill",
    donor="decode",
    donor_replicas=2,
    receiver_replicas=4,
    attempted=True,
)


def _waiting(**fields: Any) -> Memory:
    return growing(BEFORE, NOW, exhaustion=spent("decode", baseline=BEFORE), rebalance=USED, **fields)


def _seen(generation: int = 1, prefill: int = 3) -> Target:
    return target(short("prefill", prefill, 2), role("decode", 2), generation=generation)


def _after(before: Memory, of: Target, **spec: Any) -> Memory:
    plan: Plan = passed(STILL, of, paced(spec.pop("bounds", PAIR), **spec), before)
    return plan.memory


def test_without_an_edit_everything_goes_on() -> None:
    left = _after(_waiting(), _seen())
    assert (left.cohort, left.exhaustion, left.rebalance) == (_waiting().cohort, _waiting().exhaustion, USED)


def test_an_edit_of_the_spec_ends_the_wait_and_the_episode_and_keeps_the_cohort() -> None:
    left = _after(_waiting(), _seen(), generation=2)
    assert (left.exhaustion, left.rebalance, left.cohort) == (None, None, _waiting().cohort)
    assert left.policy_generation == 2


def test_an_external_generation_of_the_target_does_too() -> None:
    left = _after(_waiting(), _seen(generation=2))
    assert (left.exhaustion, left.rebalance, left.cohort) == (None, None, _waiting().cohort)
    assert left.target_generation == 2


def test_our_own_generation_ends_nothing() -> None:
    before = _waiting(target_generation=2)
    left = _after(before, _seen(generation=2))
    assert (left.exhaustion, left.rebalance) == (before.exhaustion, before.rebalance)


def test_counts_that_somebody_wrote_end_a_cohort() -> None:
    assert _after(_waiting(), _seen(generation=2, prefill=5)).cohort is None


def test_a_cohort_whose_baseline_the_new_spec_does_not_allow_is_not_restored() -> None:
    assert _after(_waiting(), _seen(), generation=2, bounds={"prefill": (3, 9), "decode": (1, 9)}).cohort is None


def test_a_cooldown_goes_on_through_edits() -> None:
    last = aborted(until=60)
    left = _after(_waiting(last_scale_down=last), _seen(generation=2, prefill=5), generation=2)
    assert left.last_scale_down == last


def test_counts_that_somebody_wrote_end_a_scale_down() -> None:
    before = shrinking({"prefill": 3, "decode": 3}, {"prefill": 3, "decode": 2})
    assert _after(before, counted(2, prefill=4, decode=2)).last_scale_down is None
    assert _after(before, counted(2, prefill=3, decode=2)).last_scale_down is not None


def test_a_donation_under_way_goes_on_as_the_first_of_the_new_episode() -> None:
    before = memory(rebalance=UNDER_WAY, last_commit=committed(NOW, NOW))
    standing = target(role("prefill", 3), role("decode", 2, seats=()), generation=2)
    left = passed(STILL, standing, paced(), before)
    assert left.committed is not None
    assert left.committed.rebalance is not None
    assert (left.committed.rebalance.attempted, left.committed.rebalance.episode) == (False, 2)


def test_counts_that_somebody_wrote_end_a_donation() -> None:
    before = memory(rebalance=UNDER_WAY, last_commit=committed(NOW, NOW))
    assert _after(before, counted(2, prefill=4, decode=2)).rebalance is None


def test_the_policy_disabled_ends_a_donation() -> None:
    before = memory(rebalance=UNDER_WAY, last_commit=committed(NOW, NOW))
    assert (
        _after(before, counted(prefill=3, decode=2), generation=2, rebalance=RebalancePolicy.DISABLED).rebalance is None
    )


def test_the_first_pass_of_all_takes_everything_as_it_is() -> None:
    left = _after(memory(policy_generation=0, target_generation=0), counted(7, prefill=2, decode=2), generation=3)
    assert (left.policy_generation, left.target_generation) == (3, 7)
