"""A pool: all fleets behind one InstanceType, whose sum is its quota."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from modeldeployment.lab.fleets.errors import PoolMismatch
from modeldeployment.lab.fleets.fleet import Fleet

_TYPE_FIELDS: Final = ("maker", "model", "os", "arch", "unit_cpu", "unit_ram", "local_storage", "slices", "partitions")


@dataclass(frozen=True, slots=True)
class Pool:
    """The fleets of one InstanceType, at least one, ordered by name; they agree on what belongs to the type."""

    fleets: tuple[Fleet, ...]

    @property
    def kind(self) -> Fleet:
        """The fleet that stands for all where they agree."""
        return self.fleets[0]

    @property
    def name(self) -> str:
        """The InstanceType's name, which is its ClusterQueue's too (facts api-dependencies §1)."""
        return self.kind.instance_type

    @property
    def cards(self) -> int:
        """Accelerators in the whole pool."""
        return sum(fleet.nodes * fleet.cards for fleet in self.fleets)

    @property
    def cores(self) -> int:
        """CPU cores in the whole pool."""
        return sum(fleet.nodes * fleet.cpu for fleet in self.fleets)

    @property
    def runtime_versions(self) -> tuple[str, ...]:
        """Distinct runtime versions the nodes report, sorted (decisions D29)."""
        return tuple(sorted({version for fleet in self.fleets for version in fleet.runtime_versions}))

    def shapes(self) -> dict[str, tuple[Fleet, ...]]:
        """Return the fleets by node shape, one flavor each, in the order of the shapes' names."""
        names = sorted({fleet.shape for fleet in self.fleets})
        return {name: tuple(fleet for fleet in self.fleets if fleet.shape == name) for name in names}


def pool_of(fleets: Iterable[Fleet]) -> Pool:
    """Return the pool of fleets that name one InstanceType; raises PoolMismatch where they disagree on the type."""
    ordered = tuple(sorted(fleets, key=lambda fleet: fleet.name))
    first = ordered[0]
    for other in ordered[1:]:
        for field in _TYPE_FIELDS:
            mine, theirs = getattr(first, field), getattr(other, field)
            if mine != theirs:
                raise PoolMismatch(
                    f"{field.replace('_', '-')} of fleet {other.name!r} is {theirs!r}, but {first.name!r} made "
                    f"InstanceType {first.instance_type!r} with {mine!r}; give one of them another instance type"
                )
    return Pool(ordered)
