"""`status` of a ModelDeployment, rebuilt from observation on every pass.

Words that a later release may add to (phase, kind, condition type, reason) are plain strings here, so that an older
operator reads what a newer one wrote; `api.conditions` holds the words of this release.
Sources: facts api-modeldeployment §3, facts status §1 to §4.
"""

from typing import Annotated

from pydantic import Field

from modeldeployment.api.conditions import ConditionStatus
from modeldeployment.api.document import ATOMIC, Document, Int32, Int64, Timestamp, absent, list_map


class Condition(Document):
    """One observed aspect of the object."""

    type: Annotated[str, Field(max_length=316)]
    """Which aspect."""
    status: ConditionStatus
    """Whether it holds."""
    reason: Annotated[str, Field(max_length=1024)] = ""
    """Word for programs."""
    message: Annotated[str, Field(max_length=32768)] = ""
    """Sentence for people."""
    last_transition_time: Timestamp | None = None
    """When the status last changed."""
    observed_generation: Int64 | None = None
    """Generation of the object the observation is about."""


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


class Domain(Document):
    """The reuse domain a deployment is attached to, as its binding declares it."""

    name: Annotated[str, Field(max_length=63)]
    """Name of the domain."""
    block_size: Int32
    """Tokens per block."""
    dtype: str
    """Element type of the blocks."""


class KVCacheStatus(Document):
    """The cache last resolved; left out until the binding resolved once."""

    binding: str
    """KVCachePoolBinding of this namespace."""
    pool: str
    """Pool it grants."""
    domain: Domain
    """Reuse domain it declares."""


class ModelDeploymentStatus(Document):
    """What the operator observed."""

    phase: str | None = None
    """Starting, Ready, Degraded or Deleting."""
    phase_message: str | None = None
    """Why the phase is what it is."""
    conditions: Annotated[tuple[Condition, ...], Field(exclude_if=absent), list_map("type")] = ()
    """Independent aspects, each recomputed on every pass."""
    endpoint: Annotated[str, Field(max_length=512)] | None = None
    """Address of the deployment inside the cluster."""
    roles: Annotated[tuple[RoleStatus, ...], Field(exclude_if=absent), list_map("name")] = ()
    """One entry per declared role."""
    kv_cache: KVCacheStatus | None = None
    """The shared cache the replicas are attached to."""
    role_summary: str | None = None
    """Ready replicas by kind, for example 2S."""

    def condition(self, type_: str) -> Condition | None:
        """Return the condition of one type, or None when it was never observed."""
        return next((condition for condition in self.conditions if condition.type == type_), None)
