"""What holds of every recommendation, whatever was read and whatever is remembered."""

import math
from collections.abc import Iterable
from datetime import timedelta
from fractions import Fraction
from itertools import repeat

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.api import Quantity
from modeldeployment.api.algorithms import Metric
from modeldeployment.api.scalerstatus import HISTORY, SignalState
from modeldeployment.scaler.planning import coding, recommending, stabilizing, windows
from modeldeployment.scaler.planning.advice import Advice
from modeldeployment.scaler.planning.algorithms import kalman
from modeldeployment.scaler.planning.algorithms.kalman import Noise
from modeldeployment.scaler.planning.memory import Demanded, Filter, Recommended, RoleMemory
from modeldeployment.scaler.planning.observed import RoleReading
from modeldeployment.scaler.planning.policy import Algorithm
from planning_advice import advised
from planning_worlds import NOON, at, filtered, policy, predictive, proportional, reading, remembered, role
from planning_worlds import token as tokens

AMOUNTS = st.integers(0, 10**18).map(Quantity)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
POSITIVE = st.floats(1e-9, 1e80)


def sampled_at(seconds: Iterable[int], rates: Iterable[Quantity]) -> tuple[Demanded, ...]:
    """Samples of those rates at so many seconds after noon."""
    return tuple(Demanded(at=at(each), tokens_per_second=rate) for each, rate in zip(seconds, rates, strict=False))


@st.composite
def algorithms(draw: st.DrawFn) -> Algorithm:
    """Any algorithm for a server role."""
    stable, panic = draw(st.integers(30, 600)), draw(st.integers(10, 300))
    fallback = tokens(stable=stable, panic=panic, server=draw(st.sampled_from(["0.001", "7", "2000"])))
    kind = draw(st.sampled_from(["proportional", "token", "predictive"]))
    if kind == "proportional":
        return proportional({"server": draw(st.sampled_from(["0.3", "8"]))}, metric=draw(st.sampled_from(Metric)))
    return fallback if kind == "token" else predictive(fallback, min_points=draw(st.integers(1, 8)))


@st.composite
def seen(draw: st.DrawFn) -> RoleReading:
    """Anything that engines may have been read to say, within an hour of noon."""
    counts, amounts = st.none() | st.integers(0, 10**6), st.none() | AMOUNTS
    return RoleReading(
        state=draw(st.sampled_from(SignalState)),
        ready=draw(st.integers(0, 40)),
        complete=draw(st.booleans()),
        at=draw(st.none() | st.integers(-3600, 3600).map(at)),
        running_requests=draw(counts),
        waiting_requests=draw(counts),
        prompt_tokens_per_second=draw(amounts),
        generation_tokens_per_second=draw(amounts),
        ttft_milliseconds=draw(amounts),
        itl_milliseconds=draw(amounts),
    )


@st.composite
def memories(draw: st.DrawFn) -> RoleMemory:
    """Anything that may be remembered, of before and, where a clock was set back, of after."""
    instants = st.lists(st.integers(-4000, 4000), max_size=12, unique=True).map(sorted)
    return remembered(
        recommended=tuple(Recommended(at=at(each), replicas=draw(st.integers(1, 50))) for each in draw(instants)),
        demanded=tuple(Demanded(at=at(each), tokens_per_second=draw(AMOUNTS)) for each in draw(instants)),
        filter=draw(
            st.none()
            | st.builds(
                filtered,
                st.floats(-1e9, 1e9),
                st.floats(-1e6, 1e6),
                count=st.integers(1, 100),
                seconds=st.integers(-4000, 4000),
            )
        ),
    )


@given(algorithms(), st.none() | seen(), memories(), st.integers(1, 40), st.booleans())
def test_a_recommendation_is_a_count_and_whoever_may_not_shrink_is_told_no_fewer(
    algorithm: Algorithm, read: RoleReading | None, memory: RoleMemory, current: int, landing: bool
) -> None:
    before = coding.encode(memory)
    advice = advised(algorithm, read, of=role(replicas=current), memory=memory, landing=landing)
    assert coding.encode(memory) == before
    assert 1 <= advice.replicas < 2**31
    assert advice.shrinks or advice.replicas >= current
    assert advice.steps[-1].after == advice.replicas
    assert advised(algorithm, read, of=role(replicas=current), memory=memory, landing=landing) == advice
    assert coding.decode(coding.encode(advice), Advice) == advice
    stabilized, steps = stabilizing.stabilize(advice, current, policy(algorithm, up_window=60), NOON)
    assert min(current, advice.replicas) <= stabilized <= max(current, advice.replicas)
    assert bool(steps) is (stabilized != advice.replicas)


@given(algorithms(), seen(), memories(), st.integers(1, 40))
def test_histories_stay_in_order_and_within_what_status_holds(
    algorithm: Algorithm, read: RoleReading, memory: RoleMemory, current: int
) -> None:
    found = advised(algorithm, read, of=role(replicas=current), memory=memory).memory
    for instants in ([each.at for each in found.recommended], [each.at for each in found.demanded]):
        assert instants == sorted(set(instants))
        assert len(instants) <= HISTORY


@given(algorithms(), seen(), memories(), st.integers(1, 40), st.integers(1, 10))
def test_another_pass_over_the_same_sample_finds_the_same(
    algorithm: Algorithm, read: RoleReading, memory: RoleMemory, current: int, later: int
) -> None:
    read = msgspec.structs.replace(read, complete=True, at=min(read.at or NOON, NOON))
    first = advised(algorithm, read, of=role(replicas=current), memory=memory)
    again = advised(algorithm, read, of=role(replicas=current), memory=first.memory, now=at(later))
    assert (again.replicas, again.reason, again.shrinks) == (first.replicas, first.reason, first.shrinks)
    assert (again.memory.demanded, again.memory.filter) == (first.memory.demanded, first.memory.filter)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 40))
def test_more_load_never_makes_proportional_recommend_fewer(less: int, more: int, current: int) -> None:
    """Within the tolerance the declared count holds, so what is declared has to be what is ready."""
    less, more = sorted((less, more))
    found = [
        advised(proportional(), reading(running=each, ready=current), of=role(replicas=current)).replicas
        for each in (less, more)
    ]
    assert found == sorted(found)


@given(
    st.lists(st.tuples(st.integers(0, 10**15), st.integers(0, 10**15)), min_size=14, max_size=14),
    st.integers(1, 40),
    st.integers(1, 40),
    st.booleans(),
)
def test_more_demand_never_makes_token_rates_recommend_fewer(
    rates: list[tuple[int, int]], ready: int, current: int, landing: bool
) -> None:
    found = []
    for pick in (min, max):
        amounts = [Quantity(pick(each)) for each in rates]
        memory = remembered(demanded=sampled_at(range(-195, 0, 15), amounts))
        read = msgspec.structs.replace(reading(ready=ready), prompt_tokens_per_second=amounts[-1])
        found.append(advised(tokens(), read, of=role(replicas=current), memory=memory, landing=landing).replicas)
    assert found == sorted(found)


@given(AMOUNTS, st.sets(st.integers(1, 599), max_size=40), st.integers(30, 600), st.integers(10, 300))
def test_a_constant_rate_is_that_rate_however_it_is_sampled(
    rate: Quantity, between: set[int], stable: int, panic: int
) -> None:
    history = sampled_at(sorted({0, 600} | between), repeat(rate))
    for window in windows.windows(history, at(600), stable, panic):
        assert (window.covered, window.rate) == (window.seconds, Fraction(rate.nanos))


@given(st.lists(st.tuples(st.integers(1, 60), AMOUNTS), min_size=2, max_size=30), st.integers(10, 600))
def test_a_window_is_the_mean_of_what_was_asked_for_in_each_of_its_seconds(
    samples: list[tuple[int, Quantity]], length: int
) -> None:
    history, each_second, instant = [], [], 0
    for number, (seconds, rate) in enumerate(samples):
        instant += seconds
        history.append(Demanded(at=at(instant), tokens_per_second=rate))
        if number:
            each_second += [rate.nanos] * seconds
    (window,) = windows.windows(history, at(instant), length)
    inside = each_second[-length:]
    assert (window.covered, window.nanos) == (len(inside), sum(inside))


@given(
    st.lists(st.tuples(st.integers(1, 10**9), st.floats(0, 1e160)), min_size=1, max_size=12),
    POSITIVE,
    POSITIVE,
    POSITIVE,
    st.integers(30, 600),
)
def test_the_filter_stays_finite_for_any_finite_demand_and_forecasts_none_below_zero(
    samples: list[tuple[int, float]], level: float, trend: float, observation: float, horizon: int
) -> None:
    state: Filter | None = None
    instant = NOON - timedelta(days=365 * 2000)
    for seconds, rate in samples:
        instant += timedelta(seconds=seconds)
        state = kalman.observe(state, rate, instant, Noise(level, trend, observation))
        numbers = (state.level, state.trend, state.p00, state.p01, state.p10, state.p11)
        assert all(math.isfinite(each) for each in numbers)
        assert state.p00 >= 0
        assert state.p11 >= 0
        assert 0 <= kalman.ahead(state, horizon) < math.inf
        assert coding.decode(coding.encode(state), Filter) == state


@given(FINITE, FINITE, FINITE, FINITE, FINITE, st.integers(1, 10**6), FINITE)
def test_the_filter_recovers_from_any_finite_state(
    level: float, trend: float, p00: float, p01: float, p11: float, seconds: int, rate: float
) -> None:
    broken = Filter(level=level, trend=trend, p00=p00, p01=p01, p10=p01, p11=p11, count=9, at=NOON)
    found = kalman.observe(broken, rate, at(seconds), Noise(1.0, 0.1, 10.0))
    assert all(math.isfinite(each) for each in (found.level, found.trend, found.p00, found.p01, found.p11))


@given(memories(), st.integers(0, 10**12).map(Quantity), st.integers(1, 40))
def test_a_forecast_changes_nothing_that_is_remembered(memory: RoleMemory, rate: Quantity, current: int) -> None:
    """Of what is remembered, the recommendation alone depends on what was recommended."""
    read = msgspec.structs.replace(reading(), prompt_tokens_per_second=rate)
    near = recommending.advise(
        role(replicas=current), read, memory, policy(predictive(horizon=30, min_points=1)), now=NOON, landing=False
    )
    far = recommending.advise(
        role(replicas=current), read, memory, policy(predictive(horizon=600, min_points=1)), now=NOON, landing=True
    )
    assert (near.memory.demanded, near.memory.filter) == (far.memory.demanded, far.memory.filter)
