"""The events of a pass; each names its occurrence, so that the rim says it once (facts reconcile §10)."""

from collections.abc import Sequence

from modeldeployment.api import EventReason, RetirementState, keys
from modeldeployment.reconcile.deciding import keeping, marking, sentences
from modeldeployment.reconcile.deciding.retirement import Operation
from modeldeployment.reconcile.deciding.routing import Routed
from modeldeployment.reconcile.deciding.seen import Member, Snapshot
from modeldeployment.reconcile.deciding.steps import Announcement
from modeldeployment.reconcile.retiring import wording
from modeldeployment.reconcile.retiring.intents import Held
from modeldeployment.render import Rendering, RenderRefusal


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


def skews(rendering: Rendering) -> tuple[Announcement, ...]:
    """Runtime versions that differ in a pool."""
    return tuple(
        Announcement(
            EventReason.RUNTIME_VERSION_SKEW,
            sentences.skew(notice.role, notice.taken, notice.skipped),
            f"{notice.role}/{notice.taken}/{','.join(notice.skipped)}",
        )
        for notice in rendering.notices
    )


def taken(snapshot: Snapshot, fronts: keeping.Keeping, routed: Routed) -> tuple[Announcement, ...]:
    """Wanted names that somebody else holds."""
    namespace = str(snapshot.deployment.metadata.namespace)
    services = [(sentences.name_taken(each.name), each.name) for each in fronts.taken]
    routers = [
        (sentences.router_name_taken(sentences.not_owned(each.kind, namespace, each.name)), f"{each.kind}/{each.name}")
        for each in routed.kept.taken
    ]
    return tuple(Announcement(EventReason.NAME_TAKEN, note, about) for note, about in (*services, *routers))


def strangers(snapshot: Snapshot, rendering: Rendering) -> tuple[Announcement, ...]:
    """Groups of ours in which somebody else's Pod is, so that no replica can come."""
    meta = snapshot.deployment.metadata
    known = {
        role.template.group(ordinal): f"{role.name}/{ordinal}"
        for role in rendering.roles
        if snapshot.answers.strangers
        for ordinal in range(role.replicas)
    }
    return tuple(
        Announcement(
            EventReason.NAME_TAKEN,
            sentences.group_taken(known.get(group, group), pod, meta.name or "", meta.uid or ""),
            f"{group}/{pod}",
        )
        for group, pod in sorted(snapshot.answers.strangers.items())
    )


def undone(snapshot: Snapshot, marks: marking.Marking) -> tuple[Announcement, ...]:
    """Pods whose marks do not stay, however often they are put back."""
    return tuple(
        Announcement(EventReason.OBJECT_REFUSED, sentences.undone(pod, sorted(labels), insisted), f"marks/{pod}")
        for pod, labels, insisted in marking.undone(marks, snapshot)
    )


def retirement(snapshot: Snapshot, operation: Operation) -> tuple[Announcement, ...]:
    """An operation that was given up, replicas that cannot begin to leave, and a request to retry that is not heeded.

    One that waits its turn behind another is no news; of several that are held alike the first stands for all.
    """
    kept, turn = operation.reservation, operation.turn
    found: list[Announcement] = []
    if kept is not None and kept.state is RetirementState.ABORTED:
        name = wording.seat(kept.role, kept.ordinal)
        about = f"{name}/{kept.started:%Y%m%dT%H%M%S}"
        found.append(Announcement(EventReason.RETIREMENT_ABORTED, sentences.given_up(name, kept.reason), about))
    first = {why: intent for intent, why in reversed(turn.held) if why is not Held.OTHER_UNDER_WAY}
    for why, intent in first.items():
        about = f"{wording.seat(intent.role, intent.ordinal)}/{why.name}"
        found.append(Announcement(EventReason.RETIREMENT_HELD, wording.held(intent, why, kept), about))
    if turn.refused is not None:
        asked = str((snapshot.deployment.metadata.annotations or {}).get(keys.RETIREMENT_RETRY))
        note = wording.refused(turn.refused, asked)
        found.append(Announcement(EventReason.RETRY_REFUSED, note, f"{asked}/{turn.refused.name}"))
    return tuple(found)


def unrouted(snapshot: Snapshot, rendering: Rendering) -> tuple[Announcement, ...]:
    """A router that cannot be rendered."""
    return (refused(snapshot, rendering.router),) if isinstance(rendering.router, RenderRefusal) else ()


def refused(snapshot: Snapshot, refusal: RenderRefusal) -> Announcement:
    """What cannot be rendered, in the renderer's own words."""
    about = f"{snapshot.deployment.metadata.generation}/{refusal.reason.value}/{refusal.message}"
    return Announcement(EventReason.RENDER_FAILED, refusal.message, about)
