"""Spec 3 §Pacing and guards: how far one pass may move a role."""

import pytest
from modeldeployment.api.scaler import StepPolicy, StepType
from modeldeployment.scaler.planning.boxing import box
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.pacing import most_added, most_taken
from modeldeployment.scaler.planning.policy import Policy
from planning_worlds import policy

PODS, PERCENT = StepType.PODS, StepType.PERCENT


@pytest.mark.parametrize(("current", "added"), [(1, 4), (3, 4), (4, 4), (5, 5), (10, 10)])
def test_up_one_pass_adds_the_larger_of_four_replicas_and_all_of_the_count(current: int, added: int) -> None:
    assert most_added(policy().up, current) == added


@pytest.mark.parametrize(("current", "ceiling"), [(3, 7), (10, 20)])
def test_facts_example_7_ceilings_of_the_defaults(current: int, ceiling: int) -> None:
    assert box("server", current, 1024, policy(bounds={"server": (1, 1024)}), ()).ceiling == ceiling


def test_facts_example_8_ten_percent_of_fifteen_takes_two_at_most() -> None:
    paced = policy(down_step=StepPolicy(type=PERCENT, value=10))
    assert most_taken(paced.down, 15) == 2
    assert box("server", 15, 1, paced, ()).floor == 13


@pytest.mark.parametrize(("current", "percent", "added"), [(3, 50, 2), (10, 25, 3), (7, 1000, 70), (1, 10, 1)])
def test_up_percent_is_of_the_current_count_and_rounds_up(current: int, percent: int, added: int) -> None:
    assert most_added(policy(up_replicas=1, up_percent=percent).up, current) == added


def test_up_a_step_policy_replaces_both_bounds() -> None:
    assert most_added(policy(up_step=StepPolicy(type=PODS, value=2)).up, 10) == 2
    assert most_added(policy(up_step=StepPolicy(type=PERCENT, value=10)).up, 11) == 2


def test_down_one_pass_takes_one_replica_without_a_policy() -> None:
    assert most_taken(policy().down, 100) == 1


def test_down_a_step_policy_counts_replicas_or_a_share_of_them() -> None:
    assert most_taken(policy(down_step=StepPolicy(type=PODS, value=3)).down, 10) == 3
    assert most_taken(policy(down_step=StepPolicy(type=PERCENT, value=30)).down, 10) == 3


@pytest.mark.parametrize("kind", [PODS, PERCENT])
def test_zero_prevents_movement_in_its_direction(kind: StepType) -> None:
    still = StepPolicy(type=kind, value=0)
    assert _range(policy(up_step=still), 5) == (4, 5)
    assert _range(policy(down_step=still), 5) == (5, 10)


def test_bounds_come_before_steps_and_each_rule_that_held_says_so() -> None:
    made = box("server", 4, 40, policy(bounds={"server": (1, 10)}), ())
    assert (made.floor, made.ceiling, made.wanted) == (3, 8, 8)
    assert [(step.cause, step.before, step.after, step.wanted) for step in made.steps] == [
        (Cause.MAXIMUM, 40, 10, 40),
        (Cause.UP_STEP, 10, 8, 40),
    ]
    assert [step.numbers for step in made.steps] == [{"maximum": 10}, {"step": 4}]


def test_a_minimum_holds_what_is_recommended_below_it() -> None:
    made = box("server", 2, 1, policy(bounds={"server": (2, 10)}), ())
    assert (made.wanted, [step.cause for step in made.steps]) == (2, [Cause.MINIMUM])


def test_a_coupled_role_has_a_range_and_no_wish() -> None:
    made = box("server", 4, None, policy(), ())
    assert (made.floor, made.ceiling, made.wanted, made.rising, made.steps) == (3, 8, None, False, ())


def _range(paced: Policy, current: int) -> tuple[int, int]:
    made = box("server", current, current, paced, ())
    return made.floor, made.ceiling
