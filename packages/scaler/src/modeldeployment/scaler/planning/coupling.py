"""Whether a role has a measurement of its own, and whom it follows where it has none.

Sources: spec 3 §Proportional and §Token throughput, facts scaler §3.
"""

from modeldeployment.api import RoleKind
from modeldeployment.scaler.planning.algorithms import signals
from modeldeployment.scaler.planning.observed import TargetRole
from modeldeployment.scaler.planning.policy import Policy, Proportional


def followed(role: TargetRole, policy: Policy) -> str | None:
    """Answer the role whose count a role without a measurement follows; None where it has one, or follows nobody."""
    if isinstance(policy.algorithm, Proportional):
        targets = policy.algorithm.targets
        led = (name for name in _partners(role, policy) if name in targets)
        return None if role.name in targets else next(led, None)
    return next(iter(_partners(role, policy)), None) if role.kind is RoleKind.ENCODE else None


def undeclared(role: TargetRole, policy: Policy) -> str | None:
    """Answer the field of the spec that is lacking for a role which follows nobody; None where none is."""
    algorithm = policy.algorithm
    if isinstance(algorithm, Proportional):
        return None if role.name in algorithm.targets else "spec.algorithm.proportional.roleTargets"
    return "spec.ratios" if role.kind is RoleKind.ENCODE else signals.undeclared(role.kind, algorithm)


def _partners(role: TargetRole, policy: Policy) -> list[str]:
    """Roles that stand in a direct ratio to a role, either way round."""
    ends = ((band.numerator, band.denominator) for band in policy.bands)
    return [high if low == role.name else low for high, low in ends if role.name in (high, low)]
