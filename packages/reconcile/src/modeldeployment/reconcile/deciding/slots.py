"""Pods and Workloads of a role, classified once: one slot per ordinal, each in exactly one state.

Everything after this module reads slots; only departures name single Pods again.
Source: facts reconcile §4 and §5.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
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
    def ready(self) -> bool:
        """Whether all of its live members are, of which there may be none."""
        live = self.live
        return live[0].ready if len(live) == 1 else all(member.ready for member in live)

    @property
    def reserved(self) -> bool:
        """Whether the replica's own Workload holds a quota reservation."""
        return self.occupied and self.workload is not None and self.workload.reserved

    @property
    def admitted(self) -> bool:
        """Whether the replica's own Workload is admitted."""
        return self.occupied and self.workload is not None and self.workload.admitted


@dataclass(frozen=True)
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
        return self._kept

    @cached_property
    def _kept(self) -> tuple[Slot, ...]:
        return tuple(self.slot(ordinal) for ordinal in range(self.declared))

    @cached_property
    def occupied(self) -> tuple[Slot, ...]:
        """Every slot that a live member holds, declared or not, lowest first."""
        return tuple(slot for slot in self.slots.values() if slot.live)

    @cached_property
    def beyond(self) -> tuple[Slot, ...]:
        """Slots that a live member holds although the spec no longer declares them, lowest first."""
        declared = self.declared
        return tuple(slot for slot in self.occupied if slot.ordinal >= declared)

    @cached_property
    def retirable(self) -> tuple[Slot, ...]:
        """Those of `beyond` that serve as they should, or may yet, so that they leave by the protocol."""
        return tuple(slot for slot in self.beyond if slot.state not in BROKEN)

    @cached_property
    def broken(self) -> tuple[Slot, ...]:
        """Those of `beyond` that can never serve as they should again, lowest first."""
        return tuple(slot for slot in self.beyond if slot.state in BROKEN)

    @cached_property
    def qualified(self) -> tuple[Slot, ...]:
        """Replicas that are complete and ready, and whose Workload, where one was seen, is admitted and stands."""
        serving = self.serving
        return tuple(
            slot
            for slot in self.occupied
            if slot.ordinal in serving
            and (slot.workload is None or (slot.workload.admitted and not slot.workload.leaving))
        )

    @cached_property
    def unseen(self) -> frozenset[int]:
        """The ordinals of those of `qualified` whose Workload nobody has seen yet."""
        return frozenset(slot.ordinal for slot in self.qualified if slot.workload is None)

    @cached_property
    def labelled(self) -> frozenset[int]:
        """The ordinals of those of `qualified` whose leader carries the eligibility label."""
        leaders = ((slot.ordinal, slot.live[0]) for slot in self.qualified)
        return frozenset(ordinal for ordinal, leader in leaders if leader.eligible and leader.index == 0)

    @cached_property
    def seated(self) -> Mapping[str, int]:
        """The ordinal that each live member holds, by UID."""
        return {member.uid: slot.ordinal for slot in self.occupied for member in slot.live}

    @cached_property
    def flavors(self) -> frozenset[str]:
        """What the quota of any of its replicas was assigned in."""
        return frozenset(each for slot in self.occupied if slot.workload is not None for each in slot.workload.flavors)

    @cached_property
    def reserved(self) -> int:
        """How many of its replicas hold quota."""
        return sum(1 for slot in self.occupied if slot.reserved)

    @cached_property
    def serving(self) -> frozenset[int]:
        """The ordinals of replicas that are complete and whose members are all ready, whatever render they carry."""
        size = self.size
        return frozenset(slot.ordinal for slot in self.occupied if len(slot.live) == size and slot.ready)


def of(
    members: Iterable[Member],
    workloads: Iterable[Workload],
    roles: Iterable[RoleRendering],
    retiring: Collection[str] = (),
    *,
    before: Iterable[RoleSlots] = (),
) -> tuple[RoleSlots, ...]:
    """Classify the Pods of a deployment: declared roles in spec order, then roles the spec no longer names.

    `retiring` are the UIDs of those that an operation under way has reserved. What is held by the very same objects as
    `before`, in an earlier pass, keeps the slot it had.
    """
    known = {role.name: role for role in before}
    by_role: dict[str, list[Member]] = {}
    for member in members:
        by_role.setdefault(member.role, []).append(member)
    owners = _owners(workloads)
    wanted: list[tuple[str, RoleRendering | None]] = [(role.name, role) for role in roles]
    wanted += [(name, None) for name in sorted(by_role.keys() - {name for name, _ in wanted})]
    return tuple(
        _role_slots(name, role, by_role.get(name, []), owners, retiring, known.get(name)) for name, role in wanted
    )


def _owners(workloads: Iterable[Workload]) -> dict[str, Workload]:
    """Map a Pod UID to its Workload; a Pod claimed by two resolves to the first by name."""
    owners: dict[str, Workload] = {}
    for workload in workloads:
        for uid in workload.owners:
            other = owners.get(uid)
            if other is None or workload.name < other.name:
                owners[uid] = workload
    return owners


def _role_slots(
    name: str,
    role: RoleRendering | None,
    members: list[Member],
    owners: Mapping[str, Workload],
    retiring: Collection[str],
    before: RoleSlots | None,
) -> RoleSlots:
    known = before.slots if before is not None and before.role is role else {}
    slots: dict[int, Slot] = {}
    claims: dict[int, list[Member]] = {}
    orphans: list[Member] = []
    for member in members:
        if member.ordinal is None:
            if not member.leaving:
                orphans.append(member)
        elif (was := known.get(member.ordinal)) is not None and _stands(was, member, owners, retiring):
            slots[member.ordinal] = was
        else:
            claims.setdefault(member.ordinal, []).append(member)
    unclaimed = not (claims or orphans) and len(slots) == len(known) > 0
    if before is not None and unclaimed and not (before.orphans or before.surplus):
        return before
    surplus: list[Member] = []
    for ordinal in sorted(claims):
        alone = slots[ordinal].live if ordinal in slots else ()  # not any more
        slots[ordinal], doubles = _classify(ordinal, role, [*alone, *claims[ordinal]], owners, retiring)
        surplus += doubles
    ordered = dict(sorted(slots.items())) if known else slots
    return RoleSlots(name, role, ordered, tuple(sorted(orphans, key=_by_name)), tuple(surplus))


def _stands(was: Slot, member: Member, owners: Mapping[str, Workload], retiring: Collection[str]) -> bool:
    """Whether a slot is held as it was, by one live Pod, which is what all slots of most roles are."""
    live = was.live
    return (
        len(live) == 1
        and live[0] is member
        and not was.leaving
        and owners.get(member.uid) is was.workload
        and (not retiring or was.state in BROKEN or (was.state is SlotState.RETIRING) == (member.uid in retiring))
        and (bool(retiring) or was.state is not SlotState.RETIRING)
    )


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
    return ordinal in role.serving


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
