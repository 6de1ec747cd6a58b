"""The vocabulary of ModelDeployment: kinds, keys, names, conditions and CRDs.

A user writes a `ModelDeployment` whose roles name an `InstanceType`; both are models here, and `crds` holds their
schema for the API server. What is rendered from them carries `keys` and is called by `names`; what is observed
of it is told in the words of `conditions`. `kueue` holds the words we share with Kueue.
"""

from modeldeployment.api import conditions, crds, keys, kueue, names
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
from modeldeployment.api.metadata import LocalObjectReference, ObjectMeta
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
from modeldeployment.api.rolestatus import RoleStatus
from modeldeployment.api.status import Domain, KVCacheStatus, ModelDeploymentStatus

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
    # what both are made of
    "Document",
    "ObjectMeta",
    "LocalObjectReference",
    "Quantity",
    "Format",
    # their schema
    "crds",
    # what rendered objects carry and are called
    "keys",
    "names",
    # what is told of them
    "ModelDeploymentStatus",
    "RoleStatus",
    "KVCacheStatus",
    "Domain",
    "Condition",
    "conditions",
    "Phase",
    "ConditionType",
    "ConditionStatus",
    "Reason",
    "RefusalReason",
    "REASONS",
    "EventReason",
    # the words shared with Kueue
    "kueue",
]
