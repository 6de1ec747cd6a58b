"""Conditions of a ModelDeploymentScaler and their reasons, and the reasons of its roles, of a rebalance and of events.

`REASONS` says which reason may stand beside which condition at which status; a condition whose every other reason may
stand beside False or Unknown lists them under both. Source: spec 3 §Conditions, facts api-scaler §5.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from modeldeployment.api.conditions import ConditionStatus


class ScalerCondition(StrEnum):
    """Condition types of a scaler; an early exit may leave older ones, which their generation tells."""

    BOUND = "Bound"
    ACTIVE = "Active"
    METRICS_READY = "MetricsReady"
    BLOCKED = "Blocked"


class ScalerReason(StrEnum):
    """Reasons of a scaler's conditions."""

    # Bound and Active
    BOUND = "Bound"
    ACTIVE = "Active"
    TARGET_NOT_FOUND = "TargetNotFound"
    ALREADY_BOUND = "AlreadyBound"
    TARGET_REPLACED = "TargetReplaced"
    INVALID_BINDING = "InvalidBinding"
    SUSPENDED = "Suspended"
    SHADOW_MODE = "ShadowMode"
    # MetricsReady
    OBSERVED = "Observed"
    WAITING_FOR_METRICS = "WaitingForMetrics"
    # MetricsReady and Blocked
    RESOURCE_EXHAUSTED = "ResourceExhausted"
    BOUNDS_CONFLICT = "BoundsConflict"
    RATIO_CONFLICT = "RatioConflict"
    # Blocked
    READY = "Ready"
    PACING_BOUNDED = "PacingBounded"
    SCALE_DOWN_ABORTED = "ScaleDownAborted"
    REBALANCE_NOT_APPLICABLE = "RebalanceNotApplicable"
    REBALANCE_BLOCKED = "RebalanceBlocked"


class RoleReason(StrEnum):
    """Why a role's recommendation is what it is; the algorithm's own name says that nothing else shaped it."""

    PROPORTIONAL = "Proportional"
    TOKEN_THROUGHPUT = "TokenThroughput"  # noqa: S105 (tokens are what engines produce)
    PREDICTIVE = "Predictive"
    WITHIN_TOLERANCE = "WithinTolerance"
    PANIC = "Panic"
    NO_READY_REPLICAS = "NoReadyReplicas"
    LATENCY_GUARD_HOLD = "LatencyGuardHold"
    LATENCY_GUARD_SCALE_UP = "LatencyGuardScaleUp"
    PREDICTOR_WARMING_UP = "PredictorWarmingUp"
    PREDICTIVE_CONSOLIDATION_HOLD = "PredictiveConsolidationHold"
    RATIO_COUPLED = "RatioCoupled"


class RebalanceReason(StrEnum):
    """How far a move of capacity is; one that cannot begin says why with a `ScalerReason`."""

    RESOURCE_EXHAUSTED = "ResourceExhausted"
    DONOR_RELEASE = "DonorRelease"
    RECEIVER_ACQUIRE = "ReceiverAcquire"
    DONATION_ATTEMPTED = "DonationAttempted"


class ScalerEvent(StrEnum):
    """Reasons of the events recorded on a ModelDeploymentScaler."""

    BOUND = "Bound"
    RELEASED = "Released"
    COMMITTED = "Committed"
    ROLLED_BACK = "RolledBack"
    RESTORED = "Restored"
    COMMIT_ABANDONED = "CommitAbandoned"
    WRITE_REFUSED = "WriteRefused"
    COUNTS_REVERTED = "CountsReverted"


_UNBOUND: Final = (
    ScalerReason.TARGET_NOT_FOUND,
    ScalerReason.ALREADY_BOUND,
    ScalerReason.TARGET_REPLACED,
    ScalerReason.INVALID_BINDING,
    ScalerReason.SUSPENDED,
)
_UNREAD: Final = (
    ScalerReason.WAITING_FOR_METRICS,
    ScalerReason.RESOURCE_EXHAUSTED,
    ScalerReason.BOUNDS_CONFLICT,
    ScalerReason.RATIO_CONFLICT,
)
_T: Final = ConditionStatus.TRUE
_F: Final = ConditionStatus.FALSE
_U: Final = ConditionStatus.UNKNOWN

REASONS: Final[Mapping[ScalerCondition, Mapping[ConditionStatus, tuple[ScalerReason, ...]]]] = MappingProxyType(
    {
        ScalerCondition.BOUND: {_T: (ScalerReason.BOUND,), _F: _UNBOUND, _U: _UNBOUND},
        ScalerCondition.ACTIVE: {
            _T: (ScalerReason.ACTIVE,),
            _F: (*_UNBOUND, ScalerReason.SHADOW_MODE),
            _U: (*_UNBOUND, ScalerReason.SHADOW_MODE),
        },
        ScalerCondition.METRICS_READY: {_T: (ScalerReason.OBSERVED,), _F: _UNREAD, _U: _UNREAD},
        ScalerCondition.BLOCKED: {
            _T: (
                ScalerReason.BOUNDS_CONFLICT,
                ScalerReason.RATIO_CONFLICT,
                ScalerReason.PACING_BOUNDED,
                ScalerReason.RESOURCE_EXHAUSTED,
                ScalerReason.SCALE_DOWN_ABORTED,
                ScalerReason.REBALANCE_NOT_APPLICABLE,
                ScalerReason.REBALANCE_BLOCKED,
            ),
            _F: (ScalerReason.READY,),
        },
    }
)
