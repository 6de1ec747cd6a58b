"""Roles whose growth found no quota: how long they do not try again, and what ends that.

Sources: spec 3 §Pacing and guards, decisions D41.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

import msgspec

from modeldeployment.api.scalerconditions import RebalanceReason
from modeldeployment.scaler.planning.memory import Exhaustion, Memory, Rebalance
from modeldeployment.scaler.planning.observed import Target
from modeldeployment.scaler.planning.plain import Vector
from modeldeployment.scaler.planning.policy import Policy

LONGEST: Final = 1800
"""Seconds after which exhausted roles try again at the latest."""


def rolled_back(
    memory: Memory, roles: tuple[str, ...], baseline: Vector, target: Target, policy: Policy, now: datetime
) -> Memory:
    """Answer what is remembered of one more rollback; the first of an episode begins it.

    Roles that still wait out an earlier rollback go on waiting with the new ones. An episode is named by the target's
    generation at which it began.
    """
    before, move = memory.exhaustion, memory.rebalance
    rollbacks = 1 if before is None else before.rollbacks + 1
    still = before.roles if before is not None and now < before.until else ()
    exhaustion = Exhaustion(
        roles=tuple(dict.fromkeys((*roles, *still))),
        baseline=baseline,
        until=now + timedelta(seconds=_seconds(policy.pending_seconds, rollbacks)),
        rollbacks=rollbacks,
    )
    episode = Rebalance(
        reason=RebalanceReason.RESOURCE_EXHAUSTED,
        episode=target.generation if move is None else move.episode,
        attempted=move is not None and move.attempted,
    )
    if move is not None and move.reason is RebalanceReason.DONOR_RELEASE:
        episode = move
    return msgspec.structs.replace(memory, exhaustion=exhaustion, rebalance=episode)


def landed(memory: Memory, grown: Collection[str], target: Target) -> Memory:
    """Answer what is remembered once growth is admitted: there is quota after all, where it is of the same pool.

    An episode outlives that with the one donation that it had by priority.
    """
    spent, move = memory.exhaustion, memory.rebalance
    pools = {role.name: role.instance_type for role in target.roles}
    shared = {pools.get(role, "") for role in grown}
    if spent is not None and any(role in grown or pools.get(role, "") in shared for role in spent.roles):
        spent = None
    if move is not None and move.reason is not RebalanceReason.DONOR_RELEASE and spent is None:
        done = Rebalance(reason=RebalanceReason.DONATION_ATTEMPTED, episode=move.episode, attempted=True)
        move = done if move.attempted else None
    return msgspec.structs.replace(memory, exhaustion=spent, rebalance=move)


def withdrawn(memory: Memory) -> Memory:
    """Answer what is remembered once all growth was given up before it was admitted: a receiver's leg is over too."""
    move = memory.rebalance
    if move is None or move.reason is not RebalanceReason.RECEIVER_ACQUIRE:
        return memory
    reason = RebalanceReason.DONATION_ATTEMPTED if move.attempted else RebalanceReason.RESOURCE_EXHAUSTED
    return msgspec.structs.replace(
        memory, rebalance=Rebalance(reason=reason, episode=move.episode, attempted=move.attempted)
    )


def waiting(memory: Memory, now: datetime) -> Exhaustion | None:
    """What keeps roles from growing at this instant; at the end of the wait it is over."""
    spent = memory.exhaustion
    return spent if spent is not None and now < spent.until else None


def _seconds(pending: int, rollbacks: int) -> int:
    return min(LONGEST, pending << min(rollbacks, 10))
