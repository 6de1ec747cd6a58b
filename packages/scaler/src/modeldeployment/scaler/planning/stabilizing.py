"""Recommendations over time: growth waits until they agree, and shrinkage until the highest of them has passed.

Sources: spec 3 §Pacing and guards, decisions D14 and D38.
"""

from datetime import datetime

from modeldeployment.scaler.planning import windows
from modeldeployment.scaler.planning.advice import Advice
from modeldeployment.scaler.planning.causes import Cause, Stage
from modeldeployment.scaler.planning.policy import Policy
from modeldeployment.scaler.planning.trail import Step


def stabilize(advice: Advice, current: int, policy: Policy, now: datetime) -> tuple[int, tuple[Step, ...]]:
    """Answer what is left of a recommendation; a role that has none of its own keeps its count."""
    if not advice.own:
        return current, ()
    if advice.replicas > current and policy.up.window_seconds > 0:
        return _grow(advice, current, policy.up.window_seconds, now)
    if advice.replicas < current:
        return _shrink(advice, current, policy.down.window_seconds, now)
    return advice.replicas, ()


def _grow(advice: Advice, current: int, seconds: int, now: datetime) -> tuple[int, tuple[Step, ...]]:
    """Growth goes as far as the lowest recommendation of the window, once the window is spanned."""
    history = advice.memory.recommended
    if not windows.spans(history, seconds, now):
        return current, (_step(advice, current, Cause.UP_WINDOW, _short(advice, seconds, now)),)
    lowest = min((entry.replicas for entry in windows.within(history, seconds, now)), default=advice.replicas)
    if lowest >= advice.replicas:
        return advice.replicas, ()
    limited = max(current, lowest)
    return limited, (_step(advice, limited, Cause.UP_WINDOW, {"window": seconds, "lowest": lowest}),)


def _shrink(advice: Advice, current: int, seconds: int, now: datetime) -> tuple[int, tuple[Step, ...]]:
    """The floor is the highest recommendation of the window, and what is declared until the window is spanned."""
    history = advice.memory.recommended
    if not windows.spans(history, seconds, now):
        return current, (_step(advice, current, Cause.DOWN_WINDOW, _short(advice, seconds, now)),)
    highest = max((entry.replicas for entry in windows.within(history, seconds, now)), default=advice.replicas)
    if highest <= advice.replicas:
        return advice.replicas, ()
    limited = min(current, highest)
    return limited, (_step(advice, limited, Cause.DOWN_WINDOW, {"window": seconds, "highest": highest}),)


def _short(advice: Advice, seconds: int, now: datetime) -> dict[str, int | str]:
    """What a window that is not spanned is told by: how long it is, and how much of it recommendations span."""
    history = advice.memory.recommended
    span = int((now - history[0].at).total_seconds()) if history else 0
    return {"window": seconds, "span": max(0, span)}


def _step(advice: Advice, after: int, cause: Cause, numbers: dict[str, int | str]) -> Step:
    return Step(
        stage=Stage.STABILIZATION,
        role=advice.role,
        before=advice.replicas,
        after=after,
        wanted=advice.replicas,
        cause=cause,
        numbers=numbers,
    )
