"""Growth until it is admitted, or taken back whole.

Sources: spec 3 §Pacing and guards, facts scaler §6, decisions D36, D39, D41.
"""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from modeldeployment.api.scalerstatus import Outcome
from modeldeployment.scaler.planning import exhausting, ratios
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.memory import Cohort, Memory, RoleMemory
from modeldeployment.scaler.planning.moving import Moved
from modeldeployment.scaler.planning.observed import Target, TargetRole
from modeldeployment.scaler.planning.outcome import Move
from modeldeployment.scaler.planning.plain import Vector
from modeldeployment.scaler.planning.policy import Policy

LANDING: Final = 600
"""Seconds after which replicas that were added last are no longer waited for."""


def begun(memory: Memory, before: Vector, after: Vector, *, now: datetime, decision_id: str, term: int) -> Memory:
    """Answer what is remembered of a write that asks for more of some role: a cohort, and who grew from where."""
    grown = [role for role, count in after.items() if count > before[role]]
    if not grown:
        return memory
    roles = memory.roles | {
        role: msgspec.structs.replace(memory.roles.get(role, RoleMemory()), grown_at=now, grown_from=before[role])
        for role in grown
    }
    cohort = Cohort(decision_id=decision_id, term=term, baseline=before, target=after, started_at=now)
    return msgspec.structs.replace(memory, roles=roles, cohort=cohort)


def shrunk(cohort: Cohort | None, after: Vector) -> Cohort | None:
    """What is left of a cohort when roles shrink meanwhile: what they gave up is not asked for, nor restored."""
    if cohort is None:
        return None
    return msgspec.structs.replace(
        cohort, baseline=ratios.meet(cohort.baseline, after), target=ratios.meet(cohort.target, after)
    )


def unadmitted(cohort: Cohort, target: Target) -> tuple[str, ...]:
    """Roles of which an added replica is not admitted."""
    return tuple(
        role
        for role, count in cohort.target.items()
        if not _admitted(target.role(role)).issuperset(range(cohort.baseline[role], count))
    )


def looked_at(memory: Memory, target: Target) -> Memory:
    """Answer what is remembered once every added replica is admitted; of a cohort that shrank away nothing landed."""
    cohort = memory.cohort
    if cohort is None or unadmitted(cohort, target):
        return memory
    grown = [role for role, count in cohort.target.items() if count > cohort.baseline[role]]
    memory = msgspec.structs.replace(memory, cohort=None)
    return exhausting.landed(memory, grown, target) if grown else exhausting.withdrawn(memory)


def timed_out(memory: Memory, target: Target, declared: Vector, policy: Policy, now: datetime) -> Moved | None:
    """Take a cohort back whose time is over: its whole baseline in one write. At the very instant it has its time yet.

    A scale-down under way is not to bring back what the cohort had added, should it be aborted.
    """
    cohort = memory.cohort
    if cohort is None or now <= cohort.started_at + timedelta(seconds=policy.pending_seconds):
        return None
    if not ratios.allows(policy, cohort.baseline):
        return None
    missing = unadmitted(cohort, target)
    last = memory.last_scale_down
    if last is not None and last.outcome is Outcome.COMMITTED:
        lowered = {role: count for role, count in cohort.baseline.items() if count < declared[role]}
        last = msgspec.structs.replace(last, before=ratios.meet(last.before, lowered))
    after = msgspec.structs.replace(memory, cohort=None, last_scale_down=last)
    return Moved(
        move=Move.ROLLBACK,
        vector={role: cohort.baseline[role] for role in declared},
        cause=Cause.COHORT_TIMED_OUT,
        numbers={"since": cohort.started_at.isoformat(), "timeout": policy.pending_seconds},
        memory=exhausting.rolled_back(after, missing, cohort.baseline, target, policy, now),
    )


def landing(memory: Memory, role: TargetRole, now: datetime) -> bool:
    """Whether replicas that were asked for are on their way to a role: latency asks for no more meanwhile."""
    if memory.cohort is not None:
        return True
    grown = memory.roles.get(role.name)
    if grown is None or grown.grown_at is None or grown.grown_from is None:
        return False
    if now >= grown.grown_at + timedelta(seconds=LANDING):
        return False
    ready = {seat.ordinal for seat in role.seats if seat.ready}
    return any(ordinal not in ready for ordinal in range(grown.grown_from, role.replicas))


def _admitted(role: TargetRole | None) -> set[int]:
    return set() if role is None else {seat.ordinal for seat in role.seats if seat.admitted}
