"""How many requests an engine has, read out of its own numbers: what retirement trusts, and nothing less.

A gauge that is not there was not measured as zero (decisions D10). Source: facts shutdown §1 and §2.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

from modeldeployment.api import RoleKind
from modeldeployment.render import Gauges
from modeldeployment.router import exposition


@dataclass(frozen=True, slots=True)
class Idle:
    """Every gauge that has to be there is, and every one is exactly zero."""


@dataclass(frozen=True, slots=True)
class Busy:
    """So many requests are under way or wait."""

    requests: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing certain was said; `reason` is half a sentence on why."""

    reason: str


Reading: TypeAlias = Idle | Busy | Unknown


def read(body: bytes, gauges: Gauges, kind: RoleKind) -> Reading:
    """Read how many requests an engine has out of a body of its numbers.

    What an engine publishes per rank is summed; what it counts once more by priority is not.
    """
    try:
        found = exposition.samples(body, gauges.every)
    except exposition.Unreadable as unreadable:
        return Unknown(str(unreadable))
    named = {each.name for each in found}
    missing = [name for name in gauges.expected(kind) if name not in named]
    if missing:
        return Unknown(f"it publishes no {missing[0]}")
    odd = next((each for each in found if not math.isfinite(each.value) or each.value < 0), None)
    if odd is not None:
        return Unknown(f"it publishes {odd.name} as {odd.value:g}")
    if not any(each.value for each in found):
        return Idle()
    return Busy(max(1, round(sum(each.value for each in found if not each.labels.get("priority")))))
