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
class AdmissionInFlight:
    """Groups are complete and Kueue has not composed their Workloads yet."""

    replicas: int


@dataclass(frozen=True, slots=True)
class Reserved:
    """Every replica holds quota; `cluster_queue` where there is one role."""

    cluster_queue: str


@dataclass(frozen=True, slots=True)
class Pending:
    """Some replicas wait for quota; `because` is Kueue's sentence on the first of them."""

    waiting: int
    total: int
    role: str
    queue: str
    because: str


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
    """The survivors match, and the count is short."""

    have: int
    want: int


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
class CacheNotAttached:
    """The deployment names a shared cache that this release does not attach."""

    binding: str


Finding: TypeAlias = (
    Rendered
    | RenderRefused
    | NoReplicas
    | AllReplicasTerminating
    | PreemptedInPart
    | PodGroupIncomplete
    | AdmissionInFlight
    | Reserved
    | Pending
    | UpToDate
    | RolloutInProgress
    | ReplacementInProgress
    | RolloutNotObserved
    | AllKindsReady
    | KindsNotReady
    | CacheNotAttached
)

QUOTA, TURNOVER, KINDS = ConditionType.QUOTA_RESERVED, ConditionType.REPLICAS_UP_TO_DATE, ConditionType.ROLE_KINDS_READY
RENDERED, DOMAIN = ConditionType.RENDERED, ConditionType.DOMAIN_REGISTERED

CONDITIONS: dict[type[Finding], tuple[ConditionType, str, Reason | None]] = {
    Rendered: (RENDERED, "True", Reason.RENDERED),
    RenderRefused: (RENDERED, "False", None),
    NoReplicas: (QUOTA, "Unknown", Reason.NO_REPLICAS),
    AllReplicasTerminating: (QUOTA, "Unknown", Reason.ALL_REPLICAS_TERMINATING),
    PreemptedInPart: (QUOTA, "False", Reason.PREEMPTED_IN_PART),
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
    CacheNotAttached: (DOMAIN, "False", Reason.BINDING_NOT_READY),
}
"""Each finding's condition type, status and reason; a refusal brings its own reason."""
