"""What planning remembers from pass to pass; status keeps it, so that it outlives the process.

Sources: spec 3 §Status, facts api-scaler §5, decisions D12, D15, D36 to D42.
"""

from datetime import datetime

import msgspec

from modeldeployment.api import Quantity
from modeldeployment.api.scalerconditions import RebalanceReason, ScalerReason
from modeldeployment.api.scalerstatus import Outcome
from modeldeployment.scaler.planning.plain import Plain, Vector


class Recommended(Plain, frozen=True, kw_only=True):
    """What an algorithm said at an instant, before anything constrained it (decisions D38)."""

    at: datetime
    replicas: int


class Demanded(Plain, frozen=True, kw_only=True):
    """Tokens per second that were asked for since the sample before."""

    at: datetime
    tokens_per_second: Quantity


class Filter(Plain, frozen=True, kw_only=True):
    """A local linear trend and how sure it is (decisions D15): the level in tokens per second, the trend per second."""

    level: float
    trend: float
    p00: float
    p01: float
    p10: float
    p11: float
    count: int
    """Observations so far."""
    at: datetime
    """When the last of them was made."""


class RoleMemory(Plain, frozen=True, kw_only=True):
    """What is remembered of one role."""

    recommended: tuple[Recommended, ...] = ()
    """Oldest first, at most `HISTORY`."""
    demanded: tuple[Demanded, ...] = ()
    """Oldest first, at most `HISTORY`."""
    filter: Filter | None = None
    grown_at: datetime | None = None
    """When it last grew by a commit that asked for something new."""
    grown_from: int | None = None
    """Its count before that growth: every ordinal from here up was added (decisions D36)."""


class Commit(Plain, frozen=True, kw_only=True):
    """The last write of counts."""

    decision_id: str
    term: int
    vector: Vector
    baseline: Vector
    at: datetime
    target_generation: int
    """Generation of the target after the write; a later one is somebody else's."""


class Cohort(Plain, frozen=True, kw_only=True):
    """Growth of which not every replica is admitted."""

    decision_id: str
    term: int
    baseline: Vector
    target: Vector
    started_at: datetime


class Rebalance(Plain, frozen=True, kw_only=True):
    """A move of capacity, or why there is none; an episode of exhaustion lasts as long as this does."""

    reason: RebalanceReason | ScalerReason
    episode: int
    """Which episode of exhaustion this is, from 1 up."""
    receiver: str | None = None
    donor: str | None = None
    donor_replicas: int | None = None
    """What the donor is left with."""
    receiver_replicas: int | None = None
    """What the receiver will have."""
    started_at: datetime | None = None
    attempted: bool = False
    """Whether the episode has used its one donation by priority."""


class ScaleDown(Plain, frozen=True, kw_only=True):
    """The last replica that was taken away."""

    role: str
    ordinal: int
    before: Vector
    """Restored when the retirement is aborted."""
    outcome: Outcome
    aborted_at: datetime | None = None
    cooldown_until: datetime | None = None


class Exhaustion(Plain, frozen=True, kw_only=True):
    """Roles whose growth was rolled back, and until when they may not grow above where they were (decisions D41)."""

    roles: tuple[str, ...]
    baseline: Vector
    until: datetime
    rollbacks: int
    """Rollbacks in a row."""


class Memory(Plain, frozen=True, kw_only=True):
    """Everything that planning remembers."""

    roles: dict[str, RoleMemory] = msgspec.field(default_factory=dict)
    last_commit: Commit | None = None
    cohort: Cohort | None = None
    rebalance: Rebalance | None = None
    last_scale_down: ScaleDown | None = None
    exhaustion: Exhaustion | None = None
    policy_generation: int = 0
    """Generation of the scaler's spec of the last pass; another one is an edit."""
    target_generation: int = 0
    """Generation of the target of the last pass, or that a commit expects; a later one is somebody else's edit."""
