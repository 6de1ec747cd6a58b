"""Scalers against one trace, beside somebody who knows the future and somebody who never scales."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Final

from modeldeployment.scaler.backtesting import cheapest
from modeldeployment.scaler.backtesting.fleets import Fleet
from modeldeployment.scaler.backtesting.fluid import Fluid
from modeldeployment.scaler.backtesting.playing import Planner, Score, follow, play
from modeldeployment.scaler.backtesting.traces import Trace
from modeldeployment.scaler.planning import Memory, Plan, Policy, Reading, Target, plan

CHEAPEST: Final = "cheapest"
"""Knows the future, with the same cold start."""
FIXED: Final = "fixed"
"""Has all the time what the cheapest has at its most."""

_FIRST_SECONDS: Final = 300


@dataclass(frozen=True, slots=True)
class Contest:
    """What every contender came to, in their order, and the two that are the measure."""

    trace: Trace
    fleet: Fleet
    scores: Mapping[str, Score]


def contest(trace: Trace, fleet: Fleet, policies: Mapping[str, Policy], utilization: Fraction) -> Contest:
    """Play a trace with every policy. All begin with what the mean of the first five minutes needs, and warm.

    Passes follow each other at the interval of each policy; somebody who knows the future decides at the shortest.
    """
    seconds = len(trace.seconds)
    first = [_first(trace, fleet, index, utilization) for index in range(len(fleet.groups))]
    interval = min(policy.interval_seconds for policy in policies.values())
    vectors = cheapest.of(trace, fleet, interval)
    begin = [vectors[0][group.name] for group in fleet.groups] if vectors else first
    most = {
        group.name: max((vector[group.name] for vector in vectors), default=group.minimum) for group in fleet.groups
    }
    scores = {
        name: play(Fluid(trace, fleet, first), planner(policy), seconds, policy.interval_seconds)
        for name, policy in policies.items()
    }
    scores[CHEAPEST] = follow(Fluid(trace, fleet, begin), vectors, seconds, interval)
    fixed = Fluid(trace, fleet, [most[group.name] for group in fleet.groups])
    scores[FIXED] = follow(fixed, [most] * len(vectors), seconds, interval)
    return Contest(trace, fleet, scores)


def planner(policy: Policy) -> Planner:
    """The planner of the operator with a policy."""

    def once(memory: Memory, reading: Reading, target: Target, now: datetime, decision_id: str) -> Plan:
        return plan(memory, reading, target, policy, now=now, decision_id=decision_id, term=1)

    return once


def _first(trace: Trace, fleet: Fleet, index: int, utilization: Fraction) -> int:
    group = fleet.groups[index]
    head = trace.seconds[:_FIRST_SECONDS]
    work = sum(group.work(each.prompt, each.generation) for each in head)
    used = len(head) * group.peak * utilization
    return min(max(-(-work // used) if used else group.minimum, group.minimum), group.maximum)
