"""The retirement of a deployment in one pass: what the protocol sees of slots and Pods, and what it then asks for.

The protocol itself is `reconcile.retiring`. Source: facts reconcile §7, facts shutdown §2 to §4, decisions D4, D6, D9,
D49.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, cast

from pydantic import ValidationError

from modeldeployment.api import Retirement, RetirementState, RoleKind, RouterName, keys
from modeldeployment.reconcile.deciding import departing, qualifying, turnover
from modeldeployment.reconcile.deciding.qualifying import Leg, Verdict
from modeldeployment.reconcile.deciding.roster import Roster
from modeldeployment.reconcile.deciding.seen import Member, Snapshot, Workload
from modeldeployment.reconcile.deciding.slots import RoleSlots
from modeldeployment.reconcile.deciding.steps import SOON, SetEligibility, Step, TakeOffRetry
from modeldeployment.reconcile.deciding.turnover import Departure, Reserved
from modeldeployment.reconcile.retiring import machine
from modeldeployment.reconcile.retiring.evidence import Inquiry
from modeldeployment.reconcile.retiring.intents import Intent, Occupant, held
from modeldeployment.reconcile.retiring.machine import Scene, Turn
from modeldeployment.reconcile.retiring.reservation import BEFORE_DELETE, Reservation, read
from modeldeployment.render import DEFAULT_GRACE, Rendering

JSON = dict[str, object]

_HALVES: Final = (RoleKind.PREFILL, RoleKind.DECODE)


@dataclass(frozen=True, slots=True)
class Operation:
    """The retirement of a deployment as a pass leaves it.

    `turn` is what the protocol says, `retained` whether an aborted one still holds its replica.
    """

    turn: Turn
    retained: bool = False

    @property
    def reservation(self) -> Reservation | None:
        """What status is to say."""
        return self.turn.reservation

    @property
    def retiring(self) -> frozenset[str]:
        """The UIDs of the members that may not be sent requests any more."""
        kept = self.reservation
        return kept.members if kept is not None and kept.under_way else frozenset()

    @property
    def target(self) -> frozenset[str]:
        """The UIDs of the members whose label the protocol keeps."""
        return self.reservation.members if self.reservation is not None else frozenset()

    @property
    def going(self) -> frozenset[str]:
        """The UIDs of the members that are deleted in this pass."""
        kept = self.reservation
        return kept.members if kept is not None and self.turn.deletes else frozenset()

    @property
    def reserved(self) -> Reserved:
        """What the other ways to leave have to step over."""
        kept = self.reservation
        if kept is None:
            return turnover.NOBODY
        if not kept.under_way:
            return Reserved(kept.members) if self.retained else turnover.NOBODY
        return Reserved(kept.members, kept.role, kept.ordinal, deletes=self.turn.deletes)

    @property
    def waits(self) -> bool:
        """Whether there is anything left to do about it, now or later; one whose replica is gone is only told of."""
        kept = self.reservation
        return (kept is not None and kept.under_way) or self.turn.stage is not None or bool(self.turn.held)


def of(
    snapshot: Snapshot,
    roles: Sequence[RoleSlots],
    now: datetime,
    *,
    rendered: bool = True,
    roster: Roster | None = None,
) -> Operation:
    """Take the retirement of a deployment one step further. Where it is not `rendered`, `roles` are not looked at.

    `roster` is that of the snapshot's members where it is known.
    """
    kept = stored(snapshot.status)
    retry = (snapshot.deployment.metadata.annotations or {}).get(keys.RETIREMENT_RETRY, "")
    if kept is None and not retry and not any(_leaves(role) for role in roles):
        return Operation(Turn(None))
    seen = scene(snapshot, roles, kept, retry, rendered=rendered, roster=roster)
    turn = machine.advance(kept, seen, now)
    kept = turn.reservation
    if kept is not None and kept.state is RetirementState.DELETING:
        turn = replace(turn, until=now + SOON)
    return Operation(turn, retained=kept is not None and machine.retained(kept, seen))


def steps(operation: Operation, snapshot: Snapshot, roster: Roster) -> list[Step]:
    """Take the label off the target, or give it back; delete what was decided to go; take a heeded retry off."""
    kept = operation.reservation
    asked: list[Step] = []
    if kept is not None:
        target = [each for each in roster.among(kept.members) if not each.leaving and not each.over]
        if kept.state in BEFORE_DELETE:
            asked += [SetEligibility(each.name, each.uid, False) for each in target if each.eligible]
        elif kept.state is RetirementState.ABORTED:
            asked += [
                SetEligibility(each.name, each.uid, True)
                for each in target
                if not each.eligible and _answers(snapshot, each)
            ]
        if kept.state not in BEFORE_DELETE and _remembers(snapshot):
            asked += departing.relabelled(kept.members, roster)
        if operation.turn.deletes:
            asked += departing.retired(kept.members, kept.workload, roster)
    return [*asked, TakeOffRetry()] if operation.turn.done_with_retry else asked


def _remembers(snapshot: Snapshot) -> bool:
    """Whether the router keeps in mind whom it was made to drop."""
    router = snapshot.deployment.spec.router
    return router is not None and router.name is RouterName.SGLANG


def _answers(snapshot: Snapshot, member: Member) -> bool:
    """Whether requests are sent to a member, by the spec: a deployment that cannot be rendered has one all the same."""
    kind = next((role.kind for role in snapshot.deployment.spec.roles if role.name == member.role), RoleKind.ENCODE)
    return member.index == 0 and kind is not RoleKind.ENCODE


def patch(operation: Operation, snapshot: Snapshot) -> JSON | None:
    """The merge patch of `status.retirement` alone; None where it already says it."""
    before = cast("Mapping[str, object] | None", snapshot.status.get("retirement"))
    if operation.reservation is None:
        return None if before is None else {"retirement": None}
    body = operation.reservation.body()
    if before is not None and all(before.get(name) == value for name, value in body.items()):
        return None
    return {"retirement": body}


def inquiry(operation: Operation, snapshot: Snapshot, rendering: Rendering, roster: Roster) -> Inquiry | None:
    """What is to be witnessed from now on; None where nothing is."""
    kept, stage = operation.reservation, operation.turn.stage
    if kept is None or stage is None:
        return None
    spec = snapshot.deployment.spec
    role = next((each for each in rendering.roles if each.name == kept.role), None)
    leaders = (each.uid for each in roster.among(kept.members) if each.index == 0)
    return Inquiry(
        members=kept.members,
        answering=frozenset(leaders),
        kind=role.kind if role is not None else RoleKind.SERVER,
        engine=spec.engine.name,
        router=spec.router.name if spec.router is not None else None,
        port=role.port if role is not None else None,
        stage=stage,
        since=kept.phase_started,
    )


def reserved(status: Mapping[str, object]) -> frozenset[str]:
    """The UIDs of the Pods that an operation under way has reserved."""
    kept = stored(status) if status.get("retirement") else None
    return kept.members if kept is not None and kept.under_way else frozenset()


def stored(status: Mapping[str, object]) -> Reservation | None:
    """Read the reservation that a status holds; None where it holds none, or none that can be read."""
    said = status.get("retirement")
    try:
        return None if said is None else read(Retirement.model_validate(said))
    except ValidationError:
        return None


def _leaves(role: RoleSlots) -> bool:
    """Whether anything of a role may be wanted gone; asked of every role in every pass."""
    return bool(role.surplus or role.beyond)


def scene(
    snapshot: Snapshot,
    roles: Sequence[RoleSlots],
    stored: Reservation | None,
    retry: str = "",
    *,
    rendered: bool = True,
    whole: bool = False,
    roster: Roster | None = None,
) -> Scene:
    """What the protocol sees around a reservation, and of what the spec wants gone.

    Of the intents only those are worked out that a pass decides by, unless the `whole` line is asked for: a thousand
    may wait behind one.
    """
    workers = _Workers(snapshot, roles, stored)
    roster = roster or Roster(snapshot.members, snapshot.workloads)
    target = roster.among(stored.members) if stored is not None else ()
    own = frozenset(each.uid for each in target if each.stands)
    intents, behind = _line(snapshot, roles, workers, own, whole)
    standing = roster.workload(stored.workload) if stored is not None else None
    mine = next((role for role in roles if stored is not None and role.name == stored.role), None)
    return Scene(
        generation=snapshot.deployment.metadata.generation or 0,
        intents=intents,
        behind=behind,
        target=tuple(_occupant(each) for each in target),
        workload=standing is not None,
        stays=stored is not None and (not stored.workload or _owns_others(standing, stored, roster)),
        healthy=stored is not None and mine is not None and _healthy(mine, stored, target),
        window=_window(snapshot, mine) if mine is not None else None,
        last=mine is not None and workers.last(mine, target),
        rendered=rendered,
        evidence=snapshot.evidence,
        retry=retry,
    )


def _line(
    snapshot: Snapshot, roles: Sequence[RoleSlots], workers: "_Workers", own: frozenset[str], whole: bool
) -> tuple[tuple[Intent, ...], int]:
    """The intents up to the first that nothing holds back, and the reservation's own; how many more there are."""
    intents: list[Intent] = []
    behind, found, missing = 0, False, own
    for role in roles:
        if not _leaves(role):
            continue
        behind += turnover.retires(role)
        for departure in turnover.retiring(role):
            if found and not missing and not whole:
                break
            uids = {each.uid for each in departure.members}
            if found and not uids & own and not whole:
                continue
            intents.append(intent := _intent(role, departure, workers, snapshot))
            missing -= uids
            found = found or (not uids & own and held(intent) is None)
    return tuple(intents), behind - len(intents)


def _owns_others(workload: Workload | None, stored: Reservation, roster: Roster) -> bool:
    return workload is not None and roster.stays(workload.owners - stored.members)


def _intent(role: RoleSlots, departure: Departure, workers: "_Workers", snapshot: Snapshot) -> Intent:
    return Intent(
        role=role.name,
        ordinal=max((each.ordinal for each in departure.members if each.ordinal is not None), default=0),
        members=tuple(_occupant(each) for each in departure.members),
        workload=departure.workload.uid if departure.workload is not None else "",
        window=_window(snapshot, role),
        last=workers.last(role, departure.members),
    )


def _occupant(member: Member) -> Occupant:
    return Occupant(
        uid=member.uid,
        name=member.name,
        leads=member.index == 0,
        eligible=member.eligible,
        leaving=member.leaving,
        over=member.over,
        untouched=member.untouched,
    )


def _window(snapshot: Snapshot, role: RoleSlots) -> timedelta | None:
    """How long a half of a pair stays idle before it goes: its grace (decisions D6)."""
    if role.role is None or role.role.kind not in _HALVES:
        return None
    stated = snapshot.deployment.spec.role(role.name).termination_grace_period_seconds
    return timedelta(seconds=DEFAULT_GRACE if stated is None else stated)


def _healthy(role: RoleSlots, stored: Reservation, target: Sequence[Member]) -> bool:
    """Whether every leg of the target is verified but for its retirement; of surplus Pods, whether they are ready."""
    slot = role.slot(stored.ordinal)
    if stored.members <= {each.uid for each in slot.live}:
        judged = qualifying.legs(role, slot, ())
        return all(verdict is Verdict.VERIFIED for leg, verdict in judged if leg is not Leg.NO_PLANNED_RETIREMENT)
    return bool(target) and all(each.ready for each in target)


class _Workers:
    """Who may be sent requests behind the router, by kind of role; nobody counts where there is none."""

    def __init__(self, snapshot: Snapshot, roles: Sequence[RoleSlots], stored: Reservation | None) -> None:
        self._routed = snapshot.deployment.spec.router is not None
        self._off = stored.members if stored is not None and stored.under_way else frozenset()
        self._roles = roles

    def last(self, role: RoleSlots, members: Iterable[Member]) -> bool:
        """Whether the router would have no worker of the kind left without these, and has one with them.

        Never of a role that the spec declares at zero, or no longer names (decisions D49).
        """
        if not self._routed or role.role is None or not role.declared:
            return False
        mine = {each.uid for each in members if not each.leaving and each.ready and qualifying.answers(role, each)}
        return bool(mine) and all(uid in mine for uid in self._able(role.role.kind))

    def _able(self, kind: RoleKind) -> Iterable[str]:
        return (
            each.uid
            for role in self._roles
            if role.role is not None and role.role.kind is kind
            for slot in role.occupied
            for each in slot.live
            if each.ready and each.eligible and each.uid not in self._off and qualifying.answers(role, each)
        )
