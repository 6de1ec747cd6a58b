"""The filter behind forecasts (spec 3 §Predictive, decisions D15)."""

import pytest
from modeldeployment.scaler.planning.algorithms import kalman
from modeldeployment.scaler.planning.algorithms.kalman import Noise
from modeldeployment.scaler.planning.memory import Filter
from planning_worlds import at, filtered

USUAL = Noise(level=1.0, trend=0.1, observation=10.0)


def fed(*entries: tuple[int, float], noise: Noise = USUAL) -> Filter:
    """A filter that has seen rates at so many seconds after noon."""
    seen: Filter | None = None
    for seconds, rate in entries:
        seen = kalman.observe(seen, rate, at(seconds), noise)
    assert seen is not None
    return seen


def test_the_first_observation_is_the_level_and_says_nothing_of_a_trend() -> None:
    assert fed((0, 2400.0)) == Filter(
        level=2400.0, trend=0.0, p00=1000.0, p01=0.0, p10=0.0, p11=1000.0, count=1, at=at(0)
    )


def test_the_second_observation_is_weighed_by_what_is_known() -> None:
    """Two seconds on, variances are 1000 + 4 * 1000 + 2 * 1, 2 * 1000 and 1000 + 2 * 0.1, over 5012 in the gain."""
    found = fed((0, 100.0), (2, 601.2))
    assert found == Filter(
        level=600.2,
        trend=200.0,
        p00=9.980047885,
        p01=3.990422985,
        p10=3.990422985,
        p11=202.115403033,
        count=2,
        at=at(2),
    )


def test_a_later_observation_is_weighed_by_how_level_and_trend_hang_together() -> None:
    """One second on, variances are 4 + 2 * 2 + 3 + 1, 2 + 3 and 3 + 0.1, over 22 in the gain; the surprise is 22."""
    seen = Filter(level=100.0, trend=2.0, p00=4.0, p01=2.0, p10=2.0, p11=3.0, count=5, at=at(0))
    assert kalman.observe(seen, 124.0, at(1), USUAL) == Filter(
        level=114.0,
        trend=7.0,
        p00=5.454545455,
        p01=2.272727273,
        p10=2.272727273,
        p11=1.963636364,
        count=6,
        at=at(1),
    )


def test_uncertainty_grows_with_the_time_between_observations() -> None:
    """Skipping every other sample of a steady demand leaves the filter about as sure as the time since allows."""
    often = fed(*((each, 500.0) for each in range(0, 601, 15)))
    seldom = fed(*((each, 500.0) for each in range(0, 601, 30)))
    assert (often.level, often.trend, seldom.level, seldom.trend) == (500.0, 0.0, 500.0, 0.0)
    assert often.p11 < seldom.p11 < 2 * often.p11


def test_a_ramp_is_followed_whether_it_is_sampled_evenly_or_not() -> None:
    evenly = fed(*((each, 1000.0 + 10 * each) for each in range(0, 601, 15)))
    assert evenly.level == pytest.approx(7000, abs=0.01)
    assert evenly.trend == pytest.approx(10, abs=0.001)
    unevenly = fed(*((each, 1000.0 + 10 * each) for each in (0, 5, 50, 65, 200, 230, 300, 410, 420, 600)))
    assert unevenly.level == pytest.approx(7000, abs=0.01)
    assert unevenly.trend == pytest.approx(10, abs=0.001)


@pytest.mark.parametrize("seconds", [-15, 0], ids=["late", "the same instant"])
def test_an_observation_that_is_not_later_changes_nothing(seconds: int) -> None:
    seen = fed((-15, 100.0), (0, 110.0))
    assert kalman.observe(seen, 9000.0, at(seconds), USUAL) is seen


@pytest.mark.parametrize("noise", [Noise(50.0, 0.1, 10.0), Noise(1.0, 50.0, 10.0)], ids=["qLevel", "qTrend"])
def test_more_process_noise_lets_the_level_change_faster(noise: Noise) -> None:
    step = (*((each, 100.0) for each in range(0, 300, 15)), (300, 200.0))
    assert fed(*step, noise=noise).level > fed(*step).level


def test_more_process_noise_of_the_trend_lets_the_trend_change_faster() -> None:
    step = (*((each, 100.0) for each in range(0, 300, 15)), (300, 200.0))
    assert fed(*step, noise=Noise(1.0, 5.0, 10.0)).trend > fed(*step).trend


def test_more_observation_noise_gives_an_observation_less_influence() -> None:
    step = (*((each, 100.0) for each in range(0, 300, 15)), (300, 200.0))
    assert fed(*step, noise=Noise(1.0, 0.1, 1e5)).level < fed(*step).level


def test_a_forecast_goes_on_from_the_level_by_the_trend() -> None:
    assert kalman.ahead(filtered(2400.0, 10.0), 300) == 5400.0
    assert kalman.ahead(filtered(2400.0, -10.0), 60) == 1800.0


def test_a_forecast_is_never_below_zero() -> None:
    assert kalman.ahead(filtered(2400.0, -10.0), 300) == 0.0


def test_a_state_that_is_no_number_any_more_begins_anew() -> None:
    broken = Filter(level=1e300, trend=1e300, p00=1.0, p01=0.0, p10=0.0, p11=1e300, count=9, at=at(0))
    assert kalman.observe(broken, 100.0, at(15), USUAL) == kalman.begin(100.0, at(15))
