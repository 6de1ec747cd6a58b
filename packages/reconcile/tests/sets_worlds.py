"""Builders of what set admission sees, with settled defaults: a pair of roles whose groups all have one Pod.

A Workload that is written reads `p0` for ordinal 0 of the prefill role; its Pod is `pod-p0`, its group `group-p0`.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from modeldeployment.reconcile.sets.counting import count
from modeldeployment.reconcile.sets.seen import Entry, Pod, Role, Set, Workload
from modeldeployment.reconcile.sets.verdicts import Activate, Answer, Shelve, Verdicts, joint

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
CHECK = "gpustack-model-deployment-joint"


def ago(*, minutes: float = 0, seconds: float = 0) -> datetime:
    """So long before now."""
    return NOW - timedelta(minutes=minutes, seconds=seconds)


_A_MINUTE_AGO = ago(minutes=1)


def entry(state: str = "Pending", message: str = "", since: datetime | None = _A_MINUTE_AGO) -> Entry:
    """Our entry on a Workload."""
    return Entry(CHECK, state, message, since)


def workload(name: str = "p0", **fields: Any) -> Workload:
    """A Workload that has waited for a minute for its quota."""
    settled: dict[str, Any] = {
        "uid": f"uid-{name}",
        "version": "1",
        "created": ago(minutes=1),
        "since": ago(minutes=1),
        "owners": frozenset({f"pod-{name}"}),
        "queue": "queue",
        "entries": (entry(),),
    }
    return Workload(name=name, **{**settled, **fields})


def reserved(name: str = "p0", **fields: Any) -> Workload:
    """A Workload that holds its quota since a minute, and waits for its check."""
    return workload(name, **{"reserved": True, **fields})


def admitted(name: str = "p0", **fields: Any) -> Workload:
    """A Workload that runs."""
    return reserved(name, **{"admitted": True, "entries": (entry("Ready"),), **fields})


def group(name: str) -> str:
    """The group of a Workload."""
    return f"group-{name}"


def pair(
    *workloads: Workload,
    prefill: int = 1,
    decode: int = 1,
    name: str = "chat",
    pods: dict[str, tuple[Pod, ...]] | None = None,
    **fields: Any,
) -> Set:
    """A set of two roles; each group has one live Pod unless `pods` says otherwise."""
    groups = [*(f"p{n}" for n in range(prefill)), *(f"d{n}" for n in range(decode))]
    settled: dict[str, Any] = {
        "namespace": "default",
        "uid": f"uid-{name}",
        "generation": 1,
        "created": ago(minutes=2),
        "roles": (
            Role("prefill", tuple(group(f"p{n}") for n in range(prefill))),
            Role("decode", tuple(group(f"d{n}") for n in range(decode))),
        ),
        "pods": {group(each): (Pod(f"pod-{each}"),) for each in groups}
        | {group(key): value for key, value in (pods or {}).items()},
        "workloads": workloads,
        "pools": {"queue": "pool", "other": "pool-b"},
    }
    return Set(name=name, **{**settled, **fields})


def judged(of: Set, now: datetime = NOW, spoken: datetime | None = None, opened: datetime | None = None) -> Verdicts:
    """What a pass decides about a set that is part of no circle."""
    return joint(of, count(of), now, lambda _: spoken, opened)


def answers(verdicts: Verdicts) -> dict[str, tuple[str, str]]:
    """State and message by Workload, of those that are answered."""
    return {
        move.workload.name: (move.entries[0].state, move.entries[0].message)
        for move in verdicts.moves
        if isinstance(move, Answer)
    }


def shelved(moves: Iterable[object]) -> dict[str, str]:
    """Message by Workload, of those that are deactivated."""
    return {move.workload.name: move.entries[0].message for move in moves if isinstance(move, Shelve)}


def activated(moves: Iterable[object]) -> list[str]:
    """Workloads that are made active."""
    return [move.workload.name for move in moves if isinstance(move, Activate)]
