"""Which replicas may be sent requests: the label that says so, and what status counts of it and of what routers do.

The label is written on answering members when they are created, so it is there before any selector asks for it, and
kept on them alone (decisions D4, D31). A replica counts as eligible on five legs and its label (facts status §6).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import cast

from modeldeployment.api.rolestatus import ServingState
from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding.seen import Member, Views
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
                SetEligibility(member.name, member.uid, answers(role, member))
                for member in slot.live
                if member.uid not in going and member.eligible != answers(role, member)
            ]
    return steps


def legs(
    role: RoleSlots, slot: Slot, going: Collection[str], retiring: Collection[str] = ()
) -> Iterator[tuple[Leg, Verdict]]:
    """Judge one replica, leg by leg.

    `going` are the UIDs of members that leave in this pass, `retiring` those of a replica that leaves by the protocol.
    Its group goes forward while its Workload is admitted and stands; of members without a Workload nobody has seen yet
    whose they are.
    """
    live, workload = slot.live, slot.workload
    yield Leg.MEMBER_SET_COMPLETE, _verdict(len(live) == role.size)
    yield Leg.MEMBERS_READY, _verdict(bool(live) and all(member.ready for member in live))
    if workload is None and live:
        yield Leg.GROUP_FORWARD, Verdict.UNKNOWN
    else:
        yield Leg.GROUP_FORWARD, _verdict(workload is not None and workload.admitted and not workload.leaving)
    yield Leg.NO_PLANNED_RETIREMENT, _verdict(not retiring or not any(member.uid in retiring for member in live))
    yield Leg.NO_PENDING_REPLACEMENT, _verdict(not going or not any(member.uid in going for member in live))


def eligible(role: RoleSlots, going: Collection[str], retiring: Collection[str] = ()) -> int | None:
    """How many replicas may be sent requests; None while that of one of them is not known.

    One that the spec no longer declares counts while it stands and is not on its way out. A role whose members do not
    answer, such as Encode, has none: that is known.
    """
    counts = role.counts
    out = {counts.seated[uid] for uid in (*going, *retiring) if uid in counts.seated}
    if counts.unseen - out:
        return None
    return len(counts.labelled - out) if role.role is not None and role.role.template.occupants.answers else 0


def endpoints(eligible: int | None, serving: Mapping[str, object]) -> dict[str, object]:
    """`status.roles[].endpoints`."""
    return {**({} if eligible is None else {"eligible": eligible}), "serving": serving}


def serving(role: str, views: Views | None, stored: object, *, routed: bool) -> Mapping[str, object]:
    """`status.roles[].endpoints.serving`: what every process of the router sends requests to (facts status §6).

    `stored` is the role's entry as it stands. What it says of a router is kept until somebody has looked, so that an
    operator that starts writes nothing.
    """
    if not routed:
        return {"state": ServingState.NOT_CONFIGURED.value}
    if views is None:
        return _said(stored) or {"state": ServingState.UNKNOWN.value}
    seen = [view and frozenset(each for each in view if each.role == role) for view in views.lists]
    if not seen or None in seen:
        return {"state": ServingState.UNKNOWN.value}
    if len(set(seen)) > 1:
        return {"state": ServingState.NOT_CONVERGED.value}
    return {"state": ServingState.CONFIRMED.value, "value": len(seen[0] or ())}


def _said(stored: object) -> Mapping[str, object]:
    """What an entry of `status.roles` says of a router; empty where it says nothing of one."""
    told = stored.get("endpoints") if isinstance(stored, Mapping) else None
    said = told.get("serving") if isinstance(told, Mapping) else None
    routed = isinstance(said, Mapping) and said.get("state") != ServingState.NOT_CONFIGURED.value
    return cast("Mapping[str, object]", said) if routed else {}


def finding(eligible: Mapping[str, int | None]) -> found.Finding:
    """The `EndpointEligibility` finding, from what is known of each role."""
    unseen = tuple(role for role, count in eligible.items() if count is None)
    return found.EligibilityNotObserved(unseen) if unseen else found.EligibilityObserved()


def answers(role: RoleSlots, member: Member) -> bool:
    """Whether requests are sent to a member."""
    return role.role is not None and role.role.template.occupants.answers and member.index == 0


def _verdict(holds: bool) -> Verdict:
    return Verdict.VERIFIED if holds else Verdict.FAILED
