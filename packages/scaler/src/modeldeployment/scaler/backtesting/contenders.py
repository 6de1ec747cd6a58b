"""The three algorithms as somebody would set them up for a fleet and its traffic: what is compared where nobody says.

A replica is planned with a part of what it serves at most, since an engine that is at its peak reports no more than
that, however much more is asked for.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from modeldeployment.api import RoleKind
from modeldeployment.api.algorithms import AlgorithmType, Metric
from modeldeployment.scaler.backtesting.fleets import Fleet, Group
from modeldeployment.scaler.backtesting.traces import Trace

Spec = dict[str, Any]


def of(fleet: Fleet, trace: Trace, interval: int, utilization: Fraction) -> Mapping[str, Spec]:
    """A scaler's spec for each algorithm, by its name."""
    tokens = {f"{_word(group)}TargetTokensPerSecond": str(int(group.peak * utilization)) for group in fleet.groups}
    capacities = {
        f"{_word(group)}TokenCapacityPerReplica": str(int(group.peak * utilization)) for group in fleet.groups
    }
    targets = [{"name": group.name, "target": f"{_requests(group, trace, utilization)}m"} for group in fleet.groups]
    algorithms: Mapping[AlgorithmType, Spec] = {
        AlgorithmType.PROPORTIONAL: {"proportional": {"metric": Metric.QUEUE_DEPTH.value, "roleTargets": targets}},
        AlgorithmType.TOKEN_THROUGHPUT: {"tokenThroughput": tokens},
        AlgorithmType.PREDICTIVE: {"predictive": {"tokenThroughput": tokens, **capacities}},
    }
    return {
        type_.value: {
            "targetRef": {"name": "backtest"},
            "sampling": {"intervalSeconds": interval},
            "roles": [
                {"name": group.name, "minReplicas": group.minimum, "maxReplicas": group.maximum}
                for group in fleet.groups
            ],
            "algorithm": {"type": type_.value, **block},
        }
        for type_, block in algorithms.items()
    }


def _requests(group: Group, trace: Trace, utilization: Fraction) -> int:
    """Thousandths of requests that a replica serves at once when it is used as planned, by Little's law."""
    if group.kind is RoleKind.PREFILL:
        return int(1000 * utilization)  # a prompt has the whole replica while it is computed
    total = trace.total
    work = group.work(total.prompt, total.generation)
    share = Fraction(total.generation, work) if work else Fraction(1)
    return max(1, int(group.peak * utilization * share * group.token_milliseconds))


def _word(group: Group) -> str:
    return group.kind.value.lower()
