"""The latency guard: slow answers forbid shrinkage, very slow ones ask for one replica more.

Sources: spec 3 §Token throughput, facts scaler §3, decisions D16.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from modeldeployment.api import Quantity
from modeldeployment.api.scalerconditions import RoleReason
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.scaler.planning.algorithms import signals
from modeldeployment.scaler.planning.algorithms.proposal import Numbers, Proposal, shown
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.observed import RoleReading, TargetRole
from modeldeployment.scaler.planning.policy import Token

_FAR: Final = (6, 5)
"""How many times its target a latency may be, before one replica more is asked for: 1.2."""

_WORDS: Final[Mapping[str, str]] = MappingProxyType({signals.TTFT: "TTFT", signals.ITL: "ITL"})
"""What people call them."""


def guard(proposal: Proposal, role: TargetRole, reading: RoleReading, token: Token, *, landing: bool) -> Proposal:
    """Hold or raise what was proposed by the larger relative breach; exactly 1 and exactly 1.2 are not above it.

    While replicas are `landing`, that they are slow to help is no reason for another one. A latency that is missing
    forbids shrinkage, where there was one to measure: a server that answers a few long requests serves first tokens now
    and then only, and would never shrink otherwise.
    """
    targets = {signals.TTFT: token.ttft_milliseconds, signals.ITL: token.itl_milliseconds}
    needed = {name: targets[name] for name in signals.LATENCIES.get(role.kind, ())}
    missing = signals.absent(tuple(name for name in needed if _expected(name, reading)), reading)
    if missing is not None:
        numbers: Numbers = {"signal": _WORDS[missing]}
        proposal = proposal.held(Cause.LATENCY_MISSING, numbers, RoleReason.LATENCY_GUARD_HOLD, measured=False)
    name = _worst(needed, reading)
    if name is None:
        return proposal
    measured, target = signals.total((name,), reading), needed[name].nanos
    if measured <= target:
        return proposal
    numbers = {"signal": _WORDS[name], "latency": shown(measured), "target": str(needed[name])}
    if measured * _FAR[1] <= target * _FAR[0]:
        return proposal.held(Cause.LATENCY_ABOVE_TARGET, numbers, RoleReason.LATENCY_GUARD_HOLD)
    if landing or reading.ready == 0:
        return proposal.held(Cause.LATENCY_LANDING, numbers, RoleReason.LATENCY_GUARD_HOLD)
    return proposal.told(
        Cause.LATENCY_FAR_ABOVE_TARGET,
        numbers,
        RoleReason.LATENCY_GUARD_SCALE_UP,
        least=role.replicas + 1,
        shrinks=False,
    )


def _expected(name: str, reading: RoleReading) -> bool:
    """Whether somebody must have been served what that latency is of, or waits for it."""
    if reading.state is SignalState.IDLE:
        return False
    prompted = reading.prompt_tokens_per_second is None or reading.prompt_tokens_per_second.nanos > 0
    return name != signals.TTFT or prompted or reading.waiting_requests != 0


def _worst(needed: Mapping[str, Quantity], reading: RoleReading) -> str | None:
    """The latency that is furthest above its target, of those that were measured."""
    worst: tuple[int, int] | None = None
    found = None
    for name, target in needed.items():
        if signals.absent((name,), reading) is not None:
            continue
        measured = signals.total((name,), reading)
        if worst is None or measured * worst[1] > worst[0] * target.nanos:
            worst, found = (measured, target.nanos), name
    return found
