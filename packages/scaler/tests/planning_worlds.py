"""Plain values of planning with settled defaults: what a test does not speak of is as it is on a quiet day."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from modeldeployment.api import Quantity, RoleKind
from modeldeployment.api.algorithms import Metric
from modeldeployment.api.scaler import RebalancePolicy, StepPolicy
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.scaler.planning.memory import Demanded, Filter, Memory, Recommended, RoleMemory
from modeldeployment.scaler.planning.observed import Reading, RetirementSeen, RoleReading, Seat, Target, TargetRole
from modeldeployment.scaler.planning.policy import (
    Algorithm,
    Band,
    Bounds,
    Down,
    Policy,
    Predictive,
    Proportional,
    Token,
    Up,
)

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
KINDS = {kind.value.lower(): kind for kind in RoleKind}


def at(seconds: int) -> datetime:
    """An instant so many seconds after noon."""
    return NOON + timedelta(seconds=seconds)


def amount(value: str | float | Quantity) -> Quantity:
    """Read an amount that a test writes as it likes."""
    return value if isinstance(value, Quantity) else Quantity.parse(value)


def maybe(value: str | float | Quantity | None) -> Quantity | None:
    """Read an amount that may not be there."""
    return None if value is None else amount(value)


def role(
    name: str = "server",
    replicas: int = 2,
    *,
    kind: RoleKind | None = None,
    seats: tuple[Seat, ...] | None = None,
    instance_type: str = "h100",
) -> TargetRole:
    """A role that is all there; a role named after a kind is of that kind."""
    kind = kind or KINDS.get(name, RoleKind.SERVER)
    if seats is None:
        seats = tuple(Seat(ordinal=each, admitted=True, ready=True) for each in range(replicas))
    assert len({seat.ordinal for seat in seats}) == len(seats)
    return TargetRole(name=name, kind=kind, replicas=replicas, instance_type=instance_type, seats=seats)


def target(
    *roles: TargetRole, generation: int = 1, uid: str = "target-1", retirement: RetirementSeen | None = None
) -> Target:
    """A deployment; one server role of two replicas where nothing is said."""
    roles = roles or (role(),)
    assert len({each.name for each in roles}) == len(roles)
    return Target(name="llm-serving", uid=uid, generation=generation, roles=roles, retirement=retirement)


def reading(
    *,
    state: SignalState = SignalState.FRESH,
    ready: int = 2,
    complete: bool = True,
    at: datetime | None = NOON,
    running: int | None = 0,
    waiting: int | None = 0,
    prompt: str | float | None = 0,
    generation: str | float | None = 0,
    ttft: str | float | None = 100,
    itl: str | float | None = 10,
) -> RoleReading:
    """A role that was read whole at noon, is fast, and has nothing to do."""
    return RoleReading(
        state=state,
        ready=ready,
        complete=complete,
        at=at,
        running_requests=running,
        waiting_requests=waiting,
        prompt_tokens_per_second=maybe(prompt),
        generation_tokens_per_second=maybe(generation),
        ttft_milliseconds=maybe(ttft),
        itl_milliseconds=maybe(itl),
    )


def readings(**roles: RoleReading) -> Reading:
    """What was read of every role, by name."""
    return Reading(roles=roles)


def recommended(*entries: tuple[int, int]) -> tuple[Recommended, ...]:
    """Recommendations as (seconds after noon, replicas), oldest first."""
    return tuple(Recommended(at=at(seconds), replicas=replicas) for seconds, replicas in entries)


def steady(replicas: int, *, seconds: int = 1800, every: int = 15, until: int = 0) -> tuple[Recommended, ...]:
    """The same recommendation for so long, up to so many seconds after noon."""
    return recommended(*((each, replicas) for each in range(until - seconds, until + 1, every)))


def demanded(*entries: tuple[int, str | float]) -> tuple[Demanded, ...]:
    """Samples of demand as (seconds after noon, tokens per second), oldest first."""
    return tuple(Demanded(at=at(seconds), tokens_per_second=amount(rate)) for seconds, rate in entries)


def flowing(rate: str | float, *, seconds: int = 180, every: int = 15, until: int = -15) -> tuple[Demanded, ...]:
    """The same demand for so long, up to the sample before noon's."""
    return demanded(*((each, rate) for each in range(until - seconds, until + 1, every)))


def filtered(level: float, trend: float = 0.0, *, count: int = 6, seconds: int = -15) -> Filter:
    """A filter that is sure of itself."""
    return Filter(level=level, trend=trend, p00=1.0, p01=0.0, p10=0.0, p11=1.0, count=count, at=at(seconds))


def remembered(
    *,
    recommended: tuple[Recommended, ...] = (),
    demanded: tuple[Demanded, ...] = (),
    filter: Filter | None = None,  # noqa: A002 (it is what the field is called)
    grown_at: datetime | None = None,
    grown_from: int | None = None,
) -> RoleMemory:
    """What is remembered of one role: nothing, where nothing is said."""
    return RoleMemory(
        recommended=recommended, demanded=demanded, filter=filter, grown_at=grown_at, grown_from=grown_from
    )


def memory(*, policy_generation: int = 1, target_generation: int = 1, **fields: Any) -> Memory:
    """What planning remembers: that it has seen this policy and this target, and nothing else."""
    return Memory(policy_generation=policy_generation, target_generation=target_generation, **fields)


def proportional(
    targets: Mapping[str, str | float] | None = None,
    *,
    metric: Metric = Metric.QUEUE_DEPTH,
    tolerance: str | float = "0.1",
) -> Proportional:
    """Eight requests per server where nothing is said."""
    declared = {"server": 8} if targets is None else targets
    return Proportional(
        metric=metric, tolerance=amount(tolerance), targets={name: amount(each) for name, each in declared.items()}
    )


def token(
    *,
    prefill: str | float | None = 2000,
    decode: str | float | None = 800,
    server: str | float | None = 2000,
    stable: int = 180,
    panic: int = 60,
    threshold: str | float = 2,
    ttft: str | float = 500,
    itl: str | float = 50,
) -> Token:
    """Token rates with the capacities of the specification's examples."""
    return Token(
        prefill=maybe(prefill),
        decode=maybe(decode),
        server=maybe(server),
        stable_seconds=stable,
        panic_seconds=panic,
        panic_threshold=amount(threshold),
        ttft_milliseconds=amount(ttft),
        itl_milliseconds=amount(itl),
    )


def predictive(
    fallback: Token | None = None,
    *,
    horizon: int = 300,
    prefill: str | float | None = 2000,
    decode: str | float | None = 800,
    server: str | float | None = 2000,
    q_level: str | float = 1,
    q_trend: str | float = "0.1",
    noise: str | float = 10,
    min_points: int = 6,
) -> Predictive:
    """A forecast over `token()` with the capacities of the specification's examples."""
    return Predictive(
        token=fallback or token(),
        horizon_seconds=horizon,
        prefill=maybe(prefill),
        decode=maybe(decode),
        server=maybe(server),
        q_level=amount(q_level),
        q_trend=amount(q_trend),
        noise=amount(noise),
        min_points=min_points,
    )


def band(
    numerator: str,
    denominator: str,
    *,
    target: str | float | None = None,
    low: str | float | None = None,
    high: str | float | None = None,
) -> Band:
    """A ratio of two roles."""
    return Band(numerator=numerator, denominator=denominator, target=maybe(target), low=maybe(low), high=maybe(high))


def policy(
    algorithm: Algorithm | None = None,
    *,
    bounds: Mapping[str, tuple[int, int]] | None = None,
    bands: tuple[Band, ...] = (),
    generation: int = 1,
    interval: int = 15,
    pending: int = 300,
    up_window: int = 0,
    up_replicas: int = 4,
    up_percent: int = 100,
    up_step: StepPolicy | None = None,
    down_window: int = 300,
    cooldown: int = 300,
    grace: int = 120,
    down_step: StepPolicy | None = None,
    rebalance: RebalancePolicy = RebalancePolicy.OPPOSING,
    priority: tuple[str, ...] = (),
) -> Policy:
    """One server role of 1 to 16 replicas on the queue's depth, paced as a spec is that says nothing of pacing."""
    limits = {"server": (1, 16)} if bounds is None else bounds
    return Policy(
        generation=generation,
        interval_seconds=interval,
        pending_seconds=pending,
        bounds={name: Bounds(low, high) for name, (low, high) in limits.items()},
        bands=bands,
        algorithm=algorithm or proportional(),
        up=Up(window_seconds=up_window, replicas=up_replicas, percent=up_percent, step=up_step),
        down=Down(window_seconds=down_window, cooldown_seconds=cooldown, grace_seconds=grace, step=down_step),
        rebalance=rebalance,
        priority=priority,
    )
