"""The sentences of `status.retirement.reason`: which step, what it waits for, what is retained, and the way out."""

from enum import Enum, auto
from typing import Final, assert_never

from modeldeployment.api import RetirementState, keys
from modeldeployment.reconcile.retiring.intents import Held, Intent
from modeldeployment.reconcile.retiring.reservation import Reservation
from modeldeployment.reconcile.retiring.retrying import Refused


class Abort(Enum):
    """Why an operation was given up before its delete."""

    BUDGET = auto()
    IMPOSSIBLE = auto()
    UNWANTED = auto()
    TERMINATED = auto()
    LAST_OF_KIND = auto()
    NOT_RENDERED = auto()


STEPS: Final = {
    RetirementState.ADMITTED: "taking the eligibility label off",
    RetirementState.DISQUALIFIED: "withdrawal from routers",
    RetirementState.WITHDRAWING: "withdrawal from routers",
    RetirementState.DRAINING: "drain",
}
"""What each state before the delete is at."""


LATE: Final = "what it waited for came too late"
ELIGIBLE: Final = "a member still carries the eligibility label"
_TAKEN_BACK: Final = "the spec no longer asks for it"


def seat(role: str, ordinal: int) -> str:
    """How messages name a replica."""
    return f"{role}/{ordinal}"


def admitted(waiting: int) -> str:
    """A replica has been chosen."""
    return _others("taking the eligibility label off its members", waiting)


def withdrawing(because: str, waiting: int) -> str:
    """Routers are to let go of it."""
    return _others(f"waiting for routers to let go of it: {because or 'nobody has looked yet'}", waiting)


def draining(because: str, waiting: int) -> str:
    """Its requests are to end."""
    return _others(f"waiting until it runs empty: {because or 'nobody has looked yet'}", waiting)


def handing_over(seconds: int, waiting: int) -> str:
    """A half of a pair is idle, and a handoff may still be on its way to it (decisions D6)."""
    return _others(f"idle; staying so for the handoff window of {seconds} s", waiting)


def deleting(waiting: int) -> str:
    """Withdrawn and idle; its Pods and its Workload are deleted."""
    return _others("withdrawn from routers and idle; its Pods and its Workload are being deleted", waiting)


def settling(*, spent: bool, waiting: int) -> str:
    """Its Pods are gone; its quota is not free yet."""
    late = ", which has taken longer than 30 s: look at its finalizers" if spent else ""
    return _others(f"its Pods are gone; waiting for its Workload to release the quota{late}", waiting)


def aborted(why: Abort, reservation: Reservation, because: str) -> str:
    """The step at which it was given up, why, and what is retained."""
    step = STEPS.get(reservation.state, reservation.state.value)
    match why:
        case Abort.BUDGET:
            return f"{step} took all of its time: {because or 'nobody has looked'}; {_retained(reservation)}"
        case Abort.IMPOSSIBLE:
            return f"{step} cannot be proven: {because}; {_retained(reservation)}"
        case Abort.UNWANTED:
            return f"{_TAKEN_BACK} at {step}; {_retained(reservation)}"
        case Abort.LAST_OF_KIND:
            return f"at {step} it has become the last worker of its kind behind the router; {_retained(reservation)}"
        case Abort.NOT_RENDERED:
            return (
                f"at {step} the deployment cannot be rendered any more, so nobody knows what the spec asks for, see "
                f"condition Rendered; {_retained(reservation)}"
            )
        case Abort.TERMINATED:
            return f"at {step} it was terminated from outside, by preemption, its node or a delete; nothing is held"
        case other:
            assert_never(other)


def was_taken_back(reservation: Reservation) -> bool:
    """Whether an operation was given up as nobody wanted it any more: who wants it again, wants it anew."""
    return reservation.reason.startswith(_TAKEN_BACK)


def held(intent: Intent, why: Held, other: Reservation | None = None) -> str:
    """Why a replica that the spec wants gone stays for now."""
    name = seat(intent.role, intent.ordinal)
    theirs = seat(other.role, other.ordinal) if other is not None else "another replica"
    match why:
        case Held.NO_UID:
            return f"replica {name} stays: a Pod of it has no UID yet"
        case Held.LAST_OF_KIND:
            return (
                f"replica {name} stays: it is the last worker of its kind that the router has; make another one ready, "
                "or declare the role at zero"
            )
        case Held.WINDOW_TOO_LONG:
            seconds = int(intent.window.total_seconds()) if intent.window is not None else 0
            return (
                f"replica {name} stays: its handoff window, terminationGracePeriodSeconds of {seconds} s, does not end "
                "within the 240 s of a drain; set it below 240"
            )
        case Held.OTHER_UNDER_WAY:
            return f"replica {name} waits for {theirs} to leave: one replica at a time"
        case Held.OTHER_RETAINED:
            return (
                f"replica {name} stays: the retirement of {theirs} was aborted and it is retained; retry that with "
                f"annotation {keys.RETIREMENT_RETRY}={theirs.replace('/', ':')}:TOKEN, or declare it again"
            )
        case unknown:
            assert_never(unknown)


def refused(why: Refused, annotation: str) -> str:
    """Why a request to retry is not heeded, and the way out."""
    said = f"annotation {keys.RETIREMENT_RETRY} is {annotation[:100]!r}"
    match why:
        case Refused.MALFORMED:
            return f"{said}, which is not ROLE:ORDINAL:TOKEN; write it as such, with a token that was not used before"
        case Refused.OTHER_TARGET:
            return f"{said}, and no retirement of that replica was aborted; see status.retirement, and take it off"
        case Refused.NOT_ABORTED:
            return f"{said}, and that retirement is still under way; it is heeded once it was aborted"
        case Refused.NOT_WANTED:
            return f"{said}, and the spec declares that replica; lower replicas instead, and take it off"
        case Refused.GONE:
            return f"{said}, and no Pod of that replica is left to retire; take it off"
        case other:
            assert_never(other)


def _retained(reservation: Reservation) -> str:
    pods = "1 member" if len(reservation.members) == 1 else f"{len(reservation.members)} members"
    workload = ", its Workload" if reservation.workload else ""
    return f"retained: {pods}{workload} and their capacity"


def _others(said: str, waiting: int) -> str:
    if not waiting:
        return said
    return f"{said}; {waiting} more {'waits its' if waiting == 1 else 'wait their'} turn, one replica at a time"
