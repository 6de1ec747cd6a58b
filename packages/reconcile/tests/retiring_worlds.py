"""Builders of what the retirement protocol sees: keyword functions with settled defaults, no cluster behind them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from modeldeployment.api import Retirement, RetirementState
from modeldeployment.reconcile.retiring import machine
from modeldeployment.reconcile.retiring.evidence import Evidence, Leg
from modeldeployment.reconcile.retiring.intents import Intent, Occupant
from modeldeployment.reconcile.retiring.machine import Scene, Turn
from modeldeployment.reconcile.retiring.reservation import Reservation, read
from modeldeployment.router.withdrawal import Verdict

NOW = datetime(2030, 1, 1, 12, 0, 0, tzinfo=UTC)

PROVEN = Leg(Verdict.PROVEN, "proven")
WAITING = Leg(Verdict.WAITING, "router chat-router-1 still lists 10.0.0.7")
IMPOSSIBLE = Leg(Verdict.IMPOSSIBLE, "router chat-router-1 runs a version of which nothing is known")


def after(seconds: float) -> datetime:
    """So many seconds from now."""
    return NOW + timedelta(seconds=seconds)


def leaver(uid: str = "b", **fields: Any) -> Occupant:
    """A ready leader whose label is off, as it is once the first step is done."""
    return Occupant(uid, f"pod-{uid}", **fields)


def intent(*members: Occupant, ordinal: int = 1, role: str = "server", **fields: Any) -> Intent:
    """One replica that the spec wants gone, with a Workload."""
    return Intent(role, ordinal, members or (leaver(),), **{"workload": "w", **fields})


def reserved(state: str = "Draining", **fields: Any) -> Reservation:
    """The reservation of `server/1`, in this state since now."""
    settled: dict[str, Any] = {
        "role": "server",
        "ordinal": 1,
        "generation": 2,
        "members": frozenset("b"),
        "workload": "w",
        "state": RetirementState(state),
        "reason": "",
        "started": NOW,
        "deadline": after(300),
        "phase_started": NOW,
    }
    return Reservation(**{**settled, **fields})


def scene(*intents: Intent, **fields: Any) -> Scene:
    """A scene in which the target stands and the spec wants it gone; nobody has witnessed anything."""
    settled: dict[str, Any] = {
        "generation": 2,
        "intents": intents or (intent(),),
        "target": (leaver(),),
        "workload": True,
    }
    return Scene(**{**settled, **fields})


def evidence(
    *, withdrawal: Leg = PROVEN, idle: Leg = PROVEN, members: str = "b", restored: Leg | None = None
) -> Evidence:
    """What was witnessed of the members."""
    return Evidence(frozenset(members), withdrawal, idle, restored=restored)


def advance(stored: Reservation | None, seen: Scene, now: datetime = NOW) -> Turn:
    """One pass, by way of what status can hold."""
    turn = machine.advance(stored, seen, now)
    kept = turn.reservation
    assert kept == stored_again(kept)
    return turn


def stored_again(kept: Reservation | None) -> Reservation | None:
    """The reservation after it was written to status and read back."""
    return None if kept is None else read(Retirement.model_validate(kept.body()))


def state(turn: Turn) -> str:
    """The state that a pass leaves, empty where there is no operation."""
    return turn.reservation.state.value if turn.reservation is not None else ""


def reason(turn: Turn) -> str:
    """What a pass says of the operation."""
    assert turn.reservation is not None
    return turn.reservation.reason


def walk(stored: Reservation | None, seen: Scene, passes: int, every: float = 1) -> list[str]:
    """The states of so many passes over a cluster that does as it is told."""
    states: list[str] = []
    for number in range(passes):
        turn = advance(stored, seen, after(number * every))
        states.append(state(turn))
        stored = turn.reservation
        if turn.deletes:
            seen = replace(seen, target=(), workload=False, intents=())
    return states
