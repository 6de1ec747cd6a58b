"""Which replicas of one role leave, turn over or come, in one pass.

Within a pass a role gets either deletes or creates, never both, and the count heals before anything rolls.
Source: spec 1 §Rollout behavior, §Replica departures; facts reconcile §4.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import Final, TypeAlias

from modeldeployment.reconcile.deciding.seen import Member, Workload
from modeldeployment.reconcile.deciding.slots import RoleSlots, Slot, SlotState


class Cause(StrEnum):
    """Why a replica, or one surplus Pod, leaves."""

    SCALE_DOWN = "ScaleDown"
    ROLE_DROPPED = "RoleDropped"
    SURPLUS = "Surplus"
    ROLLOUT = "Rollout"
    BROKEN = "Broken"


@dataclass(frozen=True, slots=True)
class Departure:
    """Pods that leave together, and the Workload that goes with them."""

    cause: Cause
    members: tuple[Member, ...]
    workload: Workload | None


@dataclass(frozen=True, slots=True)
class Settled:
    """Every declared replica is there and matches its render."""


@dataclass(frozen=True, slots=True)
class Leave:
    """These departures, and nothing else of the role, in this pass."""

    departures: tuple[Departure, ...]


@dataclass(frozen=True, slots=True)
class Come:
    """These ordinals are declared and empty: they want a replica, once the API server confirms that they are free."""

    ordinals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Vacating:
    """Declared ordinals are still being left; nothing is created beside a Pod that has not gone."""


@dataclass(frozen=True, slots=True)
class Regaining:
    """A member of a replica is there and cannot be seen: it gets back what it is watched by, and nobody leaves."""


@dataclass(frozen=True, slots=True)
class Retiring:
    """A replica of the role leaves by the protocol; nothing of the role rolls or comes beside its delete."""


@dataclass(frozen=True, slots=True)
class AwaitingAdmission:
    """Replicas differ from their render, and the guard waits until all of the role's replicas are admitted."""


@dataclass(frozen=True, slots=True)
class AwaitingReadiness:
    """Replicas differ from their render, and one that already matches is not ready yet: its turn is waited out."""


@dataclass(frozen=True, slots=True)
class HeldByCache:
    """Replicas differ from their render only as the cache they are attached to cannot be reached: they stay."""


@dataclass(frozen=True, slots=True)
class HeldByWeights:
    """Replicas are missing or differ from their render, and a new one could not load its weights: nobody comes."""


class Hold(Enum):
    """What keeps replicas from being replaced although they differ, or from coming at all."""

    NOTHING = auto()
    CACHE = auto()
    WEIGHTS = auto()


Turnover: TypeAlias = (
    Settled
    | Leave
    | Come
    | Vacating
    | Regaining
    | Retiring
    | AwaitingAdmission
    | AwaitingReadiness
    | HeldByCache
    | HeldByWeights
)


@dataclass(frozen=True, slots=True)
class Reserved:
    """What a retirement keeps from every other way to leave: the Pods with these UIDs.

    `role` and `ordinal` are those of an operation under way, whose role does not roll and whose place is not filled;
    `deletes` says that its delete is part of this pass.
    """

    uids: frozenset[str] = frozenset()
    role: str | None = None
    ordinal: int = 0
    deletes: bool = False

    def holds(self, departure: Departure) -> bool:
        """Whether a departure would take one of them along."""
        return any(member.uid in self.uids for member in departure.members)

    def fills(self, role: str, ordinal: int) -> bool:
        """Whether a place is still that of the replica that leaves."""
        return (self.role, self.ordinal) == (role, ordinal)


NOBODY: Final = Reserved()


def of(role: RoleSlots, hold: Hold = Hold.NOTHING, reserved: Reserved = NOBODY) -> Turnover:
    """Decide one role from the slots the pass started with; what leaves by the protocol is not part of it.

    A lost cache holds outdated replicas alone, blocked weights hold them and whatever would be created.
    """
    leaving = tuple(each for each in (*_ended(role), *_shed(role)) if not reserved.holds(each))
    if leaving:
        return Leave(leaving)
    broken = _broken(role, reserved)
    if broken is not None:
        return Leave((broken,))
    missing = _missing(role)
    places = [slot.ordinal for slot in missing if slot.state is SlotState.EMPTY]
    empty = tuple(ordinal for ordinal in places if not reserved.fills(role.name, ordinal))
    if empty and reserved.deletes and reserved.role == role.name:
        return Retiring()
    if empty:
        return HeldByWeights() if hold is Hold.WEIGHTS else Come(empty)
    if missing:
        return Vacating()
    return _rolled(role, hold, reserved)


def retiring(role: RoleSlots) -> Iterator[Departure]:
    """What the spec wants gone by the protocol: whole replicas, highest ordinal first, then all surplus Pods as one.

    Replicas that lost a member or have ended serve nobody as they should, and leave without it (facts reconcile §7).
    """
    cause = _cause(role)
    for slot in reversed(role.retirable):
        departure = _whole(cause, role, slot)
        if not role.surplus or not any(member.over for member in departure.members):
            yield departure
    doubles = tuple(member for member in _surplus(role) if not _served_by_nobody(member))
    if doubles:
        yield Departure(Cause.SURPLUS, doubles, None)


def retires(role: RoleSlots) -> int:
    """How many departures `retiring` tells of."""
    return sum(1 for _ in retiring(role)) if role.surplus or role.orphans else len(role.retirable)


def going(turnovers: Iterable[Turnover]) -> frozenset[str]:
    """The UIDs of all members that leave in this pass."""
    return frozenset(
        member.uid
        for each in turnovers
        if isinstance(each, Leave)
        for departure in each.departures
        for member in departure.members
    )


def doubtful(role: RoleSlots, turnover: Turnover) -> tuple[str, ...]:
    """The groups of replicas that are to leave as a member is missing, and none leaves: it may be out of sight only."""
    if not isinstance(turnover, Leave) or role.size == 1:
        return ()
    slots = [role.slot(_ordinal(each.members[0])) for each in turnover.departures if each.cause is Cause.BROKEN]
    return tuple(
        slot.live[0].group for slot in slots if slot.state is SlotState.INCOMPLETE and slot.live and not slot.leaving
    )


def _cause(role: RoleSlots) -> Cause:
    return Cause.SCALE_DOWN if role.role is not None else Cause.ROLE_DROPPED


def _ended(role: RoleSlots) -> list[Departure]:
    """Broken replicas beyond the declared count, and orphans of a role that the spec dropped: nothing is served there.

    A broken one leaves as it would if it were declared.
    """
    orphans = role.orphans if role.role is None else ()
    doubles = (member for member in role.surplus if member.over and _ordinal(member) >= role.declared)
    return [
        *(_whole(Cause.BROKEN, role, slot) for slot in reversed(role.broken)),
        *(Departure(_cause(role), (member,), None) for member in (*orphans, *doubles)),
    ]


def _shed(role: RoleSlots) -> list[Departure]:
    """Surplus Pods that serve nobody, each by itself."""
    return [Departure(Cause.SURPLUS, (member,), None) for member in _surplus(role) if _served_by_nobody(member)]


def _served_by_nobody(member: Member) -> bool:
    """Whether a Pod leaves without the protocol: an orphan, or one that has ended (facts reconcile §7)."""
    return member.ordinal is None or member.over


def _surplus(role: RoleSlots) -> list[Member]:
    """Pods over declared x size: orphans first, then doubles of a seat, highest ordinal first."""
    kept = [slot for slot in role.kept() if slot.occupied]
    doubles = [member for member in role.surplus if _ordinal(member) < role.declared]
    total = sum(len(slot.live) for slot in kept) + len(doubles) + len(role.orphans)
    over = total - role.declared * role.size
    if over <= 0 or role.role is None:
        return []
    candidates = [*_last_first(role.orphans), *_last_first(doubles)]
    return candidates[:over]


def _broken(role: RoleSlots, reserved: Reserved) -> Departure | None:
    """One unit that can never be admitted or serve again: it leaves without asking the guard."""
    broken = [
        departure
        for slot in role.kept()
        if slot.state in (SlotState.INCOMPLETE, SlotState.TERMINAL)
        if not reserved.holds(departure := _whole(Cause.BROKEN, role, slot))
    ]
    if broken:
        return broken[-1]
    if role.orphans:
        return Departure(Cause.BROKEN, (_last_first(role.orphans)[0],), None)
    other = _in_the_way(role) or _misplaced(role)
    return None if other is None or reserved.holds(other) else other


def _in_the_way(role: RoleSlots) -> Departure | None:
    """A Pod of another ordinal's label that holds the group of a missing one, which so could never be created."""
    if role.role is None:
        return None
    wanted = {role.role.template.group(slot.ordinal) for slot in _missing(role)}
    for member in _last_first(role.surplus):
        if member.group in wanted:
            return Departure(Cause.BROKEN, (member,), None)
    holding = [slot for slot in role.kept() if any(member.group in wanted for member in slot.live)]
    return _whole(Cause.BROKEN, role, holding[-1]) if holding else None


def _misplaced(role: RoleSlots) -> Departure | None:
    """A replica that is not admitted and has a Pod in another group than its own: it never will be."""
    if role.role is None:
        return None
    group = role.role.template.group
    stray = [
        slot
        for slot in role.kept()
        if slot.state is SlotState.OUTDATED
        and not slot.admitted
        and any(member.group != group(slot.ordinal) for member in slot.live)
    ]
    return _whole(Cause.BROKEN, role, stray[-1]) if stray else None


def _missing(role: RoleSlots) -> list[Slot]:
    """Declared slots that nobody occupies, lowest first."""
    return [slot for slot in role.kept() if not slot.occupied]


def _rolled(role: RoleSlots, hold: Hold, reserved: Reserved) -> Turnover:
    """The next replica that differs from its render: highest ordinal first, when the role can spare it.

    The guard of spec 1 asks that every declared replica holds an admitted Workload. Each turn is also waited out until
    the replicas that already match are ready: admission takes a second and loading weights many minutes, and a role
    must not lose all of its replicas to an image that never starts. Replicas that differ are not waited for, so a bad
    edit is always mended by the next one. It steps over a replica that is reserved, and waits while one of the role is
    on its way out: two are not missing at once.
    """
    outdated = [
        slot
        for slot in role.kept()
        if slot.state is SlotState.OUTDATED and not reserved.holds(_whole(Cause.ROLLOUT, role, slot))
    ]
    if not outdated:
        return Settled()
    if reserved.role == role.name:
        return Retiring()
    if hold is not Hold.NOTHING:
        return HeldByCache() if hold is Hold.CACHE else HeldByWeights()
    admitted = {slot.workload.uid for slot in role.kept() if slot.workload is not None and slot.admitted}
    if len(admitted) != role.declared:
        return AwaitingAdmission()
    if any(slot.state is not SlotState.READY for slot in role.kept() if slot.state is not SlotState.OUTDATED):
        return AwaitingReadiness()
    return Leave((_whole(Cause.ROLLOUT, role, outdated[-1]),))


def _whole(cause: Cause, role: RoleSlots, slot: Slot) -> Departure:
    """Every live member of a replica, doubles included: one that stayed would keep the Workload, and so the slot."""
    doubles = tuple(member for member in role.surplus if member.ordinal == slot.ordinal) if role.surplus else ()
    return Departure(cause, (*slot.live, *doubles), slot.workload)


def _ordinal(member: Member) -> int:
    return -1 if member.ordinal is None else member.ordinal


def _last_first(members: Iterable[Member]) -> list[Member]:
    """Highest ordinal first, then greatest name; an orphan counts as -1."""
    return sorted(members, key=lambda member: (_ordinal(member), member.name), reverse=True)
