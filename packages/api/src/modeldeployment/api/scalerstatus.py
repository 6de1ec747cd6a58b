"""`status` of a ModelDeploymentScaler: what was observed, recommended and done, and what planning resumes from.

Source: spec 3 §Status, facts api-scaler §5.
"""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from modeldeployment.api.condition import Condition
from modeldeployment.api.document import ATOMIC, Document, Int32, Int64, Timestamp, absent, list_map, words
from modeldeployment.api.quantity import Quantity

HISTORY: Final = 256
"""Entries a history keeps."""

Name = Annotated[str, Field(max_length=63)]
Vector = dict[str, Int32]
"""Replicas by role."""


class SignalState(StrEnum):
    """What a role's readings are worth."""

    FRESH = "Fresh"
    IDLE = "Idle"
    MISSING = "Missing"
    STALE = "Stale"


class Outcome(StrEnum):
    """How a removal went."""

    COMMITTED = "Committed"
    ABORTED = "Aborted"


class BindingStatus(Document):
    """The deployment planned for."""

    target_uid: Annotated[str, Field(alias="targetUID")]
    """UID of the target; tells a replacement of the same name apart."""
    target_name: str
    """Name of the target."""
    term: Int64 | None = None
    """Term of the binding; a Shadow scaler may have none."""


class Recommendation(Document):
    """One recommendation of a role."""

    timestamp: Timestamp
    """When it was made."""
    replicas: Int32
    """Replicas recommended."""


class ScaledRoleStatus(Document):
    """One role: what was read, what is recommended and why."""

    name: Name
    """Name of the role."""
    current_replicas: Int32 = 0
    """Replicas declared on the target."""
    ready_replicas: Int32 = 0
    """Replicas that serve."""
    signal_state: Annotated[str, words(SignalState)] | None = None
    """Fresh, Idle (read, and without work), Missing or Stale."""
    prompt_tokens_per_second: Quantity | None = None
    """Prompt tokens per second that no prefix cache answered."""
    generation_tokens_per_second: Quantity | None = None
    """Tokens generated per second."""
    running_requests: Int32 | None = None
    """Requests running."""
    waiting_requests: Int32 | None = None
    """Requests waiting."""
    kv_cache_usage: Quantity | None = None
    """Mean of the used fractions of the engines' caches."""
    ttft_milliseconds: Quantity | None = None
    """Time to first token, 95th percentile."""
    itl_milliseconds: Quantity | None = None
    """Time between tokens, 95th percentile."""
    raw_recommended_replicas: Int32 | None = None
    """What the algorithm recommends."""
    constrained_replicas: Int32 | None = None
    """What is left of it after bounds, ratios, pacing and guards."""
    reason: str | None = None
    """Word that explains the recommendation, or names the constraint that changed it."""
    last_scale_up_time: Timestamp | None = None
    """When the role last grew."""
    last_scale_up_from: Int32 | None = None
    """Replicas before it last grew."""
    stabilization_history: Annotated[
        tuple[Recommendation, ...], Field(max_length=HISTORY, exclude_if=absent), ATOMIC
    ] = ()
    """Recommendations stabilization looks back on."""


class Commit(Document):
    """The last write of counts."""

    decision_id: Annotated[str, Field(alias="decisionID")]
    """Which decision."""
    term: Int64
    """Term it was written under."""
    vector: Vector
    """Replicas by role that were written."""
    baseline_vector: Vector
    """Replicas by role from before."""
    timestamp: Timestamp
    """When it was written."""
    target_generation: Int64
    """Generation the target has after the write."""


class Cohort(Document):
    """Growth that still waits for admission."""

    decision_id: Annotated[str, Field(alias="decisionID")]
    """Which decision."""
    term: Int64
    """Term it was written under."""
    baseline_vector: Vector
    """Replicas by role that are restored when admission times out."""
    target_vector: Vector
    """Replicas by role that were asked for."""
    started_at: Timestamp
    """When it was written."""


class RebalanceStatus(Document):
    """A move of capacity from one role to another."""

    receiver_role: Name | None = None
    """Role that takes."""
    donor_role: Name | None = None
    """Role that gives."""
    donor_target_replicas: Int32 | None = None
    """Replicas the donor is left with."""
    receiver_target_replicas: Int32 | None = None
    """Replicas the receiver will have."""
    started_at: Timestamp | None = None
    """When the move began."""
    exhaustion_episode_generation: Int64 | None = None
    """Which episode of exhaustion this is."""
    donation_attempted: bool = False
    """Whether the episode has used its one attempt."""
    reason: str | None = None
    """Word that says how far the move is, or why there is none."""


class ScaleDownStatus(Document):
    """The last replica taken away."""

    role: Name
    """Role it belonged to."""
    ordinal: Int32
    """Its ordinal, from 0."""
    pre_scale_down_vector: Vector
    """Replicas by role that are restored when retirement is aborted."""
    outcome: Annotated[str, words(Outcome)]
    """Committed while it retires and after, Aborted once it was restored."""
    aborted_at: Timestamp | None = None
    """When retirement was aborted."""
    cooldown_until: Timestamp | None = None
    """Until when nothing shrinks."""


class ExhaustionStatus(Document):
    """Growth that was rolled back for want of quota, and is not tried again at once (decisions D41)."""

    roles: Annotated[tuple[Name, ...], ATOMIC]
    """Roles that may not grow above the counts from before."""
    baseline_vector: Vector
    """Replicas by role from before."""
    until: Timestamp
    """Until when."""
    rollbacks: Int32
    """Rollbacks in a row."""


class Covariance(Document):
    """How sure the forecast is."""

    p00: Quantity
    """Variance of the level."""
    p01: Quantity
    """Covariance of level and trend."""
    p10: Quantity
    """Covariance of trend and level."""
    p11: Quantity
    """Variance of the trend."""


class Demand(Document):
    """One observation of demand."""

    timestamp: Timestamp
    """When it was made."""
    tokens_per_second: Quantity
    """Tokens asked for per second."""


class Predictor(Document):
    """What a role's forecast and windows resume from."""

    name: Name
    """Name of the role."""
    level: Quantity | None = None
    """Estimated demand in tokens per second."""
    trend: Quantity | None = None
    """Estimated change of demand per second."""
    covariance: Covariance | None = None
    """How sure both are."""
    sample_count: Int32 = 0
    """Observations so far."""
    observed_at: Timestamp | None = None
    """When the last of them was made."""
    history: Annotated[tuple[Demand, ...], Field(max_length=HISTORY, exclude_if=absent), ATOMIC] = ()
    """Recent observations."""


class ScalerStatus(Document):
    """What the operator observed, recommended and did."""

    observed_generation: Int64 | None = None
    """Generation of the scaler this is about."""
    binding: BindingStatus | None = None
    """The deployment planned for."""
    roles: Annotated[tuple[ScaledRoleStatus, ...], Field(exclude_if=absent), list_map("name")] = ()
    """One entry per scaled role."""
    last_commit: Commit | None = None
    """The last write of counts."""
    pending_cohort: Cohort | None = None
    """Growth that still waits for admission."""
    rebalance: RebalanceStatus | None = None
    """A move of capacity from one role to another."""
    last_scale_down: ScaleDownStatus | None = None
    """The last replica taken away."""
    exhaustion: ExhaustionStatus | None = None
    """Growth that found no quota, and waits before it is tried again."""
    predictors: Annotated[tuple[Predictor, ...], Field(exclude_if=absent), list_map("name")] = ()
    """What forecasts and windows resume from."""
    conditions: Annotated[tuple[Condition, ...], Field(exclude_if=absent), list_map("type")] = ()
    """Bound, Active, MetricsReady and Blocked."""

    def condition(self, type_: str) -> Condition | None:
        """Return the condition of one type, or None when it was never observed."""
        return next((condition for condition in self.conditions if condition.type == type_), None)
