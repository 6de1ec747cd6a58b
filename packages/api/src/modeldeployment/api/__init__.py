"""The vocabulary of ModelDeployment: kinds, keys, names, conditions and CRDs.

A user writes a `ModelDeployment` whose roles name an `InstanceType`, and which may name a `KVCachePoolBinding` (whose
`KVCachePool` is cut from a `KVCacheBackend`) and a `ModelArtifact`; a `ModelDeploymentScaler` moves its replica counts.
All are models here, and `crds` holds their schema for the API server. What is rendered from them carries `keys` and is
called by `names`; what is observed of it is told in the words of `conditions`. `kueue` holds the words we share with
Kueue.

Words and amounts are here at once; models, whose library is most of an import, when they are first asked for.
"""

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from modeldeployment.api import conditions, keys, kueue, names, scraping
from modeldeployment.api.choices import (
    Connector,
    EngineName,
    Protocol,
    PullPolicy,
    RoleKind,
    RouterName,
    TransferProtocol,
)
from modeldeployment.api.conditions import (
    REASONS,
    ConditionStatus,
    ConditionType,
    EventReason,
    Phase,
    Reason,
    RefusalReason,
)
from modeldeployment.api.quantity import Format, Quantity

if TYPE_CHECKING:
    from modeldeployment.api import crds, guards, reference, scalerconditions
    from modeldeployment.api.artifact import ModelArtifact
    from modeldeployment.api.binding import Binding, Decision
    from modeldeployment.api.condition import Condition
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
    from modeldeployment.api.kvcache import KVCacheBackend, KVCachePool, KVCachePoolBinding
    from modeldeployment.api.metadata import LocalObjectReference, NamedReference, ObjectMeta
    from modeldeployment.api.modeldeployment import (
        Engine,
        KVCache,
        KVTransfer,
        Model,
        ModelDeployment,
        ModelDeploymentSpec,
        Router,
    )
    from modeldeployment.api.retirement import Retirement, RetirementState
    from modeldeployment.api.roles import AdditionalVolume, ElasticEp, EnvVar, HostPath, Port, Resources, Role, Topology
    from modeldeployment.api.rolestatus import Parallelism, RoleEndpoints, RoleStatus
    from modeldeployment.api.routerstatus import RouterStatus
    from modeldeployment.api.scaler import ModelDeploymentScaler
    from modeldeployment.api.status import Domain, KVCacheStatus, ModelDeploymentStatus, ModelStatus

_LATER: Final = MappingProxyType(
    {
        "Condition": "condition",
        "Document": "document",
        "Capacity": "instancetype",
        "Detail": "instancetype",
        "InstanceType": "instancetype",
        "InstanceTypeSpec": "instancetype",
        "InstanceTypeStatus": "instancetype",
        "LogicalSlices": "instancetype",
        "PartitionProfile": "instancetype",
        "PhysicalPartitions": "instancetype",
        "SlicedDetail": "instancetype",
        "UnitResources": "instancetype",
        "LocalObjectReference": "metadata",
        "NamedReference": "metadata",
        "ObjectMeta": "metadata",
        "Engine": "modeldeployment",
        "KVCache": "modeldeployment",
        "KVTransfer": "modeldeployment",
        "Model": "modeldeployment",
        "ModelDeployment": "modeldeployment",
        "ModelDeploymentSpec": "modeldeployment",
        "Router": "modeldeployment",
        "Retirement": "retirement",
        "RetirementState": "retirement",
        "AdditionalVolume": "roles",
        "ElasticEp": "roles",
        "EnvVar": "roles",
        "HostPath": "roles",
        "Port": "roles",
        "Resources": "roles",
        "Role": "roles",
        "Topology": "roles",
        "Parallelism": "rolestatus",
        "RoleEndpoints": "rolestatus",
        "RoleStatus": "rolestatus",
        "RouterStatus": "routerstatus",
        "Domain": "status",
        "KVCacheStatus": "status",
        "ModelDeploymentStatus": "status",
        "ModelStatus": "status",
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
    "scraping",
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
    # Models cost ten times as much to import as the words, and a program reads few of them.
    if name in _LATER_MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
