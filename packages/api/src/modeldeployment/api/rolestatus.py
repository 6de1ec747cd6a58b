"""What status says of one role: how many replicas, what parallelism they declare, and which of them are served from.

Sources: facts api-modeldeployment §3, facts status §2, §5 and §6.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from modeldeployment.api.document import ATOMIC, Document, Int32, absent, words


class LoadBalance(StrEnum):
    """Who spreads requests over data-parallel ranks."""

    INTERNAL = "Internal"
    EXTERNAL = "External"
    HYBRID = "Hybrid"
    MULTI_PORT = "MultiPort"
    UNKNOWN = "Unknown"


class SourceKind(StrEnum):
    """Where declared parallelism was read."""

    EXTRA_ARGS = "ExtraArgs"
    COMMAND = "Command"
    UNMANAGED_COMMAND = "UnmanagedCommand"
    UNKNOWN = "Unknown"


class DeclaredDegrees(Document):
    """Degrees the role's own arguments declare; one that they do not is left out."""

    tensor_parallel: Int32 | None = None
    """Tensor parallelism."""
    pipeline_parallel: Int32 | None = None
    """Pipeline parallelism."""
    data_parallel: Int32 | None = None
    """Data parallelism."""
    data_parallel_local: Int32 | None = None
    """Data-parallel ranks in one member; 0 is a value."""
    prefill_context_parallel: Int32 | None = None
    """Context parallelism of prefill."""
    decode_context_parallel: Int32 | None = None
    """Context parallelism of decode."""
    expert_parallel: Int32 | None = None
    """Expert parallelism."""
    attention_context_parallel: Int32 | None = None
    """Context parallelism of attention."""
    moe_dp_size: Int32 | None = None
    """Data parallelism of experts."""
    dwdp_size: Int32 | None = None
    """Distributed weight data parallelism."""


class ParallelismSource(Document):
    """Where the degrees were read and how far that can be trusted."""

    kind: Annotated[str, words(SourceKind)]
    """Where they were read; Unknown when they could not be."""
    complete: bool
    """Whether everything that sets a degree was read."""
    unreadable_reason: str | None = None
    """What could not be read, by flag and value."""


class Parallelism(Document):
    """The parallelism a role declares."""

    declared: DeclaredDegrees = Field(default_factory=DeclaredDegrees)
    """Degrees declared."""
    modes: Annotated[dict[str, bool], Field(exclude_if=absent)] = Field(default_factory=dict)
    """Modes the arguments switch; one that is left out is not switched off, it is not said."""
    load_balance: Annotated[str, words(LoadBalance)] | None = None
    """Who spreads requests over data-parallel ranks."""
    source: ParallelismSource
    """Where this was read."""


class ServingState(StrEnum):
    """What the routers' own views say together."""

    CONFIRMED = "Confirmed"
    NOT_CONVERGED = "NotConverged"
    UNKNOWN = "Unknown"
    NOT_CONFIGURED = "NotConfigured"


class Serving(Document):
    """HTTP endpoints the routers send requests to."""

    state: Annotated[str, words(ServingState)]
    """Confirmed when every router's view is fresh and they agree; NotConfigured without a router."""
    value: Int32 | None = None
    """How many; given only when confirmed, and 0 is a value."""


class RoleEndpoints(Document):
    """Which replicas may be, and which are, sent requests."""

    eligible: Int32 | None = None
    """Replicas that qualify; left out while that was not observed, and 0 is an observation."""
    serving: Serving | None = None
    """Endpoints the routers send requests to."""


class RoleStatus(Document):
    """Counts of one role, in replicas and never in Pods."""

    name: Annotated[str, Field(max_length=63)]
    """Name of the role."""
    kind: Annotated[str, Field(max_length=63)]
    """Effective kind."""
    desired: Int32
    """Replicas declared."""
    ready: Int32
    """Replicas with all members present and ready."""
    quota_reserved: Int32
    """Replicas that hold a quota reservation."""
    unmanaged: bool
    """Whether the role replaced its command line."""
    assigned_flavors: Annotated[tuple[str, ...], Field(exclude_if=absent), ATOMIC] = ()
    """Accelerator flavors the replicas were assigned, sorted; left out when there is none."""
    parallelism: Parallelism | None = None
    """The parallelism the role declares."""
    endpoints: RoleEndpoints | None = None
    """Which replicas may be, and which are, sent requests."""
