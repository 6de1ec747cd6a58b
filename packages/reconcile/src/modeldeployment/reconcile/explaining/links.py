"""One fact of a chain: what is so, of whom, and on which object it is read; sentences are in `explaining.sentences`."""

from dataclasses import dataclass, field
from enum import StrEnum


class Why(StrEnum):
    """What may keep a replica, or all of them, from serving; from nearest to the Pod to nearest to the cause."""

    # Of a whole deployment or role.
    DELETING = "Deleting"
    RENDER_REFUSED = "RenderRefused"
    NOT_RENDERED_HERE = "NotRenderedHere"
    STATUS_OLD = "StatusOld"
    NO_OPERATOR = "NoOperator"
    WEIGHTS_BLOCKED = "WeightsBlocked"
    CACHE_LOST = "CacheLost"
    TURN_AWAITS_ADMISSION = "TurnAwaitsAdmission"
    TURN_AWAITS_READINESS = "TurnAwaitsReadiness"
    TURN_AWAITS_RETIREMENT = "TurnAwaitsRetirement"
    ROUTER_NOT_READY = "RouterNotReady"
    QUEUE_UNCHECKED = "QueueUnchecked"
    # Of a replica that the spec does not declare any more.
    RETIRING = "Retiring"
    RETIREMENT_ABORTED = "RetirementAborted"
    RETIREMENT_HELD = "RetirementHeld"
    # Of a replica that has no Pod, or not all.
    LEAVING = "Leaving"
    STRANDED = "Stranded"
    NOT_CREATED = "NotCreated"
    INCOMPLETE = "Incomplete"
    ENDED = "Ended"
    # Of its quota.
    NO_WORKLOAD = "NoWorkload"
    NO_LOCAL_QUEUE = "NoLocalQueue"
    NO_CLUSTER_QUEUE = "NoClusterQueue"
    QUEUE_INACTIVE = "QueueInactive"
    UNRESERVED = "Unreserved"
    PREEMPTED = "Preempted"
    EVICTED = "Evicted"
    FREE = "Free"
    NEVER_FITS = "NeverFits"
    PARKED = "Parked"
    YIELDING = "Yielding"
    STOPPED = "Stopped"
    HELD = "Held"
    HELD_BY_ANOTHER = "HeldByAnother"
    ADMITTING = "Admitting"
    # Of its Pods once it is admitted.
    GATED = "Gated"
    UNSCHEDULED = "Unscheduled"
    NODE_SILENT = "NodeSilent"
    CONTAINER_WAITS = "ContainerWaits"
    RESTARTING = "Restarting"
    NOT_READY = "NotReady"


@dataclass(frozen=True, slots=True)
class Link:
    """One fact. `subject` is `role/ordinal`, a role or the deployment; `source` the object that it is read from."""

    why: Why
    subject: str
    source: str = ""
    said: str = ""
    have: str = ""
    want: str = ""
    names: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Chain:
    """Links from what is seen to its cause; `subjects` are all replicas of which the same is true."""

    subjects: tuple[str, ...]
    links: tuple[Link, ...]
