"""How far one pass may move a role.

Source: spec 3 §Pacing and guards, facts scaler §5.
"""

from modeldeployment.api.scaler import StepPolicy, StepType
from modeldeployment.scaler.planning.policy import Down, Up


def most_added(up: Up, current: int) -> int:
    """Replicas that one pass may add: the larger of both bounds, or what the step policy says alone."""
    if up.step is not None:
        return _counted(up.step, current)
    return max(up.replicas, _share(current, up.percent))


def most_taken(down: Down, current: int) -> int:
    """Replicas that one pass may take: one, or what the step policy says."""
    return 1 if down.step is None else _counted(down.step, current)


def _counted(step: StepPolicy, current: int) -> int:
    return step.value if step.type is StepType.PODS else _share(current, step.value)


def _share(current: int, percent: int) -> int:
    return -(-current * percent // 100)
