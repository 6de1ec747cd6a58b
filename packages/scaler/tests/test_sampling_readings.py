"""What the engines of a role say together (spec 3 §Role observations)."""

import pytest
from modeldeployment.api import Quantity
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.scaler.planning.observed import RoleReading, Silence, Unread
from modeldeployment.scaler.sampling.growth import Growth, Waits
from modeldeployment.scaler.sampling.readings import Heard, reading, unheard
from modeldeployment.scaler.sampling.tallies import Tally
from sampling_engines import NOON

GONE = Unread(pod="chat-server-1", silence=Silence.UNREACHABLE)


def heard(
    running: int = 0,
    waiting: int = 0,
    usage: float | None = None,
    *,
    prompt: float | None = None,
    generation: float | None = None,
    seconds: float = 10,
    first: Waits | None = None,
    rated: bool = True,
) -> Heard:
    said = Tally(running, waiting, usage, {})
    if not rated:
        return Heard(said)
    return Heard(said, Growth(prompt, generation, first or Waits(), Waits()), int(seconds * 10**9))


def test_requests_and_rates_of_all_engines_are_added_up() -> None:
    found = reading(2, [heard(3, 1, prompt=100, generation=50), heard(2, 4, prompt=300, generation=10)], [], NOON)
    assert found == RoleReading(
        state=SignalState.FRESH,
        ready=2,
        complete=True,
        read=2,
        rated=2,
        at=NOON,
        running_requests=5,
        waiting_requests=5,
        prompt_tokens_per_second=Quantity.parse("40"),
        generation_tokens_per_second=Quantity.parse("6"),
    )


def test_each_rate_is_over_the_time_of_its_own_engine() -> None:
    found = reading(2, [heard(prompt=100, seconds=10), heard(prompt=100, seconds=20)], [], NOON)
    assert found.prompt_tokens_per_second == Quantity.parse("15")


def test_a_rate_is_told_to_the_thousandth() -> None:
    assert reading(1, [heard(1, prompt=100, seconds=15)], [], NOON).prompt_tokens_per_second == Quantity.parse("6667m")


def test_the_used_fraction_is_the_mean_of_those_that_are_told() -> None:
    found = reading(3, [heard(1, usage=0.25), heard(usage=0.75), heard()], [], NOON)
    assert found.kv_cache_usage == Quantity.parse("500m")
    assert reading(1, [heard()], [], NOON).kv_cache_usage is None


def test_a_first_reading_has_requests_and_no_rates() -> None:
    found = reading(1, [heard(3, 1, rated=False)], [], NOON)
    assert (found.state, found.running_requests, found.waiting_requests) == (SignalState.MISSING, 3, 1)
    assert (found.prompt_tokens_per_second, found.ttft_milliseconds, found.rated) == (None, None, 0)
    assert found.complete


def test_a_role_whose_engines_do_nothing_is_idle() -> None:
    assert reading(1, [heard(prompt=0, generation=0)], [], NOON).state is SignalState.IDLE
    assert reading(1, [heard()], [], NOON).state is SignalState.IDLE


@pytest.mark.parametrize("busy", [heard(1), heard(0, 1), heard(prompt=1), heard(generation=1)])
def test_a_role_that_does_something_is_fresh(busy: Heard) -> None:
    assert reading(1, [busy], [], NOON).state is SignalState.FRESH


def test_a_role_is_not_idle_for_all_that_is_known_of_some_of_its_engines() -> None:
    assert reading(2, [heard(prompt=0)], [GONE], NOON).state is SignalState.FRESH


def test_one_engine_that_is_not_read_leaves_a_partial_sum_on_which_nothing_shrinks() -> None:
    found = reading(2, [heard(3, prompt=100)], [GONE], NOON)
    assert (found.complete, found.running_requests, found.read, found.unread) == (False, 3, 1, (GONE,))
    assert found.prompt_tokens_per_second == Quantity.parse("10")


def test_a_ready_replica_that_nobody_was_told_of_is_not_read_either() -> None:
    assert not reading(2, [heard(prompt=1)], [], NOON).complete
    assert not reading(0, [heard(prompt=1)], [], NOON).complete


def test_rates_of_some_engines_alone_are_partial() -> None:
    found = reading(2, [heard(3, prompt=100), heard(3, rated=False)], [], NOON)
    assert (found.complete, found.rated, found.state) == (False, 1, SignalState.FRESH)
    assert not reading(2, [heard(generation=1, prompt=1), heard(prompt=1)], [], NOON).complete


def test_tokens_that_no_engine_counts_leave_a_reading_complete() -> None:
    found = reading(2, [heard(3), heard(2)], [], NOON)
    assert (found.complete, found.prompt_tokens_per_second, found.running_requests) == (True, None, 5)


def test_latency_is_that_of_the_engines_together() -> None:
    inf = float("inf")
    slow, quick = Waits(10, 5, {0.1: 0, 0.5: 10, inf: 0}), Waits(100, 5, {0.1: 100, 0.5: 0, inf: 0})
    found = reading(2, [heard(first=slow), heard(first=quick)], [], NOON)
    assert (found.ttft_milliseconds, found.itl_milliseconds) == (Quantity.parse("500"), None)


def test_a_role_that_was_never_read_is_missing() -> None:
    found = unheard(None, 2, [GONE], interval=15)
    assert found == RoleReading(state=SignalState.MISSING, ready=2, unread=(GONE,))


LAST = reading(2, [heard(3, prompt=100), heard(1, prompt=0)], [], NOON)


@pytest.mark.parametrize("age", [15, 30])
def test_a_reading_lasts_two_intervals_and_nothing_shrinks_on_it_meanwhile(age: float) -> None:
    found = unheard(LAST, 3, [GONE], age=age, interval=15)
    assert (found.state, found.at, found.ready) == (SignalState.FRESH, NOON, 3)
    assert (found.running_requests, found.prompt_tokens_per_second) == (4, Quantity.parse("10"))
    assert (found.complete, found.read, found.unread) == (False, 0, (GONE,))


def test_after_two_intervals_it_is_stale_and_says_nothing() -> None:
    found = unheard(LAST, 2, [GONE], age=30.001, interval=15)
    assert found == RoleReading(state=SignalState.STALE, ready=2, at=NOON, unread=(GONE,))


def test_an_idle_role_that_cannot_be_read_is_not_known_to_be_idle() -> None:
    idle = reading(1, [heard(prompt=0)], [], NOON)
    assert unheard(idle, 1, [GONE], age=15, interval=15).state is SignalState.FRESH


def test_a_reading_tells_of_the_first_few_that_were_not_read() -> None:
    many = [Unread(pod=f"p{index:02}", silence=Silence.LATE, number=2) for index in range(20, 0, -1)]
    assert [each.pod for each in reading(30, [heard()], many, NOON).unread] == [f"p{index:02}" for index in range(1, 9)]
