"""The protocol itself: a reservation, what is seen of its target, and the time in; the next reservation out.

One step a pass. Nothing is deleted before withdrawal and idleness were proven in one and the same pass and the decision
was persisted; a state before the delete that spends its time ends aborted, and the capacity stays.
Source: facts reconcile §7, facts shutdown §2 to §4, decisions D6 to D10, D39, D49.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from modeldeployment.api import RetirementState
from modeldeployment.reconcile.retiring import intents as wants
from modeldeployment.reconcile.retiring import retrying, wording
from modeldeployment.reconcile.retiring.evidence import Evidence, Leg, Stage
from modeldeployment.reconcile.retiring.intents import Held, Intent, Occupant
from modeldeployment.reconcile.retiring.reservation import BEFORE_DELETE, Reservation, second
from modeldeployment.reconcile.retiring.retrying import Refused
from modeldeployment.reconcile.retiring.wording import Abort
from modeldeployment.router.withdrawal import Verdict

WITHDRAWAL: Final = timedelta(seconds=30)
SETTLE: Final = timedelta(seconds=30)
OVERALL: Final = timedelta(seconds=300)
RESTORE: Final = timedelta(seconds=30)
"""How long routers may take to take a replica up again before others may leave."""

BUDGETS: Final[Mapping[RetirementState, timedelta]] = MappingProxyType(
    {
        RetirementState.ADMITTED: WITHDRAWAL,
        RetirementState.DISQUALIFIED: WITHDRAWAL,
        RetirementState.WITHDRAWING: WITHDRAWAL,
        RetirementState.DRAINING: wants.DRAIN,
        RetirementState.SETTLING: SETTLE,
    }
)
"""How long each state may take; spent at equality (decisions D39). A delete that was committed has no end."""

_STAGES: Final = {
    RetirementState.DISQUALIFIED: Stage.WITHDRAWING,
    RetirementState.WITHDRAWING: Stage.WITHDRAWING,
    RetirementState.DRAINING: Stage.DRAINING,
    RetirementState.ABORTED: Stage.RESTORING,
}


@dataclass(frozen=True, slots=True)
class Scene:
    """What a pass sees around a reservation.

    `intents` is what the spec wants gone, in order, as far as it is worked out: the reservation's own and the first
    that nothing holds back are among them, and `behind` are how many more there are. `target` are the Pods of the
    reservation that still exist, `workload` says whether its Workload does; it `stays` where it owns a Pod outside of
    the target, or where none was reserved, and then so may deleted Pods. `healthy` says that the target qualifies for
    requests again but for its retirement. `window` and `last` are those of an intent, for the target. Where the
    deployment is not `rendered` nobody knows the intents. `retry` is the annotation.
    """

    generation: int
    intents: tuple[Intent, ...] = ()
    behind: int = 0
    target: tuple[Occupant, ...] = ()
    workload: bool = False
    stays: bool = False
    healthy: bool = False
    window: timedelta | None = None
    last: bool = False
    rendered: bool = True
    evidence: Evidence | None = None
    retry: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a pass does about retirement.

    `reservation` is to be stored, None clears it. `deletes` says that its Pods and Workload are to be deleted, once it
    is stored. `stage` is what is to be witnessed. `until` is the latest time to look again. `done_with_retry` says that
    the annotation was heeded and goes, `refused` why it is not heeded. `held` are intents that wait, and why. `ended`
    says how an operation ended in this pass: None where none did.
    """

    reservation: Reservation | None
    deletes: bool = False
    stage: Stage | None = None
    until: datetime | None = None
    done_with_retry: bool = False
    refused: Refused | None = None
    held: tuple[tuple[Intent, Held], ...] = ()
    ended: RetirementState | None = None


def advance(stored: Reservation | None, scene: Scene, now: datetime) -> Turn:
    """Take the operation one step further, or begin one."""
    turn = _step(stored, scene, now)
    done, refused = _heard(stored, scene)
    stays = turn.reservation
    stage = None if stays is None else _STAGES.get(stays.state)
    if stays is not None and stays.state is RetirementState.ABORTED and not standing(stays, scene.target):
        stage = None
    return replace(turn, done_with_retry=done, refused=refused, stage=stage, held=_held(stays, scene))


def standing(reservation: Reservation, target: tuple[Occupant, ...]) -> bool:
    """Whether every Pod of the reservation still stands; one that lost a member is no replica any more."""
    return bool(reservation.members) and reservation.members <= {each.uid for each in target if each.stands}


def wanted(reservation: Reservation, scene: Scene) -> bool:
    """Whether the spec still wants the whole target gone."""
    return reservation.members <= wants.wanted(scene.intents)


def retained(reservation: Reservation, scene: Scene) -> bool:
    """Whether an aborted operation still refuses others: its replica stands, and the spec wants it gone."""
    return (
        reservation.state is RetirementState.ABORTED
        and standing(reservation, scene.target)
        and wanted(reservation, scene)
    )


def spent_at(reservation: Reservation) -> datetime | None:
    """When the time of its state is spent; None where it has none."""
    budget = BUDGETS.get(reservation.state)
    return None if budget is None else min(reservation.phase_started + budget, reservation.deadline)


def _step(stored: Reservation | None, scene: Scene, now: datetime) -> Turn:
    if stored is None:
        return _admitted(scene, now, None)
    if stored.state in BEFORE_DELETE:
        return _before_delete(stored, scene, now)
    match stored.state:
        case RetirementState.DELETING:
            return _deleting(stored, scene, now)
        case RetirementState.SETTLING:
            return _settling(stored, scene, now)
        case _:
            return _aborted(stored, scene, now)


def _admitted(scene: Scene, now: datetime, before: Reservation | None, token: str = "") -> Turn:
    """Reserve the first replica that may leave; nothing is deleted in this pass."""
    intent = wants.first(scene.intents)
    if intent is None:
        return Turn(before)
    return _reserved(intent, scene, now, token or (before.token if before is not None else ""))


def _reserved(intent: Intent, scene: Scene, now: datetime, token: str) -> Turn:
    start = second(now)
    reservation = Reservation(
        role=intent.role,
        ordinal=intent.ordinal,
        generation=scene.generation,
        members=intent.uids,
        workload=intent.workload,
        state=RetirementState.ADMITTED,
        reason=wording.admitted(_waiting(intent.uids, scene)),
        started=start,
        deadline=start + OVERALL,
        phase_started=start,
        token=token,
    )
    return Turn(reservation, until=spent_at(reservation))


def _before_delete(stored: Reservation, scene: Scene, now: datetime) -> Turn:
    if not standing(stored, scene.target):
        return _abort(stored, Abort.TERMINATED, "", now)
    if not scene.rendered:
        return _abort(stored, Abort.NOT_RENDERED, "", now)
    if not wanted(stored, scene):
        return _abort(stored, Abort.UNWANTED, "", now)
    if scene.last:
        return _abort(stored, Abort.LAST_OF_KIND, "", now)
    withdrawal, idle = _legs(stored, scene)
    blocking = _blocking(stored, withdrawal, idle)
    end = spent_at(stored)
    if end is not None and now >= end:
        late = wording.ELIGIBLE if any(each.eligible for each in scene.target) else wording.LATE
        return _abort(stored, Abort.BUDGET, blocking.reason if blocking is not None else late, now)
    if blocking is not None and blocking.verdict is Verdict.IMPOSSIBLE:
        return _abort(stored, Abort.IMPOSSIBLE, blocking.reason, now)
    waiting = _waiting(stored.members, scene)
    match stored.state:
        case RetirementState.ADMITTED:
            if any(each.eligible for each in scene.target):
                return _stay(stored, wording.admitted(waiting))
            said = wording.withdrawing(withdrawal.reason, waiting)
            return _stay(replace(stored, state=RetirementState.DISQUALIFIED), said)
        case RetirementState.DISQUALIFIED:
            said = wording.withdrawing(withdrawal.reason, waiting)
            if withdrawal.verdict is not Verdict.PROVEN or any(each.eligible for each in scene.target):
                return _stay(stored, said)
            return _enter(stored, RetirementState.WITHDRAWING, said, now)
        case RetirementState.WITHDRAWING:
            return _enter(stored, RetirementState.DRAINING, wording.draining(idle.reason, waiting), now)
        case _:
            return _draining(stored, scene, blocking, now)


def _draining(stored: Reservation, scene: Scene, blocking: Leg | None, now: datetime) -> Turn:
    """Delete once it is withdrawn and idle in one and the same evidence, and the handoff window has passed."""
    waiting = _waiting(stored.members, scene)
    if blocking is not None or any(each.eligible for each in scene.target):
        return _stay(stored, wording.draining(blocking.reason if blocking is not None else "", waiting))
    window = None if _untouched(scene.target) else scene.window
    if window is not None and now < stored.phase_started + window:
        stays = _stay(stored, wording.handing_over(int(window.total_seconds()), waiting))
        return replace(stays, until=min(stored.phase_started + window, stays.until or stored.deadline))
    return replace(_enter(stored, RetirementState.DELETING, wording.deleting(waiting), now), deletes=True)


def _deleting(stored: Reservation, scene: Scene, now: datetime) -> Turn:
    """Delete until every Pod of the target is gone; the delete is asked for again while one stays."""
    waiting = _waiting(stored.members, scene)
    if not _left(scene):
        return replace(_stay(stored, wording.deleting(waiting)), deletes=True)
    turn = _enter(stored, RetirementState.SETTLING, wording.settling(spent=False, waiting=waiting), now)
    return replace(turn, deletes=True)


def _left(scene: Scene) -> bool:
    """Whether the target is gone: its Pods are, or are all that a Workload which stays for others lets them be."""
    return not scene.target or (scene.stays and all(each.leaving for each in scene.target))


def _settling(stored: Reservation, scene: Scene, now: datetime) -> Turn:
    """Wait until the quota is free; the budget here is told, and is no gate."""
    if _left(scene) and (scene.stays or not scene.workload):
        return Turn(None, ended=RetirementState.COMPLETED)
    end = spent_at(stored)
    spent = end is not None and now >= end
    turn = _stay(stored, wording.settling(spent=spent, waiting=_waiting(stored.members, scene)))
    return replace(turn, deletes=True, until=None if spent else end)


def _aborted(stored: Reservation, scene: Scene, now: datetime) -> Turn:
    """Keep what was given up until it is asked for anew, declared again, or gone.

    A new generation asks anew, so does a retry, and so does an intent that was taken back and is there again; one that
    stood all the time never does by itself.
    """
    if not scene.rendered:
        return Turn(stored)
    anew = scene.generation > stored.generation or wording.was_taken_back(stored)
    if not standing(stored, scene.target):
        return Turn(None) if anew else _admitted(scene, now, stored)
    if wanted(stored, scene):
        retry = retrying.parse(scene.retry)
        mine = next((each for each in scene.intents if stored.members <= each.uids), None)
        asked = retry is not None and _names(retry, stored) and retry.token != stored.token
        if mine is not None and (asked or anew) and wants.held(mine) is None:
            token = retry.token if retry is not None and asked else stored.token
            return _reserved(mine, scene, now, token)
        return Turn(stored)
    restored = _restored(stored, scene)
    if scene.healthy and restored.verdict is Verdict.PROVEN:
        return Turn(None)
    late = stored.deadline + RESTORE
    if now >= late:
        return Turn(None) if scene.healthy else _admitted(scene, now, stored)
    return Turn(stored, until=late)


def _legs(stored: Reservation, scene: Scene) -> tuple[Leg, Leg]:
    """What is known of withdrawal and idleness; of Pods that nothing ever reached, both are known."""
    if _untouched(scene.target):
        proven = Leg(Verdict.PROVEN, "its engine has never answered, so no request can have reached it")
        return proven, proven
    evidence = scene.evidence
    if evidence is None or evidence.members != stored.members:
        unknown = Leg(Verdict.WAITING, "")
        return unknown, unknown
    return evidence.withdrawal, evidence.idle


def _blocking(stored: Reservation, withdrawal: Leg, idle: Leg) -> Leg | None:
    """The leg that keeps a state from going on; withdrawal goes on being judged while it drains."""
    legs = {
        RetirementState.DISQUALIFIED: (withdrawal,),
        RetirementState.WITHDRAWING: (withdrawal,),
        RetirementState.DRAINING: (withdrawal, idle),
    }.get(stored.state, ())
    waits = [leg for leg in legs if leg.verdict is not Verdict.PROVEN]
    return next((leg for leg in waits if leg.verdict is Verdict.IMPOSSIBLE), waits[0] if waits else None)


def _restored(stored: Reservation, scene: Scene) -> Leg:
    evidence = scene.evidence
    if evidence is None or evidence.members != stored.members or evidence.restored is None:
        return Leg(Verdict.WAITING, "")
    return evidence.restored


def _untouched(target: tuple[Occupant, ...]) -> bool:
    """Whether no request can have reached any Pod that takes them; without its leader a replica takes none."""
    return all(each.untouched for each in target if each.leads)


def _abort(stored: Reservation, why: Abort, because: str, now: datetime) -> Turn:
    said = wording.aborted(why, stored, because)
    ended = replace(stored, state=RetirementState.ABORTED, reason=said, deadline=second(now))
    return Turn(ended, ended=RetirementState.ABORTED)


def _enter(stored: Reservation, state: RetirementState, reason: str, now: datetime) -> Turn:
    return _stay(replace(stored, state=state, phase_started=second(now)), reason)


def _stay(stored: Reservation, reason: str) -> Turn:
    stays = replace(stored, reason=reason)
    return Turn(stays, until=spent_at(stays))


def _waiting(target: frozenset[str], scene: Scene) -> int:
    """How many intents wait behind the target."""
    return scene.behind + sum(1 for intent in scene.intents if not intent.uids & target)


def _held(stored: Reservation | None, scene: Scene) -> tuple[tuple[Intent, Held], ...]:
    """The intents that wait: behind the one under way, behind one that is retained, or by themselves."""
    held: list[tuple[Intent, Held]] = []
    for intent in scene.intents:
        if stored is not None and intent.uids & stored.members:
            continue
        why = wants.held(intent)
        if stored is not None and stored.under_way:
            why = Held.OTHER_UNDER_WAY
        elif stored is not None and retained(stored, scene):
            why = Held.OTHER_RETAINED
        if why is not None:
            held.append((intent, why))
    return tuple(held)


def _names(retry: retrying.Retry, stored: Reservation) -> bool:
    return (retry.role, retry.ordinal) == (stored.role, stored.ordinal)


def _heard(stored: Reservation | None, scene: Scene) -> tuple[bool, Refused | None]:
    """Whether the annotation was heeded and goes, or why it is not heeded; one that is heeded now goes next pass."""
    if not scene.retry:
        return False, None
    retry = retrying.parse(scene.retry)
    if retry is None:
        return False, Refused.MALFORMED
    if stored is None or not _names(retry, stored):
        return False, Refused.OTHER_TARGET
    if retry.token == stored.token:
        return True, None
    if stored.state is not RetirementState.ABORTED:
        return False, Refused.NOT_ABORTED
    if not standing(stored, scene.target):
        return False, Refused.GONE
    return False, None if wanted(stored, scene) else Refused.NOT_WANTED
