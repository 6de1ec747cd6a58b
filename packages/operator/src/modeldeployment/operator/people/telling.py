"""What would happen if a replica left, in lines and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from modeldeployment.reconcile.explaining.rehearsal import BUDGETS, Ask, Rehearsal, Would
from modeldeployment.reconcile.retiring import machine
from modeldeployment.reconcile.retiring.intents import DRAIN

_HEADS = {
    Would.LEAVE: "would leave",
    Would.WAIT: "would wait its turn",
    Would.STAY: "would stay",
    Would.ABORT: "would be given up, and stay",
    Would.LEAVING: "is leaving already",
}


def leaves(told: Rehearsal) -> bool:
    """Whether it would leave, or does."""
    return told.would in (Would.LEAVE, Would.LEAVING)


def lines(told: Rehearsal) -> Iterator[str]:
    """What would happen, in the order in which it would."""
    because = f": {told.because}" if told.because else ""
    yield f"{told.name} {_HEADS[told.would]}{because}"
    if not told.pods:
        return
    group = f", Workload {told.workload}" if told.workload else ""
    noun = "Pod" if len(told.pods) == 1 else "Pods"
    yield f"  what goes: {noun} {', '.join(told.pods)}{group}"
    if told.replicas != told.declared:
        yield f"  by: replicas of its role from {told.declared} to {told.replicas}"
    yield f"  withdrawal, within {_seconds(machine.WITHDRAWAL)}: its eligibility label is taken off, and then"
    yield from _asks(told.withdrawal)
    yield f"  drain, within {_seconds(DRAIN)}: nothing is deleted, and"
    yield from _asks(told.idle)
    if told.window is not None:
        yield f"    as half of a pair it stays so for its handoff window of {_seconds(told.window)}"
    yield "  delete: Pods and Workload together, once both hold at one time; the drain hook runs before the engine ends"
    yield (
        f"  all within {_seconds(machine.OVERALL)}, else it is given up and everything stays; idle, about "
        + _seconds(told.soonest)
    )


def table(told: Rehearsal) -> dict[str, Any]:
    """The same for programs."""
    return {
        "replica": told.name,
        "would": told.would.value,
        "because": told.because,
        "replicas": {"declared": told.declared, "wouldBe": told.replicas},
        "pods": list(told.pods),
        "workload": told.workload or None,
        "withdrawal": _ask_rows(told.withdrawal),
        "idle": _ask_rows(told.idle),
        "handoffWindowSeconds": int(told.window.total_seconds()) if told.window is not None else None,
        "budgetSeconds": {step: int(budget.total_seconds()) for step, budget in BUDGETS},
        "soonestSeconds": int(told.soonest.total_seconds()),
    }


def _asks(asks: Iterable[Ask]) -> Iterator[str]:
    for each in asks:
        yield f"    {each.of} {each.hopeless or each.answer}"


def _ask_rows(asks: Iterable[Ask]) -> list[dict[str, Any]]:
    return [{"of": each.of, "answer": each.answer, "hopeless": each.hopeless or None} for each in asks]


def _seconds(time: timedelta) -> str:
    return f"{int(time.total_seconds())} s"
