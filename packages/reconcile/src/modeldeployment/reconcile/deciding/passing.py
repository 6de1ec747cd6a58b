"""One pass over one deployment: a snapshot and the time in, a decision out.

Pass order: facts reconcile §3. Nothing here reads a clock or the network; a rare read is asked for (`Ask`) and the pass
decided again with the answer added.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from modeldeployment.api import EventReason, keys
from modeldeployment.reconcile.deciding import departing, fronting, sentences, slots, status, turnover
from modeldeployment.reconcile.deciding.findings import RenderRefused
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
    DeletePod,
    DeleteService,
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
    turnovers = {role.name: turnover.of(role) for role in roles}
    fronts = fronting.of(
        fronting.wanted(rendering.services, roles), snapshot.services, snapshot.answers.foreign_services
    )
    ask = _question(snapshot, turnovers, fronts)
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
    ]
    patch = status.of(snapshot, roles, turnovers, rendering.endpoint, now)
    events = (*departures(snapshot.members), *_skews(rendering), *_taken(fronts))
    return Decision(_next(steps, turnovers, fronts, now), patch, events)


def _question(snapshot: Snapshot, turnovers: Mapping[str, Turnover], fronts: fronting.Fronting) -> Ask | None:
    """The fact that this pass lacks, if any. A pass that is going to delete creates nothing, so it asks nothing."""
    coming = tuple(name for name, each in turnovers.items() if isinstance(each, Come))
    unknown = tuple(name for name in coming if name not in snapshot.answers.groups)
    if unknown:
        return Ask(Fact.ROLE_GROUPS, unknown)
    if fronts.unknown and snapshot.answers.foreign_services is None:
        return Ask(Fact.SERVICE_NAMES)
    return None


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
        for slot in role.kept():
            steps += [
                SetEligibility(member.name, member.uid, member.index == 0)
                for member in slot.live
                if member.uid not in going and member.eligible != (member.index == 0)
            ]
    return steps


def _next(steps: list[Step], turnovers: Mapping[str, Turnover], fronts: fronting.Fronting, now: datetime) -> Next:
    if steps:
        return Advance(tuple(steps))
    if any(isinstance(each, Come | Vacating) for each in turnovers.values()):
        return Blocked(Wait.DEPARTURE, now + SOON)
    if any(isinstance(each, AwaitingAdmission) for each in turnovers.values()):
        return Blocked(Wait.ADMISSION)
    if any(isinstance(each, AwaitingReadiness) for each in turnovers.values()):
        return Blocked(Wait.READINESS)
    if fronts.taken:
        return Blocked(Wait.NAME_TAKEN, now + LATER)
    return Done()


def _refuse(snapshot: Snapshot, refusal: RenderRefusal, now: datetime) -> Decision:
    """A deployment that cannot be rendered: the finalizer, the condition, the event, and no half-rendered set."""
    finding = RenderRefused(refusal.reason.value, refusal.message)
    steps = _finalizer(snapshot)
    about = f"{snapshot.deployment.metadata.generation}/{refusal.reason.value}/{refusal.message}"
    return Decision(
        Advance(tuple(steps)) if steps else Blocked(Wait.RENDER, now + LATER if refusal.retryable else None),
        status.refused(snapshot, finding, now),
        (Announcement(EventReason.RENDER_FAILED, refusal.message, about),),
    )


def _tear_down(snapshot: Snapshot, now: datetime) -> Decision | Ask:
    """Delete every Pod with its Workload, then the Services, and let the deployment go once nothing of it is left.

    That no Pod is left is asked of the API server. The garbage collector would take the Services too, but as much as
    half a minute later.
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
    services = tuple(DeleteService(service.name, service.uid) for service in snapshot.services if service.managed)
    return Decision(Advance((*services, DropFinalizer())))


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


def _taken(fronts: fronting.Fronting) -> tuple[Announcement, ...]:
    return tuple(Announcement(EventReason.NAME_TAKEN, sentences.name_taken(name), name) for name in fronts.taken)
