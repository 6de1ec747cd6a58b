"""The fluid model serves what it can, the cheapest schedule is the cheapest, and a back-test is the same each time."""

import itertools
from datetime import datetime
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modeldeployment.api import Quantity, RoleKind
from modeldeployment.api.scalerconditions import RoleReason
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.scaler.backtesting import cheapest, traces
from modeldeployment.scaler.backtesting.fleets import Fleet, Group
from modeldeployment.scaler.backtesting.fluid import Fluid
from modeldeployment.scaler.backtesting.playing import START, follow, play
from modeldeployment.scaler.backtesting.traces import Arrival, Request, Trace
from modeldeployment.scaler.planning.memory import Memory
from modeldeployment.scaler.planning.observed import Reading, Target
from modeldeployment.scaler.planning.outcome import Move, Plan, RolePlan

SERVER = Group("server", RoleKind.SERVER, peak=100, minimum=1, maximum=4)
PAIR = (
    Group("prefill", RoleKind.PREFILL, peak=100, minimum=1, maximum=4),
    Group("decode", RoleKind.DECODE, peak=10, minimum=1, maximum=4),
)


def steady(seconds: int, requests: int = 1, prompt: int = 80, generation: int = 10) -> Trace:
    return Trace("steady", (Arrival(requests, prompt, generation),) * seconds)


def fleet(*groups: Group, cold: int = 30, leaving: int = 10, limit: int = 2) -> Fleet:
    return Fleet(groups or (SERVER,), cold_seconds=cold, leaving_seconds=leaving, limit_seconds=limit)


def test_requests_become_demand_by_the_second() -> None:
    requests = [Request(0.2, 10, 1), Request(2.9, 7, 2), Request(0.9, 5, 1)]
    assert traces.of_requests("t", requests).seconds == (Arrival(2, 15, 2), Arrival(), Arrival(1, 7, 2))


def test_rates_become_whole_requests_and_gaps_of_the_recording_are_no_silence() -> None:
    made = traces.of_rates("t", [(0, Fraction(1, 2)), (4, Fraction(0)), (8, Fraction(3, 2))], 4, 10, 1)
    assert [each.requests for each in made.seconds] == [0, 1, 0, 1, 0, 1, 1, 1, 2, 1, 2, 1]
    assert made.total == Arrival(11, 110, 11)


def test_heavier_traffic_has_as_many_tokens_as_it_is_heavier() -> None:
    assert traces.scaled(steady(3, 1, 10, 1), Fraction(3, 2)).seconds == (
        Arrival(1, 15, 1),
        Arrival(2, 15, 2),
        Arrival(1, 15, 1),
    )


def test_enough_replicas_serve_everything_in_time() -> None:
    plant = Fluid(steady(60), fleet(), [1])
    plant.advance(60)
    outcome = plant.finish()
    assert (outcome.requests, outcome.in_time, outcome.replica_seconds) == (60, 60, 60)


def test_too_few_replicas_let_requests_wait_until_they_are_late() -> None:
    # 120 tokens a second before 100: after ten seconds 200 tokens wait, which take two seconds; later ones are late.
    plant = Fluid(steady(60, 1, 110, 10), fleet(), [1])
    plant.advance(60)
    assert plant.finish().in_time == 10


def test_a_replica_that_is_added_serves_after_its_cold_start_and_counts_from_its_declaration() -> None:
    plant = Fluid(steady(100), fleet(cold=30), [1])
    plant.advance(10)
    plant.declare({"server": 2})
    plant.advance(29)
    assert [seat.ready for seat in plant.target().roles[0].seats] == [True, False]
    plant.advance(1)
    assert [seat.ready for seat in plant.target().roles[0].seats] == [True, True]
    plant.advance(60)
    assert plant.finish().replica_seconds == 100 + 90


def test_replicas_leave_one_at_a_time_and_count_until_they_are_gone() -> None:
    plant = Fluid(steady(100, 0, 0, 0), fleet(leaving=10), [3])
    plant.declare({"server": 1})
    seen = plant.target().retirement
    assert seen is not None
    assert (seen.role, seen.ordinal) == ("server", 2)
    plant.advance(11)
    seen = plant.target().retirement
    assert seen is not None
    assert seen.ordinal == 1
    plant.advance(89)
    assert plant.target().retirement is None
    assert plant.finish().replica_seconds == 100 + 10 + 20


def test_a_first_reading_has_no_rates_and_the_next_says_what_was_served() -> None:
    plant = Fluid(steady(60), fleet(), [1])
    first = plant.reading(START).roles["server"]
    assert (first.state, first.prompt_tokens_per_second) == (SignalState.MISSING, None)
    plant.advance(15)
    read = plant.reading(START).roles["server"]
    assert read.state is SignalState.FRESH
    assert read.prompt_tokens_per_second == Quantity.parse("80")
    assert read.generation_tokens_per_second == Quantity.parse("10")
    assert (read.running_requests, read.waiting_requests) == (1, 0)
    assert read.ttft_milliseconds == Quantity.parse("30")
    assert read.itl_milliseconds == Quantity.parse("30")


def test_an_overload_is_read_as_what_is_served_with_those_who_wait_and_latencies_that_grow() -> None:
    plant = Fluid(steady(60, 1, 150, 50), fleet(), [1])
    plant.reading(START)
    plant.advance(30)
    read = plant.reading(START).roles["server"]
    assert read.prompt_tokens_per_second == Quantity.parse("75")
    assert read.waiting_requests == 15
    assert read.ttft_milliseconds is not None
    assert read.ttft_milliseconds > Quantity.parse("10000")
    assert read.itl_milliseconds is not None
    assert read.itl_milliseconds > Quantity.parse("60")


def test_silence_is_idle_and_no_latency_is_made_up() -> None:
    plant = Fluid(Trace("none", (Arrival(),) * 60), fleet(), [1])
    plant.reading(START)
    plant.advance(15)
    read = plant.reading(START).roles["server"]
    assert (read.state, read.ttft_milliseconds, read.itl_milliseconds) == (SignalState.IDLE, None, None)


def test_a_pair_serves_prompts_first_and_generates_from_what_came_through() -> None:
    plant = Fluid(steady(60, 1, 200, 5), fleet(*PAIR), [1, 1])
    plant.reading(START)
    plant.advance(60)
    reading = plant.reading(START)
    assert reading.roles["prefill"].prompt_tokens_per_second == Quantity.parse("100")
    assert reading.roles["decode"].generation_tokens_per_second == Quantity.parse("2500m")
    assert plant.finish().in_time == 2


def test_more_replicas_never_serve_less_in_time() -> None:
    trace = traces.of_requests("t", [Request(at / 3, 40 + at % 50, 10) for at in range(200)])

    def in_time(replicas: int) -> int:
        plant = Fluid(trace, fleet(), [replicas])
        plant.advance(len(trace.seconds))
        return plant.finish().in_time

    served = [in_time(each) for each in range(1, 5)]
    assert served == sorted(served)
    assert served[-1] == 200


def test_what_is_needed_spreads_work_over_the_limit() -> None:
    trace = Trace("burst", (Arrival(1, 300, 0), Arrival(), Arrival(), Arrival(), Arrival(), Arrival()))
    assert cheapest.needed(trace, SERVER, limit=2, step=3) == [1, 1]
    assert cheapest.needed(trace, SERVER, limit=0, step=3) == [3, 1]


def test_a_gap_is_kept_where_coming_back_costs_more() -> None:
    need = [2, 1, 1, 1, 2]
    assert cheapest.schedule(need, 1, cold=2, leaving=1) == [2, 2, 2, 2, 2]
    assert cheapest.schedule(need, 1, cold=1, leaving=1) == [2, 1, 1, 2, 2]


def test_whoever_is_needed_later_is_declared_a_cold_start_before() -> None:
    assert cheapest.schedule([1, 1, 1, 1, 1, 2], 1, cold=2, leaving=0) == [1, 1, 1, 2, 2, 2]
    assert cheapest.schedule([1, 1, 2], 1, cold=2, leaving=0) == [2, 2, 2]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=6), st.integers(0, 3))
def test_no_schedule_that_has_what_is_needed_costs_less(need: list[int], cold: int) -> None:
    def ready(declared: tuple[int, ...], at: int) -> int:
        since = range(max(0, at - cold), at + 1)
        return min(declared[each] for each in since)

    def enough(declared: tuple[int, ...]) -> bool:
        return all(ready(declared, at) >= need[at] for at in range(len(need)))

    least = min(sum(each) for each in itertools.product((1, 2, 3), repeat=len(need)) if enough(each))
    found = tuple(cheapest.schedule(need, 1, cold, 0))
    assert enough(found)
    assert sum(found) == least


def test_the_cheapest_schedule_serves_everything_in_time() -> None:
    burst = (*(Arrival(1, 50, 0),) * 100, *(Arrival(3, 300, 0),) * 60, *(Arrival(1, 50, 0),) * 100)
    trace, group = Trace("burst", burst), fleet(cold=20, leaving=0)
    vectors = cheapest.of(trace, group, 10)
    score = follow(Fluid(trace, group, [1]), vectors, len(burst), 10)
    assert score.attainment == 1
    assert score.most == 3
    assert score.changes == 2
    # Two more for the burst, its cold start before, and the step after it in which its last work is due.
    assert score.replica_seconds == 260 + 2 * (60 + 20 + 10)


def test_a_planner_decides_pass_by_pass_and_its_memory_goes_on() -> None:
    asked: list[tuple[int, int]] = []

    def planner(memory: Memory, _: Reading, target: Target, now: datetime, decision: str) -> Plan:
        asked.append((memory.policy_generation, target.vector["server"]))
        assert decision == f"pass-{int((now - START).total_seconds())}"
        count = min(target.vector["server"] + 1, 3)
        move = Move.PLANNED if count > target.vector["server"] else None
        kept = Memory(policy_generation=memory.policy_generation + 1)
        return Plan(
            vector={"server": count},
            move=move,
            roles=(RolePlan(name="server", raw=count, constrained=count, reason=RoleReason.PROPORTIONAL),),
            findings=(),
            memory=kept,
            committed=Memory(policy_generation=kept.policy_generation + 10) if move else None,
            trail=(),
        )

    trace = steady(50)
    score = play(Fluid(trace, fleet(), [1]), planner, 50, 15)
    assert asked == [(0, 1), (11, 2), (22, 3), (23, 3)]
    assert score.changes == 1
    assert [each.vector["server"] for each in score.passes] == [2, 3, 3, 3]
    assert score.attainment == 1


@pytest.mark.parametrize("seconds", [0, 1])
def test_a_trace_of_nothing_is_played_to_its_end(seconds: int) -> None:
    trace = Trace("none", (Arrival(),) * seconds)
    assert follow(Fluid(trace, fleet(), [1]), cheapest.of(trace, fleet(), 15), seconds, 15).attainment == 1
