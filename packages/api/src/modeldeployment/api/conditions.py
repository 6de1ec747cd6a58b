"""Phases, conditions, their reasons and the reasons of events: the words status speaks.

`REASONS` says which reason may stand beside which condition at which status.
Sources: facts status §1, §10 and §11, facts api-dependencies §6, decisions D18, D19 and D27.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Phase(StrEnum):
    """`status.phase` of a ModelDeployment."""

    STARTING = "Starting"
    READY = "Ready"
    DEGRADED = "Degraded"
    DELETING = "Deleting"


class ConditionStatus(StrEnum):
    """`status` of any condition."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class ConditionType(StrEnum):
    """Conditions of a ModelDeployment; each is an axis of its own and is recomputed on every pass."""

    RENDERED = "Rendered"
    DOMAIN_REGISTERED = "DomainRegistered"
    WEIGHTS_READY = "WeightsReady"
    QUOTA_RESERVED = "QuotaReserved"
    REPLICAS_UP_TO_DATE = "ReplicasUpToDate"
    ROLE_KINDS_READY = "RoleKindsReady"
    CACHE_ATTACHED = "CacheAttached"
    KV_EVENTS_PUBLISHING = "KVEventsPublishing"
    ENDPOINT_ELIGIBILITY = "EndpointEligibility"
    ROUTER_READY = "RouterReady"
    ELASTIC_RESIZE = "ElasticResize"


class RefusalReason(StrEnum):
    """Why a deployment could not be rendered; the reason of a false `Rendered` condition (decisions D19)."""

    INSTANCE_TYPE_NOT_FOUND = "InstanceTypeNotFound"
    INSTANCE_TYPE_NOT_READY = "InstanceTypeNotReady"
    IMAGE_NOT_SYNTHESIZABLE = "ImageNotSynthesizable"
    RUNTIME_VERSION_NOT_OBSERVED = "RuntimeVersionNotObserved"
    ENGINE_VERSION_MISSING = "EngineVersionMissing"
    RESOURCES_NOT_OFFERED = "ResourcesNotOffered"
    RESOURCES_NOT_READY = "ResourcesNotReady"
    PORT_CONFLICT = "PortConflict"
    NAME_TOO_LONG = "NameTooLong"
    DEGREE_UNREADABLE = "DegreeUnreadable"
    ROLE_UNSUPPORTED = "RoleUnsupported"
    TRANSPORT_UNSUPPORTED = "TransportUnsupported"
    CACHE_PREFIX_INVALID = "CachePrefixInvalid"
    WEIGHTS_NOT_READY = "WeightsNotReady"
    ROUTER_PORTS_DIFFER = "RouterPortsDiffer"
    ROUTER_UNSUPPORTED = "RouterUnsupported"
    NOT_SUPPORTED = "NotSupported"


class Reason(StrEnum):
    """Reasons of every condition except a false `Rendered`, whose reasons are `RefusalReason`."""

    # Said by more than one condition.
    NOT_APPLICABLE = "NotApplicable"
    READY = "Ready"
    RENDER_FAILED = "RenderFailed"
    # Rendered
    RENDERED = "Rendered"
    # DomainRegistered
    REGISTERED = "Registered"
    BINDING_NOT_FOUND = "BindingNotFound"
    BINDING_NOT_READY = "BindingNotReady"
    BINDING_DELETING = "BindingDeleting"
    # WeightsReady
    MOUNTED = "Mounted"
    DOWNLOADED = "Downloaded"
    ARTIFACT_NOT_FOUND = "ArtifactNotFound"
    ARTIFACT_NOT_RESOLVED = "ArtifactNotResolved"
    CLAIM_NOT_BOUND = "ClaimNotBound"
    ACCESS_MODE_CONFLICT = "AccessModeConflict"
    NODE_DELIVERY_UNAVAILABLE = "NodeDeliveryUnavailable"
    FILTER_NEEDS_NODE_DELIVERY = "FilterNeedsNodeDelivery"
    ANCHOR_NEEDS_NODE_DELIVERY = "AnchorNeedsNodeDelivery"
    MATERIALIZING = "Materializing"
    MATERIALIZATION_FAILED = "MaterializationFailed"
    WEIGHTS_NOT_MOUNTED = "WeightsNotMounted"
    DOWNLOADING = "Downloading"
    # QuotaReserved
    RESERVED = "Reserved"
    PENDING = "Pending"
    POD_GROUP_INCOMPLETE = "PodGroupIncomplete"
    PREEMPTED_IN_PART = "PreemptedInPart"
    PARKED = "Parked"
    YIELDING = "Yielding"
    NO_QUEUE_IN_RESERVED_NAMESPACE = "NoQueueInReservedNamespace"
    ADMISSION_IN_FLIGHT = "AdmissionInFlight"
    NO_REPLICAS = "NoReplicas"
    ALL_REPLICAS_TERMINATING = "AllReplicasTerminating"
    # ReplicasUpToDate
    UP_TO_DATE = "UpToDate"
    ROLLOUT_IN_PROGRESS = "RolloutInProgress"
    REPLACEMENT_IN_PROGRESS = "ReplacementInProgress"
    ROLLOUT_HELD_BY_CACHE = "RolloutHeldByCache"
    ROLLOUT_HELD_BY_WEIGHTS = "RolloutHeldByWeights"
    ROLLOUT_NOT_OBSERVED = "RolloutNotObserved"
    # RoleKindsReady
    ALL_KINDS_READY = "AllKindsReady"
    KINDS_NOT_READY = "KindsNotReady"
    NO_ROLE_STATUSES = "NoRoleStatuses"
    # CacheAttached
    CACHE_ACTIVE = "CacheActive"
    CACHE_OPERATIONS_FAILING = "CacheOperationsFailing"
    UNMANAGED = "Unmanaged"
    NO_REPLICA_READY = "NoReplicaReady"
    NO_OBSERVATION_AVAILABLE = "NoObservationAvailable"
    # KVEventsPublishing
    PUBLISHING = "Publishing"
    PUBLISHER_DISABLED = "PublisherDisabled"
    NO_ROUTER = "NoRouter"
    ROLE_UNMANAGED = "RoleUnmanaged"
    # EndpointEligibility
    OBSERVED = "Observed"
    NOT_OBSERVED = "NotObserved"
    # RouterReady
    NO_READY_REPLICAS = "NoReadyReplicas"
    NOT_DEPLOYED = "NotDeployed"
    # ElasticResize
    NO_REFUSAL = "NoRefusal"
    SCALE_REFUSED = "ScaleRefused"
    WORLD_UNPROVABLE = "WorldUnprovable"


class EventReason(StrEnum):
    """Reasons of the Warning events recorded on a ModelDeployment."""

    REPLICA_EVICTED = "ReplicaEvicted"
    REPLICA_LEAVING = "ReplicaLeaving"
    REPLICA_RESTARTED = "ReplicaRestarted"
    RENDER_FAILED = "RenderFailed"
    RUNTIME_VERSION_SKEW = "RuntimeVersionSkew"
    REPLICA_NOT_CREATED = "ReplicaNotCreated"
    NAME_TAKEN = "NameTaken"
    OBJECT_REFUSED = "ObjectRefused"
    RETIREMENT_ABORTED = "RetirementAborted"
    RETIREMENT_HELD = "RetirementHeld"
    RETRY_REFUSED = "RetryRefused"


_T: Final = ConditionStatus.TRUE
_F: Final = ConditionStatus.FALSE
_U: Final = ConditionStatus.UNKNOWN

REASONS: Final[Mapping[ConditionType, Mapping[ConditionStatus, tuple[Reason | RefusalReason, ...]]]] = MappingProxyType(
    {
        ConditionType.RENDERED: {
            _T: (Reason.RENDERED,),
            _F: tuple(RefusalReason),
        },
        ConditionType.DOMAIN_REGISTERED: {
            _T: (Reason.REGISTERED, Reason.NOT_APPLICABLE),
            _F: (Reason.BINDING_NOT_FOUND, Reason.BINDING_NOT_READY, Reason.BINDING_DELETING),
        },
        ConditionType.WEIGHTS_READY: {
            _T: (Reason.NOT_APPLICABLE, Reason.MOUNTED, Reason.DOWNLOADED),
            _F: (
                Reason.ARTIFACT_NOT_FOUND,
                Reason.ARTIFACT_NOT_RESOLVED,
                Reason.CLAIM_NOT_BOUND,
                Reason.ACCESS_MODE_CONFLICT,
                Reason.NODE_DELIVERY_UNAVAILABLE,
                Reason.FILTER_NEEDS_NODE_DELIVERY,
                Reason.ANCHOR_NEEDS_NODE_DELIVERY,
                Reason.MATERIALIZING,
                Reason.MATERIALIZATION_FAILED,
                Reason.WEIGHTS_NOT_MOUNTED,
                Reason.DOWNLOADING,
            ),
        },
        ConditionType.QUOTA_RESERVED: {
            _T: (Reason.RESERVED,),
            _F: (
                Reason.PENDING,
                Reason.POD_GROUP_INCOMPLETE,
                Reason.PREEMPTED_IN_PART,
                Reason.PARKED,
                Reason.YIELDING,
                Reason.NO_QUEUE_IN_RESERVED_NAMESPACE,
            ),
            _U: (Reason.ADMISSION_IN_FLIGHT, Reason.NO_REPLICAS, Reason.ALL_REPLICAS_TERMINATING),
        },
        ConditionType.REPLICAS_UP_TO_DATE: {
            _T: (Reason.UP_TO_DATE,),
            _F: (
                Reason.ROLLOUT_IN_PROGRESS,
                Reason.REPLACEMENT_IN_PROGRESS,
                Reason.ROLLOUT_HELD_BY_CACHE,
                Reason.ROLLOUT_HELD_BY_WEIGHTS,
            ),
            _U: (Reason.ROLLOUT_NOT_OBSERVED,),
        },
        ConditionType.ROLE_KINDS_READY: {
            _T: (Reason.ALL_KINDS_READY,),
            _F: (Reason.KINDS_NOT_READY,),
            _U: (Reason.NO_ROLE_STATUSES,),
        },
        ConditionType.CACHE_ATTACHED: {
            _T: (Reason.NOT_APPLICABLE, Reason.CACHE_ACTIVE),
            _F: (Reason.CACHE_OPERATIONS_FAILING,),
            _U: (Reason.UNMANAGED, Reason.NO_REPLICA_READY, Reason.NO_OBSERVATION_AVAILABLE),
        },
        ConditionType.KV_EVENTS_PUBLISHING: {
            _T: (Reason.PUBLISHING, Reason.NOT_APPLICABLE),
            _F: (Reason.PUBLISHER_DISABLED, Reason.NO_ROUTER),
            _U: (Reason.ROLE_UNMANAGED,),
        },
        ConditionType.ENDPOINT_ELIGIBILITY: {
            _T: (Reason.OBSERVED,),
            _U: (Reason.NOT_OBSERVED,),
        },
        ConditionType.ROUTER_READY: {
            _T: (Reason.READY, Reason.NOT_APPLICABLE),
            _F: (Reason.RENDER_FAILED, Reason.NO_READY_REPLICAS),
            _U: (Reason.NOT_DEPLOYED,),
        },
        ConditionType.ELASTIC_RESIZE: {
            _T: (Reason.NO_REFUSAL,),
            _F: (Reason.SCALE_REFUSED,),
            _U: (Reason.WORLD_UNPROVABLE,),
        },
    }
)
