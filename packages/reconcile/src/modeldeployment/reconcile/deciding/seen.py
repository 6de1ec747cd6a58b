"""What a pass has seen, reduced to the fields that some decision reads.

Plain frozen data and nothing else: no client, no clock, no Kubernetes types. The rim fills it
(`reconcile.observing`), tests and simulations build it by hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from modeldeployment.api import ModelDeployment, Reason, keys
from modeldeployment.reconcile.retiring.evidence import Evidence
from modeldeployment.render import Domain, Rendering, RenderRefusal

MARKS: Final = (
    keys.NAME,
    keys.INSTANCE,
    keys.COMPONENT,
    keys.PART_OF,
    keys.RESOURCE_TYPE,
    keys.ROLE_KIND,
    keys.ORDINAL,
    keys.MEMBER_INDEX,
)
"""Labels of a Pod that are put back. Kueue's own are held by its webhook, and eligibility moves while a Pod runs."""


class PodPhase(StrEnum):
    """The phase a Pod reports; `UNKNOWN` also stands for none."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True)
class Member:
    """One Pod that the deployment owns by UID.

    `ordinal` is None for an orphan: a Pod whose ordinal label cannot be read claims no slot
    (facts reconcile §1). `index` is 0 where the label is absent or unreadable. `unstarted` says that a container
    of it has not passed its start-up gate since the Pod was made. `marks` are its labels in the order of `MARKS`, empty
    where nobody read them.
    """

    name: str
    uid: str
    role: str
    ordinal: int | None
    index: int = 0
    group: str = ""
    fingerprint: str = ""
    phase: PodPhase = PodPhase.RUNNING
    ready: bool = False
    leaving: bool = False
    evicted: bool = False
    restarts: int = 0
    node: str = ""
    eligible: bool = False
    unstarted: bool = False
    marks: tuple[str | None, ...] = ()

    @property
    def over(self) -> bool:
        """Whether its containers have ended for good although nobody deleted it."""
        return self.phase in (PodPhase.SUCCEEDED, PodPhase.FAILED) and not self.leaving

    @property
    def stands(self) -> bool:
        """Whether nobody deleted it, and it has not ended."""
        return not self.leaving and not self.over

    @property
    def untouched(self) -> bool:
        """Whether it has never been ready, so that no request can have reached it."""
        return not self.ready and (self.phase is PodPhase.PENDING or self.unstarted)


@dataclass(frozen=True, slots=True)
class Workload:
    """One Kueue Workload that owns at least one of the deployment's Pods.

    `owners` are the UIDs of the Pods in its owner references; a group's Workload is found by them and
    never by a derived name (facts reconcile §6). `waits_because` is Kueue's own sentence. One that is not `active`
    waits for nothing: `parked` says that its set never fit, `yields_to` names the older set it gave way to, else
    somebody else deactivated it.
    """

    name: str
    uid: str
    owners: frozenset[str]
    queue: str = ""
    cluster_queue: str = ""
    flavors: tuple[str, ...] = ()
    reserved: bool = False
    admitted: bool = False
    preempted: bool = False
    leaving: bool = False
    waits_because: str = ""
    active: bool = True
    parked: bool = False
    yields_to: str = ""


@dataclass(frozen=True, slots=True)
class Queue:
    """Where a LocalQueue of the deployment's namespace leads; `cluster_queue` is empty where there is none.

    `checked` says whether that ClusterQueue carries the check that holds a set together (decisions D26), `missing` that
    the LocalQueue names one that does not exist.
    """

    cluster_queue: str
    checked: bool = True
    missing: bool = False


class OwnedKind(StrEnum):
    """Kinds of the objects that a deployment owns beside its Pods, in the order in which they are created."""

    SERVICE_ACCOUNT = "ServiceAccount"
    ROLE = "Role"
    ROLE_BINDING = "RoleBinding"
    CONFIG_MAP = "ConfigMap"
    SERVICE = "Service"
    DEPLOYMENT = "Deployment"


@dataclass(frozen=True, slots=True)
class SeenObject:
    """One object of an owned kind that the deployment owns by UID, as the API server holds it.

    `body` are the parts its drift is judged by. `managed` says whether it carries the resource note, without which
    nothing is pruned. `ready` are the ready Pods of a Deployment. `leaving` says that it is deleted and held by
    somebody's finalizer.
    """

    kind: OwnedKind
    name: str
    uid: str
    body: Mapping[str, object]
    managed: bool = True
    ready: int = 0
    leaving: bool = False


@dataclass(frozen=True, slots=True)
class Names:
    """Who holds the wanted names of one kind in the namespace, told by the API server itself.

    `foreign` are names that somebody else holds; `ours` maps a name to the UID of an object that the deployment owns,
    also where it has lost the labels by which it is watched.
    """

    foreign: frozenset[str] = frozenset()
    ours: Mapping[str, str] = field(default_factory=dict)


class Account(StrEnum):
    """What a replica says of its operations on the shared store; one that says nothing is left out."""

    SUCCEEDING = "Succeeding"
    FAILING = "Failing"


@dataclass(frozen=True, slots=True, order=True)
class User:
    """One entry of a binding's `usedBy`; the namespace is empty, since a binding is used from its own alone."""

    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Attachment:
    """The shared cache that a deployment names, as it stands now.

    `echo` is what status says of the binding, from its spec; None while it cannot be read. `connected` says whether
    replicas are rendered with a connection, `unreadable` why an object on the way to the store cannot be read.
    `used_by` is who claims the binding, None while it cannot be read, and `version` the version that was read of it.
    `filled` says whether the domain holds blocks.
    """

    domain: Domain
    echo: Mapping[str, object] | None = None
    connected: bool = False
    unreadable: str = ""
    used_by: tuple[User, ...] | None = None
    version: str = ""
    filled: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """The volume claim that holds the weights; `phase` is empty where there is none of that name.

    `modes` are the ways in which its volume may be mounted. `platforms` are the systems, `linux/amd64` for example, of
    the nodes on which Pods that mount it are declared.
    """

    name: str
    phase: str = ""
    modes: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()

    @property
    def bound(self) -> bool:
        """Whether there is a volume behind it."""
        return self.phase == "Bound"


@dataclass(frozen=True, slots=True)
class Weights:
    """The artifact that a deployment names. `mounted` says whether a volume brings its files, or the engine itself.

    `echo` is what status says of it; None until it is resolved. `claim` is set where a volume claim holds the files.
    `said` is the reason for which the artifact's own controller says that they are not delivered, if it says one of
    status' own.
    """

    mounted: bool
    echo: Mapping[str, object] | None = None
    claim: Claim | None = None
    said: Reason | None = None

    @property
    def artifact(self) -> str:
        """Its name."""
        return str((self.echo or {}).get("artifact", ""))


@dataclass(frozen=True, slots=True)
class Lost:
    """A Pod of ours that is no longer watched, since it lost a label by which Pods are."""

    name: str
    uid: str
    group: str
    leaving: bool = False


class Served(NamedTuple):
    """One HTTP endpoint that a router process sends requests to: the role of the Pod behind it, and its own name."""

    role: str
    name: str


@dataclass(frozen=True, slots=True)
class Views:
    """What each process of a deployment's router sends requests to; None for one of which that is not known now."""

    lists: tuple[frozenset[Served] | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Insisted:
    """How often a Pod lately got its marks back, and when last; `refused` is what the API server had against it."""

    times: int
    last: datetime
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Answers:
    """What the rim answered to the rare reads that a pass asked for.

    `groups` maps a role to those of its group names that label a Pod on the API server, terminating ones included and
    whatever else labels it; `strangers` maps such a group to a Pod in it that the deployment does not own, and `lost`
    are owned Pods that no store shows. `names` says who holds the names of a kind; `pods_left` counts every Pod the API
    server still holds for the deployment.
    """

    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    names: Mapping[OwnedKind, Names] = field(default_factory=dict)
    pods_left: int | None = None
    strangers: Mapping[str, str] = field(default_factory=dict)
    lost: tuple[Lost, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One consistent reading of a deployment and of everything it owns.

    `status` is the stored status in Kubernetes' own JSON spelling. `cache` is None where the deployment names none, and
    so is `weights`. `queues` maps the LocalQueue of each role to where it leads, `accounts` the UID of a member to what
    it says of the store, `insisted` that of a Pod to how often its marks were put back lately. `evidence` is
    what was witnessed for its retirement. `stale` says that a store has not yet caught up with this controller's own
    last write to the deployment.
    """

    deployment: ModelDeployment
    rendering: Rendering | RenderRefusal
    members: tuple[Member, ...] = ()
    workloads: tuple[Workload, ...] = ()
    objects: tuple[SeenObject, ...] = ()
    status: Mapping[str, object] = field(default_factory=dict)
    cache: Attachment | None = None
    weights: Weights | None = None
    queues: Mapping[str, Queue] = field(default_factory=dict)
    accounts: Mapping[str, Account] = field(default_factory=dict)
    insisted: Mapping[str, Insisted] = field(default_factory=dict)
    evidence: Evidence | None = None
    views: Views | None = None
    stale: bool = False
    answers: Answers = Answers()
