"""What a pass found out, as types with numbers: conditions are compared by these, never by their sentences.

`deciding.sentences` makes the one sentence of each. Source: facts status §10.
"""

from dataclasses import dataclass
from typing import TypeAlias

from modeldeployment.api import ConditionType, Reason
from modeldeployment.reconcile.deciding.findings.cache import (
    AttachmentNotObserved,
    AttachmentUnmanaged,
    BindingDeleting,
    BindingNotFound,
    BindingNotReady,
    CacheActive,
    CacheOperationsFailing,
    NobodyToAttach,
    NoCache,
    NothingToAttach,
    Registered,
)
from modeldeployment.reconcile.deciding.findings.quota import (
    AdmissionInFlight,
    AllReplicasTerminating,
    NoClusterQueue,
    NoLocalQueue,
    NoQueueInReservedNamespace,
    NoReplicas,
    Parked,
    Pending,
    PodGroupIncomplete,
    PreemptedInPart,
    QueueUnchecked,
    Remark,
    Reserved,
    Yielding,
)
from modeldeployment.reconcile.deciding.findings.replicas import (
    AllKindsReady,
    EligibilityNotObserved,
    EligibilityObserved,
    Held,
    KindsNotReady,
    Rendered,
    RenderRefused,
    ReplacementInProgress,
    RolloutHeldByCache,
    RolloutHeldByWeights,
    RolloutInProgress,
    RolloutNotObserved,
    UpToDate,
)
from modeldeployment.reconcile.deciding.findings.routing import (
    NoEvents,
    NoRouterDeclared,
    NoRouterForEvents,
    ProducerUnmanaged,
    PublisherDisabled,
    Publishing,
    RouterNotDeployed,
    RouterNotServing,
    RouterRefused,
    RouterServes,
)
from modeldeployment.reconcile.deciding.findings.weights import (
    Block,
    MaterializationFailed,
    NoArtifact,
    SharedByNodes,
    SharedByPods,
    Unbound,
    Undelivered,
    WeightsBlocked,
    WeightsDownloaded,
    WeightsDownloading,
    WeightsMaterializing,
    WeightsMounted,
    WeightsNotMounted,
    WeightsRefused,
)

__all__ = [
    "CONDITIONS",
    "AdmissionInFlight",
    "AllKindsReady",
    "AllReplicasTerminating",
    "AttachmentNotObserved",
    "AttachmentUnmanaged",
    "BindingDeleting",
    "BindingNotFound",
    "BindingNotReady",
    "Block",
    "CacheActive",
    "CacheOperationsFailing",
    "EligibilityNotObserved",
    "EligibilityObserved",
    "Finding",
    "Held",
    "KindsNotReady",
    "MaterializationFailed",
    "NoArtifact",
    "NoCache",
    "NoClusterQueue",
    "NoEvents",
    "NoLocalQueue",
    "NoQueueInReservedNamespace",
    "NoReplicas",
    "NoRouterDeclared",
    "NoRouterForEvents",
    "NobodyToAttach",
    "NothingToAttach",
    "Parked",
    "Pending",
    "PodGroupIncomplete",
    "PreemptedInPart",
    "ProducerUnmanaged",
    "PublisherDisabled",
    "Publishing",
    "QueueUnchecked",
    "Registered",
    "Remark",
    "Remarked",
    "RenderRefused",
    "Rendered",
    "ReplacementInProgress",
    "Reserved",
    "RolloutHeldByCache",
    "RolloutHeldByWeights",
    "RolloutInProgress",
    "RolloutNotObserved",
    "RouterNotDeployed",
    "RouterNotServing",
    "RouterRefused",
    "RouterServes",
    "SharedByNodes",
    "SharedByPods",
    "Unbound",
    "Undelivered",
    "UpToDate",
    "WeightsBlocked",
    "WeightsDownloaded",
    "WeightsDownloading",
    "WeightsMaterializing",
    "WeightsMounted",
    "WeightsNotMounted",
    "WeightsRefused",
    "Yielding",
]


@dataclass(frozen=True, slots=True)
class Remarked:
    """A finding, and what the message of its condition says beside it."""

    finding: "Finding"
    remarks: tuple[Remark, ...]


Finding: TypeAlias = (
    Rendered
    | RenderRefused
    | NoReplicas
    | AllReplicasTerminating
    | Parked
    | Yielding
    | PreemptedInPart
    | PodGroupIncomplete
    | NoQueueInReservedNamespace
    | AdmissionInFlight
    | Reserved
    | Pending
    | UpToDate
    | RolloutInProgress
    | ReplacementInProgress
    | RolloutNotObserved
    | AllKindsReady
    | KindsNotReady
    | RolloutHeldByCache
    | RolloutHeldByWeights
    | NoCache
    | Registered
    | BindingNotFound
    | BindingNotReady
    | BindingDeleting
    | NothingToAttach
    | AttachmentUnmanaged
    | NobodyToAttach
    | CacheActive
    | CacheOperationsFailing
    | AttachmentNotObserved
    | NoArtifact
    | WeightsRefused
    | WeightsBlocked
    | WeightsMaterializing
    | MaterializationFailed
    | WeightsMounted
    | WeightsNotMounted
    | WeightsDownloaded
    | WeightsDownloading
    | NoEvents
    | NoRouterForEvents
    | PublisherDisabled
    | ProducerUnmanaged
    | Publishing
    | EligibilityObserved
    | EligibilityNotObserved
    | NoRouterDeclared
    | RouterRefused
    | RouterNotDeployed
    | RouterNotServing
    | RouterServes
)

QUOTA, TURNOVER, KINDS = ConditionType.QUOTA_RESERVED, ConditionType.REPLICAS_UP_TO_DATE, ConditionType.ROLE_KINDS_READY
RENDERED, DOMAIN, WEIGHTS = ConditionType.RENDERED, ConditionType.DOMAIN_REGISTERED, ConditionType.WEIGHTS_READY
EVENTS, ROUTER = ConditionType.KV_EVENTS_PUBLISHING, ConditionType.ROUTER_READY
ATTACHED, ELIGIBLE = ConditionType.CACHE_ATTACHED, ConditionType.ENDPOINT_ELIGIBILITY

CONDITIONS: dict[type[Finding], tuple[ConditionType, str, Reason | None]] = {
    Rendered: (RENDERED, "True", Reason.RENDERED),
    RenderRefused: (RENDERED, "False", None),
    NoReplicas: (QUOTA, "Unknown", Reason.NO_REPLICAS),
    AllReplicasTerminating: (QUOTA, "Unknown", Reason.ALL_REPLICAS_TERMINATING),
    Parked: (QUOTA, "False", Reason.PARKED),
    Yielding: (QUOTA, "False", Reason.YIELDING),
    PreemptedInPart: (QUOTA, "False", Reason.PREEMPTED_IN_PART),
    NoQueueInReservedNamespace: (QUOTA, "False", Reason.NO_QUEUE_IN_RESERVED_NAMESPACE),
    PodGroupIncomplete: (QUOTA, "False", Reason.POD_GROUP_INCOMPLETE),
    AdmissionInFlight: (QUOTA, "Unknown", Reason.ADMISSION_IN_FLIGHT),
    Reserved: (QUOTA, "True", Reason.RESERVED),
    Pending: (QUOTA, "False", Reason.PENDING),
    UpToDate: (TURNOVER, "True", Reason.UP_TO_DATE),
    RolloutInProgress: (TURNOVER, "False", Reason.ROLLOUT_IN_PROGRESS),
    ReplacementInProgress: (TURNOVER, "False", Reason.REPLACEMENT_IN_PROGRESS),
    RolloutNotObserved: (TURNOVER, "Unknown", Reason.ROLLOUT_NOT_OBSERVED),
    AllKindsReady: (KINDS, "True", Reason.ALL_KINDS_READY),
    KindsNotReady: (KINDS, "False", Reason.KINDS_NOT_READY),
    RolloutHeldByWeights: (TURNOVER, "False", Reason.ROLLOUT_HELD_BY_WEIGHTS),
    RolloutHeldByCache: (TURNOVER, "False", Reason.ROLLOUT_HELD_BY_CACHE),
    NoCache: (DOMAIN, "True", Reason.NOT_APPLICABLE),
    Registered: (DOMAIN, "True", Reason.REGISTERED),
    BindingNotFound: (DOMAIN, "False", Reason.BINDING_NOT_FOUND),
    BindingNotReady: (DOMAIN, "False", Reason.BINDING_NOT_READY),
    BindingDeleting: (DOMAIN, "False", Reason.BINDING_DELETING),
    NothingToAttach: (ATTACHED, "True", Reason.NOT_APPLICABLE),
    AttachmentUnmanaged: (ATTACHED, "Unknown", Reason.UNMANAGED),
    NobodyToAttach: (ATTACHED, "Unknown", Reason.NO_REPLICA_READY),
    CacheActive: (ATTACHED, "True", Reason.CACHE_ACTIVE),
    CacheOperationsFailing: (ATTACHED, "False", Reason.CACHE_OPERATIONS_FAILING),
    AttachmentNotObserved: (ATTACHED, "Unknown", Reason.NO_OBSERVATION_AVAILABLE),
    NoArtifact: (WEIGHTS, "True", Reason.NOT_APPLICABLE),
    WeightsRefused: (WEIGHTS, "False", None),
    WeightsBlocked: (WEIGHTS, "False", None),
    WeightsMaterializing: (WEIGHTS, "False", Reason.MATERIALIZING),
    MaterializationFailed: (WEIGHTS, "False", Reason.MATERIALIZATION_FAILED),
    WeightsMounted: (WEIGHTS, "True", Reason.MOUNTED),
    WeightsNotMounted: (WEIGHTS, "False", Reason.WEIGHTS_NOT_MOUNTED),
    WeightsDownloaded: (WEIGHTS, "True", Reason.DOWNLOADED),
    WeightsDownloading: (WEIGHTS, "False", Reason.DOWNLOADING),
    NoEvents: (EVENTS, "True", Reason.NOT_APPLICABLE),
    NoRouterForEvents: (EVENTS, "False", Reason.NO_ROUTER),
    PublisherDisabled: (EVENTS, "False", Reason.PUBLISHER_DISABLED),
    ProducerUnmanaged: (EVENTS, "Unknown", Reason.ROLE_UNMANAGED),
    Publishing: (EVENTS, "True", Reason.PUBLISHING),
    EligibilityObserved: (ELIGIBLE, "True", Reason.OBSERVED),
    EligibilityNotObserved: (ELIGIBLE, "Unknown", Reason.NOT_OBSERVED),
    NoRouterDeclared: (ROUTER, "True", Reason.NOT_APPLICABLE),
    RouterRefused: (ROUTER, "False", Reason.RENDER_FAILED),
    RouterNotDeployed: (ROUTER, "Unknown", Reason.NOT_DEPLOYED),
    RouterNotServing: (ROUTER, "False", Reason.NO_READY_REPLICAS),
    RouterServes: (ROUTER, "True", Reason.READY),
}
"""Each finding's condition type, status and reason; a refusal brings its own reason."""
