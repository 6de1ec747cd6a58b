"""The steps a decision can ask for, and the ways a pass can end.

Steps are data: `reconcile.acting` carries them out in order. Killing the process between any two is safe, since the
next pass starts from what is observed again (architecture §4).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, TypeAlias

from modeldeployment.api import EventReason, RetirementState
from modeldeployment.reconcile.deciding.seen import OwnedKind, User
from modeldeployment.reconcile.retiring.evidence import Inquiry


@dataclass(frozen=True, slots=True)
class AddFinalizer:
    """Put our finalizer on the deployment, before anything it owns exists."""


@dataclass(frozen=True, slots=True)
class DropFinalizer:
    """Let the deployment go; nothing it owns is left."""


@dataclass(frozen=True, slots=True)
class CreateReplica:
    """Create every member of one replica; a group is composed only once all of them exist (facts reconcile §13)."""

    role: str
    ordinal: int


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Delete one Pod, by UID."""

    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class DeleteWorkload:
    """Delete one Workload, by UID: the only thing that releases Kueue's hold on a serving group's Pods."""

    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class SetEligibility:
    """Put the endpoint-eligibility label on a Pod, or take it off (decisions D4)."""

    name: str
    uid: str
    eligible: bool


@dataclass(frozen=True, slots=True)
class Reclaim:
    """Put marks of a Pod of ours back: labels that it is to have, None for one that it is not to have."""

    name: str
    uid: str
    labels: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class CreateObject:
    """Create one rendered object."""

    kind: OwnedKind
    name: str
    body: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class AlignObject:
    """Bring one owned object back to its render with a merge patch; what the API server allocated stays."""

    kind: OwnedKind
    name: str
    uid: str
    patch: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class DeleteObject:
    """Delete one owned object that is no longer wanted, by UID."""

    kind: OwnedKind
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class SetUsers:
    """Write who uses a binding, a claim added or taken back. `version` is that of the binding the list is read from."""

    binding: str
    version: str
    users: tuple[User, ...]


@dataclass(frozen=True, slots=True)
class TakeOffRetry:
    """Take the request to retry a retirement off the deployment: it was heeded, and status says so."""


Step: TypeAlias = (
    AddFinalizer
    | DropFinalizer
    | CreateReplica
    | DeletePod
    | DeleteWorkload
    | SetEligibility
    | Reclaim
    | CreateObject
    | AlignObject
    | DeleteObject
    | SetUsers
    | TakeOffRetry
)


SOON: Final = timedelta(seconds=2)
"""When to look again while something is in flight (facts reconcile §3.15)."""


class Wait(StrEnum):
    """What a blocked pass waits for."""

    STALE_STORE = "StaleStore"
    RENDER = "Render"
    DEPARTURE = "Departure"
    ADMISSION = "Admission"
    READINESS = "Readiness"
    CACHE = "Cache"
    WEIGHTS = "Weights"
    RETIREMENT = "Retirement"
    NAME_TAKEN = "NameTaken"
    TEARDOWN = "Teardown"
    MARKS = "Marks"


@dataclass(frozen=True, slots=True)
class Done:
    """Everything is as declared; only a change wakes the deployment."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """Nothing can be written now. A watch event wakes the deployment; `until` is the latest time to look again."""

    on: Wait
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Advance:
    """Carry out these steps, in order, then observe again."""

    steps: tuple[Step, ...]


Next: TypeAlias = Done | Blocked | Advance


@dataclass(frozen=True, slots=True)
class Announcement:
    """One Warning event on the deployment. `about` names the occurrence: the rim says each one once."""

    reason: EventReason
    note: str
    about: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome of a pass. `status` is a merge patch of the status, None where nothing material changed.

    `retirement` is one of that field alone; it is written first, so that no step is taken that nobody reserved.
    `inquiry` is what is to be witnessed for it from now on, `ended` how an operation ended in this pass.
    """

    next: Next
    status: Mapping[str, object] | None = None
    events: tuple[Announcement, ...] = ()
    retirement: Mapping[str, object] | None = None
    inquiry: Inquiry | None = None
    ended: RetirementState | None = None


class Fact(StrEnum):
    """A rare read of the API server that a pass may ask for, once."""

    ROLE_GROUPS = "RoleGroups"
    NAMES = "Names"
    PODS_LEFT = "PodsLeft"


@dataclass(frozen=True, slots=True)
class Ask:
    """The pass cannot be decided without these facts; answer them all and decide again.

    `groups` are the names of the groups that a replica is wanted in, by role; `names` those of the objects that are
    wanted and not owned, by kind.
    """

    fact: Fact
    roles: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    names: Mapping[OwnedKind, tuple[str, ...]] = field(default_factory=dict)
