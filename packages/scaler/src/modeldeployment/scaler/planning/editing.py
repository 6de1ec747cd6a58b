"""What an edit by somebody else ends: nobody is fought over counts, and whoever edits is given another try.

- Of the scaler's spec: the back-off after a rollback and the episode of exhaustion end; so does what would restore
  counts that the spec of now does not allow, and a donation under way where the policy is `Disabled` now.
- Of the target, its counts as they were: back-off and episode end.
- Of the target's counts: these too, and with them a pending cohort, what an aborted retirement would restore, and a
  donation under way. Counts that somebody else wrote stay, and the next pass plans from them.

A cooldown after an abort goes on in any case. A donation that goes on is the first of the new episode.

Sources: spec 3 §Resource rebalancing, decisions D41.
"""

import msgspec

from modeldeployment.api.scaler import RebalancePolicy
from modeldeployment.api.scalerconditions import RebalanceReason
from modeldeployment.api.scalerstatus import Outcome
from modeldeployment.scaler.planning import ratios
from modeldeployment.scaler.planning.memory import Memory, Rebalance
from modeldeployment.scaler.planning.observed import Target
from modeldeployment.scaler.planning.policy import Policy

_UNDER_WAY = (RebalanceReason.DONOR_RELEASE, RebalanceReason.RECEIVER_ACQUIRE)


def settled(memory: Memory, target: Target, policy: Policy) -> Memory:
    """Answer what is left of memory after edits since the last pass, with the generations of this one."""
    respecified = memory.policy_generation not in (0, policy.generation)
    edited = 0 < memory.target_generation < target.generation
    left = msgspec.structs.replace(
        memory,
        policy_generation=policy.generation,
        target_generation=max(target.generation, memory.target_generation),
    )
    if not respecified and not edited:
        return left
    left = msgspec.structs.replace(left, exhaustion=None, rebalance=_reopened(left.rebalance, target))
    if edited and left.last_commit is not None and left.last_commit.vector != target.vector:
        return _yielded(left)
    return _fitted(left, policy)


def released(memory: Memory) -> Memory:
    """Answer what is left of memory where counts are not ours to write: nothing is restored or handed over."""
    return _yielded(memory)


def _reopened(rebalance: Rebalance | None, target: Target) -> Rebalance | None:
    if rebalance is None or rebalance.reason not in _UNDER_WAY:
        return None
    return msgspec.structs.replace(rebalance, attempted=False, episode=target.generation)


def _yielded(memory: Memory) -> Memory:
    """Somebody else wrote counts: nothing of ours is restored over them."""
    last = memory.last_scale_down
    return msgspec.structs.replace(
        memory,
        cohort=None,
        rebalance=None,
        last_scale_down=last if last is not None and last.outcome is Outcome.ABORTED else None,
    )


def _fitted(memory: Memory, policy: Policy) -> Memory:
    """The spec may have changed: nothing is restored that it does not allow."""
    cohort, last, move = memory.cohort, memory.last_scale_down, memory.rebalance
    if cohort is not None and not ratios.allows(policy, cohort.baseline):
        cohort = None
    if last is not None and last.outcome is Outcome.COMMITTED and not ratios.allows(policy, last.before):
        last = None
    if move is not None and (policy.rebalance is RebalancePolicy.DISABLED or (cohort is None and _acquired(move))):
        move = None
    return msgspec.structs.replace(memory, cohort=cohort, last_scale_down=last, rebalance=move)


def _acquired(move: Rebalance) -> bool:
    return move.reason is RebalanceReason.RECEIVER_ACQUIRE
