"""The vocabulary of ModelDeployment: kinds, keys, names, conditions and CRDs.

A user writes a `ModelDeployment` whose roles name an `InstanceType`, and which may name a `KVCachePoolBinding` (whose
`KVCachePool` is cut from a `KVCacheBackend`) and a `ModelArtifact`; a `ModelDeploymentScaler` moves its replica counts.
All are models here, and `crds` holds their schema for the API server. What is rendered from them carries `keys` and is
called by `names`; what is observed of it is told in the words of `conditions`. `kueue` holds the words we share with
Kueue.

What rendering does not read (scaler, cache, artifact, schemas) is imported when it is first asked for.
"""

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from modeldeployment.api import conditions, keys, kueue, names
from modeldeployment.api.condition import Condition
from modeldeployment.api.conditions import (
    REASONS,
    ConditionStatus,
    ConditionType,
    EventReason,
    Phase,
    Reason,
    RefusalReason,
)
from modeldeployment.api.document import Document
from modeldeployment.api.instancetype import (
    Capacity,
    Detail,
    InstanceType,
    InstanceTypeSpec,
    InstanceTypeStatus,
    LogicalSlices,
    PartitionProfile,
    PhysicalPartitions,
    SlicedDetail,
    UnitResources,
)
from modeldeployment.api.metadata import LocalObjectReference, NamedReference, ObjectMeta
from modeldeployment.api.modeldeployment import (
    Connector,
    Engine,
    EngineName,
    KVCache,
    KVTransfer,
    Model,
    ModelDeployment,
    ModelDeploymentSpec,
    Router,
    RouterName,
    TransferProtocol,
)
from modeldeployment.api.quantity import Format, Quantity
from modeldeployment.api.retirement import Retirement, RetirementState
from modeldeployment.api.roles import (
    AdditionalVolume,
    ElasticEp,
    EnvVar,
    HostPath,
    Port,
    Protocol,
    PullPolicy,
    Resources,
    Role,
    RoleKind,
    Topology,
)
from modeldeployment.api.rolestatus import Parallelism, RoleEndpoints, RoleStatus
from modeldeployment.api.routerstatus import RouterStatus
from modeldeployment.api.status import Domain, KVCacheStatus, ModelDeploymentStatus, ModelStatus

if TYPE_CHECKING:
    from modeldeployment.api import crds, guards, reference, scalerconditions
    from modeldeployment.api.artifact import ModelArtifact
    from modeldeployment.api.binding import Binding, Decision
    from modeldeployment.api.kvcache import KVCacheBackend, KVCachePool, KVCachePoolBinding
    from modeldeployment.api.scaler import ModelDeploymentScaler

_LATER: Final = MappingProxyType(
    {
        "ModelArtifact": "artifact",
        "Binding": "binding",
        "Decision": "binding",
        "KVCacheBackend": "kvcache",
        "KVCachePool": "kvcache",
        "KVCachePoolBinding": "kvcache",
        "ModelDeploymentScaler": "scaler",
    }
)
"""The module of each name that is imported when it is first asked for."""
_LATER_MODULES: Final = frozenset({"crds", "guards", "reference", "scalerconditions"})

__all__ = [  # noqa: RUF022 - a tour in causal order
    # what users write
    "ModelDeployment",
    "ModelDeploymentSpec",
    "Model",
    "Engine",
    "EngineName",
    "KVCache",
    "Connector",
    "Role",
    "RoleKind",
    "Resources",
    "PullPolicy",
    "Port",
    "Protocol",
    "AdditionalVolume",
    "HostPath",
    "EnvVar",
    "Topology",
    "ElasticEp",
    "Router",
    "RouterName",
    "KVTransfer",
    "TransferProtocol",
    # what roles stand on
    "InstanceType",
    "InstanceTypeSpec",
    "UnitResources",
    "InstanceTypeStatus",
    "Detail",
    "SlicedDetail",
    "LogicalSlices",
    "PhysicalPartitions",
    "PartitionProfile",
    "Capacity",
    # what a deployment may name
    "KVCachePoolBinding",
    "KVCachePool",
    "KVCacheBackend",
    "ModelArtifact",
    # what moves replica counts
    "ModelDeploymentScaler",
    "Binding",
    "Decision",
    # what all are made of
    "Document",
    "ObjectMeta",
    "LocalObjectReference",
    "NamedReference",
    "Quantity",
    "Format",
    # their schema, the rules in it, and its pages
    "crds",
    "guards",
    "reference",
    # what rendered objects carry and are called
    "keys",
    "names",
    # what is told of them
    "ModelDeploymentStatus",
    "RoleStatus",
    "Parallelism",
    "RoleEndpoints",
    "KVCacheStatus",
    "Domain",
    "RouterStatus",
    "ModelStatus",
    "Retirement",
    "RetirementState",
    "Condition",
    "conditions",
    "Phase",
    "ConditionType",
    "ConditionStatus",
    "Reason",
    "RefusalReason",
    "REASONS",
    "EventReason",
    "scalerconditions",
    # the words shared with Kueue
    "kueue",
]


def __getattr__(name: str) -> object:
    # A program that only renders does not pay for kinds it never reads; they are a third of this package's import.
    if name in _LATER_MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
