"""From a recommendation to the range that one pass leaves of it: bounds, then steps, then guards.

Source: spec 3 §Bounds and ratios, §Pacing and guards.
"""

from collections.abc import Iterable, Iterator

from modeldeployment.scaler.planning import pacing
from modeldeployment.scaler.planning.box import Box
from modeldeployment.scaler.planning.causes import Cause, Stage
from modeldeployment.scaler.planning.limits import Limit
from modeldeployment.scaler.planning.policy import Policy
from modeldeployment.scaler.planning.trail import Step


def box(role: str, current: int, recommended: int | None, policy: Policy, guards: Iterable[Limit]) -> Box:
    """Answer how far a role may go in this pass, and where it would go by itself.

    `recommended` is what is left of it after stabilization; None for a role that follows its ratios. `current` keeps
    its bounds, and no rule forbids to stay.
    """
    bounds = policy.bounds[role]
    floor, ceiling, wanted = bounds.minimum, bounds.maximum, recommended
    steps: list[Step] = []
    for limit in (*_bounds(policy, role), *_steps(policy, current), *guards):
        if limit.floor is not None:
            floor = max(floor, limit.floor)
        if limit.ceiling is not None:
            ceiling = min(ceiling, limit.ceiling)
        if wanted is None or recommended is None:
            continue
        left = limit.clamp(wanted)
        if limit.clamp(recommended) != recommended:
            steps.append(
                Step(
                    stage=limit.stage,
                    role=role,
                    before=wanted,
                    after=left,
                    cause=limit.cause,
                    wanted=recommended,
                    numbers=limit.numbers,
                )
            )
        wanted = left
    return Box(
        role=role,
        current=current,
        floor=floor,
        ceiling=ceiling,
        wanted=wanted,
        rising=recommended is not None and recommended > current,
        steps=tuple(steps),
    )


def _bounds(policy: Policy, role: str) -> Iterator[Limit]:
    bounds = policy.bounds[role]
    yield Limit(Stage.BOUNDS, Cause.MINIMUM, floor=bounds.minimum, numbers={"minimum": bounds.minimum})
    yield Limit(Stage.BOUNDS, Cause.MAXIMUM, ceiling=bounds.maximum, numbers={"maximum": bounds.maximum})


def _steps(policy: Policy, current: int) -> Iterator[Limit]:
    up, down = pacing.most_added(policy.up, current), pacing.most_taken(policy.down, current)
    yield Limit(Stage.STEPS, Cause.UP_STEP, ceiling=current + up, numbers={"step": up})
    yield Limit(Stage.STEPS, Cause.DOWN_STEP, floor=current - down, numbers={"step": down})
