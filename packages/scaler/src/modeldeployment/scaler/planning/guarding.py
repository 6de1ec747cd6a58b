"""What keeps a role from growing or shrinking, whatever is recommended.

Sources: spec 3 §Pacing and guards, facts scaler §5, decisions D39, D41.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TypeAlias

from modeldeployment.api import RetirementState, RoleKind
from modeldeployment.api.scalerconditions import RebalanceReason
from modeldeployment.scaler.planning.advice import Advice
from modeldeployment.scaler.planning.causes import Cause, Stage
from modeldeployment.scaler.planning.limits import Limit
from modeldeployment.scaler.planning.memory import Memory
from modeldeployment.scaler.planning.observed import RoleReading, Target, TargetRole
from modeldeployment.scaler.planning.policy import Policy

Leaving: TypeAlias = dict[str, int | str]
"""A replica that is on its way out, as sentences speak of it: its role, its ordinal, and how far it is."""


def leaving(target: Target) -> Leaving | None:
    """The first replica that is on its way out; None where all that is there is declared.

    An aborted retirement that still stands counts: its replica is retained, and refuses every other removal. So does a
    replica beyond the declared count that nobody has begun to retire: retirements follow each other.
    """
    seen = target.retirement
    if seen is not None and seen.state is not RetirementState.COMPLETED:
        return {"role": seen.role, "ordinal": seen.ordinal, "state": seen.state.value}
    for role in target.roles:
        for seat in role.seats:
            if seat.ordinal >= role.replicas:
                return {"role": role.name, "ordinal": seat.ordinal, "state": "Surplus"}
    return None


def cooling(memory: Memory, now: datetime) -> datetime | None:
    """Until when nothing shrinks after an abort; None where that is over, as it is at the very instant."""
    last = memory.last_scale_down
    until = None if last is None else last.cooldown_until
    return until if until is not None and now < until else None


def settling(role: TargetRole, memory: Memory, policy: Policy, now: datetime) -> datetime | None:
    """Until when a Decode role that has just grown keeps what it has; None where it does not."""
    grown_at = memory.roles[role.name].grown_at if role.name in memory.roles else None
    if role.kind is not RoleKind.DECODE or grown_at is None:
        return None
    until = grown_at + timedelta(seconds=policy.down.grace_seconds)
    return until if now < until else None


def against_release(
    role: TargetRole,
    reading: RoleReading | None,
    memory: Memory,
    departing: Leaving | None,
    policy: Policy,
    now: datetime,
) -> Iterator[tuple[Cause, dict[str, int | str]]]:
    """Yield what forbids taking a replica from a role even for another one (decisions D40)."""
    if reading is None or not reading.complete:
        yield Cause.COVERAGE_INCOMPLETE, {}
    elif reading.ready == 0:
        yield Cause.NO_READY_REPLICAS, {}
    if departing is not None:
        yield Cause.RETIREMENT_ACTIVE, departing
    if (until := cooling(memory, now)) is not None:
        yield Cause.ABORT_COOLDOWN, {"until": until.isoformat()}
    if (until := settling(role, memory, policy, now)) is not None:
        yield Cause.DECODE_GRACE, {"until": until.isoformat()}


def against_growth(
    role: TargetRole, memory: Memory, policy: Policy, now: datetime
) -> Iterator[tuple[Cause, int, dict[str, int | str]]]:
    """Yield what a role may at most grow to, and why; the least of all counts."""
    waiting = min((seat.ordinal for seat in role.seats if seat.waiting), default=None)
    if waiting is not None:
        yield Cause.WORKLOAD_PENDING, role.replicas, {"ordinal": waiting}
    cohort, spent = memory.cohort, memory.exhaustion
    if cohort is not None:
        until = cohort.started_at + timedelta(seconds=policy.pending_seconds)
        yield (
            Cause.COHORT_PENDING,
            role.replicas,
            {"since": cohort.started_at.isoformat(), "until": until.isoformat()},
        )
    if spent is not None and now < spent.until and role.name in spent.roles:
        ceiling = max(role.replicas, spent.baseline.get(role.name, role.replicas))
        yield Cause.EXHAUSTED, ceiling, {"until": spent.until.isoformat(), "rollbacks": spent.rollbacks}


def limits(
    role: TargetRole,
    advice: Advice,
    reading: RoleReading | None,
    memory: Memory,
    departing: Leaving | None,
    policy: Policy,
    now: datetime,
) -> Iterator[Limit]:
    """Yield every guard that stands at a role in this pass; each leaves the count that is declared.

    `departing` is what `leaving` says of the target.
    """
    current = role.replicas
    move = memory.rebalance
    if move is not None and move.reason is RebalanceReason.DONOR_RELEASE:
        if role.name == move.donor and move.receiver is not None:
            yield Limit(Stage.GUARDS, Cause.DONOR_RELEASE, current, current, {"receiver": move.receiver})
        if role.name == move.receiver and move.donor is not None:
            yield Limit(Stage.GUARDS, Cause.DONOR_LEAVING, current, current, {"donor": move.donor, **(departing or {})})
    if not advice.shrinks:
        yield Limit(Stage.GUARDS, Cause.ALGORITHM_HOLDS, floor=current)
    for cause, numbers in against_release(role, reading, memory, departing, policy, now):
        yield Limit(Stage.GUARDS, cause, floor=current, numbers=numbers)
    for cause, ceiling, numbers in against_growth(role, memory, policy, now):
        yield Limit(Stage.GUARDS, cause, ceiling=ceiling, numbers=numbers)
