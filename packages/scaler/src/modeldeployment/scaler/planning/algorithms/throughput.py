"""Demand in tokens per second, averaged over two windows, over what one replica carries.

Sources: spec 3 §Token throughput, facts scaler §3, decisions D12, D13, D37.
"""

from modeldeployment.api import Quantity
from modeldeployment.api.scalerconditions import RoleReason
from modeldeployment.scaler.planning.algorithms.proposal import NANO, Numbers, Proposal, count, shown
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.observed import TargetRole
from modeldeployment.scaler.planning.policy import Token
from modeldeployment.scaler.planning.windows import Window


def propose(
    role: TargetRole,
    ready: int,
    stable: Window,
    recent: Window,
    capacity: Quantity,
    token: Token,
    *,
    extra: int,
) -> Proposal:
    """Propose what carries the mean demand.

    Panic, while the recent rate reaches the threshold times what ready replicas carry, asks for the larger of both
    counts and for `extra` more than are declared. A window that is not established says nothing: without the stable
    one there is growth in panic alone, and without the recent one nothing shrinks, since nobody knows of a burst.
    """
    if stable.established:
        wanted = Proposal(role.name, role.replicas, count(stable.nanos, capacity.nanos * stable.covered))
        proposal = wanted.told(Cause.STABLE_RATE, _numbers(stable, capacity))
    else:
        proposal = _unestablished(Proposal(role.name, role.replicas, role.replicas), stable)
    if ready == 0:
        return proposal.told(Cause.NO_READY_REPLICAS, {}, RoleReason.NO_READY_REPLICAS, shrinks=False)
    if not recent.established:
        return _unestablished(proposal, recent)
    if recent.nanos * NANO < token.panic_threshold.nanos * ready * capacity.nanos * recent.covered:
        return proposal
    return proposal.told(
        Cause.PANIC,
        _numbers(recent, capacity) | {"ready": ready, "threshold": str(token.panic_threshold)},
        RoleReason.PANIC,
        least=max(count(recent.nanos, capacity.nanos * recent.covered), role.replicas + extra),
        shrinks=False,
    )


def _unestablished(proposal: Proposal, window: Window) -> Proposal:
    numbers: Numbers = {"window": window.seconds, "span": window.covered}
    return proposal.held(Cause.WINDOW_NOT_ESTABLISHED, numbers, measured=False)


def _numbers(window: Window, capacity: Quantity) -> Numbers:
    return {"rate": shown(window.nanos, window.covered), "capacity": str(capacity), "window": window.seconds}
