"""What a pass found out of the weights that replicas load."""

from dataclasses import dataclass
from typing import TypeAlias

from modeldeployment.api import Reason


@dataclass(frozen=True, slots=True)
class NoArtifact:
    """The deployment names no artifact."""


@dataclass(frozen=True, slots=True)
class WeightsRefused:
    """The weights keep the deployment from being rendered; `reason` and `message` are the renderer's own."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Unbound:
    """A block: the claim that holds the weights is not bound, or is not there where `phase` is empty."""

    claim: str
    phase: str


@dataclass(frozen=True, slots=True)
class SharedByPods:
    """A block: the claim serves one Pod, and so many are declared."""

    claim: str
    pods: int


@dataclass(frozen=True, slots=True)
class SharedByNodes:
    """A block: the claim serves one node, and the declared Pods cannot share one."""

    claim: str
    platforms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Undelivered:
    """A block: the artifact says that no node can deliver it."""

    artifact: str


Block: TypeAlias = Unbound | SharedByPods | SharedByNodes | Undelivered


@dataclass(frozen=True, slots=True)
class WeightsBlocked:
    """No Pod can load the weights as things stand, so none is created."""

    reason: Reason
    block: Block


@dataclass(frozen=True, slots=True)
class WeightsMaterializing:
    """The artifact says that nodes are fetching it."""

    artifact: str


@dataclass(frozen=True, slots=True)
class MaterializationFailed:
    """The artifact says that a node could not fetch it."""

    artifact: str


@dataclass(frozen=True, slots=True)
class WeightsMounted:
    """A replica has loaded its weights from a volume."""


@dataclass(frozen=True, slots=True)
class WeightsNotMounted:
    """No replica has loaded the weights that a volume brings."""


@dataclass(frozen=True, slots=True)
class WeightsDownloaded:
    """A replica has downloaded its weights and loaded them."""


@dataclass(frozen=True, slots=True)
class WeightsDownloading:
    """No replica has downloaded its weights yet."""
