"""Pods and Workloads of a role, classified once: one slot per ordinal, each in exactly one state.

Everything after this module reads slots; only departures name single Pods again.
Source: facts reconcile §4 and §5.
"""

from collections import Counter
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


@dataclass(frozen=True, slots=True)
class Counts:
    """What is counted of the occupied slots of a role, by ordinal.

    A replica is `serving` where it is complete and all its members are ready, whatever render it carries. Of those
    whose Workload is admitted and stands, or was not seen yet, the latter are `unseen`, and `labelled` are those whose
    leader carries the eligibility label. `reserved` hold quota, `flavors` says how many of them in each flavor.
    `seated` is the ordinal that each live member holds, by UID.
    """

    serving: frozenset[int]
    unseen: frozenset[int]
    labelled: frozenset[int]
    reserved: frozenset[int]
    flavors: Mapping[str, int]
    seated: Mapping[str, int]

    def renewed(self, was: Iterable[Slot], now: Iterable[Slot], size: int) -> "Counts":
        """Count some slots anew, which were others before."""
        gone, come = counted(was, size), counted(now, size)
        return Counts(
            _moved(self.serving, gone.serving, come.serving),
            _moved(self.unseen, gone.unseen, come.unseen),
            _moved(self.labelled, gone.labelled, come.labelled),
            _moved(self.reserved, gone.reserved, come.reserved),
            self._flavors(gone, come),
            self._seated(gone, come),
        )

    def _flavors(self, gone: "Counts", come: "Counts") -> Mapping[str, int]:
        if gone.flavors == come.flavors:
            return self.flavors
        flavors = Counter(self.flavors)
        flavors.subtract(gone.flavors)
        flavors.update(come.flavors)
        return {flavor: count for flavor, count in flavors.items() if count}

    def _seated(self, gone: "Counts", come: "Counts") -> Mapping[str, int]:
        if gone.seated == come.seated:
            return self.seated
        seated = dict(self.seated)
        for uid in gone.seated:
            del seated[uid]
        return {**seated, **come.seated}


def _moved(ordinals: frozenset[int], gone: frozenset[int], come: frozenset[int]) -> frozenset[int]:
    return ordinals if gone == come else ordinals - gone | come


def counted(slots: Iterable[Slot], size: int) -> Counts:
    """Count slots of a role of this size."""
    serving, unseen, labelled, reserved = set[int](), set[int](), set[int](), set[int]()
    flavors: dict[str, int] = {}
    seated: dict[str, int] = {}
    for slot in slots:
        live, workload, ordinal = slot.live, slot.workload, slot.ordinal
        for member in live:
            seated[member.uid] = ordinal
        if not live:
            continue
        if workload is not None:
            for flavor in workload.flavors:
                flavors[flavor] = flavors.get(flavor, 0) + 1
            if workload.reserved:
                reserved.add(ordinal)
        if len(live) != size or not slot.ready:
            continue
        serving.add(ordinal)
        if workload is None:
            unseen.add(ordinal)
        elif not workload.admitted or workload.leaving:
            continue
        if live[0].eligible and live[0].index == 0:
            labelled.add(ordinal)
    return Counts(frozenset(serving), frozenset(unseen), frozenset(labelled), frozenset(reserved), flavors, seated)


@dataclass(frozen=True)
class RoleSlots:
    """All slots of one role, by ordinal, plus its orphans, and what is counted of them.

    `role` is None for a role the spec no longer names. `surplus` are live duplicates of an occupied seat that the
    slot's own classification left out.
    """

    name: str
    role: RoleRendering | None
    slots: Mapping[int, Slot]
    counts: Counts
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
        if len(self.retirable) == len(self.beyond):
            return ()
        return tuple(slot for slot in self.beyond if slot.state in BROKEN)

    @property
    def serving(self) -> frozenset[int]:
        """The ordinals of replicas that are complete and whose members are all ready, whatever render they carry."""
        return self.counts.serving

    @property
    def reserved(self) -> int:
        """How many of its replicas hold quota."""
        return len(self.counts.reserved)

    @property
    def flavors(self) -> frozenset[str]:
        """What the quota of any of its replicas was assigned in."""
        return frozenset(self.counts.flavors)


def of(
    members: Iterable[Member],
    workloads: Iterable[Workload],
    roles: Iterable[RoleRendering],
    retiring: Collection[str] = (),
) -> tuple[RoleSlots, ...]:
    """Classify the Pods of a deployment: declared roles in spec order, then roles the spec no longer names.

    `retiring` are the UIDs of those that an operation under way has reserved.
    """
    return among(members, owners(workloads), roles, retiring)


def among(
    members: Iterable[Member],
    owned: Mapping[str, Workload],
    roles: Iterable[RoleRendering],
    retiring: Collection[str],
) -> tuple[RoleSlots, ...]:
    """Classify the Pods of a deployment, the Workload of each being known by its UID."""
    by_role: dict[str, list[Member]] = {}
    for member in members:
        by_role.setdefault(member.role, []).append(member)
    wanted: list[tuple[str, RoleRendering | None]] = [(role.name, role) for role in roles]
    wanted += [(name, None) for name in sorted(by_role.keys() - {name for name, _ in wanted})]
    return tuple(_role_slots(name, role, by_role.get(name, []), owned, retiring) for name, role in wanted)


def renewed(
    before: RoleSlots,
    members: Iterable[Member],
    ordinals: set[int | None],
    owned: Mapping[str, Workload],
    retiring: Collection[str],
) -> RoleSlots:
    """Classify the Pods of some ordinals anew, None being that of orphans; all others are as they were.

    `members` are those of the whole deployment.
    """
    if not ordinals:
        return before
    changed = [each for each in members if each.ordinal in ordinals and each.role == before.name]
    partly = _role_slots(before.name, before.role, changed, owned, retiring)
    held = {each for each in ordinals if each is not None and each in before.slots}
    slots = {**before.slots, **partly.slots}
    for gone in held - partly.slots.keys():
        del slots[gone]
    doubles = [*(each for each in before.surplus if each.ordinal not in ordinals), *partly.surplus]
    return RoleSlots(
        before.name,
        before.role,
        slots if partly.slots.keys() <= before.slots.keys() else dict(sorted(slots.items())),
        before.counts.renewed(map(before.slots.__getitem__, held), partly.slots.values(), before.size),
        partly.orphans if None in ordinals else before.orphans,
        tuple(sorted(doubles, key=lambda each: -1 if each.ordinal is None else each.ordinal)),
    )


def owners(workloads: Iterable[Workload]) -> dict[str, Workload]:
    """Map a Pod UID to its Workload; a Pod claimed by two resolves to the first by name."""
    owned: dict[str, Workload] = {}
    for workload in workloads:
        for uid in workload.owners:
            other = owned.get(uid)
            if other is None or workload.name < other.name:
                owned[uid] = workload
    return owned


def _role_slots(
    name: str,
    role: RoleRendering | None,
    members: list[Member],
    owned: Mapping[str, Workload],
    retiring: Collection[str],
) -> RoleSlots:
    claims: dict[int, list[Member]] = {}
    orphans: list[Member] = []
    for member in members:
        if member.ordinal is not None:
            claims.setdefault(member.ordinal, []).append(member)
        elif not member.leaving:
            orphans.append(member)
    slots: dict[int, Slot] = {}
    surplus: list[Member] = []
    for ordinal in sorted(claims):
        slots[ordinal], doubles = _classify(ordinal, role, claims[ordinal], owned, retiring)
        surplus += doubles
    counts = counted(slots.values(), 1 if role is None else role.size)
    return RoleSlots(name, role, slots, counts, tuple(sorted(orphans, key=_by_name)), tuple(surplus))


def _classify(
    ordinal: int,
    role: RoleRendering | None,
    claimants: list[Member],
    owned: Mapping[str, Workload],
    retiring: Collection[str],
) -> tuple[Slot, list[Member]]:
    leaving = tuple(member for member in claimants if member.leaving)
    seated, doubles = _seat(ordinal, role, [member for member in claimants if not member.leaving])
    workload = next((owned[each.uid] for each in seated or leaving if each.uid in owned), None)
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
