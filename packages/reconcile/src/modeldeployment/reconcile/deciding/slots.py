"""Pods and Workloads of a role, classified once: one slot per ordinal, each in exactly one state.

Everything after this module reads slots; only departures name single Pods again.
Source: facts reconcile §4 and §5.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from modeldeployment.reconcile.deciding.seen import Member, Workload
from modeldeployment.render import RoleRendering, Seat


class SlotState(StrEnum):
    """What is true of a slot now; facts reconcile §5 names the evidence of each."""

    EMPTY = "Empty"
    GATED = "Gated"
    RESERVED = "Reserved"
    ADMITTED = "Admitted"
    READY = "Ready"
    INCOMPLETE = "Incomplete"
    OUTDATED = "Outdated"
    RETIRING = "Retiring"
    DEPARTING = "Departing"
    STRANDED = "Stranded"
    TERMINAL = "Terminal"


BROKEN: Final = (SlotState.INCOMPLETE, SlotState.TERMINAL)
"""States of replicas that can never be admitted or serve again."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One (role, ordinal) and whoever claims it.

    `live` are members without a deletion timestamp, `leaving` those with one. `workload` is the Workload that owns
    a live member; of a slot without any, the one that owns a leaving member.
    """

    ordinal: int
    state: SlotState
    live: tuple[Member, ...] = ()
    leaving: tuple[Member, ...] = ()
    workload: Workload | None = None

    @property
    def occupied(self) -> bool:
        """Whether a live member holds the ordinal."""
        return bool(self.live)

    @property
    def reserved(self) -> bool:
        """Whether the replica's own Workload holds a quota reservation."""
        return self.occupied and self.workload is not None and self.workload.reserved

    @property
    def admitted(self) -> bool:
        """Whether the replica's own Workload is admitted."""
        return self.occupied and self.workload is not None and self.workload.admitted


@dataclass(frozen=True, slots=True)
class RoleSlots:
    """All slots of one role, by ordinal, plus its orphans.

    `role` is None for a role the spec no longer names. `surplus` are live duplicates of an occupied seat that the
    slot's own classification left out.
    """

    name: str
    role: RoleRendering | None
    slots: Mapping[int, Slot]
    orphans: tuple[Member, ...] = ()
    surplus: tuple[Member, ...] = ()

    @property
    def declared(self) -> int:
        """Replicas the spec asks for; 0 for a role it no longer names."""
        return 0 if self.role is None else self.role.replicas

    @property
    def size(self) -> int:
        """Pods of one replica."""
        return 1 if self.role is None else self.role.size

    def slot(self, ordinal: int) -> Slot:
        """The slot of `ordinal`, `Empty` where nobody claims it."""
        return self.slots.get(ordinal) or Slot(ordinal, SlotState.EMPTY)

    def kept(self) -> tuple[Slot, ...]:
        """The declared ordinals' slots, lowest first."""
        return tuple(self.slot(ordinal) for ordinal in range(self.declared))


def of(
    members: Iterable[Member],
    workloads: Iterable[Workload],
    roles: Iterable[RoleRendering],
    retiring: Collection[str] = (),
) -> tuple[RoleSlots, ...]:
    """Classify the Pods of a deployment: declared roles in spec order, then roles the spec no longer names.

    `retiring` are the UIDs of those that an operation under way has reserved.
    """
    by_role: dict[str, list[Member]] = {}
    for member in members:
        by_role.setdefault(member.role, []).append(member)
    owners = _owners(workloads)
    declared = [_role_slots(role.name, role, by_role.pop(role.name, []), owners, retiring) for role in roles]
    dropped = [_role_slots(name, None, by_role[name], owners, retiring) for name in sorted(by_role)]
    return (*declared, *dropped)


def _owners(workloads: Iterable[Workload]) -> dict[str, Workload]:
    """Map a Pod UID to its Workload; a Pod claimed by two resolves to the first by name."""
    owners: dict[str, Workload] = {}
    for workload in sorted(workloads, key=lambda each: each.name):
        for uid in workload.owners:
            owners.setdefault(uid, workload)
    return owners


def _role_slots(
    name: str,
    role: RoleRendering | None,
    members: list[Member],
    owners: Mapping[str, Workload],
    retiring: Collection[str],
) -> RoleSlots:
    claims: dict[int, list[Member]] = {}
    orphans: list[Member] = []
    for member in members:
        if member.ordinal is not None:
            claims.setdefault(member.ordinal, []).append(member)
        elif not member.leaving:
            orphans.append(member)
    surplus: list[Member] = []
    slots: dict[int, Slot] = {}
    for ordinal in sorted(claims):
        slots[ordinal], doubles = _classify(ordinal, role, claims[ordinal], owners, retiring)
        surplus += doubles
    return RoleSlots(name, role, slots, tuple(sorted(orphans, key=_by_name)), tuple(surplus))


def _classify(
    ordinal: int,
    role: RoleRendering | None,
    claimants: list[Member],
    owners: Mapping[str, Workload],
    retiring: Collection[str],
) -> tuple[Slot, list[Member]]:
    leaving = tuple(member for member in claimants if member.leaving)
    seated, doubles = _seat(ordinal, role, [member for member in claimants if not member.leaving])
    workload = next((owners[each.uid] for each in seated or leaving if each.uid in owners), None)
    state = _state(ordinal, role, seated, leaving, workload)
    if retiring and state not in BROKEN and any(member.uid in retiring for member in seated):
        state = SlotState.RETIRING
    return Slot(ordinal, state, seated, leaving, workload), doubles


def _seat(ordinal: int, role: RoleRendering | None, live: list[Member]) -> tuple[tuple[Member, ...], list[Member]]:
    """Keep one occupant a seat: the one that matches the render, else the greatest name (facts reconcile §4.2).

    A Pod whose ordinal label was changed is still of the group it was created in, and does not displace one of the
    seat's own group.
    """
    own = role.template.group(ordinal) if role is not None else ""
    seats: dict[int, Member] = {}
    doubles: list[Member] = []
    for member in sorted(live, key=lambda each: (matches(each, ordinal, role), each.group == own, each.name)):
        if member.index in seats:
            doubles.append(seats[member.index])
        seats[member.index] = member
    return tuple(seats[index] for index in sorted(seats)), doubles


def matches(member: Member, ordinal: int, role: RoleRendering | None) -> bool:
    """Whether a Pod's fingerprint equals the render of its own seat; a seat that is not rendered matches nothing."""
    if role is None or ordinal >= role.replicas or member.index >= role.size:
        return False
    return member.fingerprint == role.template.fingerprint(Seat(ordinal, member.index))


def serving(role: RoleSlots, ordinal: int) -> bool:
    """Whether a replica is complete and all its members are ready, whatever render they carry."""
    slot = role.slot(ordinal)
    return len(slot.live) == role.size and all(member.ready for member in slot.live)


def _state(
    ordinal: int,
    role: RoleRendering | None,
    live: tuple[Member, ...],
    leaving: tuple[Member, ...],
    workload: Workload | None,
) -> SlotState:
    if not live:
        return _vacated(leaving, workload)
    if any(member.over for member in live):
        return SlotState.TERMINAL
    if role is not None and len(live) != role.size:
        return SlotState.INCOMPLETE
    if role is not None and ordinal < role.replicas and not all(matches(each, ordinal, role) for each in live):
        return SlotState.OUTDATED
    if all(member.ready for member in live):
        return SlotState.READY
    if workload is None or not workload.reserved:
        return SlotState.GATED
    return SlotState.ADMITTED if workload.admitted else SlotState.RESERVED


def _vacated(leaving: tuple[Member, ...], workload: Workload | None) -> SlotState:
    if not leaving:
        return SlotState.EMPTY
    return SlotState.DEPARTING if workload is None or workload.leaving else SlotState.STRANDED


def _by_name(member: Member) -> str:
    return member.name
