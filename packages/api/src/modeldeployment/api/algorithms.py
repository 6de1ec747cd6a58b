"""The three algorithms of a scaler and their parameters.

Sources: spec 3 §Algorithms, facts api-scaler §2.
"""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from modeldeployment.api.document import Document, Int32, Mark, absent, list_map
from modeldeployment.api.frozen import ROLES
from modeldeployment.api.quantity import Quantity
from modeldeployment.api.roles import ROLE_NAME

TOLERANCE: Final = "0.1"
PANIC_THRESHOLD: Final = "2"
TTFT_TARGET: Final = "500"
ITL_TARGET: Final = "50"
Q_LEVEL: Final = "1"
Q_TREND: Final = "0.1"
MEASUREMENT_NOISE: Final = "10"


class AlgorithmType(StrEnum):
    """How a recommendation is made."""

    PROPORTIONAL = "Proportional"
    TOKEN_THROUGHPUT = "TokenThroughput"  # noqa: S105 (tokens are what engines produce)
    PREDICTIVE = "Predictive"


class Metric(StrEnum):
    """What Proportional compares with a target per ready replica."""

    QUEUE_DEPTH = "QueueDepth"
    RUNNING_REQUESTS = "RunningRequests"
    WAITING_REQUESTS = "WaitingRequests"
    PROMPT_TOKENS_PER_SECOND = "PromptTokensPerSecond"
    GENERATION_TOKENS_PER_SECOND = "GenerationTokensPerSecond"
    TOTAL_TOKENS_PER_SECOND = "TotalTokensPerSecond"


class RoleTarget(Document):
    """What one ready replica of a role should carry."""

    name: Annotated[str, Field(min_length=1, max_length=63, pattern=ROLE_NAME)]
    """Scaled role."""
    target: Quantity
    """Load per ready replica, positive: requests, or tokens per second, as the metric says."""


class Proportional(Document):
    """One measurement over a fixed target per ready replica."""

    metric: Metric
    """What is measured."""
    tolerance: Annotated[Quantity, Mark(default=TOLERANCE)] = Quantity.parse(TOLERANCE)
    """Relative distance from the target that moves nothing; positive and at most 1."""
    role_targets: Annotated[tuple[RoleTarget, ...], Field(max_length=ROLES, exclude_if=absent), list_map("name")] = ()
    """Target of each scaled role that has no direct ratio to one that has."""


class TokenThroughput(Document):
    """Token rates over two windows, with panic on bursts and a latency guard."""

    prefill_target_tokens_per_second: Quantity | None = None
    """Prompt tokens per second one Prefill replica serves; needed when one is scaled."""
    decode_target_tokens_per_second: Quantity | None = None
    """Generation tokens per second one Decode replica serves; needed when one is scaled."""
    server_target_tokens_per_second: Quantity | None = None
    """Prompt and generation tokens per second one Server replica serves; needed when one is scaled."""
    stable_window_seconds: Annotated[Int32, Field(ge=30, le=600)] = 180
    """Seconds demand is averaged over."""
    panic_window_seconds: Annotated[Int32, Field(ge=10, le=300)] = 60
    """Seconds recent demand is averaged over; shorter than the stable window to see bursts sooner."""
    panic_threshold: Annotated[Quantity, Mark(default=PANIC_THRESHOLD)] = Quantity.parse(PANIC_THRESHOLD)
    """Recent demand, as a multiple of the ready replicas' capacity, from which there is panic; positive."""
    ttft_target_milliseconds: Annotated[Quantity, Mark(default=TTFT_TARGET)] = Quantity.parse(TTFT_TARGET)
    """Time to first token, 95th percentile, above which Prefill and Server roles are not shrunk; positive."""
    itl_target_milliseconds: Annotated[Quantity, Mark(default=ITL_TARGET)] = Quantity.parse(ITL_TARGET)
    """Time between tokens, 95th percentile, above which Decode and Server roles are not shrunk; positive."""


class Predictive(Document):
    """A forecast of token demand, never below what token throughput recommends."""

    token_throughput: TokenThroughput | None = None
    """What is recommended until the forecast is warm, and at least ever after; needed."""
    horizon_seconds: Annotated[Int32, Field(ge=30, le=600)] = 300
    """Seconds ahead demand is forecast."""
    prefill_token_capacity_per_replica: Quantity | None = None
    """Prompt tokens per second one Prefill replica is planned with; needed when one is scaled."""
    decode_token_capacity_per_replica: Quantity | None = None
    """Generation tokens per second one Decode replica is planned with; needed when one is scaled."""
    server_token_capacity_per_replica: Quantity | None = None
    """Prompt and generation tokens per second one Server replica is planned with; needed when one is scaled."""
    q_level: Annotated[Quantity, Mark(default=Q_LEVEL)] = Quantity.parse(Q_LEVEL)
    """Process noise of the demand's level; a value that is not positive reads as the default."""
    q_trend: Annotated[Quantity, Mark(default=Q_TREND)] = Quantity.parse(Q_TREND)
    """Process noise of the demand's trend; a value that is not positive reads as the default."""
    measurement_noise: Annotated[Quantity, Mark(default=MEASUREMENT_NOISE)] = Quantity.parse(MEASUREMENT_NOISE)
    """Noise of an observation; a value that is not positive reads as the default."""
    min_points: Annotated[Int32, Field(ge=1, le=64)] = 6
    """Observations before the forecast counts."""


class Algorithm(Document):
    """One algorithm and the one block of its parameters."""

    type: AlgorithmType | None = None
    """Which one; left out, admission writes what the block says: Proportional, Predictive, else TokenThroughput."""
    proportional: Proportional | None = None
    """Parameters of Proportional."""
    token_throughput: TokenThroughput | None = None
    """Parameters of TokenThroughput."""
    predictive: Predictive | None = None
    """Parameters of Predictive."""
