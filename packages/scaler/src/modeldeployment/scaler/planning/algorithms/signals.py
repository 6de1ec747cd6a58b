"""Which readings a role is judged by, and what one replica of its kind carries.

Sources: spec 3 §Proportional, §Token throughput, §Predictive; facts scaler §3.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from modeldeployment.api import Quantity, RoleKind
from modeldeployment.api.algorithms import Metric
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.scaler.planning.algorithms.proposal import NANO, Numbers
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.observed import RoleReading
from modeldeployment.scaler.planning.policy import Predictive, Token

_RUNNING: Final = "running_requests"
_WAITING: Final = "waiting_requests"
_PROMPT: Final = "prompt_tokens_per_second"
_GENERATION: Final = "generation_tokens_per_second"
TTFT: Final = "ttft_milliseconds"
ITL: Final = "itl_milliseconds"

METRICS: Final[Mapping[Metric, tuple[str, ...]]] = MappingProxyType(
    {
        Metric.QUEUE_DEPTH: (_RUNNING, _WAITING),
        Metric.RUNNING_REQUESTS: (_RUNNING,),
        Metric.WAITING_REQUESTS: (_WAITING,),
        Metric.PROMPT_TOKENS_PER_SECOND: (_PROMPT,),
        Metric.GENERATION_TOKENS_PER_SECOND: (_GENERATION,),
        Metric.TOTAL_TOKENS_PER_SECOND: (_PROMPT, _GENERATION),
    }
)
"""Readings that a metric adds up."""

DEMANDS: Final[Mapping[RoleKind, tuple[str, ...]]] = MappingProxyType(
    {
        RoleKind.SERVER: (_PROMPT, _GENERATION),
        RoleKind.PREFILL: (_PROMPT,),
        RoleKind.DECODE: (_GENERATION,),
    }
)
"""Readings that the demand on a kind adds up; an Encode role counts no tokens."""

LATENCIES: Final[Mapping[RoleKind, tuple[str, ...]]] = MappingProxyType(
    {
        RoleKind.SERVER: (TTFT, ITL),
        RoleKind.PREFILL: (TTFT,),
        RoleKind.DECODE: (ITL,),
    }
)
"""Readings that the latency guard needs of a kind."""


def absent(names: tuple[str, ...], reading: RoleReading) -> str | None:
    """The first of those readings that was not measured; None where all were."""
    return next((name for name in names if getattr(reading, name) is None), None)


def gap(names: tuple[str, ...], reading: RoleReading | None) -> tuple[Cause, Numbers] | None:
    """What keeps those readings from being gone by, with its numbers; None where nothing does."""
    if reading is None:
        return Cause.SIGNAL_MISSING, {}
    if reading.state is SignalState.STALE:
        return Cause.SIGNAL_STALE, {"at": reading.at.isoformat()} if reading.at else {}
    missing = absent(names, reading)
    if missing is not None:
        return Cause.SIGNAL_MISSING, {"signal": _spelt(missing)}
    return (Cause.SIGNAL_MISSING, {}) if reading.state is SignalState.MISSING or reading.at is None else None


def total(names: tuple[str, ...], reading: RoleReading) -> int:
    """The sum of those readings in nano-units; what was not measured adds nothing."""
    return sum(_nanos(getattr(reading, name)) for name in names)


def _spelt(name: str) -> str:
    """A reading's name as status spells it."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def capacity(kind: RoleKind, declared: Token | Predictive) -> Quantity | None:
    """Tokens per second that one replica of a kind carries; None where nothing is declared of it."""
    match kind:
        case RoleKind.SERVER:
            return declared.server
        case RoleKind.PREFILL:
            return declared.prefill
        case RoleKind.DECODE:
            return declared.decode
        case RoleKind.ENCODE:
            return None


def undeclared(kind: RoleKind, declared: Token | Predictive) -> str | None:
    """The first field of the spec that the algorithm lacks for that kind; None where it lacks none."""
    if isinstance(declared, Predictive):
        if capacity(kind, declared.token) is None:
            return f"spec.algorithm.predictive.tokenThroughput.{kind.label}TargetTokensPerSecond"
        return None if capacity(kind, declared) else f"spec.algorithm.predictive.{kind.label}TokenCapacityPerReplica"
    return None if capacity(kind, declared) else f"spec.algorithm.tokenThroughput.{kind.label}TargetTokensPerSecond"


def _nanos(value: Quantity | int | None) -> int:
    if isinstance(value, Quantity):
        return value.nanos
    return (value or 0) * NANO
