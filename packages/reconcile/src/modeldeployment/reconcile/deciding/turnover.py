"""Which replicas of one role leave, turn over or come, in one pass.

Within a pass a role gets either deletes or creates, never both, and the count heals before anything rolls.
Source: spec 1 §Rollout behavior, §Replica departures; facts reconcile §4.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import TypeAlias

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
    Settled | Leave | Come | Vacating | Regaining | AwaitingAdmission | AwaitingReadiness | HeldByCache | HeldByWeights
)


def of(role: RoleSlots, hold: Hold = Hold.NOTHING) -> Turnover:
    """Decide one role from the slots the pass started with.

    A lost cache holds outdated replicas alone, blocked weights hold them and whatever would be created.
    """
    leaving = (*_trimmed(role), *_shed(role))
    if leaving:
        return Leave(leaving)
    broken = _broken(role)
    if broken is not None:
        return Leave((broken,))
    missing = _missing(role)
    empty = tuple(slot.ordinal for slot in missing if slot.state is SlotState.EMPTY)
    if empty:
        return HeldByWeights() if hold is Hold.WEIGHTS else Come(empty)
    if missing:
        return Vacating()
    return _rolled(role, hold)


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


def _trimmed(role: RoleSlots) -> list[Departure]:
    """Live replicas beyond the declared count, highest ordinal first."""
    cause = Cause.SCALE_DOWN if role.role is not None else Cause.ROLE_DROPPED
    beyond = [slot for ordinal, slot in role.slots.items() if ordinal >= role.declared and slot.occupied]
    orphans = role.orphans if role.role is None else ()
    return [
        *(_whole(cause, role, slot) for slot in sorted(beyond, key=lambda slot: -slot.ordinal)),
        *(Departure(cause, (member,), None) for member in orphans),
    ]


def _shed(role: RoleSlots) -> list[Departure]:
    """Pods over declared x size: orphans first, then doubles of a seat, highest ordinal first."""
    kept = [slot for slot in role.kept() if slot.occupied]
    doubles = [member for member in role.surplus if _ordinal(member) < role.declared]
    total = sum(len(slot.live) for slot in kept) + len(doubles) + len(role.orphans)
    over = total - role.declared * role.size
    if over <= 0 or role.role is None:
        return []
    candidates = [*_last_first(role.orphans), *_last_first(doubles)]
    return [Departure(Cause.SURPLUS, (member,), None) for member in candidates[:over]]


def _broken(role: RoleSlots) -> Departure | None:
    """One unit that can never be admitted or serve again: it leaves without asking the guard."""
    broken = [slot for slot in role.kept() if slot.state in (SlotState.INCOMPLETE, SlotState.TERMINAL)]
    if broken:
        return _whole(Cause.BROKEN, role, broken[-1])
    if role.orphans:
        return Departure(Cause.BROKEN, (_last_first(role.orphans)[0],), None)
    return _in_the_way(role) or _misplaced(role)


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


def _rolled(role: RoleSlots, hold: Hold) -> Turnover:
    """The next replica that differs from its render: highest ordinal first, when the role can spare it.

    The guard of spec 1 asks that every declared replica holds an admitted Workload. Each turn is also waited out until
    the replicas that already match are ready: admission takes a second and loading weights many minutes, and a role
    must not lose all of its replicas to an image that never starts. Replicas that differ are not waited for, so a bad
    edit is always mended by the next one.
    """
    outdated = [slot for slot in role.kept() if slot.state is SlotState.OUTDATED]
    if not outdated:
        return Settled()
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
    doubles = tuple(member for member in role.surplus if member.ordinal == slot.ordinal)
    return Departure(cause, (*slot.live, *doubles), slot.workload)


def _ordinal(member: Member) -> int:
    return -1 if member.ordinal is None else member.ordinal


def _last_first(members: Iterable[Member]) -> list[Member]:
    """Highest ordinal first, then greatest name; an orphan counts as -1."""
    return sorted(members, key=lambda member: (_ordinal(member), member.name), reverse=True)
