"""What a pass found out of the quota of its replicas, and what it remarks on the queues behind it."""

from dataclasses import dataclass
from typing import TypeAlias


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
