"""Asks for a recommendation at noon, of a role that is all there, with what is remembered of it."""

from datetime import datetime

from modeldeployment.scaler.planning import recommending
from modeldeployment.scaler.planning.advice import Advice
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.memory import RoleMemory
from modeldeployment.scaler.planning.observed import RoleReading, TargetRole
from modeldeployment.scaler.planning.policy import Algorithm, Band
from planning_worlds import NOON, policy, remembered, role


def advised(
    algorithm: Algorithm,
    seen: RoleReading | None,
    *,
    of: TargetRole | None = None,
    memory: RoleMemory | None = None,
    now: datetime = NOON,
    landing: bool = False,
    bands: tuple[Band, ...] = (),
    up_window: int = 0,
    down_window: int = 300,
) -> Advice:
    """Advise one role; a server of two replicas where nothing is said."""
    return recommending.advise(
        of or role(),
        seen,
        memory or remembered(),
        policy(algorithm, bands=bands, up_window=up_window, down_window=down_window),
        now=now,
        landing=landing,
    )


def causes(advice: Advice) -> list[Cause]:
    """Which rules were at work, in order."""
    return [step.cause for step in advice.steps]
