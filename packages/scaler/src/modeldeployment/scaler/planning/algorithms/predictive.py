"""A forecast of demand that adds to what token rates recommend, and consolidates only with room to spare.

Sources: spec 3 §Predictive, facts scaler §3, decisions D15 and D16.
"""

from fractions import Fraction
from typing import Final

from modeldeployment.api import Quantity
from modeldeployment.api.scalerconditions import RoleReason
from modeldeployment.scaler.planning.algorithms import kalman
from modeldeployment.scaler.planning.algorithms.proposal import NANO, Numbers, Proposal, count, shown
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.memory import Filter
from modeldeployment.scaler.planning.observed import TargetRole
from modeldeployment.scaler.planning.policy import Predictive
from modeldeployment.scaler.planning.windows import Window

_ROOM: Final = (4, 5)
"""Share of its capacity that a replica may carry after another one was taken away: 80 %, inclusive."""
_MILLI: Final = 10**6


def noise(algorithm: Predictive) -> kalman.Noise:
    """Answer how far the filter trusts its own state and an observation."""
    return kalman.Noise(
        level=algorithm.q_level.nanos / NANO,
        trend=algorithm.q_trend.nanos / NANO,
        observation=algorithm.noise.nanos / NANO,
    )


def warm(seen: Filter | None, algorithm: Predictive) -> bool:
    """Whether the filter has observed enough to be gone by."""
    return seen is not None and seen.count >= algorithm.min_points


def warming(proposal: Proposal, seen: Filter | None, algorithm: Predictive) -> Proposal:
    """Say that the forecast does not count yet."""
    numbers: Numbers = {"count": seen.count if seen else 0, "needed": algorithm.min_points}
    return proposal.told(Cause.PREDICTOR_WARMING_UP, numbers, RoleReason.PREDICTOR_WARMING_UP)


def forecast(seen: Filter, algorithm: Predictive) -> int:
    """Answer the demand at the horizon in nano-tokens per second, to the thousandth of a token."""
    return round(kalman.ahead(seen, algorithm.horizon_seconds) * 1000) * _MILLI


def raised(proposal: Proposal, expected: int, seen: Filter, capacity: Quantity, algorithm: Predictive) -> Proposal:
    """Propose at least what carries the forecast."""
    numbers: Numbers = {
        "rate": shown(expected),
        "capacity": str(capacity),
        "level": shown(round(seen.level * 1000) * _MILLI),
        "trend": shown(round(seen.trend * 1000) * _MILLI),
        "horizon": algorithm.horizon_seconds,
    }
    return proposal.told(Cause.FORECAST, numbers, least=count(expected, capacity.nanos))


def consolidated(
    proposal: Proposal, role: TargetRole, ready: int, expected: int, stable: Window, capacity: Quantity
) -> Proposal:
    """Let go of no replica whose load would leave the others more than 80 % full.

    Load is the larger of the forecast and the stable mean, and is carried by the ready replicas that are declared. A
    pass that may take several away takes as many as leave that room.
    """
    demand = max(Fraction(expected), stable.rate)
    carrying = min(ready, role.replicas)
    needed = -(-demand * _ROOM[1] // (capacity.nanos * _ROOM[0]))
    least = needed + role.replicas - carrying
    numbers: Numbers = {
        "rate": shown(demand.numerator, demand.denominator),
        "capacity": str(capacity),
        "remaining": max(0, carrying - 1),
    }
    if proposal.replicas > role.replicas or proposal.replicas >= least < role.replicas:
        return proposal
    if least < role.replicas:
        return proposal.told(Cause.CONSOLIDATION, numbers, least=least)
    words = (RoleReason.PREDICTIVE_CONSOLIDATION_HOLD,) if proposal.replicas < role.replicas else ()
    return proposal.told(Cause.CONSOLIDATION, numbers, *words, shrinks=False)
