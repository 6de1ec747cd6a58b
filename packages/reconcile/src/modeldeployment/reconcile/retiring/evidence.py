"""What a retirement asks of routers and engines, and what it was told: the seam to whoever reads for it.

The protocol says in an `Inquiry` what has to be witnessed next; routers and engines are asked beside the API server,
and what they said comes back as `Evidence`. Source: facts shutdown §2, routers-measured §7, decisions D6-D10.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto

from modeldeployment.api import EngineName, RoleKind, RouterName
from modeldeployment.router.withdrawal import Verdict


class Stage(Enum):
    """What is witnessed: routers let go of the members, take them back, or the members run empty.

    While DRAINING the withdrawal is witnessed too: a router that starts anew may take the members up again.
    """

    WITHDRAWING = auto()
    RESTORING = auto()
    DRAINING = auto()


@dataclass(frozen=True, slots=True)
class Leg:
    """One thing that must be proven.

    `reason` is a sentence without a full stop that names the Pod that was asked and what it answered; `until` is when
    it can hold at the earliest, where that is known.
    """

    verdict: Verdict
    reason: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was witnessed of the members with these UIDs; of any other it says nothing.

    `withdrawal`: every router process has let go of them (decisions D8); with no router, no EndpointSlice lists them
    and the settle has passed (decisions D7). `restored` is the same of taking them back. `idle`: each member that
    answers read zero twice in a row, on every gauge there must be (decisions D10); `idle_since` is when the unbroken
    idleness began, `in_flight` the requests that were read last.
    """

    members: frozenset[str]
    withdrawal: Leg
    idle: Leg
    idle_since: datetime | None = None
    in_flight: int | None = None
    restored: Leg | None = None


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What is to be witnessed for one deployment, now; whoever witnesses it finds the Pods themselves by UID.

    `members` are the UIDs of all that leave, `answering` of those that requests are sent to, so alone are read
    (decisions D9). `kind` and `engine` are those of their role, `port` is where routers reach them, None where the role
    is no longer rendered. `router` is the name of the declared router, None where there is none. `since` is when the
    phase began.
    """

    members: frozenset[str]
    answering: frozenset[str]
    kind: RoleKind
    engine: EngineName
    router: RouterName | None
    port: int | None
    stage: Stage
    since: datetime
