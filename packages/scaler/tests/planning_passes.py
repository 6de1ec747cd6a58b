"""Passes of planning over roles on queue depth with eight requests a replica, so that a test says what is asked for."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from modeldeployment.api import RetirementState
from modeldeployment.api.scalerstatus import Outcome
from modeldeployment.scaler.planning import plan
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.memory import Cohort, Commit, Exhaustion, Memory, RoleMemory, ScaleDown
from modeldeployment.scaler.planning.observed import Reading, RetirementSeen, RoleReading, Seat, Target, TargetRole
from modeldeployment.scaler.planning.outcome import Plan
from modeldeployment.scaler.planning.policy import Policy
from planning_worlds import NOON, at, memory, policy, proportional, reading, remembered, role, steady, target

PAIR = {"prefill": (1, 16), "decode": (1, 16)}
LOAD = 8


def paced(bounds: Mapping[str, tuple[int, int]] = PAIR, **fields: Any) -> Policy:
    """Every role on its own queue depth."""
    return policy(proportional(dict.fromkeys(bounds, LOAD)), bounds=bounds, **fields)


def asking(replicas: int, *, ready: int = 2, complete: bool = True) -> RoleReading:
    """A reading that so many replicas would carry."""
    return reading(running=LOAD * replicas, ready=ready, complete=complete)


def read(**replicas: int) -> Reading:
    """What each role asks for."""
    return Reading(roles={name: asking(count) for name, count in replicas.items()})


def agreed(**replicas: int) -> dict[str, RoleMemory]:
    """Roles that have asked for the same for half an hour, so that no window holds them."""
    return {name: remembered(recommended=steady(count, until=-15)) for name, count in replicas.items()}


def counted(generation: int = 1, retirement: RetirementSeen | None = None, /, **replicas: int) -> Target:
    """A deployment whose replicas are all there."""
    return target(
        *(role(name, count) for name, count in replicas.items()), generation=generation, retirement=retirement
    )


def short(name: str, replicas: int, admitted: int, *, waiting: bool = False) -> TargetRole:
    """A role of which only the first so many are admitted; the others have no Workload yet, or one that waits."""
    seats = [Seat(ordinal=each, admitted=True, ready=True) for each in range(admitted)]
    seats += [Seat(ordinal=each, waiting=True) for each in range(admitted, replicas) if waiting]
    return role(name, replicas, seats=tuple(seats))


def leaving(name: str, replicas: int, surplus: int = 1) -> TargetRole:
    """A role of which some replicas beyond what is declared are still there."""
    seats = tuple(Seat(ordinal=each, admitted=True, ready=True) for each in range(replicas + surplus))
    return role(name, replicas, seats=seats)


def retiring(name: str, ordinal: int, state: RetirementState = RetirementState.DRAINING) -> RetirementSeen:
    """A replica on its way out."""
    return RetirementSeen(role=name, ordinal=ordinal, state=state)


def committed(vector: dict[str, int], baseline: dict[str, int], *, seconds: int = -60, generation: int = 1) -> Commit:
    """The last write."""
    return Commit(
        decision_id="d-1", term=1, vector=vector, baseline=baseline, at=at(seconds), target_generation=generation
    )


def growing(baseline: dict[str, int], vector: dict[str, int], *, seconds: int = -60, **fields: Any) -> Memory:
    """Growth that was written so long ago and is not known to be admitted."""
    cohort = Cohort(decision_id="d-1", term=1, baseline=baseline, target=vector, started_at=at(seconds))
    return memory(cohort=cohort, last_commit=committed(vector, baseline, seconds=seconds), **fields)


def shrinking(before: dict[str, int], vector: dict[str, int], **fields: Any) -> Memory:
    """A scale-down that was written a minute ago."""
    first = next(name for name, count in vector.items() if count < before[name])
    down = ScaleDown(role=first, ordinal=before[first] - 1, before=before, outcome=Outcome.COMMITTED)
    return memory(last_scale_down=down, last_commit=committed(vector, before), **fields)


def aborted(*, until: int, role: str = "decode", before: dict[str, int] | None = None) -> ScaleDown:
    """A scale-down that was restored, and until when nothing shrinks."""
    return ScaleDown(
        role=role,
        ordinal=2,
        before=before or {"prefill": 2, "decode": 3},
        outcome=Outcome.ABORTED,
        aborted_at=at(until - 300),
        cooldown_until=at(until),
    )


def spent(*roles: str, baseline: dict[str, int], until: int = 600, rollbacks: int = 1) -> Exhaustion:
    """Growth that found no quota."""
    return Exhaustion(roles=roles, baseline=baseline, until=at(until), rollbacks=rollbacks)


def passed(seen: Reading, of: Target, by: Policy, remembering: Memory | None = None, *, now: datetime = NOON) -> Plan:
    """One pass under decision d-2 and term 1."""
    return plan(remembering or memory(), seen, of, by, now=now, decision_id="d-2", term=1)


def held(plan: Plan, role: str) -> list[Cause]:
    """The rules of the trail that held a role, in order."""
    return [step.cause for step in plan.trail if step.role == role and step.wanted is not None]


def words(plan: Plan) -> dict[str, str]:
    """The reason of each role, and of each condition."""
    return {each.name: each.reason.value for each in plan.roles} | {
        each.condition.value: each.reason.value for each in plan.findings
    }
