"""A retirement that was given up: its replica stays, so the counts of before do too, and nothing shrinks for a while.

Sources: spec 3 §Pacing and guards, facts scaler §7, decisions D39, D42.
"""

from datetime import datetime, timedelta

import msgspec

from modeldeployment.api import RetirementState
from modeldeployment.api.scalerconditions import RebalanceReason, ScalerReason
from modeldeployment.api.scalerstatus import Outcome
from modeldeployment.scaler.planning import cohorts, ratios
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.memory import Memory, Rebalance, ScaleDown
from modeldeployment.scaler.planning.moving import Moved
from modeldeployment.scaler.planning.observed import RetirementSeen, Target
from modeldeployment.scaler.planning.outcome import Move
from modeldeployment.scaler.planning.plain import Vector
from modeldeployment.scaler.planning.policy import Policy


def begun(memory: Memory, before: Vector, after: Vector) -> Memory:
    """Answer what is remembered of a write that takes replicas away; what retires first is named.

    Replicas leave one after another, so of a larger step each may still be aborted, and then all of it is restored.
    """
    role = next((role for role, count in after.items() if count < before[role]), None)
    if role is None:
        return memory
    down = ScaleDown(role=role, ordinal=before[role] - 1, before=before, outcome=Outcome.COMMITTED)
    return msgspec.structs.replace(memory, last_scale_down=down, cohort=cohorts.shrunk(memory.cohort, after))


def aborted(memory: Memory, target: Target, declared: Vector) -> RetirementSeen | None:
    """The aborted retirement of a replica that our last scale-down took away, where it is not restored yet."""
    seen, last = target.retirement, memory.last_scale_down
    if seen is None or last is None or last.outcome is not Outcome.COMMITTED:
        return None
    if seen.state is not RetirementState.ABORTED:
        return None
    ours = declared.get(seen.role, 0) <= seen.ordinal < last.before.get(seen.role, 0)
    return seen if ours else None


def restored(memory: Memory, seen: RetirementSeen, declared: Vector, policy: Policy, now: datetime) -> Moved | Memory:
    """Give back the counts of before in one write; memory alone where the policy of now does not allow them.

    Roles that grew meanwhile keep what they grew to: the larger of both counts keeps every ratio that both vectors
    keep. A cohort that is pending goes on, around what is given back. It is no growth: nothing is waited for.
    """
    last = memory.last_scale_down
    assert last is not None, "an abort is of a scale-down"
    until = now + timedelta(seconds=policy.down.cooldown_seconds)
    over = msgspec.structs.replace(
        last, role=seen.role, ordinal=seen.ordinal, outcome=Outcome.ABORTED, aborted_at=now, cooldown_until=until
    )
    after = msgspec.structs.replace(memory, last_scale_down=over, rebalance=_cancelled(memory.rebalance))
    vector = ratios.join(declared, last.before)
    if not ratios.allows(policy, vector):
        return after
    cohort = after.cohort
    if cohort is not None:
        baseline, wider = ratios.join(cohort.baseline, last.before), ratios.join(cohort.target, last.before)
        grown = {role: cohort.baseline[role] for role in cohort.baseline if cohort.baseline[role] < cohort.target[role]}
        baseline = ratios.meet(baseline, grown) if ratios.allows(policy, ratios.meet(baseline, grown)) else baseline
        after = msgspec.structs.replace(after, cohort=msgspec.structs.replace(cohort, baseline=baseline, target=wider))
    return Moved(
        move=Move.RESTORE,
        vector=vector,
        cause=Cause.RETIREMENT_ABORTED,
        numbers={"role": seen.role, "ordinal": seen.ordinal, "until": until.isoformat()},
        memory=after,
    )


def _cancelled(move: Rebalance | None) -> Rebalance | None:
    if move is None or move.reason is not RebalanceReason.DONOR_RELEASE:
        return move
    return Rebalance(reason=ScalerReason.SCALE_DOWN_ABORTED, episode=move.episode, attempted=move.attempted)
