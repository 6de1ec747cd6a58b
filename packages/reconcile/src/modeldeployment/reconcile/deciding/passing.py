"""One pass over one deployment: a snapshot and the time in, a decision out.

Pass order: facts reconcile §3. Nothing here reads a clock or the network; a rare read is asked for (`Ask`) and the pass
decided again with the answer added.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from modeldeployment.api import EventReason, keys
from modeldeployment.reconcile.deciding import (
    attaching,
    departing,
    fronting,
    keeping,
    routing,
    sentences,
    slots,
    status,
    turnover,
)
from modeldeployment.reconcile.deciding.findings import RenderRefused
from modeldeployment.reconcile.deciding.routing import Routed
from modeldeployment.reconcile.deciding.seen import Member, Snapshot
from modeldeployment.reconcile.deciding.slots import RoleSlots
from modeldeployment.reconcile.deciding.steps import (
    AddFinalizer,
    Advance,
    Announcement,
    Ask,
    Blocked,
    CreateReplica,
    Decision,
    DeleteObject,
    DeletePod,
    DeleteWorkload,
    Done,
    DropFinalizer,
    Fact,
    Next,
    SetEligibility,
    Step,
    Wait,
)
from modeldeployment.reconcile.deciding.turnover import (
    AwaitingAdmission,
    AwaitingReadiness,
    Come,
    HeldByCache,
    Leave,
    Turnover,
    Vacating,
)
from modeldeployment.render import Rendering, RenderRefusal

SOON = timedelta(seconds=2)
"""When to look again while something is in flight (facts reconcile §3.15)."""

LATER = timedelta(seconds=30)
"""When to look again at what only somebody else can mend and no watch reports."""


def decide(snapshot: Snapshot, now: datetime) -> Decision | Ask:
    """Decide what should be written next for one deployment.

    A store that is older than this controller's own last write decides nothing. A deployment that is being deleted is
    torn down and nothing else. Everything else follows the order of facts reconcile §3.
    """
    if snapshot.stale:
        return Decision(Blocked(Wait.STALE_STORE, now + SOON))
    if snapshot.deployment.metadata.deletion_timestamp is not None:
        return _tear_down(snapshot, now)
    if isinstance(snapshot.rendering, RenderRefusal):
        return _refuse(snapshot, snapshot.rendering, now)
    return _converge(snapshot, snapshot.rendering, now)


def _converge(snapshot: Snapshot, rendering: Rendering, now: datetime) -> Decision | Ask:
    roles = slots.of(snapshot.members, snapshot.workloads, rendering.roles)
    turnovers = {role.name: turnover.of(role, held=attaching.held(snapshot)) for role in roles}
    wanted = fronting.wanted(rendering.services, roles)
    in_front, of_router = routing.split(snapshot.objects, wanted, snapshot.deployment.metadata.name)
    fronts = keeping.of(wanted, in_front, snapshot.answers.names)
    routed = routing.of(snapshot, rendering, of_router)
    ask = _question(snapshot, turnovers, fronts, routed.kept)
    if ask is not None:
        return ask
    leaving = [departure for each in turnovers.values() if isinstance(each, Leave) for departure in each.departures]
    steps: list[Step] = [
        *_finalizer(snapshot),
        *departing.stranded(snapshot.members, snapshot.workloads),
        *departing.steps_of(leaving, snapshot.members),
        *_creates(snapshot, rendering, turnovers),
        *eligibility(roles, {member.uid for departure in leaving for member in departure.members}),
        *fronts.steps,
        *routed.kept.steps,
    ]
    patch = status.of(snapshot, rendering, roles, turnovers, routed, now)
    events = (
        *departures(snapshot.members),
        *_skews(rendering),
        *_taken(snapshot, fronts, routed),
        *_unrouted(snapshot, rendering),
    )
    return Decision(_next(steps, turnovers, rendering, (fronts, routed.kept), now), patch, events)


def _question(snapshot: Snapshot, turnovers: Mapping[str, Turnover], *kept: keeping.Keeping) -> Ask | None:
    """The fact that this pass lacks, if any. A pass that is going to delete creates nothing, so it asks nothing."""
    coming = tuple(name for name, each in turnovers.items() if isinstance(each, Come))
    unknown = tuple(name for name in coming if name not in snapshot.answers.groups)
    if unknown:
        return Ask(Fact.ROLE_GROUPS, unknown)
    kinds = tuple(dict.fromkeys(kind for each in kept for kind in each.unknown))
    return Ask(Fact.NAMES, kinds=kinds) if kinds else None


def _creates(snapshot: Snapshot, rendering: Rendering, turnovers: Mapping[str, Turnover]) -> list[Step]:
    """Create the empty ordinals whose group labels no Pod on the API server, lowest first."""
    templates = {role.name: role.template for role in rendering.roles}
    steps: list[Step] = []
    for name, wanted in turnovers.items():
        if isinstance(wanted, Come):
            taken = snapshot.answers.groups[name]
            steps += [
                CreateReplica(name, ordinal)
                for ordinal in wanted.ordinals
                if templates[name].group(ordinal) not in taken
            ]
    return steps


def eligibility(roles: Sequence[RoleSlots], going: Collection[str]) -> list[Step]:
    """Keep the eligibility label on answering members that stay, and on nobody else (decisions D4, D31)."""
    steps: list[Step] = []
    for role in roles:
        if role.role is None:
            continue
        answers = role.role.template.occupants.answers
        for slot in role.kept():
            steps += [
                SetEligibility(member.name, member.uid, answers and member.index == 0)
                for member in slot.live
                if member.uid not in going and member.eligible != (answers and member.index == 0)
            ]
    return steps


def _next(
    steps: list[Step],
    turnovers: Mapping[str, Turnover],
    rendering: Rendering,
    kept: Iterable[keeping.Keeping],
    now: datetime,
) -> Next:
    if steps:
        return Advance(tuple(steps))
    if any(isinstance(each, Come | Vacating) for each in turnovers.values()):
        return Blocked(Wait.DEPARTURE, now + SOON)
    later = now + LATER if any(each.taken for each in kept) else None
    if isinstance(rendering.router, RenderRefusal) and rendering.router.retryable:
        later = now + LATER
    for wait, kind in _WAITS:
        if any(isinstance(each, kind) for each in turnovers.values()):
            return Blocked(wait, later)
    if any(each.taken for each in kept):
        return Blocked(Wait.NAME_TAKEN, later)
    if isinstance(rendering.router, RenderRefusal):
        return Blocked(Wait.RENDER, later)
    return Done()


_WAITS = (
    (Wait.ADMISSION, AwaitingAdmission),
    (Wait.READINESS, AwaitingReadiness),
    (Wait.CACHE, HeldByCache),
)
"""What a role may wait for without a time of its own: a watch tells."""


def _refuse(snapshot: Snapshot, refusal: RenderRefusal, now: datetime) -> Decision:
    """A deployment that cannot be rendered: the finalizer, the conditions, the event, and no half-rendered set."""
    weights = attaching.refused(refusal)
    findings = (RenderRefused(refusal.reason.value, refusal.message), *((weights,) if weights else ()))
    steps = _finalizer(snapshot)
    return Decision(
        Advance(tuple(steps)) if steps else Blocked(Wait.RENDER, now + LATER if refusal.retryable else None),
        status.refused(snapshot, findings, now),
        (_refused(snapshot, refusal),),
    )


def _refused(snapshot: Snapshot, refusal: RenderRefusal) -> Announcement:
    about = f"{snapshot.deployment.metadata.generation}/{refusal.reason.value}/{refusal.message}"
    return Announcement(EventReason.RENDER_FAILED, refusal.message, about)


def _tear_down(snapshot: Snapshot, now: datetime) -> Decision | Ask:
    """Delete every Pod with its Workload, then all else it owns, and let the deployment go once no Pod of it is left.

    That no Pod is left is asked of the API server. The garbage collector would take the other objects too, but as much
    as half a minute later.
    """
    if keys.FINALIZER not in snapshot.deployment.metadata.finalizers:
        return Decision(Done())
    live = [member for member in snapshot.members if not member.leaving]
    if snapshot.members:
        standing = [workload for workload in snapshot.workloads if not workload.leaving]
        steps: tuple[Step, ...] = (
            *(DeletePod(member.name, member.uid) for member in live),
            *(DeleteWorkload(workload.name, workload.uid) for workload in standing),
        )
        waiting = Advance(steps) if steps else Blocked(Wait.TEARDOWN, now + SOON)
        return Decision(waiting, status.deleting(snapshot, len(snapshot.members)), departures(snapshot.members))
    if snapshot.answers.pods_left is None:
        return Ask(Fact.PODS_LEFT)
    if snapshot.answers.pods_left:
        return Decision(Blocked(Wait.TEARDOWN, now + SOON))
    objects = tuple(DeleteObject(each.kind, each.name, each.uid) for each in snapshot.objects if each.managed)
    return Decision(Advance((*objects, DropFinalizer())))


def _finalizer(snapshot: Snapshot) -> list[Step]:
    held = keys.FINALIZER in snapshot.deployment.metadata.finalizers
    return [] if held else [AddFinalizer()]


def departures(members: Sequence[Member]) -> tuple[Announcement, ...]:
    """The departure events of the Pods, first match each (facts reconcile §10)."""
    found: list[Announcement] = []
    for member in members:
        if member.evicted:
            note, reason, about = sentences.evicted(member), EventReason.REPLICA_EVICTED, member.uid
        elif member.leaving:
            note, reason, about = sentences.leaving(member), EventReason.REPLICA_LEAVING, member.uid
        elif member.restarts:
            note, reason = sentences.restarted(member), EventReason.REPLICA_RESTARTED
            about = f"{member.uid}/{member.restarts}"
        else:
            continue
        found.append(Announcement(reason, note, about))
    return tuple(found)


def _skews(rendering: Rendering) -> tuple[Announcement, ...]:
    return tuple(
        Announcement(
            EventReason.RUNTIME_VERSION_SKEW,
            sentences.skew(notice.role, notice.taken, notice.skipped),
            f"{notice.role}/{notice.taken}/{','.join(notice.skipped)}",
        )
        for notice in rendering.notices
    )


def _taken(snapshot: Snapshot, fronts: keeping.Keeping, routed: Routed) -> tuple[Announcement, ...]:
    namespace = str(snapshot.deployment.metadata.namespace)
    services = [(sentences.name_taken(each.name), each.name) for each in fronts.taken]
    routers = [
        (sentences.router_name_taken(sentences.not_owned(each.kind, namespace, each.name)), f"{each.kind}/{each.name}")
        for each in routed.kept.taken
    ]
    return tuple(Announcement(EventReason.NAME_TAKEN, note, about) for note, about in (*services, *routers))


def _unrouted(snapshot: Snapshot, rendering: Rendering) -> tuple[Announcement, ...]:
    return (_refused(snapshot, rendering.router),) if isinstance(rendering.router, RenderRefusal) else ()
