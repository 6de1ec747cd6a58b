"""What holds of a recommendation whatever the algorithm (spec 3 §Role observations, facts scaler §10)."""

import pytest
from modeldeployment.api.scalerconditions import RoleReason
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.scaler.planning.causes import Cause, Stage
from modeldeployment.scaler.planning.memory import Filter, RoleMemory
from modeldeployment.scaler.planning.policy import Algorithm
from planning_advice import advised, causes
from planning_worlds import (
    NOON,
    at,
    band,
    demanded,
    filtered,
    flowing,
    predictive,
    proportional,
    reading,
    recommended,
    remembered,
    role,
    token,
)

EVERY = pytest.mark.parametrize(
    ("algorithm", "name"),
    [
        pytest.param(proportional(), RoleReason.PROPORTIONAL, id="Proportional"),
        pytest.param(token(), RoleReason.TOKEN_THROUGHPUT, id="TokenThroughput"),
        pytest.param(predictive(min_points=1), RoleReason.PREDICTIVE, id="Predictive"),
    ],
)
SEEN = remembered(demanded=flowing(100), filter=filtered(100.0), grown_at=at(-700), grown_from=1)


@EVERY
def test_a_role_that_was_not_read_holds(algorithm: Algorithm, name: RoleReason) -> None:
    advice = advised(algorithm, None, of=role(replicas=5), memory=SEEN)
    assert (advice.replicas, advice.reason, advice.shrinks, advice.measured) == (5, name, False, False)
    assert (causes(advice), advice.steps[0].numbers) == ([Cause.SIGNAL_MISSING], {})


@EVERY
def test_missing_readings_hold_whatever_stands_in_them(algorithm: Algorithm, name: RoleReason) -> None:
    seen = reading(state=SignalState.MISSING, running=500, prompt=90000)
    advice = advised(algorithm, seen, of=role(replicas=5), memory=SEEN)
    assert (advice.replicas, advice.reason, advice.shrinks, advice.measured) == (5, name, False, False)
    assert causes(advice) == [Cause.SIGNAL_MISSING]


@EVERY
def test_stale_readings_hold_and_say_how_old_they_are(algorithm: Algorithm, name: RoleReason) -> None:
    seen = reading(state=SignalState.STALE, at=at(-60), running=500, prompt=90000)
    advice = advised(algorithm, seen, of=role(replicas=5), memory=SEEN)
    assert (advice.replicas, advice.reason, advice.shrinks, advice.measured) == (5, name, False, False)
    assert (causes(advice), advice.steps[0].numbers) == ([Cause.SIGNAL_STALE], {"at": "2026-01-05T11:59:00+00:00"})
    assert (advice.memory.demanded, advice.memory.filter) == (SEEN.demanded, SEEN.filter)


@EVERY
def test_a_missing_reading_differs_from_a_measured_zero(algorithm: Algorithm, name: RoleReason) -> None:
    missing = advised(algorithm, reading(running=None, prompt=None, ready=5), of=role(replicas=5), memory=SEEN)
    assert (missing.replicas, missing.shrinks, missing.measured) == (5, False, False)
    zero = advised(algorithm, reading(state=SignalState.IDLE, ready=5), of=role(replicas=5), memory=SEEN)
    assert (zero.replicas, zero.reason, zero.shrinks, zero.measured) == (1, name, True, True)


@EVERY
def test_a_role_with_nothing_ready_and_nothing_to_read_says_the_former(algorithm: Algorithm, name: RoleReason) -> None:
    advice = advised(algorithm, reading(state=SignalState.MISSING, ready=0, at=None), of=role(replicas=5), memory=SEEN)
    assert (advice.replicas, advice.reason, advice.shrinks) == (5, RoleReason.NO_READY_REPLICAS, False)
    assert (advice.measured, causes(advice), name) == (False, [Cause.NO_READY_REPLICAS], name)


@EVERY
def test_a_partial_sum_still_justifies_growth(algorithm: Algorithm, name: RoleReason) -> None:
    """That nothing shrinks by it is for the guard of incomplete coverage to say."""
    memory = remembered(demanded=flowing(9000), filter=filtered(9000.0))
    advice = advised(
        algorithm, reading(complete=False, running=40, prompt=9000, ready=4), of=role(replicas=4), memory=memory
    )
    assert (advice.replicas, advice.reason) == (5, name)


def test_a_partial_sum_below_the_mean_is_no_fall_of_demand() -> None:
    memory = remembered(demanded=flowing(9000), filter=filtered(9000.0))
    seen = reading(complete=False, prompt=4000, ready=5)
    advice = advised(predictive(), seen, of=role(replicas=5), memory=memory)
    assert (advice.memory.demanded, advice.memory.filter) == (memory.demanded, memory.filter)
    whole = advised(predictive(), reading(prompt=4000, ready=5), of=role(replicas=5), memory=memory)
    assert whole.memory.demanded[-1] == demanded((0, 4000))[0]


def test_a_partial_sum_above_the_mean_is_a_rise_of_demand() -> None:
    memory = remembered(demanded=flowing(9000), filter=filtered(9000.0))
    seen = reading(complete=False, prompt=9001, ready=5)
    advice = advised(predictive(), seen, of=role(replicas=5), memory=memory)
    assert advice.memory.demanded[-1] == demanded((0, 9001))[0]
    assert advice.memory.filter is not None
    assert advice.memory.filter.count == 7


def test_partial_sums_are_all_there_is_of_a_role_that_is_never_read_whole() -> None:
    advice = advised(
        token(), reading(complete=False, prompt=4000), memory=remembered(demanded=flowing(4000, seconds=60))
    )
    assert advice.memory.demanded[-1] == demanded((0, 4000))[0]


@EVERY
def test_a_recommendation_is_remembered_at_the_instant_of_its_sample(algorithm: Algorithm, name: RoleReason) -> None:
    memory = remembered(demanded=flowing(100), filter=filtered(100.0), recommended=recommended((-15, 4)))
    advice = advised(algorithm, reading(ready=5), of=role(replicas=5), memory=memory, now=at(9))
    assert (advice.memory.recommended, advice.reason) == (recommended((-15, 4), (0, 1)), name)


@EVERY
def test_a_hold_is_remembered_too_and_when_it_was_made(algorithm: Algorithm, name: RoleReason) -> None:
    memory = remembered(recommended=recommended((-15, 4)))
    advice = advised(algorithm, None, of=role(replicas=5), memory=memory, now=at(9))
    assert (advice.memory.recommended, name) == (recommended((-15, 4), (9, 5)), name)


@EVERY
def test_a_second_pass_over_the_same_sample_remembers_nothing_more(algorithm: Algorithm, name: RoleReason) -> None:
    seen = reading(running=40, prompt=9000, ready=4)
    first = advised(algorithm, seen, of=role(replicas=4), memory=SEEN)
    again = advised(algorithm, seen, of=role(replicas=4), memory=first.memory, now=at(9))
    assert (again.memory, again.replicas, name) == (first.memory, first.replicas, name)


@EVERY
def test_what_is_remembered_of_growth_stays_as_it_is(algorithm: Algorithm, name: RoleReason) -> None:
    advice = advised(algorithm, reading(), memory=SEEN)
    assert (advice.memory.grown_at, advice.memory.grown_from, name) == (at(-700), 1, name)


def test_recommendations_are_remembered_for_as_long_as_the_longer_window_needs_them() -> None:
    memory = remembered(recommended=recommended((-630, 2), (-615, 3), (-600, 4), (-300, 5), (-15, 6)))
    short = advised(proportional(), reading(running=16), memory=memory, down_window=300)
    assert short.memory.recommended == recommended((-300, 5), (-15, 6), (0, 2))
    long = advised(proportional(), reading(running=16), memory=memory, up_window=600, down_window=300)
    assert long.memory.recommended == recommended((-600, 4), (-300, 5), (-15, 6), (0, 2))


def test_demand_is_remembered_for_as_long_as_the_longer_window_needs_it() -> None:
    advice = advised(token(stable=30, panic=90), reading(prompt=1), memory=remembered(demanded=flowing(1)))
    assert advice.memory.demanded == (*flowing(1, seconds=75), *demanded((0, 1)))


def test_proportional_leaves_what_is_remembered_of_demand_alone() -> None:
    advice = advised(proportional(), reading(running=40), memory=SEEN)
    assert (advice.memory.demanded, advice.memory.filter) == (SEEN.demanded, SEEN.filter)


def test_every_step_is_of_the_algorithm_and_begins_with_what_is_declared() -> None:
    advice = advised(
        predictive(),
        reading(prompt=9000, ttft=900, ready=1),
        of=role("prefill", 3),
        memory=remembered(demanded=flowing(9000), filter=filtered(9000.0)),
    )
    assert [(step.stage, step.role, step.before) for step in advice.steps] == [(Stage.ALGORITHM, "prefill", 3)] * len(
        advice.steps
    )
    assert causes(advice) == [Cause.STABLE_RATE, Cause.PANIC, Cause.FORECAST, Cause.LATENCY_FAR_ABOVE_TARGET]


def world(*, ready: int = 2, demand: int = 4000, ttft: int | None = 100, filter: Filter | None = None) -> RoleReason:  # noqa: A002
    """The word for a prefill role of three, two of them ready, whose forecast is what it is given."""
    memory: RoleMemory = remembered(demanded=flowing(demand), filter=filter)
    seen = reading(prompt=demand, ttft=ttft, ready=ready)
    return advised(predictive(), seen, of=role("prefill", 3), memory=memory).reason


def test_the_word_is_the_most_telling_of_those_that_apply() -> None:
    warm = filtered(4000.0)
    assert world(ready=0, demand=9000, ttft=900) is RoleReason.NO_READY_REPLICAS
    assert world(demand=9000, ttft=900) is RoleReason.LATENCY_GUARD_SCALE_UP
    assert world(demand=9000, ttft=550) is RoleReason.PANIC
    assert world(ttft=550) is RoleReason.PREDICTOR_WARMING_UP
    assert world(ttft=None) is RoleReason.PREDICTOR_WARMING_UP
    assert world(filter=warm) is RoleReason.PREDICTIVE_CONSOLIDATION_HOLD
    assert world(ttft=550, filter=warm) is RoleReason.PREDICTIVE_CONSOLIDATION_HOLD
    assert world(demand=3000, ttft=550, filter=filtered(3000.0), ready=3) is RoleReason.LATENCY_GUARD_HOLD
    assert world(demand=6000, ready=3, filter=filtered(6000.0)) is RoleReason.PREDICTIVE


def test_a_coupled_role_with_nothing_ready_says_so_and_does_not_shrink() -> None:
    advice = advised(token(), reading(ready=0), of=role("encode", 3), bands=(band("encode", "prefill", target=1),))
    assert (advice.replicas, advice.reason, advice.shrinks) == (3, RoleReason.NO_READY_REPLICAS, False)
    assert (advice.own, causes(advice)) == (False, [Cause.COUPLED, Cause.NO_READY_REPLICAS])


def test_a_sample_without_an_instant_is_none() -> None:
    advice = advised(token(), reading(at=None, prompt=90000), memory=SEEN, now=NOON)
    assert (advice.replicas, advice.measured, causes(advice)) == (2, False, [Cause.SIGNAL_MISSING])
