"""A deployment of two roles and what its scaler remembers, with time in ticks of a minute: hashed, and read back.

Planning sees the real `Memory`, `Target` and `Policy` that these stand for. What is left out: histories and filters
(each pass is given one that agrees with what it asks for), the numbers of generations and episodes, and how long ago
anything was that is over.
"""

from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple, TypeAlias

from modeldeployment.api import Quantity, RetirementState, RoleKind
from modeldeployment.api.algorithms import Metric
from modeldeployment.api.scaler import RebalancePolicy, StepPolicy, StepType
from modeldeployment.api.scalerconditions import RebalanceReason
from modeldeployment.api.scalerstatus import Outcome
from modeldeployment.scaler.planning.memory import (
    Cohort,
    Commit,
    Exhaustion,
    Memory,
    Rebalance,
    Recommended,
    RoleMemory,
    ScaleDown,
)
from modeldeployment.scaler.planning.observed import RetirementSeen, Seat, Target, TargetRole
from modeldeployment.scaler.planning.policy import Band, Bounds, Down, Policy, Proportional, Up

Pair: TypeAlias = tuple[int, int]
ROLES: Final = ("prefill", "decode")
KINDS: Final = (RoleKind.PREFILL, RoleKind.DECODE)
NOW: Final = datetime(2026, 1, 5, 12, tzinfo=UTC)
TICK: Final = 60
GENERATION: Final = 10
LATE: Final = 2
"""Ticks after which a cohort's time is over: it has one, and the very end of it still counts."""
LONGEST: Final = 4
"""Ticks that a back-off is told apart for."""
ROLLBACKS: Final = 2
LOAD: Final = 8


class Held(NamedTuple):
    """Growth that is not admitted yet."""

    baseline: Pair
    target: Pair
    age: int


class Spent(NamedTuple):
    """Roles that found no quota."""

    roles: tuple[str, ...]
    baseline: Pair
    left: int
    rollbacks: int


class Gift(NamedTuple):
    """A donation: under way where it has ends, otherwise only remembered to have been attempted."""

    reason: RebalanceReason
    receiver: str | None
    donor: str | None
    attempted: bool


class Taken(NamedTuple):
    """The last scale-down, while it can still be restored or cools down."""

    role: str
    ordinal: int
    before: Pair
    cooling: bool


class World(NamedTuple):
    """Everything that a pass and a cluster go by."""

    counts: Pair
    there: Pair
    """Replicas that are there, declared or not: ordinals from 0 up."""
    admitted: Pair
    """How many of them are admitted, from ordinal 0 up."""
    retiring: tuple[int, int, bool] | None = None
    """Role, ordinal, and whether it was given up."""
    cohort: Held | None = None
    spent: Spent | None = None
    gift: Gift | None = None
    taken: Taken | None = None
    grown: bool = False
    """Whether the Decode role grew within its grace."""
    rewritten: bool = False
    """Whether the counts are not those that the scaler wrote last."""
    edited: bool = False
    """Whether somebody edited the target since the last pass."""
    respecified: bool = False
    donated: bool = False
    """Whether a donation by priority was made since anybody last edited, whatever is remembered of it."""
    policy: int = 0


def _policy(rebalance: RebalancePolicy, most: int = 3, step: int = 1) -> Policy:
    return Policy(
        generation=1,
        interval_seconds=15,
        pending_seconds=TICK,
        bounds={name: Bounds(1, most) for name in ROLES},
        bands=(Band(*ROLES, low=Quantity.parse("0.5"), high=Quantity.parse("2")),),
        algorithm=Proportional(
            metric=Metric.QUEUE_DEPTH,
            tolerance=Quantity.parse("0.1"),
            targets=dict.fromkeys(ROLES, Quantity.whole(LOAD)),
        ),
        up=Up(window_seconds=0, replicas=4, percent=100),
        down=Down(
            window_seconds=15,
            cooldown_seconds=TICK,
            grace_seconds=TICK,
            step=None if step == 1 else StepPolicy(type=StepType.PODS, value=step),
        ),
        rebalance=rebalance,
        priority=ROLES,
    )


POLICIES: Final = (
    _policy(RebalancePolicy.PRIORITY),
    _policy(RebalancePolicy.OPPOSING, step=2),
    _policy(RebalancePolicy.DISABLED, most=2),
)
FIRST: Final = World(counts=(2, 2), there=(2, 2), admitted=(2, 2))
STARTS: Final = (
    FIRST,
    World((2, 3), (2, 3), (2, 3), spent=Spent(("prefill",), (2, 3), 2, 1)),
    World((2, 2), (2, 3), (2, 3), taken=Taken("decode", 2, (2, 3), cooling=False)),
)
"""A quiet deployment, one whose growth was just taken back, and one that has just shrunk."""


def target(world: World) -> Target:
    """What the scaler sees of the deployment."""
    seen = None
    if world.retiring is not None:
        role, ordinal, given_up = world.retiring
        state = RetirementState.ABORTED if given_up else RetirementState.DRAINING
        seen = RetirementSeen(role=ROLES[role], ordinal=ordinal, state=state)
    return Target(
        name="chat",
        uid="target",
        generation=GENERATION + world.edited,
        retirement=seen,
        roles=tuple(
            TargetRole(
                name=name,
                kind=KINDS[index],
                replicas=world.counts[index],
                instance_type="h100",
                seats=_seats(world.there[index], world.admitted[index]),
            )
            for index, name in enumerate(ROLES)
        ),
    )


def _seats(there: int, admitted: int) -> tuple[Seat, ...]:
    return tuple(
        Seat(ordinal=each, admitted=each < admitted, waiting=each >= admitted, ready=each < admitted)
        for each in range(there)
    )


def memory(world: World, asked: Pair) -> Memory:
    """What the scaler remembers, roles having asked for the same all along."""
    cohort, spent, gift, taken = world.cohort, world.spent, world.gift, world.taken
    wrote = (world.counts[0] + 1, world.counts[1]) if world.rewritten else world.counts
    return Memory(
        roles={
            name: RoleMemory(
                recommended=tuple(
                    Recommended(at=NOW - timedelta(seconds=ago), replicas=asked[index]) for ago in (60, 15)
                ),
                grown_at=NOW - timedelta(seconds=1) if world.grown and index else None,
                grown_from=1 if world.grown and index else None,
            )
            for index, name in enumerate(ROLES)
        },
        last_commit=Commit(
            decision_id="d", term=1, vector=_vector(wrote), baseline=_vector(wrote), at=NOW, target_generation=1
        ),
        cohort=cohort
        and Cohort(
            decision_id="d",
            term=1,
            baseline=_vector(cohort.baseline),
            target=_vector(cohort.target),
            started_at=NOW - timedelta(seconds=TICK * cohort.age),
        ),
        rebalance=gift
        and Rebalance(
            reason=gift.reason, episode=1, receiver=gift.receiver, donor=gift.donor, attempted=gift.attempted
        ),
        last_scale_down=taken
        and ScaleDown(
            role=taken.role,
            ordinal=taken.ordinal,
            before=_vector(taken.before),
            outcome=Outcome.ABORTED if taken.cooling else Outcome.COMMITTED,
            cooldown_until=NOW + timedelta(seconds=1) if taken.cooling else None,
        ),
        exhaustion=spent
        and Exhaustion(
            roles=spent.roles,
            baseline=_vector(spent.baseline),
            until=NOW + timedelta(seconds=TICK * spent.left),
            rollbacks=spent.rollbacks,
        ),
        policy_generation=2 if world.respecified else 1,
        target_generation=GENERATION,
    )


def _vector(pair: Pair) -> dict[str, int]:
    return dict(zip(ROLES, pair, strict=True))


def pair(vector: dict[str, int]) -> Pair:
    """The counts of both roles."""
    return vector[ROLES[0]], vector[ROLES[1]]


def after(world: World, left: Memory, counts: Pair) -> World:
    """The world once a pass has left a memory, and perhaps written counts; what is over is not told apart."""
    cohort, spent, move, last = left.cohort, left.exhaustion, left.rebalance, left.last_scale_down
    under_way = move is not None and move.reason in (RebalanceReason.DONOR_RELEASE, RebalanceReason.RECEIVER_ACQUIRE)
    gift = None
    if move is not None and under_way:
        assert isinstance(move.reason, RebalanceReason)
        gift = Gift(move.reason, move.receiver, move.donor, move.attempted)
    elif move is not None and move.attempted:
        gift = Gift(RebalanceReason.DONATION_ATTEMPTED, None, None, attempted=True)
    taken = None
    if last is not None and (last.cooldown_until is None or last.cooldown_until > NOW):
        taken = Taken(last.role, last.ordinal, pair(last.before), last.cooldown_until is not None)
    wrote = left.last_commit is not None and pair(left.last_commit.vector) == counts
    decode = left.roles[ROLES[1]].grown_at
    return World(
        counts=counts,
        there=(max(world.there[0], counts[0]), max(world.there[1], counts[1])),
        admitted=world.admitted,
        retiring=world.retiring,
        cohort=None if cohort is None else _held(cohort),
        spent=None if spent is None else _spent(spent),
        gift=gift,
        taken=taken,
        grown=decode is not None and (NOW - decode).seconds < TICK,
        rewritten=not wrote,
        policy=world.policy,
    )


def _held(cohort: Cohort) -> Held:
    age = int((NOW - cohort.started_at).total_seconds()) // TICK
    return Held(pair(cohort.baseline), pair(cohort.target), min(LATE, age))


def _spent(spent: Exhaustion) -> Spent:
    left = int((spent.until - NOW).total_seconds()) // TICK
    return Spent(spent.roles, pair(spent.baseline), max(0, min(LONGEST, left)), min(ROLLBACKS, spent.rollbacks))
