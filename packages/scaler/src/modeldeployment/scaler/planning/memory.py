"""What planning remembers from pass to pass; status keeps it, so that it outlives the process.

Sources: spec 3 §Status, facts api-scaler §5, decisions D12, D15, D36 to D42.
"""

import msgspec

from modeldeployment.api import Quantity
from modeldeployment.api.scalerstatus import Outcome
from modeldeployment.scaler.planning.plain import Count, Instant, Plain, Vector
from modeldeployment.scaler.planning.words import RebalanceWord


class Recommended(Plain, frozen=True, kw_only=True):
    """What an algorithm said at an instant, before anything constrained it (decisions D38)."""

    at: Instant
    replicas: Count


class Demanded(Plain, frozen=True, kw_only=True):
    """Tokens per second that were asked for since the sample before."""

    at: Instant
    tokens_per_second: Quantity


class Filter(Plain, frozen=True, kw_only=True):
    """A local linear trend and how sure it is (decisions D15): the level in tokens per second, the trend per second."""

    level: float
    trend: float
    p00: float
    p01: float
    p10: float
    p11: float
    count: Count
    """Observations so far."""
    at: Instant
    """When the last of them was made."""


class RoleMemory(Plain, frozen=True, kw_only=True):
    """What is remembered of one role."""

    recommended: tuple[Recommended, ...] = ()
    """Oldest first, at most `HISTORY`."""
    demanded: tuple[Demanded, ...] = ()
    """Oldest first, at most `HISTORY`."""
    filter: Filter | None = None
    grown_at: Instant | None = None
    """When it last grew by a commit that asked for something new."""
    grown_from: Count | None = None
    """Its count before that growth: every ordinal from here up was added (decisions D36)."""


class Commit(Plain, frozen=True, kw_only=True):
    """The last write of counts."""

    decision_id: str
    term: Count
    vector: Vector
    baseline: Vector
    at: Instant
    target_generation: Count
    """Generation of the target after the write; a later one is somebody else's."""


class Cohort(Plain, frozen=True, kw_only=True):
    """Growth of which not every replica is admitted."""

    decision_id: str
    term: Count
    baseline: Vector
    target: Vector
    started_at: Instant


class Rebalance(Plain, frozen=True, kw_only=True):
    """A move of capacity, or why there is none; an episode of exhaustion lasts as long as this does."""

    reason: RebalanceWord
    episode: Count
    """Which episode of exhaustion this is, from 1 up."""
    receiver: str | None = None
    donor: str | None = None
    donor_replicas: Count | None = None
    """What the donor is left with."""
    receiver_replicas: Count | None = None
    """What the receiver will have."""
    started_at: Instant | None = None
    attempted: bool = False
    """Whether the episode has used its one donation by priority."""


class ScaleDown(Plain, frozen=True, kw_only=True):
    """The last replica that was taken away."""

    role: str
    ordinal: Count
    before: Vector
    """Restored when the retirement is aborted."""
    outcome: Outcome
    aborted_at: Instant | None = None
    cooldown_until: Instant | None = None


class Exhaustion(Plain, frozen=True, kw_only=True):
    """Roles whose growth was rolled back, and until when they may not grow above where they were (decisions D41)."""

    roles: tuple[str, ...]
    baseline: Vector
    until: Instant
    rollbacks: Count
    """Rollbacks in a row."""


class Memory(Plain, frozen=True, kw_only=True):
    """Everything that planning remembers."""

    roles: dict[str, RoleMemory] = msgspec.field(default_factory=dict)
    last_commit: Commit | None = None
    cohort: Cohort | None = None
    rebalance: Rebalance | None = None
    last_scale_down: ScaleDown | None = None
    exhaustion: Exhaustion | None = None
    policy_generation: Count = 0
    """Generation of the scaler's spec of the last pass; another one is an edit."""
    target_generation: Count = 0
    """Generation of the target of the last pass, or that a commit expects; a later one is somebody else's edit."""
