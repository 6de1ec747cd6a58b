"""What routers and engines have said, weighed into evidence (facts shutdown §2, decisions D6 to D10)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.reconcile.inflight import Busy, Idle, Reading, Unknown
from modeldeployment.reconcile.retiring.evidence import Evidence, Leg
from modeldeployment.reconcile.weighing import (
    Asked,
    Engine,
    empty,
    idle_since,
    in_flight,
    let_go,
    material,
    unlisted,
)
from modeldeployment.router import withdrawal
from modeldeployment.router.withdrawal import State, Step, Verdict

NOW = datetime(2030, 1, 1, tzinfo=UTC)
PROVEN, WAITING, IMPOSSIBLE = Verdict.PROVEN, Verdict.WAITING, Verdict.IMPOSSIBLE
SETTLE = timedelta(seconds=5)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def step(verdict: Verdict, reason: str = "", **fields: Any) -> Step:
    said = reason or f"router Pod r is {verdict.value}"
    return Step(State(NOW), (), 1.0, withdrawal.Verdict(verdict.value), said, **fields)


def read(*readings: Reading, name: str = "a") -> Engine:
    """An engine that was read once a second, each reading taking a tenth of one."""
    engine = Engine(name, Unknown("it has not been read yet"))
    for second, reading in enumerate(readings):
        engine = engine.then(reading, at(second), at(second + 0.1))
    return engine


def test_every_process_has_to_have_let_go_and_the_list_of_them_to_be_closed() -> None:
    proven = step(PROVEN)
    assert let_go(Asked((proven, proven), closed=True)).verdict is PROVEN
    assert let_go(Asked((proven, proven))) == Leg(
        WAITING, "looking once more whether these are all of the router's Pods"
    )
    assert let_go(Asked((proven, step(WAITING, "r still lists it")), closed=True)) == Leg(WAITING, "r still lists it")
    assert let_go(Asked((proven,), closed=True, missing="nobody told")) == Leg(WAITING, "nobody told")


def test_one_process_that_can_prove_nothing_decides() -> None:
    hopeless = step(IMPOSSIBLE, "r answers nothing")
    assert let_go(Asked((step(WAITING), hopeless))) == Leg(IMPOSSIBLE, "r answers nothing")
    assert let_go(Asked((), ("r is too old",), missing="nobody told")) == Leg(IMPOSSIBLE, "r is too old")


def test_when_it_can_hold_at_the_earliest_is_told_where_all_that_wait_tell() -> None:
    waits = [step(WAITING, until=at(2)), step(WAITING, until=at(3))]
    assert let_go(Asked(waits)).until == at(3)
    assert let_go(Asked([*waits, step(WAITING)])).until is None


def test_a_router_of_which_nothing_runs_sends_nothing() -> None:
    assert let_go(Asked(closed=True)) == Leg(PROVEN, "no router Pod runs")
    assert let_go(Asked()).verdict is WAITING


def test_idle_is_what_was_read_idle_for_two_seconds_unbroken() -> None:
    assert empty([read(Idle(), Idle())], Asked()).verdict is WAITING
    assert empty([read(Idle(), Idle(), Idle())], Asked()).verdict is WAITING
    assert empty([read(Idle(), Idle(), Idle(), Idle())], Asked()).verdict is PROVEN
    broken = read(Idle(), Idle(), Busy(1), Idle(), Idle())
    assert (empty([broken], Asked()).verdict, idle_since([broken])) == (WAITING, at(3.1))
    assert empty([read(Idle(), Idle(), Unknown("x"), Idle(), Idle())], Asked()).verdict is WAITING


def test_one_member_of_several_that_is_not_idle_decides() -> None:
    idle = read(*[Idle()] * 5)
    assert empty([idle, read(Busy(2), name="b")], Asked()) == Leg(WAITING, "Pod b has 2 requests")
    assert empty([idle, read(Busy(1), name="b")], Asked()) == Leg(WAITING, "Pod b has 1 request")
    said = empty([idle, read(Unknown("HTTP 500"), name="b")], Asked())
    assert said == Leg(WAITING, "Pod b does not tell its requests: HTTP 500")
    assert (idle_since([idle, read(Busy(1))]), in_flight([idle, read(Busy(3))])) == (None, 3)
    assert in_flight([idle, read(Unknown("x"))]) is None
    assert empty([], Asked()).verdict is WAITING


@pytest.mark.parametrize(("quiet", "verdict"), [(True, PROVEN), (None, PROVEN), (False, WAITING)])
def test_what_a_router_has_under_way_is_not_idle_whatever_the_engine_says(quiet: bool | None, verdict: Verdict) -> None:
    asked = Asked((step(PROVEN), step(PROVEN, quiet=quiet)), closed=True)
    assert empty([read(*[Idle()] * 5)], asked).verdict is verdict


def test_without_a_router_it_is_let_go_of_once_unlisted_and_settled() -> None:
    assert unlisted({"a": "chat-1"}, None, SETTLE, NOW) == Leg(WAITING, "EndpointSlice chat-1 still lists Pod a")
    assert unlisted({"a": "chat-1"}, NOW, SETTLE, at(9)).verdict is WAITING
    assert unlisted({}, None, SETTLE, NOW).verdict is WAITING
    assert unlisted({}, NOW, SETTLE, at(4.9)).until == at(5)
    assert unlisted({}, NOW, SETTLE, at(5)).verdict is PROVEN


def evidence(**fields: Any) -> Evidence:
    waits = Leg(WAITING, "wait")
    return Evidence(**{"members": frozenset("a"), "withdrawal": waits, "idle": waits, **fields})


def test_only_what_may_decide_otherwise_is_material() -> None:
    before = evidence()
    assert material(None, before)
    assert not material(before, evidence(in_flight=7, idle=Leg(WAITING, "7 requests", at(1)), idle_since=NOW))
    assert material(before, evidence(idle=Leg(PROVEN, "wait")))
    assert material(before, evidence(members=frozenset("b")))
    assert material(before, evidence(restored=Leg(WAITING, "")))
    assert material(evidence(idle=Leg(IMPOSSIBLE, "x")), evidence(idle=Leg(IMPOSSIBLE, "y")))


@given(st.lists(st.sampled_from([Idle(), Busy(1), Unknown("x")]), max_size=12))
def test_whatever_was_read_only_the_last_three_idle_readings_prove_anything(readings: list[Reading]) -> None:
    proven = empty([read(*readings)], Asked()).verdict is PROVEN
    assert not proven or readings[-3:] == [Idle()] * 3
    assert proven or readings[-4:] != [Idle()] * 4
