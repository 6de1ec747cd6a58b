"""A recommendation for one role, whatever the algorithm, and the one word for it.

Sources: spec 3 §Algorithms and §Role observations, facts scaler §3 and §10, decisions D38.
"""

from datetime import datetime
from typing import Final

import msgspec

from modeldeployment.api import Quantity
from modeldeployment.api.scalerconditions import RoleReason
from modeldeployment.scaler.planning import coupling, demands, windows
from modeldeployment.scaler.planning.advice import Advice
from modeldeployment.scaler.planning.algorithms import latency, predictive, proportional, signals, throughput
from modeldeployment.scaler.planning.algorithms.proposal import Numbers, Proposal
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.memory import Recommended, RoleMemory
from modeldeployment.scaler.planning.observed import RoleReading, TargetRole
from modeldeployment.scaler.planning.policy import Algorithm, Policy, Predictive, Proportional, Token

PRECEDENCE: Final = (
    RoleReason.NO_READY_REPLICAS,
    RoleReason.LATENCY_GUARD_SCALE_UP,
    RoleReason.PANIC,
    RoleReason.PREDICTOR_WARMING_UP,
    RoleReason.PREDICTIVE_CONSOLIDATION_HOLD,
    RoleReason.LATENCY_GUARD_HOLD,
    RoleReason.WITHIN_TOLERANCE,
    RoleReason.RATIO_COUPLED,
)
"""Which word is told where several apply; the algorithm's own name where none does (facts scaler §10)."""


def advise(
    role: TargetRole, reading: RoleReading | None, memory: RoleMemory, policy: Policy, *, now: datetime, landing: bool
) -> Advice:
    """Recommend a count for one role, and go on with what is remembered of it.

    `landing` says that replicas which were asked for are on their way (decisions D16 and D36). A reading that is
    missing or stale holds the count, and so does a policy that lacks what its algorithm needs; nothing is raised.
    """
    followed = coupling.followed(role, policy)
    if followed is not None:
        return _coupled(role, reading, memory, followed)
    at = now
    field = coupling.undeclared(role, policy)
    gap = signals.gap(_needed(role, policy.algorithm), reading)
    if field is not None:
        proposal = _holding(role).held(Cause.UNDECLARED, {"field": field})
    elif gap is not None:
        proposal = _unread(role, reading, memory, policy.algorithm, *gap)
    else:
        assert reading is not None
        assert reading.at is not None
        at = reading.at
        if isinstance(policy.algorithm, Proportional):
            target = policy.algorithm.targets[role.name]
            proposal = proportional.propose(role, reading, target, policy.algorithm)
        else:
            memory = demands.remembered(role, reading, at, memory, policy, policy.algorithm, now)
            proposal = _by_tokens(role, reading, at, memory, policy.algorithm, landing=landing)
    recommended = windows.noted(
        memory.recommended,
        Recommended(at=at, replicas=proposal.replicas),
        now=now,
        seconds=max(policy.up.window_seconds, policy.down.window_seconds),
        interval_seconds=policy.interval_seconds,
    )
    return Advice(
        role=role.name,
        replicas=proposal.replicas,
        reason=next((word for word in PRECEDENCE if word in proposal.reasons), _name(policy.algorithm)),
        shrinks=proposal.shrinks,
        measured=proposal.measured,
        steps=proposal.steps,
        memory=msgspec.structs.replace(memory, recommended=recommended),
    )


def _by_tokens(
    role: TargetRole,
    reading: RoleReading,
    at: datetime,
    memory: RoleMemory,
    algorithm: Token | Predictive,
    *,
    landing: bool,
) -> Proposal:
    """Propose by token rates, and by their forecast where there is one."""
    forecast = algorithm if isinstance(algorithm, Predictive) else None
    token = algorithm.token if isinstance(algorithm, Predictive) else algorithm
    seen = memory.filter
    warm = forecast is not None and predictive.warm(seen, forecast)
    stable, recent = windows.windows(memory.demanded, at, token.stable_seconds, token.panic_seconds)
    proposal = throughput.propose(
        role, reading.ready, stable, recent, _capacity(role, token), token, extra=1 if warm and not landing else 0
    )
    if forecast is None or seen is None or not warm:
        proposal = latency.guard(proposal, role, reading, token, landing=landing)
        return predictive.warming(proposal, seen, forecast) if forecast else proposal
    expected = predictive.forecast(seen, forecast)
    capacity = _capacity(role, forecast)
    proposal = predictive.raised(proposal, expected, seen, capacity, forecast)
    proposal = predictive.consolidated(proposal, role, reading.ready, expected, stable, capacity)
    return latency.guard(proposal, role, reading, token, landing=landing)


def _unread(
    role: TargetRole,
    reading: RoleReading | None,
    memory: RoleMemory,
    algorithm: Algorithm,
    cause: Cause,
    numbers: Numbers,
) -> Proposal:
    """Hold a role whose readings cannot be gone by; where nothing is ready, there was nothing to read."""
    holding = _holding(role)
    if reading is not None and reading.ready == 0:
        holding = holding.held(Cause.NO_READY_REPLICAS, {}, RoleReason.NO_READY_REPLICAS, measured=False)
    else:
        holding = holding.held(cause, numbers, measured=False)
    if isinstance(algorithm, Predictive) and not predictive.warm(memory.filter, algorithm):
        return predictive.warming(holding, memory.filter, algorithm)
    return holding


def _coupled(role: TargetRole, reading: RoleReading | None, memory: RoleMemory, followed: str) -> Advice:
    """A role without a recommendation of its own: it goes where its ratio to another one leads it."""
    proposal = _holding(role).told(Cause.COUPLED, {"with": followed}, RoleReason.RATIO_COUPLED)
    if reading is not None and reading.ready == 0:
        proposal = proposal.held(Cause.NO_READY_REPLICAS, {}, RoleReason.NO_READY_REPLICAS)
    return Advice(
        role=role.name,
        replicas=role.replicas,
        reason=next(word for word in PRECEDENCE if word in proposal.reasons),
        shrinks=proposal.shrinks,
        own=False,
        steps=proposal.steps,
        memory=memory,
    )


def _needed(role: TargetRole, algorithm: Algorithm) -> tuple[str, ...]:
    """The readings that an algorithm adds up for a role."""
    if isinstance(algorithm, Proportional):
        return signals.METRICS[algorithm.metric]
    return signals.DEMANDS.get(role.kind, ())


def _capacity(role: TargetRole, declared: Token | Predictive) -> Quantity:
    capacity = signals.capacity(role.kind, declared)
    assert capacity is not None
    return capacity


def _holding(role: TargetRole) -> Proposal:
    return Proposal(role.name, role.replicas, role.replicas)


def _name(algorithm: Algorithm) -> RoleReason:
    match algorithm:
        case Proportional():
            return RoleReason.PROPORTIONAL
        case Token():
            return RoleReason.TOKEN_THROUGHPUT
        case Predictive():
            return RoleReason.PREDICTIVE
