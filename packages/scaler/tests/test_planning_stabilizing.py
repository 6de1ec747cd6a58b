"""Recommendations over time (spec 3 §Pacing and guards, decisions D14 and D38)."""

from modeldeployment.api.scalerconditions import RoleReason
from modeldeployment.scaler.planning import stabilizing
from modeldeployment.scaler.planning.advice import Advice
from modeldeployment.scaler.planning.causes import Cause, Stage
from modeldeployment.scaler.planning.memory import Recommended
from modeldeployment.scaler.planning.trail import Step
from planning_worlds import NOON, policy, recommended, remembered, steady


def left(
    history: tuple[Recommended, ...],
    current: int,
    *,
    replicas: int | None = None,
    own: bool = True,
    up_window: int = 0,
    down_window: int = 300,
) -> tuple[int, list[tuple[Cause, dict[str, int | str]]]]:
    """What is left of the newest recommendation, and what was said about it."""
    advice = Advice(
        role="server",
        replicas=history[-1].replicas if replicas is None else replicas,
        reason=RoleReason.PROPORTIONAL,
        shrinks=True,
        own=own,
        memory=remembered(recommended=history),
    )
    paced = policy(up_window=up_window, down_window=down_window)
    count, steps = stabilizing.stabilize(advice, current, paced, NOON)
    return count, [(step.cause, step.numbers) for step in steps]


def test_growth_waits_for_nothing_where_its_window_is_zero() -> None:
    assert left(recommended((0, 9)), 2) == (9, [])


def test_growth_waits_until_recommendations_span_its_window() -> None:
    assert left(recommended((-59, 9), (0, 9)), 2, up_window=60) == (2, [(Cause.UP_WINDOW, {"window": 60, "span": 59})])
    assert left(recommended((-60, 9), (0, 9)), 2, up_window=60) == (9, [])


def test_growth_goes_no_further_than_the_lowest_recommendation_of_its_window() -> None:
    history = recommended((-75, 2), (-45, 6), (-30, 4), (-15, 8), (0, 9))
    assert left(history, 2, up_window=60) == (4, [(Cause.UP_WINDOW, {"window": 60, "lowest": 4})])


def test_growth_holds_where_the_window_asked_for_fewer_than_are_declared() -> None:
    history = recommended((-75, 2), (-45, 1), (0, 9))
    assert left(history, 2, up_window=60) == (2, [(Cause.UP_WINDOW, {"window": 60, "lowest": 1})])


def test_growth_goes_by_the_newest_where_the_window_is_shorter_than_an_interval() -> None:
    assert left(recommended((-27, 2), (-12, 9)), 2, up_window=10) == (9, [])


def test_nothing_shrinks_before_recommendations_span_the_window() -> None:
    assert left(steady(2, seconds=285), 5) == (5, [(Cause.DOWN_WINDOW, {"window": 300, "span": 285})])
    assert left(steady(2, seconds=300), 5) == (2, [])


def test_the_highest_recommendation_of_the_window_is_the_floor() -> None:
    history = (*steady(2, until=-150), *recommended((-135, 4)), *steady(2, seconds=120))
    assert left(history, 5) == (4, [(Cause.DOWN_WINDOW, {"window": 300, "highest": 4})])


def test_a_floor_above_what_is_declared_holds() -> None:
    history = (*steady(9, until=-150), *steady(2, seconds=135))
    assert left(history, 5) == (5, [(Cause.DOWN_WINDOW, {"window": 300, "highest": 9})])


def test_what_was_recommended_before_the_window_no_longer_counts() -> None:
    history = (*steady(9, until=-315), *steady(2, seconds=300))
    assert left(history, 5) == (2, [])
    history = (*steady(9, until=-300), *steady(2, seconds=285))
    assert left(history, 5) == (5, [(Cause.DOWN_WINDOW, {"window": 300, "highest": 9})])


def test_a_count_that_is_held_needs_no_window() -> None:
    assert left(recommended((0, 5)), 5, up_window=600, down_window=1800) == (5, [])


def test_a_role_without_a_recommendation_of_its_own_keeps_its_count() -> None:
    assert left((), 5, replicas=5, own=False) == (5, [])
    assert left((), 5, replicas=9, own=False) == (5, [])


def test_a_step_says_what_was_given_what_is_left_and_what_was_wanted() -> None:
    advice = Advice(
        role="server",
        replicas=2,
        reason=RoleReason.PROPORTIONAL,
        shrinks=True,
        memory=remembered(recommended=recommended((0, 2))),
    )
    assert stabilizing.stabilize(advice, 5, policy(), NOON)[1] == (
        Step(
            stage=Stage.STABILIZATION,
            role="server",
            before=2,
            after=5,
            wanted=2,
            cause=Cause.DOWN_WINDOW,
            numbers={"window": 300, "span": 0},
        ),
    )
