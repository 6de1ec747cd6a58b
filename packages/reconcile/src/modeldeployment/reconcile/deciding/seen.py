"""What a pass has seen, reduced to the fields that some decision reads.

Plain frozen data and nothing else: no client, no clock, no Kubernetes types. The rim fills it
(`reconcile.observing`), tests and simulations build it by hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from modeldeployment.api import ModelDeployment
from modeldeployment.render import Rendering, RenderRefusal


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
    (facts reconcile §1). `index` is 0 where the label is absent or unreadable.
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

    @property
    def over(self) -> bool:
        """Whether its containers have ended for good although nobody deleted it."""
        return self.phase in (PodPhase.SUCCEEDED, PodPhase.FAILED) and not self.leaving


@dataclass(frozen=True, slots=True)
class Workload:
    """One Kueue Workload that owns at least one of the deployment's Pods.

    `owners` are the UIDs of the Pods in its owner references; a group's Workload is found by them and
    never by a derived name (facts reconcile §6). `waits_because` is Kueue's own sentence.
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


@dataclass(frozen=True, slots=True)
class SeenService:
    """One Service that the deployment owns by UID, as the API server holds it."""

    name: str
    uid: str
    body: Mapping[str, object]
    managed: bool = True


@dataclass(frozen=True, slots=True)
class Answers:
    """What the rim answered to the rare reads that a pass asked for.

    `groups` maps a role to the group names that label one of its owned Pods on the API server,
    terminating ones included; `foreign_services` are Service names in the namespace that somebody else owns;
    `pods_left` counts every Pod the API server still holds for the deployment.
    """

    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    foreign_services: frozenset[str] | None = None
    pods_left: int | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One consistent reading of a deployment and of everything it owns.

    `status` is the stored status in Kubernetes' own JSON spelling. `stale` says that a store has not yet
    caught up with this controller's own last write to the deployment.
    """

    deployment: ModelDeployment
    rendering: Rendering | RenderRefusal
    members: tuple[Member, ...] = ()
    workloads: tuple[Workload, ...] = ()
    services: tuple[SeenService, ...] = ()
    status: Mapping[str, object] = field(default_factory=dict)
    stale: bool = False
    answers: Answers = Answers()
