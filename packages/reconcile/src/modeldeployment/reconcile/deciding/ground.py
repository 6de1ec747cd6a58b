"""What most of a pass is decided on: the Pods of a snapshot in their seats, and the slots they make.

It follows from the snapshot alone. Beside the ground of an earlier pass only what changed since is worked out, which
makes a pass over a thousand replicas of which one changed a cheap one, and nothing comes out otherwise.
"""

from dataclasses import dataclass
from operator import is_

from modeldeployment.reconcile.deciding import marking, retirement, slots
from modeldeployment.reconcile.deciding.marking import Marking
from modeldeployment.reconcile.deciding.roster import Roster
from modeldeployment.reconcile.deciding.seen import Member, Snapshot, Workload
from modeldeployment.reconcile.deciding.slots import RoleSlots
from modeldeployment.render import Rendering


@dataclass(frozen=True, slots=True)
class Ground:
    """The marks and slots of a deployment, what they were worked out from, and the roster of the marked members."""

    members: tuple[Member, ...]
    workloads: tuple[Workload, ...]
    rendering: Rendering
    reserved: frozenset[str]
    marks: Marking
    roles: tuple[RoleSlots, ...]
    roster: Roster


def of(snapshot: Snapshot, before: Ground | None = None) -> Ground | None:
    """Work out the ground of a snapshot; None where it could not be rendered. `before` is that of an earlier one."""
    rendering = snapshot.rendering
    if not isinstance(rendering, Rendering):
        return None
    reserved = retirement.reserved(snapshot.status)
    known = before if before is not None and before.rendering is rendering else None
    if (
        known is not None
        and reserved == known.reserved
        and _same(snapshot.members, known.members)
        and _same(snapshot.workloads, known.workloads)
    ):
        return known
    marks = _marks(snapshot.members, rendering, known)
    roles = slots.of(
        marks.members, snapshot.workloads, rendering.roles, reserved, before=known.roles if known is not None else ()
    )
    return Ground(snapshot.members, snapshot.workloads, rendering, reserved, marks, roles, Roster(marks.members))


def _marks(members: tuple[Member, ...], rendering: Rendering, known: Ground | None) -> Marking:
    """Mark the members, each by itself; beside a pass that had nothing to put back, only those that changed."""
    if known is not None and known.marks == Marking(known.members, {}):
        settled = set(map(id, known.members))
        fresh = tuple(each for each in members if id(each) not in settled)
        if marking.of(fresh, rendering) == Marking(fresh, {}):
            return Marking(members, {})
    return marking.of(members, rendering)


def _same(now: tuple[object, ...], before: tuple[object, ...]) -> bool:
    """Whether these are the very objects of before: each is reduced once a version."""
    return now is before or (len(now) == len(before) and all(map(is_, now, before)))
