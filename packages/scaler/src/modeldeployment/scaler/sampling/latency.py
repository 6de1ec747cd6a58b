"""The wait that nineteen of twenty requests stayed within, over all engines of a role; pure.

Source: spec 3 §Engine signals.
"""

import math
from collections.abc import Sequence
from typing import Final

from modeldeployment.api import Quantity
from modeldeployment.scaler.sampling.growth import Waits

_OF_TWENTY: Final = 19


def milliseconds(waits: Sequence[Waits]) -> Quantity | None:
    """Answer the bound of the bucket that covers the 95th percentile; None where nobody waited.

    The mean stands in for it where an engine that served somebody has no buckets, and where the percentile lies above
    the last bound. Engines may have different buckets: what fell into one counts at its own upper bound.
    """
    heard = [each for each in waits if each.count > 0]
    if not heard:
        return None
    fell: dict[float, float] = {}
    for each in heard:
        for bound, count in each.buckets.items():
            fell[bound] = fell.get(bound, 0) + count
    everything, below = sum(fell.values()), 0.0
    for bound, count in sorted(fell.items() if all(each.buckets for each in heard) else ()):
        below += count
        if everything and below * 20 >= everything * _OF_TWENTY and math.isfinite(bound):
            return _amount(bound)
    return _amount(sum(each.seconds for each in heard) / sum(each.count for each in heard))


def _amount(seconds: float) -> Quantity:
    return Quantity(round(seconds * 1_000_000) * 1_000_000)
