"""One measurement over a fixed target per ready replica, with a band around the target that moves nothing.

Sources: spec 3 §Proportional, facts scaler §3.
"""

from modeldeployment.api import Quantity
from modeldeployment.api.scalerconditions import RoleReason
from modeldeployment.scaler.planning.algorithms import signals
from modeldeployment.scaler.planning.algorithms.proposal import NANO, Numbers, Proposal, count, shown
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.observed import RoleReading, TargetRole
from modeldeployment.scaler.planning.policy import Proportional


def propose(role: TargetRole, reading: RoleReading, target: Quantity, algorithm: Proportional) -> Proposal:
    """Propose what brings the load of a ready replica to its target; a distance of exactly the tolerance holds.

    Every reading that the metric adds up has been measured.
    """
    holding = Proposal(role.name, role.replicas, role.replicas)
    if reading.ready == 0:
        return holding.held(Cause.NO_READY_REPLICAS, {}, RoleReason.NO_READY_REPLICAS)
    total = signals.total(signals.METRICS[algorithm.metric], reading)
    carried = reading.ready * target.nanos
    numbers: Numbers = {
        "metric": algorithm.metric.value,
        "total": shown(total),
        "load": shown(total, reading.ready),
        "ready": reading.ready,
        "target": str(target),
        "tolerance": str(algorithm.tolerance),
    }
    if abs(total - carried) * NANO <= algorithm.tolerance.nanos * carried:
        return holding.told(Cause.WITHIN_TOLERANCE, numbers, RoleReason.WITHIN_TOLERANCE)
    return Proposal(role.name, role.replicas, count(total, target.nanos)).told(Cause.LOAD, numbers)
