"""Which replicas may be sent requests: the label that says so, and what status counts of it.

The label is written on answering members when they are created, so it is there before any selector asks for it, and
kept on them alone (decisions D4, D31). A replica counts as eligible on five legs and its label (facts status §6).
"""

from collections.abc import Collection, Sequence
from enum import Enum, auto

from modeldeployment.api.rolestatus import ServingState
from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding.seen import Member
from modeldeployment.reconcile.deciding.slots import RoleSlots, Slot
from modeldeployment.reconcile.deciding.steps import SetEligibility, Step


class Leg(Enum):
    """What has to hold of a replica before requests may go to it."""

    MEMBER_SET_COMPLETE = auto()
    MEMBERS_READY = auto()
    GROUP_FORWARD = auto()
    NO_PLANNED_RETIREMENT = auto()
    NO_PENDING_REPLACEMENT = auto()


class Verdict(Enum):
    """What is known of a leg."""

    VERIFIED = auto()
    FAILED = auto()
    UNKNOWN = auto()


def labels(roles: Sequence[RoleSlots], going: Collection[str]) -> list[Step]:
    """Keep the eligibility label on answering members that stay, and on nobody else."""
    steps: list[Step] = []
    for role in roles:
        if role.role is None:
            continue
        for slot in role.kept():
            steps += [
                SetEligibility(member.name, member.uid, _answers(role, member))
                for member in slot.live
                if member.uid not in going and member.eligible != _answers(role, member)
            ]
    return steps


def legs(role: RoleSlots, slot: Slot, going: Collection[str]) -> dict[Leg, Verdict]:
    """Judge one declared replica; `going` are the UIDs of members that leave in this pass.

    Its group goes forward while its Workload is admitted and stands; of ready members without a Workload nobody has
    seen yet whose they are. No retirement is planned by this release.
    """
    workload = slot.workload
    if workload is not None:
        forward = _verdict(workload.admitted and not workload.leaving)
    else:
        forward = Verdict.UNKNOWN if slot.occupied else Verdict.FAILED
    return {
        Leg.MEMBER_SET_COMPLETE: _verdict(len(slot.live) == role.size),
        Leg.MEMBERS_READY: _verdict(slot.occupied and all(member.ready for member in slot.live)),
        Leg.GROUP_FORWARD: forward,
        Leg.NO_PLANNED_RETIREMENT: Verdict.VERIFIED,
        Leg.NO_PENDING_REPLACEMENT: _verdict(not any(member.uid in going for member in slot.live)),
    }


def eligible(role: RoleSlots, going: Collection[str]) -> int | None:
    """How many replicas may be sent requests; None while that of one of them is not known.

    A role whose members do not answer, such as Encode, has none: that is known.
    """
    count = 0
    for slot in role.kept():
        verdicts = set(legs(role, slot, going).values())
        if Verdict.FAILED in verdicts:
            continue
        if Verdict.UNKNOWN in verdicts:
            return None
        count += any(member.eligible and _answers(role, member) for member in slot.live)
    return count


def endpoints(role: RoleSlots, going: Collection[str], *, routed: bool) -> dict[str, object]:
    """`status.roles[].endpoints`; what routers send requests to is not looked at yet."""
    state = ServingState.UNKNOWN if routed else ServingState.NOT_CONFIGURED
    count = eligible(role, going)
    return {**({} if count is None else {"eligible": count}), "serving": {"state": state.value}}


def finding(declared: Sequence[RoleSlots], going: Collection[str]) -> found.Finding:
    """The `EndpointEligibility` finding."""
    unseen = tuple(role.name for role in declared if eligible(role, going) is None)
    return found.EligibilityNotObserved(unseen) if unseen else found.EligibilityObserved()


def _answers(role: RoleSlots, member: Member) -> bool:
    return role.role is not None and role.role.template.occupants.answers and member.index == 0


def _verdict(holds: bool) -> Verdict:
    return Verdict.VERIFIED if holds else Verdict.FAILED
