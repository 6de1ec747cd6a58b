"""What most of a pass is decided on: the Pods of a snapshot in their seats, and the slots they make.

It follows from the snapshot alone. Beside the ground of an earlier pass only what changed since is worked out, which
makes a pass over a thousand replicas of which one changed a cheap one, and nothing comes out otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from modeldeployment.reconcile.deciding import marking, parting, retirement, slots
from modeldeployment.reconcile.deciding.marking import Marking
from modeldeployment.reconcile.deciding.parting import Parting
from modeldeployment.reconcile.deciding.roster import Roster
from modeldeployment.reconcile.deciding.seen import Member, Snapshot, Workload
from modeldeployment.reconcile.deciding.slots import RoleSlots
from modeldeployment.render import Rendering

Place: TypeAlias = tuple[str, int | None]


@dataclass(frozen=True, slots=True)
class Ground:
    """The marks and slots of a deployment, and what they were worked out from.

    `owned` is the Workload of each Pod by UID, `roster` that of the members in their seats and of the Workloads.
    """

    members: tuple[Member, ...]
    workloads: tuple[Workload, ...]
    rendering: Rendering
    reserved: frozenset[str]
    marks: Marking
    owned: Mapping[str, Workload]
    roles: tuple[RoleSlots, ...]
    roster: Roster


def of(snapshot: Snapshot, before: Ground | None = None) -> Ground | None:
    """Work out the ground of a snapshot; None where it could not be rendered. `before` is that of an earlier one."""
    rendering, members, workloads = snapshot.rendering, snapshot.members, snapshot.workloads
    if not isinstance(rendering, Rendering):
        return None
    reserved = retirement.reserved(snapshot.status)
    known = before if before is not None and before.rendering is rendering else None
    if known is None:
        marks = marking.of(members, rendering)
        owned: Mapping[str, Workload] = slots.owners(workloads)
        roles = slots.among(marks.members, owned, rendering.roles, reserved)
        return Ground(members, workloads, rendering, reserved, marks, owned, roles, Roster(marks.members, workloads))
    parted, regrouped = parting.of(known.members, members), parting.of(known.workloads, workloads)
    if reserved == known.reserved and parted.alike and regrouped.alike:
        return known
    marks = known.marks if parted.alike else _marks(members, parted, known)
    roster = known.roster if parted.alike and regrouped.alike else Roster(marks.members, workloads)
    owned = known.owned if regrouped.alike else slots.owners(workloads)
    touched = {
        *reserved.symmetric_difference(known.reserved),
        *(uid for each in (*regrouped.went(known.workloads), *regrouped.came(workloads)) for uid in each.owners),
    }
    was, seated = known.marks.members, marks.members
    moved = parted if was is known.members and seated is members else parting.of(was, seated)
    places = {_place(each) for each in (*moved.went(was), *moved.came(seated), *roster.among(touched))}
    roles = _roles(known, seated, places, owned, reserved)
    return Ground(members, workloads, rendering, reserved, marks, owned, roles, roster)


def _marks(members: tuple[Member, ...], parted: Parting, known: Ground) -> Marking:
    """Mark the members, each by itself; beside a pass that had nothing to put back, only those that changed."""
    if known.marks.members is known.members and not known.marks.astray:
        fresh = parted.came(members)
        if marking.of(fresh, known.rendering) == Marking(fresh, {}):
            return Marking(members, {})
    return marking.of(members, known.rendering)


def _place(member: Member) -> Place:
    return member.role, member.ordinal


def _roles(
    known: Ground,
    members: tuple[Member, ...],
    places: set[Place],
    owned: Mapping[str, Workload],
    reserved: frozenset[str],
) -> tuple[RoleSlots, ...]:
    """The slots of every role, of which those in other places are as they were."""
    declared = {role.name for role in known.rendering.roles}
    if {*(name for name, _ in places), *(role.name for role in known.roles)} - declared:
        return slots.among(members, owned, known.rendering.roles, reserved)
    ordinals: dict[str, set[int | None]] = {role.name: set() for role in known.roles}
    for name, ordinal in places:
        ordinals[name].add(ordinal)
    return tuple(slots.renewed(role, members, ordinals[role.name], owned, reserved) for role in known.roles)
