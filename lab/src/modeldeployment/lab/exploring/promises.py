"""What holds of every step, whatever came before it. Each promise is a sentence and a function that finds a breach."""

from collections.abc import Callable
from typing import Final, NamedTuple

from modeldeployment.api.scaler import RebalancePolicy
from modeldeployment.api.scalerconditions import RebalanceReason
from modeldeployment.lab.exploring.worlds import POLICIES, ROLES, World, pair
from modeldeployment.scaler.planning import Memory, Plan, Reading, Target
from modeldeployment.scaler.planning.outcome import Move


class Pass(NamedTuple):
    """One pass, and the world that it was of."""

    world: World
    target: Target
    reading: Reading
    plan: Plan

    @property
    def free(self) -> bool:
        """Whether the write, if any, restores nothing."""
        return self.plan.move in (Move.PLANNED, Move.DONOR_RELEASE, Move.RECEIVER_ACQUIRE)

    @property
    def shrinks(self) -> tuple[str, ...]:
        """Roles that a free write takes replicas from."""
        after = pair(self.plan.vector)
        return tuple(name for place, name in enumerate(ROLES) if self.free and after[place] < self.world.counts[place])

    @property
    def grows(self) -> tuple[str, ...]:
        """Roles that a free write gives replicas to."""
        after = pair(self.plan.vector)
        return tuple(name for place, name in enumerate(ROLES) if self.free and after[place] > self.world.counts[place])


class Promise(NamedTuple):
    """What is promised, and whether a pass keeps it."""

    sentence: str
    kept: Callable[[Pass], bool]


def _bounds_and_ratios(made: Pass) -> bool:
    if made.plan.move is None:
        return True
    policy, (prefill, decode) = POLICIES[made.world.policy], pair(made.plan.vector)
    bounds = tuple(policy.bounds.values())
    inside = bounds[0].minimum <= prefill <= bounds[0].maximum and bounds[1].minimum <= decode <= bounds[1].maximum
    return inside and decode <= 2 * prefill and prefill <= 2 * decode


def _whole_cohorts(made: Pass) -> bool:
    held = made.plan.memory.cohort
    if made.plan.move is Move.ROLLBACK:
        return held is not None and made.plan.vector == held.baseline and _left(made).cohort is None
    if made.world.cohort is None or made.plan.memory.cohort is not None:
        return True
    # it ended without a write: every added replica is admitted, nothing is left of it, or somebody else's edit ended it
    ended = made.world.edited or made.world.respecified
    target, admitted = made.world.cohort.target, made.world.admitted
    return ended or all(
        admitted[place] >= target[place] or made.world.cohort.baseline[place] >= target[place] for place in (0, 1)
    )


def _in_time(made: Pass) -> bool:
    return made.plan.move is not Move.ROLLBACK or (made.world.cohort is not None and made.world.cohort.age > 1)


def _no_growth_beside_growth(made: Pass) -> bool:
    return not made.grows or made.plan.memory.cohort is None


def _no_growth_of_the_exhausted(made: Pass) -> bool:
    spent = made.plan.memory.exhaustion
    if spent is None or made.plan.move is not Move.PLANNED or made.world.spent is None or made.world.spent.left == 0:
        return True
    return all(made.plan.vector[role] <= spent.baseline[role] for role in made.grows if role in spent.roles)


def _no_shrinkage_unseen(made: Pass) -> bool:
    return all(made.reading.roles[role].complete and made.reading.roles[role].ready for role in made.shrinks)


def _one_retirement(made: Pass) -> bool:
    surplus = any(made.world.there[place] > made.world.counts[place] for place in (0, 1))
    return not made.shrinks or (made.world.retiring is None and not surplus)


def _cooldown_and_grace(made: Pass) -> bool:
    taken = made.world.taken
    cooling = taken is not None and taken.cooling
    return not (cooling and made.shrinks) and not (made.world.grown and "decode" in made.shrinks)


def _whole_restores(made: Pass) -> bool:
    if made.plan.move is not Move.RESTORE:
        return True
    taken, after = made.world.taken, pair(made.plan.vector)
    return taken is not None and all(
        after[place] == max(made.world.counts[place], taken.before[place]) for place in (0, 1)
    )


def _restores_are_no_growth(made: Pass) -> bool:
    if made.plan.move is not Move.RESTORE:
        return True
    before = made.plan.memory.cohort
    after = _left(made).cohort
    return (after is None) == (before is None) and _left(made).roles == made.plan.memory.roles


def _donor_first(made: Pass) -> bool:
    if made.plan.move is not Move.RECEIVER_ACQUIRE:
        return True
    gift = made.world.gift
    gone = made.world.there == made.world.counts and made.world.retiring is None
    return gift is not None and gift.reason is RebalanceReason.DONOR_RELEASE and gone


def by_priority(made: Pass) -> bool:
    """Whether a pass makes a donation that an episode has only one of."""
    policy = POLICIES[made.world.policy]
    return made.plan.move is Move.DONOR_RELEASE and policy.rebalance is RebalancePolicy.PRIORITY


def _one_donation(made: Pass) -> bool:
    return not (by_priority(made) and made.world.donated) or made.world.edited or made.world.respecified


def _donations_follow_rollbacks(made: Pass) -> bool:
    return made.plan.move is not Move.DONOR_RELEASE or made.plan.memory.exhaustion is not None


def _nobody_is_fought(made: Pass) -> bool:
    fought = made.plan.move in (Move.ROLLBACK, Move.RESTORE, Move.RECEIVER_ACQUIRE)
    return not (fought and made.world.edited and made.world.rewritten)


def _matching_decision(made: Pass) -> bool:
    if made.plan.move is None:
        return pair(made.plan.vector) == made.world.counts and made.plan.committed is None
    commit = _left(made).last_commit
    return commit is not None and commit.vector == made.plan.vector and commit.decision_id == "d-2"


def _explained(made: Pass) -> bool:
    told = {step.role for step in made.plan.trail if step.before != step.after}
    return all(made.plan.vector[role] == made.world.counts[place] or role in told for place, role in enumerate(ROLES))


def _left(made: Pass) -> Memory:
    assert made.plan.committed is not None
    return made.plan.committed


PROMISES: Final = (
    Promise("Every vector that is written keeps bounds and ratios.", _bounds_and_ratios),
    Promise("A cohort is admitted, or its baseline is restored whole.", _whole_cohorts),
    Promise("A cohort has its whole time.", _in_time),
    Promise("While a cohort is pending nothing grows.", _no_growth_beside_growth),
    Promise("An exhausted role does not grow above its baseline before its time.", _no_growth_of_the_exhausted),
    Promise("Nothing shrinks that was not read whole, or that has no ready replica.", _no_shrinkage_unseen),
    Promise("Nothing shrinks while anything is on its way out.", _one_retirement),
    Promise("Nothing shrinks in a cooldown, and no Decode role in its grace.", _cooldown_and_grace),
    Promise("An abort restores what the scale-down took, and takes nothing.", _whole_restores),
    Promise("A restore begins no cohort and no grace.", _restores_are_no_growth),
    Promise("A receiver gets its replica when the donor's has left with its Workload.", _donor_first),
    Promise("An episode has one donation by priority.", _one_donation),
    Promise("A donation follows a rollback.", _donations_follow_rollbacks),
    Promise("Counts that somebody else wrote are not written over by a transaction.", _nobody_is_fought),
    Promise("Counts change with a decision that names them, or not at all.", _matching_decision),
    Promise("Every count that changes has its reason in the trail.", _explained),
)


def breaches(made: Pass) -> tuple[str, ...]:
    """The sentences that a pass breaks."""
    return tuple(promise.sentence for promise in PROMISES if not promise.kept(made))
