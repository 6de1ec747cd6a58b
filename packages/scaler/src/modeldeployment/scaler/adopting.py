"""A commit that the target tells of and memory does not: the process ended between the write and its status. Pure.

The decision on the target says which counts were written under the term that is held, status says which counts were
there before. What the write was for follows from what was pending: a cohort whose baseline stands again was taken
back, a scale-down whose counts of before stand again was restored, anything else was planned. Its time is when it is
found: waits begin anew, so nothing is given up too soon.

Source: spec 3 §Binding fence and §Decisions and recovery, decisions D41, D42.
"""

from datetime import datetime, timedelta

import msgspec

from modeldeployment.api.binding import Decision
from modeldeployment.api.scalerstatus import Outcome, ScalerStatus
from modeldeployment.scaler.planning import aborting, cohorts, exhausting, ratios
from modeldeployment.scaler.planning.memory import Commit, Memory
from modeldeployment.scaler.planning.observed import Target
from modeldeployment.scaler.planning.plain import Vector
from modeldeployment.scaler.planning.policy import Policy


def unknown(memory: Memory, decision: Decision | None, term: int) -> bool:
    """Whether a decision stands that was committed under the term that is held, and that nothing remembers."""
    if decision is None or decision.term != term:
        return False
    return memory.last_commit is None or memory.last_commit.decision_id != decision.decision_id


def adopt(
    memory: Memory, decision: Decision, status: ScalerStatus, target: Target, policy: Policy, now: datetime
) -> Memory:
    """Remember a commit as if its status had been written."""
    told = {role.name: role.current_replicas for role in status.roles}
    after = {name: count for name, count in decision.vector.items() if target.role(name) is not None}
    before = {name: told.get(name, count) for name, count in after.items()}
    commit = Commit(
        decision_id=decision.decision_id,
        term=decision.term,
        vector=after,
        baseline=before,
        at=now,
        target_generation=target.generation,
    )
    left = _left(memory, before, after, commit, target, policy)
    return msgspec.structs.replace(left, last_commit=commit, target_generation=target.generation)


def _left(memory: Memory, before: Vector, after: Vector, commit: Commit, target: Target, policy: Policy) -> Memory:
    cohort, last = memory.cohort, memory.last_scale_down
    if cohort is not None and after == {role: cohort.baseline.get(role) for role in after}:
        missing = tuple(role for role, count in after.items() if count < before[role])
        taken_back = msgspec.structs.replace(memory, cohort=None)
        return exhausting.rolled_back(taken_back, missing, after, target, policy, commit.at)
    if last is not None and last.outcome is Outcome.COMMITTED and after == ratios.join(before, last.before):
        until = commit.at + timedelta(seconds=policy.down.cooldown_seconds)
        over = msgspec.structs.replace(last, outcome=Outcome.ABORTED, aborted_at=commit.at, cooldown_until=until)
        return msgspec.structs.replace(memory, last_scale_down=over)
    left = aborting.begun(memory, before, after)
    return cohorts.begun(left, before, after, now=commit.at, decision_id=commit.decision_id, term=commit.term)
