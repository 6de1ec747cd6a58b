"""The KVCacheBackend kind: the store that holds a shared cache, run for us or already there.

Source: facts kv-cache §1, decisions D21.
"""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from modeldeployment.api.cel import Rule
from modeldeployment.api.choices import PullPolicy, StoreProtocol
from modeldeployment.api.condition import Condition
from modeldeployment.api.document import (
    ATOMIC,
    DEFAULTED,
    OPEN,
    Document,
    Int32,
    absent,
    guarded,
    guarding,
    list_map,
    words,
)
from modeldeployment.api.keys import API_VERSION
from modeldeployment.api.metadata import LocalObjectReference, ObjectMeta
from modeldeployment.api.quantity import Quantity
from modeldeployment.api.roles import EnvVar

MEMBERS: Final = 32

_KIND: Final = "KVCacheBackend"

ONE_CONNECTION: Final = Rule(
    code="MD203",
    kind=_KIND,
    field="spec.connection",
    why="says not exactly one of managed and external, so which store is meant is open",
    way_out="keep managed for a store that is run here, or external for one that runs already",
    holds="has(self.managed) != has(self.external)",
)
MEDIUM_FIXED: Final = Rule(
    code="MD204",
    kind=_KIND,
    field="spec.connection.managed.members[].medium",
    why="is fixed for a member's position, since blocks in one medium are not moved to another",
    way_out="add a member at the end of the list, and take members off the end only",
    holds="oldSelf.all(index, old, index >= self.size() || self[index].medium == old.medium)",
)


class BackendType(StrEnum):
    """Stores a backend can be."""

    MOONCAKE = "Mooncake"


class Transport(Document):
    """How blocks move."""

    protocol: StoreProtocol = StoreProtocol.AUTO
    """Transport; Auto is TCP."""


class MemberTransport(Document):
    """How blocks of one group of members move."""

    protocol: StoreProtocol | None = None
    """Transport of this group; unset takes the backend's."""


class ElectionBackend(StrEnum):
    """Where leaders agree on who leads."""

    KUBERNETES = "Kubernetes"
    NONE = "None"


class MemberAddressing(StrEnum):
    """How members find the leader."""

    SERVICE = "Service"
    LEASE = "Lease"


_Arguments = Annotated[tuple[str, ...], Field(exclude_if=absent), ATOMIC]
_Environment = Annotated[tuple[EnvVar, ...], Field(exclude_if=absent), list_map("name")]
_Image = Annotated[str, Field(max_length=512)]


class Leader(Document):
    """The store's master."""

    replicas: Annotated[Int32, Field(ge=1, le=5)] = 1
    """Masters, of which one leads."""
    election_backend: ElectionBackend = ElectionBackend.KUBERNETES
    """Where masters agree on who leads."""
    multi_tenancy: bool = True
    """Whether the master keeps a quota ledger by tenant."""
    member_addressing: MemberAddressing = MemberAddressing.SERVICE
    """How members find the leader."""
    extra_args: _Arguments = ()
    """Master arguments appended after the operator's."""
    extra_env: _Environment = ()
    """Environment of the master."""
    allocation_strategy: Annotated[str, Field(max_length=64)] | None = None
    """How the master chooses the member of a block, in the store's own word."""


class Medium(StrEnum):
    """What a member keeps blocks in."""

    DRAM = "DRAM"
    VRAM = "VRAM"


class Unlisted(Document):
    """A part of a member that whoever runs the store reads and nobody here does; kept as it is."""

    model_config = OPEN


class Member(Document):
    """One group of equal members; its position in the list is its identity."""

    node_selector: Annotated[dict[str, str], Field(exclude_if=absent)] = Field(default_factory=dict)
    """Labels of the nodes that carry a member each."""
    medium: Medium = Medium.DRAM
    """What blocks are kept in; frozen for the position."""
    capacity_per_member: Quantity | None = None
    """What one member gives to the store."""
    local_buffer_size: Quantity | None = None
    """Transfer buffer of one member."""
    image: _Image | None = None
    """Image of this group; unset takes the backend's."""
    transport: MemberTransport | None = None
    """How blocks of this group move."""
    fabric_interface_count: Annotated[Int32, Field(ge=1)] | None = None
    """Fabric interfaces of one member."""
    extra_args: _Arguments = ()
    """Member arguments appended after the operator's."""
    extra_env: _Environment = ()
    """Environment of a member."""
    host_paths: Annotated[tuple[Unlisted, ...], Field(exclude_if=absent), ATOMIC] = ()
    """Paths of the node a member mounts."""
    local_disks: Unlisted | None = None
    """Disks of the node a member spills to."""
    runtime_class_name: Annotated[str, Field(max_length=253)] | None = None
    """RuntimeClass of a member's Pod."""
    security_context: Unlisted | None = None
    """Security context of a member's container."""

    def protocol(self, backend: Transport) -> StoreProtocol:
        """The transport of this group: its own, else the backend's."""
        return (self.transport and self.transport.protocol) or backend.protocol


class ScaleIn(Document):
    """How members leave."""

    grace_period_seconds: Annotated[Int32, Field(ge=0, le=3600)] | None = None
    """Seconds a leaving member has to hand over."""


class Managed(Document):
    """A store that is run here."""

    leader: Annotated[Leader, DEFAULTED] = Field(default_factory=Leader)
    """The store's master."""
    members: Annotated[tuple[Member, ...], Field(min_length=1, max_length=MEMBERS), ATOMIC, guarded(MEDIUM_FIXED)]
    """Groups of members, in order; a group is known by its position."""
    scale_in: ScaleIn | None = None
    """How members leave."""


class EndpointName(StrEnum):
    """What an endpoint of a store is for."""

    CLIENT = "Client"
    ADMIN = "Admin"


class Endpoint(Document):
    """One address of a store."""

    name: Annotated[str, words(EndpointName)]
    """Client for blocks, Admin for metrics and quota."""
    address: Annotated[str, Field(max_length=259, pattern=r"^.+:[0-9]{1,5}$")]
    """Host and port."""


class External(Document):
    """A store that runs already."""

    endpoints: Annotated[tuple[Endpoint, ...], Field(min_length=1, max_length=2), list_map("name")]
    """Where it answers."""


class Connection(Document):
    """Where the store is: exactly one of the two."""

    model_config = guarding(ONE_CONNECTION)

    managed: Managed | None = None
    """A store that is run here."""
    external: External | None = None
    """A store that runs already."""


class KVCacheBackendSpec(Document):
    """What the administrator declares."""

    type: BackendType = BackendType.MOONCAKE
    """Which store."""
    image: _Image | None = None
    """Image of leader and members; unset takes the one the operator is set to."""
    image_pull_policy: PullPolicy | None = None
    """When the image is pulled; unset leaves Kubernetes' default."""
    image_pull_secrets: Annotated[
        tuple[LocalObjectReference, ...], Field(max_length=32, exclude_if=absent), ATOMIC
    ] = ()
    """Secrets to pull the image with."""
    connection: Connection
    """Where the store is."""
    transport: Annotated[Transport, DEFAULTED] = Field(default_factory=Transport)
    """How blocks move, where a group of members says nothing else."""

    @property
    def protocols(self) -> tuple[StoreProtocol, ...]:
        """The transport of each group of members, in order; the backend's own where the store runs elsewhere."""
        managed = self.connection.managed
        return (
            tuple(member.protocol(self.transport) for member in managed.members)
            if managed
            else (self.transport.protocol,)
        )


class BackendCapacity(Document):
    """What the store offers."""

    model_config = OPEN

    total: Quantity | None = None
    """What all members give together."""


class KVCacheBackendStatus(Document):
    """What was observed of the store."""

    model_config = OPEN

    phase: str | None = None
    """Summary."""
    phase_message: str | None = None
    """Why the summary is what it is."""
    conditions: Annotated[tuple[Condition, ...], Field(exclude_if=absent), list_map("type")] = ()
    """Independent aspects."""
    endpoints: Annotated[tuple[Endpoint, ...], Field(exclude_if=absent), list_map("name")] = ()
    """Where the store answers; left out until it does."""
    capacity: BackendCapacity | None = None
    """What the store offers."""


class KVCacheBackend(Document):
    """A store that holds KV blocks outside the engines."""

    api_version: str = API_VERSION
    kind: str = _KIND
    metadata: ObjectMeta = Field(default_factory=ObjectMeta)
    spec: KVCacheBackendSpec
    """What the administrator declares."""
    status: KVCacheBackendStatus = Field(default_factory=KVCacheBackendStatus)
    """What was observed of the store."""
