"""From round to round: who is known again, what a restart costs, and what no clock can do (spec 3 §Engine signals)."""

from collections.abc import Mapping
from datetime import datetime

from modeldeployment.api import Quantity, RoleKind
from modeldeployment.api.choices import EngineName
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.scaler.planning.observed import RoleReading, Silence, Unread
from modeldeployment.scaler.sampling.asked import MOST, Engine, chosen
from modeldeployment.scaler.sampling.rounds import Answer, Read, Sampled, settled
from sampling_engines import NOON, after, engine, sglang, told, vllm

A, B = engine("chat-server-0"), engine("chat-server-1")


class Rounds:
    """Rounds of one role, 15 s apart where nothing else is said; both clocks begin at nothing."""

    def __init__(self) -> None:
        self.kept = Sampled(0.0)

    def at(
        self,
        seconds: float,
        said: Mapping[Engine, str | Silence],
        *,
        ready: int | None = None,
        wall: datetime | None = None,
    ) -> RoleReading:
        answers: list[tuple[Engine, Answer]] = [
            (
                each,
                Unread(pod=each.pod, silence=body)
                if isinstance(body, Silence)
                else Read(told(body, each.name), seconds),
            )
            for each, body in said.items()
        ]
        self.kept = settled(
            self.kept,
            answers,
            {"server": len(said) if ready is None else ready},
            began=seconds,
            interval=15,
            at=wall or after(seconds),
        )
        return self.kept.reading.roles["server"]


def rate(reading: RoleReading) -> str | None:
    found = reading.prompt_tokens_per_second
    return None if found is None else str(found)


def test_a_second_reading_has_rates_since_the_first() -> None:
    rounds = Rounds()
    first = rounds.at(0, {A: vllm(running=1, prompt=1000)})
    second = rounds.at(15, {A: vllm(running=1, prompt=1300)})
    assert (first.state, rate(first), second.state, rate(second)) == (
        SignalState.MISSING,
        None,
        SignalState.FRESH,
        "20",
    )


def test_a_restarted_container_has_no_rates_until_it_was_read_twice() -> None:
    rounds, again = Rounds(), engine("chat-server-0", restarts=1)
    rounds.at(0, {A: vllm(prompt=1000)})
    assert rate(rounds.at(15, {again: vllm(prompt=5000)})) is None
    assert rate(rounds.at(30, {again: vllm(prompt=5150)})) == "10"


def test_another_pod_of_the_same_name_is_another_engine() -> None:
    rounds = Rounds()
    other = Engine("server", RoleKind.SERVER, EngineName.VLLM, A.pod, "uid-new", A.container, 0, A.url)
    rounds.at(0, {A: vllm(prompt=1000)})
    assert rate(rounds.at(15, {other: vllm(prompt=5000)})) is None


def test_a_counter_that_goes_back_costs_one_reading_and_makes_no_negative_rate() -> None:
    rounds = Rounds()
    rounds.at(0, {A: vllm(prompt=1000)})
    assert rate(rounds.at(15, {A: vllm(prompt=400)})) is None
    assert rate(rounds.at(30, {A: vllm(prompt=550)})) == "10"


def test_a_restart_of_one_engine_leaves_the_rates_of_the_others() -> None:
    rounds = Rounds()
    rounds.at(0, {A: vllm(prompt=1000), B: vllm(prompt=1000)})
    found = rounds.at(15, {A: vllm(prompt=1150), B: vllm(prompt=3)})
    assert (rate(found), found.complete, found.rated, found.read) == ("10", False, 1, 2)


def test_an_engine_that_fails_once_is_measured_over_both_intervals() -> None:
    rounds = Rounds()
    rounds.at(0, {A: vllm(prompt=1000)})
    failed = rounds.at(15, {A: Silence.LATE})
    assert (failed.complete, failed.read) == (False, 0)
    assert rate(rounds.at(30, {A: vllm(prompt=1600)})) == "20"


def test_an_engine_that_fails_for_long_begins_anew() -> None:
    rounds = Rounds()
    rounds.at(0, {A: vllm(prompt=1000)})
    rounds.at(15, {A: Silence.LATE})
    rounds.at(30, {A: Silence.LATE})
    rounds.at(45.5, {A: Silence.LATE})
    assert rate(rounds.at(60, {A: vllm(prompt=9000)})) is None


def test_what_fails_says_nothing_of_the_life_before_a_restart() -> None:
    rounds, again = Rounds(), engine("chat-server-0", restarts=1)
    rounds.at(0, {A: vllm(prompt=1000)})
    rounds.at(15, {again: Silence.UNREACHABLE})
    assert rate(rounds.at(30, {again: vllm(prompt=5000)})) is None


def test_a_role_that_fails_goes_stale_and_comes_back() -> None:
    rounds = Rounds()
    rounds.at(0, {A: vllm(running=2)})
    rounds.at(15, {A: vllm(running=2)})
    states = [rounds.at(seconds, {A: Silence.LATE}).state for seconds in (30, 45, 60)]
    assert states == [SignalState.FRESH, SignalState.FRESH, SignalState.STALE]
    assert rounds.at(75, {A: vllm(running=2)}).state is SignalState.MISSING
    assert rounds.at(90, {A: vllm(running=2)}).state is SignalState.FRESH


def test_a_reading_that_is_repeated_keeps_its_instant() -> None:
    rounds = Rounds()
    rounds.at(0, {A: vllm(running=2)})
    assert [rounds.at(seconds, {A: Silence.LATE}).at for seconds in (15, 30, 45)] == [NOON, NOON, NOON]


def test_a_wall_clock_that_is_set_changes_no_rate() -> None:
    for step in (3600, -3600):
        rounds = Rounds()
        rounds.at(0, {A: vllm(prompt=1000)})
        found = rounds.at(15, {A: vllm(prompt=1300)}, wall=after(15 + step))
        assert (rate(found), found.state, found.at) == ("20", SignalState.FRESH, after(15 + step))


def test_a_wall_clock_that_is_set_makes_nothing_stale() -> None:
    rounds = Rounds()
    rounds.at(0, {A: vllm(running=1)})
    rounds.at(15, {A: vllm(running=1)})
    assert rounds.at(30, {A: Silence.LATE}, wall=after(3630)).state is SignalState.FRESH


def test_engines_that_are_gone_are_forgotten() -> None:
    rounds = Rounds()
    rounds.at(0, {A: vllm(prompt=1000), B: vllm(prompt=1000)})
    rounds.at(15, {A: vllm(prompt=1000)})
    assert list(rounds.kept.engines) == [A.uid]
    assert rate(rounds.at(30, {A: vllm(prompt=1000), B: vllm(prompt=1600)})) == "0"
    rounds.at(45, {})
    assert rounds.kept.engines == {}


def test_a_role_that_is_gone_is_forgotten() -> None:
    rounds = Rounds()
    rounds.at(0, {A: vllm()})
    kept = settled(rounds.kept, [], {"decode": 0}, began=15, interval=15, at=after(15))
    assert (list(kept.reading.roles), dict(kept.heard)) == (["decode"], {})


def test_a_role_without_ready_replicas_is_missing() -> None:
    found = Rounds().at(0, {}, ready=0)
    assert found == RoleReading(state=SignalState.MISSING, ready=0)


def test_sglang_that_has_served_nobody_is_idle_once_it_was_read_twice() -> None:
    rounds, one = Rounds(), engine(name=EngineName.SGLANG)
    rounds.at(0, {one: sglang()})
    found = rounds.at(15, {one: sglang()})
    assert (found.state, found.complete, rate(found)) == (SignalState.IDLE, True, None)


def test_two_readings_of_one_instant_have_no_rates() -> None:
    rounds = Rounds()
    rounds.at(0, {A: vllm(prompt=1000)})
    assert rate(rounds.at(0, {A: vllm(prompt=2000)})) is None


def test_sixty_four_engines_of_a_role_are_read_by_name_and_no_more() -> None:
    members = [engine(f"p{index:03}", role=role) for role in ("a", "b") for index in range(66)]
    asked, beyond = chosen(list(reversed(members)), {"a", "b"})
    assert len(asked) == 2 * MOST == 128
    assert [(each.role, each.pod) for each in beyond] == [("b", "p064"), ("a", "p064"), ("b", "p065"), ("a", "p065")]


def test_engines_of_a_role_that_is_not_scaled_are_not_asked() -> None:
    assert chosen([engine(role="a"), engine(role="other")], {"a"}) == ([engine(role="a")], [])


def test_a_reading_is_told_in_amounts() -> None:
    rounds = Rounds()
    rounds.at(0, {A: vllm(usage=0.5, generation=0)})
    found = rounds.at(10, {A: vllm(usage=0.5, generation=25, first=[0.3], between=[0.05, 0.7])})
    assert found.generation_tokens_per_second == Quantity.parse("2500m")
    assert (found.kv_cache_usage, found.ttft_milliseconds) == (Quantity.parse("500m"), Quantity.parse("500"))
    assert found.itl_milliseconds == Quantity.parse("1000")
