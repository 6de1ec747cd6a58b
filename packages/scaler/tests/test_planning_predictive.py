"""A forecast on top of token rates (spec 3 §Predictive)."""

import pytest
from modeldeployment.api.scalerconditions import RoleReason
from modeldeployment.scaler.planning.advice import Advice
from modeldeployment.scaler.planning.algorithms import predictive as forecasting
from modeldeployment.scaler.planning.algorithms.kalman import Noise
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.policy import Predictive
from planning_advice import advised, causes
from planning_worlds import at, filtered, flowing, predictive, reading, remembered, role, token


def prefill(
    demand: int,
    *,
    level: float | None = None,
    trend: float = 0.0,
    count: int = 6,
    replicas: int = 2,
    ready: int | None = None,
    ttft: int = 100,
    landing: bool = False,
) -> Advice:
    """Advise a prefill role of steady demand, whose filter foresaw that demand where nothing is said."""
    level = demand - 15 * trend if level is None else level
    return advised(
        predictive(),
        reading(prompt=demand, ttft=ttft, itl=None, ready=replicas if ready is None else ready),
        of=role("prefill", replicas),
        memory=remembered(demanded=flowing(demand), filter=filtered(level, trend, count=count)),
        landing=landing,
    )


def test_facts_example_9_a_ramp_asks_for_what_it_will_need() -> None:
    """2400 now and ten more each second are 5400 in 300 seconds."""
    advice = prefill(2400, trend=10.0)
    assert (advice.replicas, advice.reason, advice.shrinks) == (3, RoleReason.PREDICTIVE, True)
    assert causes(advice) == [Cause.STABLE_RATE, Cause.FORECAST]
    assert [step.after for step in advice.steps] == [2, 3]
    assert advice.steps[1].numbers == {
        "rate": "5400",
        "capacity": "2k",
        "horizon": 300,
        "level": "2400",
        "trend": "10",
    }


def test_a_falling_demand_asks_for_no_fewer_than_token_rates_do() -> None:
    advice = prefill(3900, trend=-10.0)
    assert (advice.replicas, advice.reason) == (2, RoleReason.PREDICTIVE)


def test_until_enough_was_observed_token_rates_decide_and_the_reason_says_so() -> None:
    advice = prefill(2400, trend=10.0, count=4)
    assert (advice.replicas, advice.reason, advice.shrinks) == (2, RoleReason.PREDICTOR_WARMING_UP, True)
    assert causes(advice) == [Cause.STABLE_RATE, Cause.PREDICTOR_WARMING_UP]
    assert advice.steps[1].numbers == {"count": 5, "needed": 6}


def test_the_observation_that_makes_up_the_number_counts() -> None:
    assert prefill(2400, trend=10.0, count=5).replicas == 3


def test_one_observation_is_enough_where_one_is_asked_for() -> None:
    advice = advised(predictive(min_points=1), reading(prompt=100), of=role("prefill", 1))
    assert causes(advice)[-2:] == [Cause.FORECAST, Cause.CONSOLIDATION]
    assert advice.reason is RoleReason.PREDICTIVE


def test_a_role_that_cannot_be_read_is_still_told_to_be_warming_up() -> None:
    advice = advised(predictive(), None, of=role("prefill", 3))
    assert (advice.replicas, advice.reason, advice.shrinks) == (3, RoleReason.PREDICTOR_WARMING_UP, False)
    assert causes(advice) == [Cause.SIGNAL_MISSING, Cause.PREDICTOR_WARMING_UP]
    assert advice.steps[1].numbers == {"count": 0, "needed": 6}


def test_while_it_warms_up_the_fallback_is_guarded_as_token_throughput_is() -> None:
    advice = prefill(2400, count=2, ttft=605)
    assert (advice.replicas, advice.reason) == (3, RoleReason.LATENCY_GUARD_SCALE_UP)
    assert causes(advice) == [Cause.STABLE_RATE, Cause.LATENCY_FAR_ABOVE_TARGET, Cause.PREDICTOR_WARMING_UP]


def test_while_it_warms_up_consolidation_asks_for_no_room() -> None:
    advice = prefill(3900, replicas=3, count=2)
    assert (advice.replicas, advice.shrinks) == (2, True)


def test_panic_asks_for_at_least_one_more_once_it_is_warm() -> None:
    """Five are declared and two ready: token rates ask for the four that the burst needs, and hold the five."""
    warm = prefill(8000, replicas=5, ready=2)
    assert (warm.replicas, warm.reason, warm.shrinks) == (6, RoleReason.PANIC, False)
    cold = prefill(8000, replicas=5, ready=2, count=2)
    assert (cold.replicas, cold.reason) == (5, RoleReason.PANIC)


def test_a_breach_above_1_2_asks_for_at_least_one_more() -> None:
    warm = prefill(2400, replicas=5, ttft=601)
    assert (warm.replicas, warm.reason, warm.shrinks) == (6, RoleReason.LATENCY_GUARD_SCALE_UP, False)
    at_the_border = prefill(2400, replicas=5, ttft=600)
    assert (at_the_border.replicas, at_the_border.reason) == (5, RoleReason.LATENCY_GUARD_HOLD)


def test_while_replicas_land_neither_panic_nor_latency_asks_for_another_one_each_pass() -> None:
    assert prefill(8000, replicas=5, ready=2, landing=True).replicas == 5
    assert prefill(2400, replicas=5, ttft=9000, landing=True).replicas == 5


@pytest.mark.parametrize(
    ("demand", "replicas", "reason", "shrinks"),
    [
        pytest.param(3200, 2, RoleReason.PREDICTIVE, True, id="two would be 80 % full"),
        pytest.param(3201, 3, RoleReason.PREDICTIVE_CONSOLIDATION_HOLD, False, id="two would be fuller"),
    ],
)
def test_a_replica_goes_only_if_the_others_are_then_at_most_80_percent_full(
    demand: int, replicas: int, reason: RoleReason, shrinks: bool
) -> None:
    advice = prefill(demand, replicas=3)
    assert (advice.replicas, advice.reason, advice.shrinks) == (replicas, reason, shrinks)


def test_room_that_is_just_there_needs_no_word() -> None:
    assert causes(prefill(3200, replicas=3)) == [Cause.STABLE_RATE, Cause.FORECAST]


def test_the_filter_reckons_with_the_noise_that_is_declared() -> None:
    declared = predictive(q_level="2.5", q_trend="0.5", noise=40)
    assert forecasting.noise(declared) == Noise(level=2.5, trend=0.5, observation=40.0)


def test_the_numbers_of_a_consolidation_are_what_the_others_would_carry() -> None:
    step = prefill(3900, replicas=3).steps[-1]
    assert (step.cause, step.before, step.after, step.wanted) == (Cause.CONSOLIDATION, 3, 3, 2)
    assert step.numbers == {"rate": "3900", "capacity": "2k", "remaining": 2}


def test_several_at_once_leave_the_same_room() -> None:
    """3900 fit two; three are the fewest that are at most 80 % full."""
    advice = prefill(3900, replicas=10)
    assert (advice.replicas, advice.reason, advice.shrinks) == (3, RoleReason.PREDICTIVE, True)
    assert causes(advice) == [Cause.STABLE_RATE, Cause.FORECAST, Cause.CONSOLIDATION]


def test_consolidation_goes_by_the_larger_of_forecast_and_mean() -> None:
    foreseen = prefill(1000, trend=8.0, replicas=3)
    assert (foreseen.replicas, foreseen.reason) == (3, RoleReason.PREDICTIVE_CONSOLIDATION_HOLD)
    measured = prefill(3900, trend=-8.0, replicas=3)
    assert (measured.replicas, measured.reason) == (3, RoleReason.PREDICTIVE_CONSOLIDATION_HOLD)


def test_what_is_declared_and_not_ready_carries_nothing() -> None:
    """Three of four are ready: without one of them, two would carry 3201."""
    assert prefill(3200, replicas=4, ready=3).replicas == 3
    advice = prefill(3201, replicas=4, ready=3)
    assert (advice.replicas, advice.reason) == (4, RoleReason.PREDICTIVE_CONSOLIDATION_HOLD)


def test_what_is_ready_and_no_longer_declared_carries_nothing_either() -> None:
    assert prefill(3201, replicas=3, ready=5).reason is RoleReason.PREDICTIVE_CONSOLIDATION_HOLD


def test_a_role_that_is_as_full_as_it_should_be_is_not_told_to_be_held() -> None:
    advice = prefill(3900)
    assert (advice.replicas, advice.reason, advice.shrinks) == (2, RoleReason.PREDICTIVE, False)


def test_a_forecast_grows_before_the_windows_are_there_and_shrinks_nothing() -> None:
    """As after a restart: the filter came back from status, and the windows begin anew."""
    memory = remembered(filter=filtered(9000.0, count=40))
    grows = advised(predictive(), reading(prompt=9000), of=role("prefill"), memory=memory)
    assert (grows.replicas, grows.shrinks) == (5, False)
    holds = advised(predictive(), reading(prompt=9000, ready=9), of=role("prefill", 9), memory=memory)
    assert (holds.replicas, holds.shrinks) == (9, False)


@pytest.mark.parametrize(
    ("kind", "replicas"),
    [
        pytest.param("prefill", 2, id="prompt"),
        pytest.param("decode", 4, id="generation"),
        pytest.param("server", 3, id="both"),
    ],
)
def test_a_forecast_is_divided_by_the_capacity_of_the_kind(kind: str, replicas: int) -> None:
    planned = predictive(token(prefill=9e9, decode=9e9, server=9e9), prefill=1000, decode=600, server=1400)
    level = {"prefill": 2000.0, "decode": 2100.0, "server": 4100.0}[kind]
    advice = advised(
        planned,
        reading(prompt=2000, generation=2100, ready=1),
        of=role(kind, 1),
        memory=remembered(demanded=flowing(level), filter=filtered(level)),
    )
    assert advice.replicas == replicas


@pytest.mark.parametrize(
    ("lacking", "field"),
    [
        (
            predictive(token(prefill=None)),
            "spec.algorithm.predictive.tokenThroughput.prefillTargetTokensPerSecond",
        ),
        (predictive(prefill=None), "spec.algorithm.predictive.prefillTokenCapacityPerReplica"),
    ],
    ids=["no fallback", "no capacity"],
)
def test_without_the_fallback_or_the_capacity_the_count_holds(lacking: Predictive, field: str) -> None:
    advice = advised(lacking, reading(prompt=9000), of=role("prefill", 3))
    assert (advice.replicas, advice.shrinks, causes(advice)) == (3, False, [Cause.UNDECLARED])
    assert advice.steps[0].numbers == {"field": field}


def test_a_sample_feeds_the_filter_once() -> None:
    memory = remembered(demanded=flowing(2400), filter=filtered(2400.0))
    first = advised(predictive(), reading(prompt=2600), of=role("prefill"), memory=memory).memory
    assert (first.filter and first.filter.count, first.filter and first.filter.at) == (7, at(0))
    for now in (0, 9):
        again = advised(predictive(), reading(prompt=2600), of=role("prefill"), memory=first, now=at(now)).memory
        assert again == first


def test_a_clock_that_was_set_back_begins_the_filter_anew() -> None:
    memory = remembered(filter=filtered(9000.0, seconds=3600))
    found = advised(predictive(), reading(prompt=2600), of=role("prefill"), memory=memory).memory.filter
    assert found is not None
    assert (found.level, found.count, found.at) == (2600.0, 1, at(0))


def test_an_hour_that_nobody_saw_leaves_the_filter_with_what_it_sees_now() -> None:
    memory = remembered(filter=filtered(9000.0, 10.0, seconds=-3600))
    found = advised(predictive(), reading(prompt=2600), of=role("prefill"), memory=memory).memory.filter
    assert found is not None
    assert found.count == 7
    assert found.level == pytest.approx(2600, abs=0.1)
    assert abs(found.trend) < 10
