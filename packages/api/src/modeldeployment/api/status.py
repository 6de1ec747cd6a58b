"""`status` of a ModelDeployment, rebuilt from observation on every pass.

Words that a later release may add to (phase, kind, condition type, reason, state) are plain strings here, so that an
older operator reads what a newer one wrote; `api.conditions` and the enumerations beside the models hold the words of
this release.
Sources: facts api-modeldeployment §3, facts status §1 to §8.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from modeldeployment.api.condition import Condition
from modeldeployment.api.document import Document, Int32, absent, list_map, words
from modeldeployment.api.retirement import Retirement
from modeldeployment.api.rolestatus import RoleStatus
from modeldeployment.api.routerstatus import RouterStatus


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


class Delivery(StrEnum):
    """How weights reach an engine."""

    PVC = "PVC"
    ENGINE = "Engine"
    NODE = "Node"
    IMAGE = "Image"


class ModelStatus(Document):
    """The artifact the replicas serve; left out without one, and until it is resolved."""

    artifact: str
    """ModelArtifact of this namespace."""
    revision: str | None = None
    """Commit it was resolved to."""
    manifest_digest: str | None = None
    """Digest of its list of files."""
    delivery: Annotated[str, words(Delivery)]
    """How its weights reach the engines."""


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
    router: RouterStatus | None = None
    """What the router was told; left out without one."""
    role_summary: str | None = None
    """Ready router Pods and replicas by kind, for example 1R3P4D."""
    model: ModelStatus | None = None
    """The artifact the replicas serve."""
    retirement: Retirement | None = None
    """The retirement under way; left out when there is none, and there is one at most."""

    def condition(self, type_: str) -> Condition | None:
        """Return the condition of one type, or None when it was never observed."""
        return next((condition for condition in self.conditions if condition.type == type_), None)
