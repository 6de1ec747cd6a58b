"""What a pass found out, as types with numbers: conditions are compared by these, never by their sentences.

`deciding.sentences` makes the one sentence of each. Source: facts status §10.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

from modeldeployment.api import ConditionType, Reason


class Held(Enum):
    """What the next turn of a rollout waits for."""

    NOT = auto()
    FOR_ADMISSION = auto()
    FOR_READINESS = auto()


@dataclass(frozen=True, slots=True)
class Rendered:
    """Every role could be rendered."""


@dataclass(frozen=True, slots=True)
class RenderRefused:
    """A role cannot be rendered; `message` is the renderer's own (decisions D19)."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class NoReplicas:
    """Nothing has been created yet."""


@dataclass(frozen=True, slots=True)
class AllReplicasTerminating:
    """Every replica is leaving."""


@dataclass(frozen=True, slots=True)
class Parked:
    """The set never fit, so the Workloads of these roles were deactivated; nothing brings them back by itself."""

    parked: int
    total: int
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Yielding:
    """Replicas gave their quota up for older sets, `namespace/name` each, that wait for it as this one does."""

    yielding: int
    total: int
    older: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PreemptedInPart:
    """Quota of some replicas was reclaimed while others stay admitted."""

    preempted: int
    admitted: int
    bare_kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PodGroupIncomplete:
    """Fewer replicas exist than the role declares, so no Workload is composed for the rest."""

    role: str
    have: int
    want: int
    queue: str


@dataclass(frozen=True, slots=True)
class NoQueueInReservedNamespace:
    """The namespace belongs to the cluster itself, and no queue leads out of it."""

    namespace: str
    role: str
    replicas: int


@dataclass(frozen=True, slots=True)
class AdmissionInFlight:
    """Groups are complete and Kueue has not composed their Workloads yet."""

    replicas: int


@dataclass(frozen=True, slots=True)
class Reserved:
    """Every replica holds quota; `cluster_queue` where there is one role. `checks`: some wait for their checks."""

    cluster_queue: str
    checks: bool = False


@dataclass(frozen=True, slots=True)
class Pending:
    """Some replicas wait for quota; `because` is Kueue's sentence on the first of them.

    `holding` are those that hold quota and open together with the ones that wait. `stopped` is the first Workload that
    somebody deactivated, of `stopped_count`.
    """

    waiting: int
    total: int
    role: str
    queue: str
    because: str
    holding: int = 0
    stopped: str = ""
    stopped_count: int = 0


@dataclass(frozen=True, slots=True)
class NoLocalQueue:
    """A remark: the queue that a role enters is missing."""

    role: str
    local_queue: str


@dataclass(frozen=True, slots=True)
class QueueUnchecked:
    """A remark: ClusterQueues of a set that do not ask for the check which holds a set together (decisions D26)."""

    cluster_queues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoClusterQueue:
    """A remark: ClusterQueues that LocalQueues of the deployment lead to and that do not exist."""

    cluster_queues: tuple[str, ...]


Remark: TypeAlias = NoLocalQueue | NoClusterQueue | QueueUnchecked


@dataclass(frozen=True, slots=True)
class Remarked:
    """A finding, and what the message of its condition says beside it."""

    finding: "Finding"
    remarks: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class UpToDate:
    """Every replica matches this pass's render."""


@dataclass(frozen=True, slots=True)
class RolloutInProgress:
    """Replicas differ from the render; at most one a role turns over at a time."""

    differing: int
    total: int
    held: Held = Held.NOT


@dataclass(frozen=True, slots=True)
class ReplacementInProgress:
    """The survivors match, and the count is short; while weights are `blocked` it stays so."""

    have: int
    want: int
    blocked: bool = False


@dataclass(frozen=True, slots=True)
class RolloutNotObserved:
    """The pass accounted for no replica."""


@dataclass(frozen=True, slots=True)
class AllKindsReady:
    """Every declared kind has a ready replica."""


@dataclass(frozen=True, slots=True)
class KindsNotReady:
    """These kinds have none."""

    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RolloutHeldByCache:
    """Replicas differ from the render and stay, since no connection to their cache can be rendered now."""

    differing: int
    total: int


@dataclass(frozen=True, slots=True)
class RolloutHeldByWeights:
    """Replicas differ from the render and stay, since a replacement could not load the weights now."""

    differing: int
    total: int


@dataclass(frozen=True, slots=True)
class NoCache:
    """The deployment names no shared cache."""


@dataclass(frozen=True, slots=True)
class Registered:
    """The binding can be used; `connected` says whether the store behind it can."""

    binding: str
    connected: bool


@dataclass(frozen=True, slots=True)
class BindingNotFound:
    """The namespace has no binding of that name."""

    binding: str


@dataclass(frozen=True, slots=True)
class BindingNotReady:
    """The binding grants nothing yet; `because` where an object on the way to the store cannot be read."""

    binding: str
    because: str = ""


@dataclass(frozen=True, slots=True)
class BindingDeleting:
    """The binding is being deleted."""

    binding: str


@dataclass(frozen=True, slots=True)
class NothingToAttach:
    """The deployment names no shared cache to attach to."""


@dataclass(frozen=True, slots=True)
class AttachmentUnmanaged:
    """These roles replaced their command line, so nobody knows whether they use the cache."""

    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NobodyToAttach:
    """No replica is ready to be asked."""


@dataclass(frozen=True, slots=True)
class CacheActive:
    """So many of the ready replicas use the store and succeed; 0 where only the domain's blocks say so."""

    active: int
    ready: int


@dataclass(frozen=True, slots=True)
class CacheOperationsFailing:
    """So many of the ready replicas use the store, and none of them succeeds."""

    failing: int
    ready: int


@dataclass(frozen=True, slots=True)
class AttachmentNotObserved:
    """The ready replicas say nothing of the store, and the domain is empty."""

    ready: int


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


@dataclass(frozen=True, slots=True)
class NoEvents:
    """No role produces blocks that a router would follow."""


@dataclass(frozen=True, slots=True)
class NoRouterForEvents:
    """The roles of a pair have no router to publish KV events to."""


@dataclass(frozen=True, slots=True)
class PublisherDisabled:
    """These roles are rendered without a publisher."""

    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProducerUnmanaged:
    """These roles replaced their command line, so nobody knows whether they publish."""

    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Publishing:
    """Every producing role is configured to publish."""


@dataclass(frozen=True, slots=True)
class EligibilityObserved:
    """Of every role it is known which replicas may be sent requests."""


@dataclass(frozen=True, slots=True)
class EligibilityNotObserved:
    """Of these roles it is not."""

    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoRouterDeclared:
    """The deployment declares no router."""


@dataclass(frozen=True, slots=True)
class RouterRefused:
    """The router cannot be rendered; `message` is the renderer's own."""

    message: str


@dataclass(frozen=True, slots=True)
class RouterNotDeployed:
    """The router's Deployment does not exist; `taken` are names of its objects that somebody else holds."""

    taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RouterNotServing:
    """None of the router's replicas is ready."""

    wanted: int
    taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RouterServes:
    """Some of the router's replicas are ready."""

    ready: int
    wanted: int
    taken: tuple[str, ...] = ()


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
