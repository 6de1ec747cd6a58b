"""Whether the vector that is declared is one that planning may start from.

Source: spec 3 §Bounds and ratios ("The current replica vector must already satisfy the bounds and ratio bands").
"""

from dataclasses import dataclass, field

from modeldeployment.api.scalerconditions import ScalerReason
from modeldeployment.scaler.planning import ratios
from modeldeployment.scaler.planning.causes import Cause, Stage
from modeldeployment.scaler.planning.observed import Target
from modeldeployment.scaler.planning.plain import Vector
from modeldeployment.scaler.planning.policy import Band, Policy
from modeldeployment.scaler.planning.trail import Step


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why nothing is planned."""

    reason: ScalerReason
    cause: Cause
    roles: tuple[str, ...]
    numbers: dict[str, int | str] = field(default_factory=dict)

    def steps(self, vector: Vector) -> tuple[Step, ...]:
        """What the trail says of it: each role it is about keeps its count."""
        stage = Stage.BOUNDS if self.reason is ScalerReason.BOUNDS_CONFLICT else Stage.RATIOS
        return tuple(
            Step(
                stage=stage,
                role=role,
                before=vector.get(role, 0),
                after=vector.get(role, 0),
                cause=self.cause,
                numbers=self.numbers,
            )
            for role in self.roles
        )


def vector(target: Target, policy: Policy) -> Vector:
    """What is declared, in the order of the scaler's roles; roles that it has no bounds for come last."""
    declared = target.vector
    known = {role: declared[role] for role in policy.bounds if role in declared}
    return known | {role: count for role, count in declared.items() if role not in known}


def judge(declared: Vector, policy: Policy) -> tuple[Conflict, ...]:
    """Every conflict of the declared vector; those of bounds hide those of ratios.

    A scaled role that the deployment does not have counts as one of no replicas, which no bounds hold.
    """
    missing = tuple(role for role in declared if role not in policy.bounds)
    found = [Conflict(ScalerReason.BOUNDS_CONFLICT, Cause.BOUNDS_MISSING, missing)] if missing else []
    for role, bounds in policy.bounds.items():
        count = declared.get(role, 0)
        if not bounds.minimum <= count <= bounds.maximum:
            numbers = {"replicas": count, "minimum": bounds.minimum, "maximum": bounds.maximum}
            found.append(Conflict(ScalerReason.BOUNDS_CONFLICT, Cause.OUTSIDE_BOUNDS, (role,), dict(numbers)))
    return tuple(found) or tuple(
        Conflict(ScalerReason.RATIO_CONFLICT, Cause.OUTSIDE_RATIO, (band.numerator, band.denominator), told(band))
        for band in policy.bands
        if not ratios.kept(band, declared)
    )


def told(band: Band) -> dict[str, int | str]:
    """A band as sentences speak of it."""
    ends = {"low": band.low, "high": band.high, "target": band.target}
    numbers: dict[str, int | str] = {"numerator": band.numerator, "denominator": band.denominator}
    numbers.update((name, str(end)) for name, end in ends.items() if end is not None)
    return numbers
