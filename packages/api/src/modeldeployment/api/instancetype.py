"""The InstanceType kind: a shape of capacity, one Kueue ClusterQueue of the same name, and what was observed of it.

Sources: facts api-dependencies §1, decisions D21, D27 and D29.
"""

from typing import Annotated, Final

from pydantic import Field

from modeldeployment.api.cel import Rule, fixed_amount, same_presence, same_value
from modeldeployment.api.document import ATOMIC, OPEN, Document, Int32, Int64, absent, guarding
from modeldeployment.api.keys import API_VERSION
from modeldeployment.api.metadata import ObjectMeta
from modeldeployment.api.quantity import Quantity

_WORD: Final = 253


def _fixed(name: str, holds: str, of: str = "") -> Rule:
    return Rule(
        code="MD201",
        kind="InstanceType",
        field=f"spec.{of}{name}",
        why="is fixed when the InstanceType is created, since queues and running replicas were sized by it",
        way_out="create another InstanceType",
        holds=holds,
        at=f".{name}",
    )


FIXED: Final = (
    *(_fixed(name, same_value(name, "''")) for name in ("acceleratorGroup", "generalGroup", "os", "arch")),
    _fixed("acceleratable", same_value("acceleratable", "false")),
    _fixed("unitResources", same_presence("unitResources")),
    _fixed("localStorage", fixed_amount("localStorage")),
)
FIXED_UNITS: Final = tuple(_fixed(name, fixed_amount(name), "unitResources.") for name in ("cpu", "ram"))
GROUP_NAMED: Final = Rule(
    code="MD202",
    kind="InstanceType",
    field="spec.acceleratorGroup",
    why="is empty on an acceleratable InstanceType",
    way_out="name the accelerator pool it draws on, for example nvidia-a10g",
    holds="!self.?acceleratable.orValue(false) || self.?acceleratorGroup.orValue('') != ''",
    at=".acceleratorGroup",
    reason="FieldValueRequired",
)


class UnitResources(Document):
    """CPU and memory that belong to one accelerator, or to one unit of a type without accelerators."""

    model_config = guarding(*FIXED_UNITS)

    cpu: Quantity | None = None
    """Cores; derived when unset."""
    ram: Quantity | None = None
    """Memory; derived when unset."""


class InstanceTypeSpec(Document):
    """The shape; only its names for people and `inactive` may change."""

    model_config = guarding(*FIXED, GROUP_NAMED)

    display_name: Annotated[str, Field(max_length=64)] | None = None
    """Name for people."""
    description: Annotated[str, Field(max_length=1024)] | None = None
    """Description for people."""
    inactive: bool = False
    """Whether the queue is on hold; what runs keeps running."""
    accelerator_group: Annotated[str, Field(max_length=_WORD)] | None = None
    """Accelerator pool, for example nvidia-a10g; required when acceleratable."""
    general_group: Annotated[str, Field(max_length=_WORD)] = "generic"
    """CPU pool."""
    acceleratable: bool = False
    """Whether Pods of this type may request accelerators."""
    os: Annotated[str, Field(max_length=_WORD)]
    """Operating system of the nodes."""
    arch: Annotated[str, Field(max_length=_WORD)]
    """Architecture of the nodes."""
    unit_resources: UnitResources | None = None
    """CPU and memory per accelerator, or per unit."""
    local_storage: Quantity | None = None
    """Ephemeral storage a Pod may use; 100Gi when unset."""


class LogicalSlices(Document):
    """Logical slicing; offered when `count` is above zero."""

    cores_percentage_overcommit: Int32 | None = None
    """How far the sum of core shares may exceed one accelerator, in percent."""
    count: Int32 = 0
    """Slices one accelerator can be cut into."""


class PartitionProfile(Document):
    """One hardware partition profile."""

    name: str
    """Name of the profile, for example 3g.40gb."""
    count: Int32 = 0
    """Partitions of this profile one accelerator holds."""
    memory_mib: Int64 = 0
    """Accelerator memory of one partition, in MiB."""


class PhysicalPartitions(Document):
    """Hardware partitioning; offered when `count` is above zero."""

    profiles: Annotated[tuple[PartitionProfile, ...], Field(exclude_if=absent), ATOMIC] = ()
    """Profiles offered; a static catalogue, not what is free."""
    count: Int32 = 0
    """Partitions one accelerator can hold."""


class SlicedDetail(Document):
    """Ways in which one accelerator can be shared."""

    logical: LogicalSlices = Field(default_factory=LogicalSlices)
    """Logical slicing."""
    physical: PhysicalPartitions = Field(default_factory=PhysicalPartitions)
    """Hardware partitioning."""


class Detail(Document):
    """Hardware observed on the pool's nodes."""

    model_config = OPEN

    manufacturer: str = ""
    """Manufacturer of the accelerator; empty until observed."""
    product: str = ""
    """Product of the accelerator."""
    family: str = ""
    """Family of the accelerator, in the detector's spelling."""
    memory: Quantity | None = None
    """Memory of one accelerator."""
    cores: Quantity | None = None
    """Cores of one accelerator."""
    compute_capability: str = ""
    """Compute capability of the accelerator."""
    runtime_versions: Annotated[tuple[str, ...], Field(exclude_if=absent), ATOMIC] = ()
    """Distinct runtime versions the nodes report, sorted; empty until observed."""
    sliced_detail: SlicedDetail = Field(default_factory=SlicedDetail)
    """Ways in which one accelerator can be shared."""


class Capacity(Document):
    """Amounts of one resource in the pool."""

    once_max_request: Quantity | None = None
    """Most that one Pod can get."""
    remaining: Quantity | None = None
    """What is free."""
    capacity: Quantity | None = None
    """What the pool holds in total."""


class ProfileCount(Document):
    """How many partitions of one profile."""

    name: str
    """Name of the profile."""
    count: Int32 = 0
    """Partitions."""


class PartitionedCapacity(Capacity):
    """Amounts of hardware partitions in the pool."""

    allocated_profiles: Annotated[tuple[ProfileCount, ...], Field(exclude_if=absent), ATOMIC] = ()
    """Partitions in use."""
    remaining_profiles: Annotated[tuple[ProfileCount, ...], Field(exclude_if=absent), ATOMIC] = ()
    """Partitions free."""


class InstanceTypeStatus(Document):
    """What was observed of the pool."""

    model_config = OPEN

    phase: str | None = None
    """Summary."""
    phase_message: str | None = None
    """Why the summary is what it is."""
    entrance: str = ""
    """LocalQueue through which a Pod enters; empty until it exists."""
    detail: Detail = Field(default_factory=Detail)
    """Hardware observed."""
    accelerator: Capacity | None = None
    """Whole accelerators."""
    accelerator_shared: Capacity | None = None
    """Shared accelerators."""
    accelerator_sliced: Capacity | None = None
    """Logical slices."""
    accelerator_partitioned: PartitionedCapacity | None = None
    """Hardware partitions."""
    cpu: Capacity | None = None
    """CPU."""


class InstanceType(Document):
    """A shape of capacity that roles name; its ClusterQueue has the same name."""

    api_version: str = API_VERSION
    kind: str = "InstanceType"
    metadata: ObjectMeta = Field(default_factory=ObjectMeta)
    spec: InstanceTypeSpec
    """The shape."""
    status: InstanceTypeStatus = Field(default_factory=InstanceTypeStatus)
    """What was observed of the pool."""

    @property
    def acceleratable(self) -> bool:
        """Whether Pods of this type may request accelerators."""
        return self.spec.acceleratable

    @property
    def entrance(self) -> str:
        """LocalQueue through which a Pod enters; empty until it exists (decisions D27)."""
        return self.status.entrance

    @property
    def observed(self) -> bool:
        """Whether the hardware was observed; until then nothing is known of what the type offers."""
        return bool(self.status.detail.manufacturer)

    @property
    def unit_cpu(self) -> Quantity:
        """Cores per accelerator or unit, derived when the spec names none."""
        stated = self.spec.unit_resources and self.spec.unit_resources.cpu
        return stated or Quantity.parse("4" if self.acceleratable else "1")

    @property
    def unit_ram(self) -> Quantity:
        """Memory per accelerator or unit, derived when the spec names none."""
        stated = self.spec.unit_resources and self.spec.unit_resources.ram
        return stated or Quantity.parse("16Gi" if self.acceleratable else "2Gi")

    @property
    def local_storage(self) -> Quantity:
        """Ephemeral storage a Pod may use, derived when the spec names none."""
        return self.spec.local_storage or Quantity.parse("100Gi")
