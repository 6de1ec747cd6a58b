"""A fleet: equal nodes under one name, as plain data."""

import dataclasses
import json
import re
from dataclasses import dataclass
from typing import Any, Final

from modeldeployment.render.makers import MAKERS

from .errors import FleetRefused
from .hardware import GENERIC, default_model, default_runtime_versions

_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?")
_MODEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,18}[a-z0-9])?")
_TYPE_NAME_LENGTH: Final = 63
_RANGES: Final = (
    ("nodes", 1, 5000),
    ("rdma", 0, 64),
    ("efa", 0, 64),
    ("slices", 0, 128),
    ("nodes_per_rack", 1, 1000),
    ("cpu", 1, 1024),
    ("memory_gib", 1, 16384),
    ("pods", 1, 5000),
)


@dataclass(frozen=True, slots=True)
class Partition:
    """One hardware partition profile: how many one card holds, and the memory of each in MiB."""

    profile: str
    count: int
    memory_mib: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Equal fake nodes of one maker and model; `cards`, `rdma`, `efa`, `cpu`, `memory_gib` and `pods` are per node.

    `slices` is how many logical slices one card can be cut into, 0 for none; `partitions` what it can be divided into.
    Empty `name`, `model`, `instance_type`, `unit_cpu`, `unit_ram` and `runtime_versions` are filled in from the rest.
    `maker` is one of the nine, or `generic` for nodes without accelerators. Racks go round the zones in turn, so
    a fleet that grows moves none of its nodes. Fleets that share an `instance_type` form one pool and one quota.
    Raises FleetRefused.
    """

    maker: str
    nodes: int
    name: str = ""
    model: str = ""
    cards: int = 8
    rdma: int = 0
    efa: int = 0
    slices: int = 0
    partitions: tuple[Partition, ...] = ()
    region: str = "lab"
    zones: tuple[str, ...] = ("z1",)
    nodes_per_rack: int = 4
    cpu: int = 64
    memory_gib: int = 512
    pods: int = 110
    os: str = "linux"
    arch: str = "amd64"
    instance_type: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    unit_cpu: str = ""
    unit_ram: str = ""
    local_storage: str = "100Gi"
    runtime_versions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Fill in what follows from the rest, then refuse what cannot be made."""
        self._check_maker()
        filled = {
            "model": default_model(self.maker),
            "cards": 0 if not self.accelerated else self.cards,
            "unit_cpu": "4" if self.accelerated else "1",
            "unit_ram": "16Gi" if self.accelerated else "2Gi",
            "runtime_versions": default_runtime_versions(self.maker),
        }
        for field, value in filled.items():
            if field == "cards" or not getattr(self, field):
                object.__setattr__(self, field, value)
        if not self.name:
            object.__setattr__(self, "name", self.hardware)
        if not self.instance_type:
            object.__setattr__(self, "instance_type", f"gpustack-{self.hardware}-{self.os}-{self.arch}")
        self._check_rest()

    @property
    def accelerated(self) -> bool:
        """Whether its nodes carry accelerators."""
        return self.maker != GENERIC

    @property
    def hardware(self) -> str:
        """The pool key of its hardware: `nvidia-a10g`, or `generic` (facts api-dependencies §1)."""
        return f"{self.maker}-{self.model}" if self.accelerated else GENERIC

    @property
    def shape(self) -> str:
        """The part of its flavor's name that tells nodes of one type apart: `8d` or `64c` (facts §2)."""
        return f"{self.cards}d" if self.accelerated else f"{self.cpu}c"

    def _check_maker(self) -> None:
        if self.maker != GENERIC and self.maker not in MAKERS:
            known = ", ".join(sorted(MAKERS))
            raise FleetRefused(f"maker {self.maker!r} is unknown; the makers are {known}, and {GENERIC} has no cards")

    def _check_rest(self) -> None:
        ranges = (*_RANGES, ("cards", 1, 16)) if self.accelerated else _RANGES
        for field, low, high in ranges:
            value = getattr(self, field)
            if not low <= value <= high:
                shown = field.replace("_", "-")
                raise FleetRefused(f"{shown} is {value}; a fleet takes {low} to {high}")
        if self.accelerated and not _MODEL.fullmatch(self.model):
            raise FleetRefused(f"model {self.model!r} cannot be part of a name; use up to 20 of a-z, 0-9 and '-'")
        if self.partitions and not (self.accelerated and MAKERS[self.maker].partition):
            able = ", ".join(sorted(name for name, maker in MAKERS.items() if maker.partition))
            raise FleetRefused(f"cards of {self.maker} cannot be partitioned; those of {able} can")
        if not _NAME.fullmatch(self.name):
            raise FleetRefused(f"name {self.name!r} cannot begin a Node's name; use up to 50 of a-z, 0-9 and '-'")
        if not self.zones or not all(_NAME.fullmatch(zone) for zone in self.zones):
            raise FleetRefused(f"zones {','.join(self.zones)!r} need at least one name made of a-z, 0-9 and '-'")
        if len(self.instance_type) > _TYPE_NAME_LENGTH:
            raise FleetRefused(f"instance-type {self.instance_type!r} is longer than {_TYPE_NAME_LENGTH} characters")


def encode(fleet: Fleet) -> str:
    """Return the fleet as canonical JSON without its number of nodes, so that growing it changes no node."""
    shape = dataclasses.asdict(fleet)
    del shape["nodes"]
    return json.dumps(shape, sort_keys=True, separators=(",", ":"))


def decode(text: str, nodes: int) -> Fleet:
    """Return the fleet that `encode` wrote; fields this release does not know are ignored."""
    known = {field.name for field in dataclasses.fields(Fleet)}
    shape: dict[str, Any] = {key: value for key, value in json.loads(text).items() if key in known}
    for field in ("zones", "runtime_versions"):
        shape[field] = tuple(shape[field])
    shape["partitions"] = tuple(Partition(**each) for each in shape.get("partitions", ()))
    shape["labels"] = tuple((key, value) for key, value in shape["labels"])
    return Fleet(nodes=nodes, **shape)
