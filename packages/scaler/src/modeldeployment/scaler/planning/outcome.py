"""What a pass of planning answers."""

from enum import StrEnum

import msgspec

from modeldeployment.api.scalerconditions import ScalerCondition, ScalerReason
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.memory import Memory
from modeldeployment.scaler.planning.plain import Count, Plain, Vector
from modeldeployment.scaler.planning.trail import Step
from modeldeployment.scaler.planning.words import RoleWord


class Move(StrEnum):
    """What a write of counts is for."""

    PLANNED = "Planned"
    ROLLBACK = "Rollback"
    """A cohort was not admitted in time: its whole baseline is restored."""
    RESTORE = "Restore"
    """A retirement was aborted: the vector of before is restored."""
    DONOR_RELEASE = "DonorRelease"
    RECEIVER_ACQUIRE = "ReceiverAcquire"


class RolePlan(Plain, frozen=True, kw_only=True):
    """What was recommended for a role, and what is left of it."""

    name: str
    raw: Count
    constrained: Count
    reason: RoleWord


class Finding(Plain, frozen=True, kw_only=True):
    """What a pass found out about `MetricsReady` or `Blocked`."""

    condition: ScalerCondition
    reason: ScalerReason
    cause: Cause | None = None
    """The rule behind the reason, where it has one."""
    roles: tuple[str, ...] = ()
    """Roles it is about."""
    numbers: dict[str, int | str] = msgspec.field(default_factory=dict)


class Plan(Plain, frozen=True, kw_only=True):
    """A vector, why it is that, and what is remembered."""

    vector: Vector
    """What should be declared; what is declared, where nothing should be written."""
    move: Move | None = None
    """What the write is for; None: nothing is to be written."""
    roles: tuple[RolePlan, ...]
    """In the order of the scaler's roles."""
    findings: tuple[Finding, ...]
    """One for `MetricsReady` and one for `Blocked`."""
    memory: Memory
    """What is remembered where nothing was written: in Shadow, or because somebody else wrote first."""
    committed: Memory | None = None
    """What is remembered once the vector was written; None where nothing is to be."""
    trail: tuple[Step, ...]
    """Every rule that was at work, in order."""
