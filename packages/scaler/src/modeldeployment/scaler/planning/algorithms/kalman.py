"""A causal filter of a level and its linear trend, for demand that is observed at uneven intervals.

The state is the level and the trend per second. Between observations the level moves by the trend, and both become less
certain: `q_level` and `q_trend` are variances per second, so what is skipped and what is sampled often come to the
same (decisions D15). The only floats of planning are here; they are kept to nine decimals, which is what a quantity
holds, so that a filter read back from status is the filter that was in memory.
"""

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from modeldeployment.scaler.planning.memory import Filter

INITIAL_VARIANCE: Final = 1000.0
"""Of the level and of the trend, after the first observation."""

_DECIMALS: Final = 9
_HIGHEST: Final = 1e29
"""Where numbers end for us: beyond all demand, and what status has room for."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Variances: of the level and the trend per second, and of one observation; all positive."""

    level: float
    trend: float
    observation: float


def begin(rate: float, at: datetime) -> Filter:
    """Answer the filter that has seen one observation, in tokens per second."""
    return Filter(
        level=_kept(rate), trend=0.0, p00=INITIAL_VARIANCE, p01=0.0, p10=0.0, p11=INITIAL_VARIANCE, count=1, at=at
    )


def observe(seen: Filter | None, rate: float, at: datetime, noise: Noise) -> Filter:
    """Answer the filter after one more observation; one that is not later than the last changes nothing.

    A state that no longer is a finite number begins anew with this observation.
    """
    if seen is None:
        return begin(rate, at)
    if at <= seen.at:
        return seen
    dt = (at - seen.at).total_seconds()
    p00 = seen.p00 + dt * (seen.p01 + seen.p10) + dt * dt * seen.p11 + dt * noise.level
    p01 = (seen.p01 + seen.p10) / 2 + dt * seen.p11
    p11 = seen.p11 + dt * noise.trend
    level = seen.level + dt * seen.trend
    # The gain; what is left of each variance is written as a product, which cannot turn negative as a difference can.
    spread = p00 + noise.observation
    left = noise.observation / spread
    surprise = rate - level
    state = (
        level + p00 / spread * surprise,
        seen.trend + p01 / spread * surprise,
        p00 * left,
        p01 * left,
        max(0.0, p11 - p01 / spread * p01),
    )
    if not all(abs(value) < _HIGHEST for value in state):
        return begin(rate, at)
    level, trend, p00, p01, p11 = (round(value, _DECIMALS) for value in state)
    return Filter(level=level, trend=trend, p00=p00, p01=p01, p10=p01, p11=p11, count=seen.count + 1, at=at)


def ahead(seen: Filter, seconds: int) -> float:
    """Answer the demand so many seconds ahead, in tokens per second and never below zero; nothing is changed by it."""
    return min(_HIGHEST, max(0.0, seen.level + seen.trend * seconds))


def _kept(rate: float) -> float:
    return round(rate, _DECIMALS) if math.isfinite(rate) and abs(rate) < _HIGHEST else math.copysign(_HIGHEST, rate)
