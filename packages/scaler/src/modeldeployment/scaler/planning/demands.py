"""What is remembered of demand: the samples that windows are made of, and the filter that forecasts go by.

Sources: spec 3 §Predictor state, facts scaler §3, decisions D12, D15, D37.
"""

from datetime import datetime

import msgspec

from modeldeployment.api import Quantity
from modeldeployment.scaler.planning import windows
from modeldeployment.scaler.planning.algorithms import kalman, predictive, signals
from modeldeployment.scaler.planning.algorithms.proposal import NANO
from modeldeployment.scaler.planning.memory import Demanded, RoleMemory
from modeldeployment.scaler.planning.observed import RoleReading, TargetRole
from modeldeployment.scaler.planning.policy import Policy, Predictive, Token


def remembered(
    role: TargetRole,
    reading: RoleReading,
    at: datetime,
    memory: RoleMemory,
    policy: Policy,
    algorithm: Token | Predictive,
    now: datetime,
) -> RoleMemory:
    """Go on with a sample of demand; answers the same memory where it is no news.

    A sample of which some replicas are missing is a lower bound: it counts where it is above the mean and is left out
    where it is below, since a scrape that failed is no fall of demand.
    """
    token = algorithm.token if isinstance(algorithm, Predictive) else algorithm
    rate = signals.total(signals.DEMANDS[role.kind], reading)
    if not reading.complete:
        (mean,) = windows.windows(memory.demanded, at, token.stable_seconds)
        if mean.established and rate <= mean.rate:
            return memory
    demanded = windows.sampled(
        memory.demanded,
        Demanded(at=at, tokens_per_second=Quantity(rate)),
        now=now,
        seconds=max(token.stable_seconds, token.panic_seconds),
        interval_seconds=policy.interval_seconds,
    )
    if not isinstance(algorithm, Predictive):
        return memory if demanded is memory.demanded else msgspec.structs.replace(memory, demanded=demanded)
    seen = memory.filter
    if seen is not None and seen.at > max(at, now):
        seen = None  # the clock was set back: nobody knows how much time has passed since
    observed = kalman.observe(seen, rate / NANO, at, predictive.noise(algorithm))
    return msgspec.structs.replace(memory, demanded=demanded, filter=observed)
