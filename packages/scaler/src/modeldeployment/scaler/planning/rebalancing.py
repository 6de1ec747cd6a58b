"""One replica of capacity from a role to another whose growth found no quota: both legs, or none.

What `rebalance.reason` says:

- `ResourceExhausted`: growth was rolled back; the receiver does not ask, or donors are guarded for the time being.
- `DonorRelease`: the donor was taken one replica; goes on when nothing retires any more and its Workload is gone.
- `ReceiverAcquire`: the receiver was given one, as a cohort; over when that is admitted or taken back.
- `DonationAttempted`: the episode has used its one donation by priority.
- `RebalanceNotApplicable`: there is no donor. `RebalanceBlocked`: bounds, ratios or the episode allow none.
- `ScaleDownAborted`: the donor's retirement was aborted, its count is restored and the transaction is over.

Sources: spec 3 §Resource rebalancing, facts scaler §8, decisions D40, D41.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import msgspec

from modeldeployment.api.scaler import RebalancePolicy
from modeldeployment.api.scalerconditions import RebalanceReason, ScalerReason
from modeldeployment.scaler.planning import aborting, cohorts, exhausting, guarding, pacing, ratios
from modeldeployment.scaler.planning.advice import Advice
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.memory import Memory, Rebalance
from modeldeployment.scaler.planning.moving import Moved
from modeldeployment.scaler.planning.observed import Reading, Target
from modeldeployment.scaler.planning.outcome import Move
from modeldeployment.scaler.planning.plain import Vector
from modeldeployment.scaler.planning.policy import Policy


@dataclass(frozen=True, slots=True)
class Refused:
    """Why no donation begins in this pass: of which role, and the rule."""

    role: str
    cause: Cause
    memory: Memory
    numbers: dict[str, int | str]


def acquire(
    memory: Memory, target: Target, declared: Vector, policy: Policy, *, now: datetime, decision_id: str, term: int
) -> Moved | Refused | None:
    """Give the receiver its replica once the donor's has left with its Workload; None while that is awaited."""
    move = memory.rebalance
    if move is None or move.reason is not RebalanceReason.DONOR_RELEASE:
        return None
    assert move.receiver is not None, "a release has both ends"
    assert move.donor is not None, "a release has both ends"
    receiver = target.role(move.receiver)
    if guarding.leaving(target) is not None or memory.cohort is not None or receiver is None:
        return None
    if any(seat.waiting for seat in receiver.seats):
        return None
    vector = declared | {receiver.name: declared[receiver.name] + 1}
    if not ratios.allows(policy, vector) or pacing.most_added(policy.up, declared[receiver.name]) == 0:
        blocked = _told(memory, move, ScalerReason.REBALANCE_BLOCKED, attempted=move.attempted)
        return Refused(receiver.name, Cause.DONOR_BLOCKED, blocked, {"donor": move.donor})
    after = msgspec.structs.replace(
        memory, rebalance=msgspec.structs.replace(move, reason=RebalanceReason.RECEIVER_ACQUIRE)
    )
    return Moved(
        move=Move.RECEIVER_ACQUIRE,
        vector=vector,
        cause=Cause.RECEIVER_ACQUIRE,
        numbers={"donor": move.donor},
        memory=cohorts.begun(after, declared, vector, now=now, decision_id=decision_id, term=term),
    )


def release(
    memory: Memory,
    target: Target,
    declared: Vector,
    planned: Vector,
    advices: Mapping[str, Advice],
    wishes: Mapping[str, int],
    reading: Reading,
    policy: Policy,
    now: datetime,
) -> Moved | Refused | None:
    """Take one replica of a donor for the first exhausted role that still wants to grow; None where none does.

    `planned` is what the pass would write otherwise, and holds no growth; a donor that shrinks in it gives that.
    `wishes` are recommendations after stabilization.
    """
    spent, episode = exhausting.waiting(memory, now), memory.rebalance
    if spent is None or memory.cohort is not None or policy.rebalance is RebalancePolicy.DISABLED:
        return None
    if episode is not None and episode.reason in (RebalanceReason.DONOR_RELEASE, RebalanceReason.RECEIVER_ACQUIRE):
        return None
    order = policy.priority if policy.rebalance is RebalancePolicy.PRIORITY else tuple(declared)
    receiver = next((role for role in order if role in spent.roles and wishes.get(role, 0) > declared.get(role, 0)), "")
    asking = target.role(receiver)
    if asking is None or any(seat.waiting for seat in asking.seats):
        return None
    attempted = episode is not None and episode.attempted
    base = episode or Rebalance(reason=RebalanceReason.RESOURCE_EXHAUSTED, episode=target.generation)
    donors = tuple(_donors(receiver, target, declared, advices, policy))
    if policy.rebalance is RebalancePolicy.PRIORITY and attempted:
        return _refused(memory, base, receiver, ScalerReason.REBALANCE_BLOCKED, {"donor": donors[0]} if donors else {})
    if not donors:
        return _refused(memory, base, receiver, ScalerReason.REBALANCE_NOT_APPLICABLE, {})
    departing = guarding.leaving(target)
    held: Refused | None = None
    for donor in donors:
        released = planned | {donor: min(planned[donor], declared[donor] - 1)}
        acquired = released | {receiver: declared[receiver] + 1}
        steps = pacing.most_taken(policy.down, declared[donor]), pacing.most_added(policy.up, declared[receiver])
        if 0 in steps or not ratios.allows(policy, released) or not ratios.allows(policy, acquired):
            continue
        role = target.role(donor)
        assert role is not None, "donors are roles of the target"
        guards = guarding.against_release(role, reading.roles.get(donor), memory, departing, policy, now)
        if (guard := next(guards, None)) is not None:
            waits = _told(memory, base, RebalanceReason.RESOURCE_EXHAUSTED, attempted=attempted)
            held = held or Refused(donor, guard[0], waits, guard[1])
            continue
        return Moved(
            move=Move.DONOR_RELEASE,
            vector=released,
            cause=Cause.DONOR_RELEASE,
            numbers={"receiver": receiver},
            memory=msgspec.structs.replace(
                aborting.begun(memory, declared, released),
                rebalance=Rebalance(
                    reason=RebalanceReason.DONOR_RELEASE,
                    episode=base.episode,
                    receiver=receiver,
                    donor=donor,
                    donor_replicas=released[donor],
                    receiver_replicas=acquired[receiver],
                    started_at=now,
                    attempted=policy.rebalance is RebalancePolicy.PRIORITY,
                ),
            ),
        )
    return held or _refused(memory, base, receiver, ScalerReason.REBALANCE_BLOCKED, {"donor": donors[0]})


def _donors(
    receiver: str, target: Target, declared: Vector, advices: Mapping[str, Advice], policy: Policy
) -> Iterator[str]:
    """Yield who may be asked: of the same pool, above its minimum; who shrinks anyway, or comes later in the list."""
    taking = target.role(receiver)
    pool = taking.instance_type if taking is not None else ""
    by_priority = policy.rebalance is RebalancePolicy.PRIORITY
    later = policy.priority[policy.priority.index(receiver) + 1 :] if by_priority else tuple(declared)
    for name in later:
        role, advice = target.role(name), advices.get(name)
        if name == receiver or role is None or advice is None or not pool or role.instance_type != pool:
            continue
        if declared[name] <= policy.bounds[name].minimum:
            continue
        shrinks = advice.own and advice.shrinks and advice.replicas < declared[name]
        if shrinks or (by_priority and advice.replicas <= declared[name]):
            yield name


def _refused(
    memory: Memory, base: Rebalance, receiver: str, reason: ScalerReason, numbers: dict[str, int | str]
) -> Refused:
    cause = Cause.NO_DONOR if reason is ScalerReason.REBALANCE_NOT_APPLICABLE else Cause.DONOR_BLOCKED
    return Refused(receiver, cause, _told(memory, base, reason, attempted=base.attempted), numbers)


def _told(memory: Memory, move: Rebalance, reason: RebalanceReason | ScalerReason, *, attempted: bool) -> Memory:
    said = Rebalance(reason=reason, episode=move.episode, attempted=attempted)
    return msgspec.structs.replace(memory, rebalance=said)
