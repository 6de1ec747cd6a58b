"""Token rates over two windows, and panic on bursts (spec 3 §Token throughput)."""

import pytest
from modeldeployment.api.scalerconditions import RoleReason
from modeldeployment.scaler.planning.causes import Cause
from planning_advice import advised, causes
from planning_worlds import band, demanded, flowing, reading, remembered, role, token


def test_facts_example_4_the_stable_rate_over_the_capacity_rounded_up() -> None:
    advice = advised(token(), reading(prompt=4100), of=role("prefill"), memory=remembered(demanded=flowing(4100)))
    assert (advice.replicas, advice.reason, advice.shrinks) == (3, RoleReason.TOKEN_THROUGHPUT, True)
    assert causes(advice) == [Cause.STABLE_RATE]
    assert advice.steps[0].numbers == {"rate": "4100", "capacity": "2k", "window": 180}


def test_facts_example_5_panic_begins_at_twice_what_is_ready_and_not_before() -> None:
    """4100 for two minutes and 8000 for one: the stable rate is 5400."""
    calm = demanded(*((at, 4100) for at in range(-195, -59, 15)))
    burst = demanded(*((at, 8000) for at in range(-45, 0, 15)))
    advice = advised(token(), reading(prompt=8000), of=role("prefill"), memory=remembered(demanded=(*calm, *burst)))
    assert (advice.replicas, advice.reason, advice.shrinks) == (4, RoleReason.PANIC, False)
    assert causes(advice) == [Cause.STABLE_RATE, Cause.PANIC]
    assert [step.after for step in advice.steps] == [3, 4]
    assert advice.steps[1].numbers == {"rate": "8k", "capacity": "2k", "window": 60, "ready": 2, "threshold": "2"}
    below = advised(token(), reading(prompt=7999), of=role("prefill"), memory=remembered(demanded=(*calm, *burst)))
    assert (below.replicas, below.reason) == (3, RoleReason.TOKEN_THROUGHPUT)


def test_panic_is_told_by_the_rate_and_not_by_the_count_that_it_rounds_to() -> None:
    """7001 tokens per second round up to four replicas, which is twice the two that are ready; the rate is not."""
    advice = advised(token(), reading(prompt=7001), of=role("prefill"), memory=remembered(demanded=flowing(7001)))
    assert (advice.replicas, advice.reason) == (4, RoleReason.TOKEN_THROUGHPUT)


def test_panic_has_no_memory() -> None:
    memory = remembered(demanded=flowing(9000))
    first = advised(token(), reading(prompt=9000), of=role("prefill"), memory=memory)
    assert first.reason is RoleReason.PANIC
    second = advised(token(), reading(prompt=9000, ready=5), of=role("prefill", 5), memory=memory)
    assert (second.reason, second.shrinks) == (RoleReason.TOKEN_THROUGHPUT, True)


def test_panic_lets_nothing_shrink_where_it_asks_for_less_than_is_declared() -> None:
    """Two of ten are ready and overrun; ten were asked for before, and all are on their way."""
    advice = advised(token(), reading(prompt=9000), of=role("prefill", 10), memory=remembered(demanded=flowing(9000)))
    assert (advice.replicas, advice.reason, advice.shrinks) == (10, RoleReason.PANIC, False)


def test_panic_goes_by_the_stable_rate_where_that_asks_for_more() -> None:
    falling = demanded(*((at, 40000) for at in range(-195, -59, 15)), *((at, 9000) for at in range(-45, 0, 15)))
    advice = advised(token(), reading(prompt=9000), of=role("prefill"), memory=remembered(demanded=falling))
    assert (advice.replicas, advice.reason) == (15, RoleReason.PANIC)


@pytest.mark.parametrize(("threshold", "reason"), [("1", RoleReason.PANIC), ("1.01", RoleReason.TOKEN_THROUGHPUT)])
def test_a_threshold_of_one_starts_panic_at_capacity(threshold: str, reason: RoleReason) -> None:
    advice = advised(
        token(threshold=threshold),
        reading(prompt=4000),
        of=role("prefill"),
        memory=remembered(demanded=flowing(4000)),
    )
    assert (advice.replicas, advice.reason) == (2, reason)


def test_a_threshold_below_one_starts_panic_before_capacity() -> None:
    advice = advised(
        token(threshold="0.5"), reading(prompt=2000), of=role("prefill"), memory=remembered(demanded=flowing(2000))
    )
    assert (advice.replicas, advice.reason, advice.shrinks) == (2, RoleReason.PANIC, False)


@pytest.mark.parametrize(
    ("kind", "replicas"),
    [
        pytest.param("prefill", 2, id="prompt tokens"),
        pytest.param("decode", 6, id="generation tokens"),
        pytest.param("server", 4, id="both"),
    ],
)
def test_demand_is_what_a_role_of_that_kind_serves(kind: str, replicas: int) -> None:
    rates = {"prefill": 3000, "decode": 4400, "server": 7400}
    advice = advised(
        token(),
        reading(prompt=3000, generation=4400, ready=8),
        of=role(kind, 8),
        memory=remembered(demanded=flowing(rates[kind])),
    )
    assert advice.replicas == replicas


@pytest.mark.parametrize("numerator", ["encode", "prefill"])
def test_an_encode_role_is_coupled_whichever_way_round_its_ratio_stands(numerator: str) -> None:
    denominator = "prefill" if numerator == "encode" else "encode"
    advice = advised(token(), None, of=role("encode", 3), bands=(band(numerator, denominator, target=1),))
    assert (advice.replicas, advice.reason, advice.own, advice.shrinks) == (3, RoleReason.RATIO_COUPLED, False, True)
    assert (advice.measured, advice.memory.recommended) == (True, ())


def test_an_encode_role_without_a_ratio_holds_and_says_what_is_lacking() -> None:
    advice = advised(token(), reading(), of=role("encode", 3))
    assert (advice.replicas, advice.shrinks, causes(advice)) == (3, False, [Cause.UNDECLARED])
    assert advice.steps[0].numbers == {"field": "spec.ratios"}


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("server", "spec.algorithm.tokenThroughput.serverTargetTokensPerSecond"),
        ("prefill", "spec.algorithm.tokenThroughput.prefillTargetTokensPerSecond"),
        ("decode", "spec.algorithm.tokenThroughput.decodeTargetTokensPerSecond"),
    ],
)
def test_a_kind_without_a_capacity_holds_and_says_which_field_is_lacking(kind: str, field: str) -> None:
    advice = advised(token(prefill=None, decode=None, server=None), reading(prompt=9000), of=role(kind, 3))
    assert (advice.replicas, advice.shrinks, advice.reason) == (3, False, RoleReason.TOKEN_THROUGHPUT)
    assert (causes(advice), advice.steps[0].numbers) == ([Cause.UNDECLARED], {"field": field})


def test_no_demand_makes_one() -> None:
    advice = advised(token(), reading(prompt=0), of=role("prefill", 3), memory=remembered(demanded=flowing(0)))
    assert (advice.replicas, advice.shrinks) == (1, True)


def test_a_first_sample_holds_the_count() -> None:
    advice = advised(token(), reading(prompt=9000), of=role("prefill", 3))
    assert (advice.replicas, advice.shrinks, advice.measured) == (3, False, False)
    assert causes(advice) == [Cause.WINDOW_NOT_ESTABLISHED, Cause.WINDOW_NOT_ESTABLISHED]
    assert advice.steps[0].numbers == {"window": 180, "span": 0}


def test_half_a_window_is_enough_and_less_is_not() -> None:
    just = advised(
        token(),
        reading(prompt=100),
        of=role("prefill", 3),
        memory=remembered(demanded=flowing(100, seconds=75)),
    )
    assert (just.replicas, just.shrinks, just.measured) == (1, True, True)
    short = advised(
        token(),
        reading(prompt=100),
        of=role("prefill", 3),
        memory=remembered(demanded=flowing(100, seconds=60)),
    )
    assert (short.replicas, short.shrinks, short.measured) == (3, False, False)


def test_a_burst_is_seen_before_the_stable_window_is_there() -> None:
    advice = advised(
        token(),
        reading(prompt=30000),
        of=role("prefill", 3),
        memory=remembered(demanded=flowing(30000, seconds=30)),
    )
    assert (advice.replicas, advice.reason, advice.shrinks) == (15, RoleReason.PANIC, False)
    assert causes(advice) == [Cause.WINDOW_NOT_ESTABLISHED, Cause.PANIC]


def test_a_panic_window_longer_than_the_stable_one_keeps_from_shrinking_until_it_is_there() -> None:
    slow = token(stable=30, panic=300)
    advice = advised(
        slow, reading(prompt=100), of=role("prefill", 3), memory=remembered(demanded=flowing(100, seconds=60))
    )
    assert (advice.replicas, advice.shrinks) == (3, False)
    assert causes(advice) == [Cause.STABLE_RATE, Cause.WINDOW_NOT_ESTABLISHED]
    grows = advised(
        slow, reading(prompt=9000), of=role("prefill", 3), memory=remembered(demanded=flowing(9000, seconds=60))
    )
    assert (grows.replicas, grows.shrinks) == (5, False)
    there = advised(
        slow, reading(prompt=100), of=role("prefill", 3), memory=remembered(demanded=flowing(100, seconds=150))
    )
    assert (there.replicas, there.shrinks) == (1, True)


def test_without_a_ready_replica_demand_still_asks_for_growth_and_nothing_shrinks() -> None:
    grows = advised(
        token(),
        reading(ready=0, prompt=9000),
        of=role("prefill", 3),
        memory=remembered(demanded=flowing(9000)),
    )
    assert (grows.replicas, grows.reason, grows.shrinks) == (5, RoleReason.NO_READY_REPLICAS, False)
    holds = advised(token(), reading(ready=0, prompt=0), of=role("prefill", 3), memory=remembered(demanded=flowing(0)))
    assert (holds.replicas, holds.reason, holds.shrinks) == (3, RoleReason.NO_READY_REPLICAS, False)


def test_a_demand_beyond_all_measure_is_still_a_count() -> None:
    endless = "9e60"
    advice = advised(token(), reading(prompt=endless), of=role("prefill"), memory=remembered(demanded=flowing(endless)))
    assert advice.replicas == 2147483647
