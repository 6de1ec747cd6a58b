"""The latency guard (spec 3 §Token throughput, decisions D16)."""

import pytest
from modeldeployment.api.scalerconditions import RoleReason
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.scaler.planning.advice import Advice
from modeldeployment.scaler.planning.causes import Cause
from planning_advice import advised, causes
from planning_worlds import flowing, reading, remembered, role, token


def prefill(
    ttft: str | float | None,
    *,
    demand: int = 4000,
    replicas: int = 2,
    ready: int = 2,
    landing: bool = False,
    state: SignalState = SignalState.FRESH,
) -> Advice:
    """Advise a prefill role that token rates ask two replicas for, where nothing is said."""
    return advised(
        token(),
        reading(prompt=demand, ttft=ttft, itl=None, ready=ready, state=state),
        of=role("prefill", replicas),
        memory=remembered(demanded=flowing(demand)),
        landing=landing,
    )


def test_facts_example_6_above_1_2_times_the_target_one_more_is_asked_for() -> None:
    advice = prefill(605)
    assert (advice.replicas, advice.reason, advice.shrinks) == (3, RoleReason.LATENCY_GUARD_SCALE_UP, False)
    assert causes(advice) == [Cause.STABLE_RATE, Cause.LATENCY_FAR_ABOVE_TARGET]
    assert advice.steps[1].numbers == {"signal": "TTFT", "latency": "605", "target": "500"}


def test_facts_example_6_exactly_1_2_times_the_target_only_forbids_shrinking() -> None:
    advice = prefill(600)
    assert (advice.replicas, advice.reason, advice.shrinks) == (2, RoleReason.LATENCY_GUARD_HOLD, False)
    assert causes(advice) == [Cause.STABLE_RATE, Cause.LATENCY_ABOVE_TARGET]


@pytest.mark.parametrize(
    ("ttft", "replicas", "shrinks"),
    [
        pytest.param("500", 2, True, id="at the target"),
        pytest.param("500.000000001", 3, False, id="a hair above"),
        pytest.param("600", 3, False, id="at 1.2 times"),
        pytest.param("600.000000001", 4, False, id="a hair above 1.2 times"),
    ],
)
def test_each_stage_begins_above_its_border_and_not_at_it(ttft: str, replicas: int, shrinks: bool) -> None:
    advice = prefill(ttft, replicas=3, ready=3)
    assert (advice.replicas, advice.shrinks) == (replicas, shrinks)


def test_a_latency_that_is_missing_forbids_shrinking() -> None:
    advice = prefill(None, replicas=3, ready=3)
    assert (advice.replicas, advice.reason, advice.shrinks) == (3, RoleReason.LATENCY_GUARD_HOLD, False)
    assert (advice.measured, causes(advice)) == (False, [Cause.STABLE_RATE, Cause.LATENCY_MISSING])
    assert advice.steps[1].numbers == {"signal": "TTFT"}


def test_a_latency_that_is_missing_lets_token_rates_ask_for_more() -> None:
    advice = prefill(None, replicas=1, ready=1)
    assert (advice.replicas, advice.reason, advice.shrinks) == (2, RoleReason.PANIC, False)
    advice = prefill(None, demand=5000)
    assert (advice.replicas, advice.reason, advice.shrinks) == (3, RoleReason.TOKEN_THROUGHPUT, False)


def test_nobody_waits_at_a_role_without_work_so_no_latency_is_missed() -> None:
    advice = prefill(None, demand=0, replicas=3, ready=3, state=SignalState.IDLE)
    assert (advice.replicas, advice.shrinks, advice.measured) == (1, True, True)


def test_no_first_token_is_missed_where_no_prompt_was_worked_on_and_nobody_waits() -> None:
    """One long answer at night: a server that had to be served first tokens all the time would never shrink."""
    memory = remembered(demanded=flowing(100))
    long = advised(token(), reading(running=1, generation=100, ttft=None), memory=memory)
    assert (long.replicas, long.shrinks, long.measured) == (1, True, True)
    for waits in (reading(waiting=1, generation=100, ttft=None), reading(waiting=None, generation=100, ttft=None)):
        assert not advised(token(), waits, memory=memory).shrinks
    stuck = advised(token(), reading(running=1, prompt=0, generation=0, itl=None), memory=memory)
    assert (stuck.replicas, stuck.shrinks) == (2, False)


def test_a_hold_is_not_the_word_of_a_role_that_grows() -> None:
    advice = prefill(550, demand=6000)
    assert (advice.replicas, advice.reason, advice.shrinks) == (3, RoleReason.TOKEN_THROUGHPUT, False)


def test_the_guard_asks_for_one_more_than_declared_and_not_than_recommended() -> None:
    advice = prefill(700, demand=7500)
    assert (advice.replicas, advice.reason) == (4, RoleReason.LATENCY_GUARD_SCALE_UP)


def test_one_that_is_ready_can_be_slow_and_none_that_is_ready_cannot_be_helped_by_another() -> None:
    assert prefill(900, demand=1000, replicas=1, ready=1).replicas == 2
    advice = prefill(900, demand=1000, replicas=1, ready=0)
    assert (advice.replicas, advice.reason) == (1, RoleReason.NO_READY_REPLICAS)


def test_while_replicas_land_the_guard_holds_instead_of_asking_for_another_each_pass() -> None:
    advice = prefill(5000, landing=True)
    assert (advice.replicas, advice.reason, advice.shrinks) == (2, RoleReason.LATENCY_GUARD_HOLD, False)
    assert causes(advice) == [Cause.STABLE_RATE, Cause.LATENCY_LANDING]


def test_while_replicas_land_token_rates_may_still_ask_for_more() -> None:
    assert prefill(5000, demand=7500, landing=True).replicas == 4


def test_a_prefill_role_is_judged_by_the_first_token_and_a_decode_role_by_those_after() -> None:
    slow_first = advised(
        token(),
        reading(generation=1600, ttft=9000, itl=50),
        of=role("decode"),
        memory=remembered(demanded=flowing(1600)),
    )
    assert (slow_first.replicas, slow_first.shrinks) == (2, True)
    slow_next = advised(
        token(),
        reading(generation=1600, ttft=None, itl=61),
        of=role("decode"),
        memory=remembered(demanded=flowing(1600)),
    )
    assert (slow_next.replicas, slow_next.steps[1].numbers["signal"]) == (3, "ITL")


@pytest.mark.parametrize(
    ("ttft", "itl", "signal"),
    [
        pytest.param(600, 62, "ITL", id="1.2 and 1.24"),
        pytest.param(620, 60, "TTFT", id="1.24 and 1.2"),
    ],
)
def test_a_server_role_goes_by_the_larger_relative_breach(ttft: int, itl: int, signal: str) -> None:
    advice = advised(token(), reading(prompt=4000, ttft=ttft, itl=itl), memory=remembered(demanded=flowing(4000)))
    assert (advice.replicas, advice.reason) == (3, RoleReason.LATENCY_GUARD_SCALE_UP)
    assert advice.steps[1].numbers["signal"] == signal


def test_a_server_role_needs_both_and_the_one_that_is_there_may_still_ask_for_more() -> None:
    advice = advised(token(), reading(prompt=100, ttft=None), memory=remembered(demanded=flowing(100)))
    assert (advice.replicas, advice.shrinks, advice.measured) == (2, False, False)
    advice = advised(token(), reading(prompt=100, ttft=None, itl=99), memory=remembered(demanded=flowing(100)))
    assert (advice.replicas, advice.reason) == (3, RoleReason.LATENCY_GUARD_SCALE_UP)
    assert causes(advice) == [Cause.STABLE_RATE, Cause.LATENCY_MISSING, Cause.LATENCY_FAR_ABOVE_TARGET]
