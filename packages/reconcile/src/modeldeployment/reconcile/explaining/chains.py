"""From what a person sees to its cause: one chain a replica that does not serve, equal ones folded into one.

Slots, turnovers and the count of a set come from the functions that the controllers decide by; nothing here decides
again. Source: facts reconcile §4 and §5, facts atomic-admission §4.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from modeldeployment.api import kueue
from modeldeployment.reconcile.deciding import (
    loading,
    marking,
    passing,
    retirement,
    routing,
    sentences,
    slots,
    turnover,
)
from modeldeployment.reconcile.deciding.seen import Member, Workload
from modeldeployment.reconcile.deciding.slots import RoleSlots, Slot, SlotState
from modeldeployment.reconcile.deciding.turnover import Hold, Turnover
from modeldeployment.reconcile.explaining import amounts, leaving
from modeldeployment.reconcile.explaining.leaving import Leaving
from modeldeployment.reconcile.explaining.links import Chain, Link, Why
from modeldeployment.reconcile.explaining.picture import Picture, PodDetails, WorkloadDetails
from modeldeployment.reconcile.retiring import reservation
from modeldeployment.render import Rendering, RenderRefusal


@dataclass(frozen=True, slots=True)
class Waiting:
    """One replica that does not serve, and what it waits for."""

    role: str
    ordinal: int
    links: tuple[Link, ...]

    @property
    def name(self) -> str:
        """As people write it."""
        return f"{self.role}/{self.ordinal}"


@dataclass(frozen=True, slots=True)
class Explained:
    """A deployment explained: what holds it whole, and what each replica that does not serve waits for.

    `roles` are its slots; none where it cannot be rendered. `retiring` are replicas that the spec does not declare any
    more and that are on their way out, or wait for it; `leaving` is their retirement as a whole.
    """

    roles: tuple[RoleSlots, ...] = ()
    whole: tuple[Link, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    retiring: tuple[Waiting, ...] = ()
    leaving: Leaving = field(default_factory=Leaving)

    @property
    def serving(self) -> bool:
        """Whether nothing is held."""
        return not self.whole and not self.waiting

    def of(self, role: str, ordinal: int | None = None) -> tuple[Waiting, ...]:
        """What replicas of one role, or one of them, wait for."""
        return _picked(self.waiting, role, ordinal)

    def on_their_way(self, role: str, ordinal: int | None = None) -> tuple[Waiting, ...]:
        """What replicas of one role, or one of them, that are not declared any more wait for."""
        return _picked(self.retiring, role, ordinal)


def explain(picture: Picture) -> Explained:
    """Explain a deployment as the picture shows it."""
    snapshot = picture.snapshot
    if snapshot.deployment.metadata.deletion_timestamp is not None:
        return _deleting(picture)
    old = tuple(_old(picture))
    old = (*old, *_nobody(picture)) if old else ()  # what has been looked at needs nobody to look
    if picture.blind:
        return Explained(whole=(*old, Link(Why.NOT_RENDERED_HERE, _deployment(picture), said=picture.blind)))
    if isinstance(snapshot.rendering, RenderRefusal):
        refused = Link(Why.RENDER_REFUSED, _deployment(picture), said=snapshot.rendering.message)
        return Explained(whole=(*old, refused), leaving=Leaving(leaving.operation(snapshot.status)))
    members = marking.of(snapshot.members, snapshot.rendering).members
    roles = slots.of(members, snapshot.workloads, snapshot.rendering.roles)
    declared = [role for role in roles if role.role is not None]
    hold = passing.held(snapshot)
    reserved = retirement.of(snapshot, roles, reservation.LONG_AGO).reserved
    turns = {role.name: turnover.of(role, hold, reserved) for role in declared}
    whole = (
        *old,
        *(link for role in declared for link in _turn(picture, role, turns[role.name])),
        *_router(picture, snapshot.rendering),
        *_unchecked(picture, declared),
    )
    waiting = tuple(
        Waiting(role.name, slot.ordinal, links)
        for role in declared
        for slot in role.kept()
        if (links := tuple(_replica(picture, role, slot, hold)))
    )
    leave = leaving.of(snapshot, roles)
    retiring = tuple(Waiting(role, ordinal, (link,)) for role, ordinal, link in leaving.links(leave))
    return Explained(roles, whole, _with_causes(waiting), retiring, leave)


def _picked(waiting: Iterable[Waiting], role: str, ordinal: int | None) -> tuple[Waiting, ...]:
    return tuple(each for each in waiting if each.role == role and ordinal in (None, each.ordinal))


def folded(waiting: Iterable[Waiting]) -> tuple[Chain, ...]:
    """Chains that say the same of several replicas, as one of the first of them."""
    chains: dict[tuple[str, tuple[Link, ...]], Chain] = {}
    for each in waiting:
        same = (each.role, nameless(each.links, each.name))
        before = chains.get(same)
        subjects = (each.name,) if before is None else (*before.subjects, each.name)
        chains[same] = Chain(subjects, before.links if before is not None else each.links)
    return tuple(chains.values())


def nameless(links: Iterable[Link], name: str) -> tuple[Link, ...]:
    """A chain without whose it is: two replicas of which it says the same have the same."""
    return tuple(
        replace(link, subject="", source=_kind(link.source)) if link.subject == name else link for link in links
    )


def _kind(source: str) -> str:
    """A source without the name of its first object: siblings have a Pod and a Workload of their own each."""
    return source.partition(" ")[0]


# --- of the whole deployment ---


def _deployment(picture: Picture) -> str:
    return picture.snapshot.deployment.metadata.name or ""


def _old(picture: Picture) -> Iterator[Link]:
    """A status that judges another spec than the present one."""
    snapshot = picture.snapshot
    wanted = snapshot.deployment.metadata.generation or 0
    stored = snapshot.status.get("conditions") or []
    assert isinstance(stored, list)
    judged = max((int(each.get("observedGeneration") or 0) for each in stored), default=0)
    if judged < wanted:
        yield Link(Why.STATUS_OLD, _deployment(picture), have=str(judged), want=str(wanted))


def _nobody(picture: Picture) -> Iterator[Link]:
    """That no operator is there to look at anything."""
    if picture.lease is not None and not picture.lease.live:
        holder = picture.lease.holder
        said = f"was last held by {holder}, which no longer renews it" if holder else "is held by nobody"
        yield Link(Why.NO_OPERATOR, _deployment(picture), f"Lease {picture.lease.name}", said)


def _deleting(picture: Picture) -> Explained:
    """A deployment on its way out: how many Pods are left, and what holds the first of them."""
    snapshot = picture.snapshot
    rendering = snapshot.rendering
    rendered = rendering.roles if isinstance(rendering, Rendering) else ()
    held = ((each, picture.pods.get(each.uid, PodDetails()).finalizers) for each in snapshot.members)
    first = next(((each, finalizers) for each, finalizers in held if finalizers), None)
    said = f"; Pod {first[0].name} is held by {', '.join(first[1])}" if first is not None else ""
    left = len(snapshot.members)
    link = Link(Why.DELETING, _deployment(picture), said=said, have="1 Pod" if left == 1 else f"{left} Pods")
    return Explained(slots.of(snapshot.members, snapshot.workloads, rendered), (link, *_nobody(picture)))


def _turn(picture: Picture, role: RoleSlots, turn: Turnover) -> Iterator[Link]:
    subject = f"role {role.name}"
    match turn:
        case turnover.HeldByWeights():
            blocked = loading.blocked(picture.snapshot)
            yield Link(Why.WEIGHTS_BLOCKED, subject, said=sentences.of(blocked) if blocked is not None else "")
        case turnover.HeldByCache():
            yield Link(Why.CACHE_LOST, subject)
        case turnover.AwaitingAdmission():
            admitted = sum(1 for slot in role.kept() if slot.admitted)
            yield Link(Why.TURN_AWAITS_ADMISSION, subject, have=str(admitted), want=str(role.declared))
        case turnover.AwaitingReadiness():
            yield Link(Why.TURN_AWAITS_READINESS, subject)
        case turnover.Retiring():
            yield Link(Why.TURN_AWAITS_RETIREMENT, subject)
        case _:
            return


def _router(picture: Picture, rendering: Rendering) -> Iterator[Link]:
    _, of_router = routing.split(picture.snapshot.objects, {}, picture.snapshot.deployment.metadata.name)
    routed = routing.of(picture.snapshot, rendering, of_router)
    if routed.declared and not routed.ready:
        yield Link(Why.ROUTER_NOT_READY, _deployment(picture), said=sentences.of(routed.finding))


def _unchecked(picture: Picture, declared: list[RoleSlots]) -> Iterator[Link]:
    """Queues that let the roles of a set start one by one (decisions D26)."""
    if len(declared) < 2:
        return
    named = dict.fromkeys(role.role.queue for role in declared if role.role is not None)
    for name in named:
        queue = picture.snapshot.queues.get(name)
        if queue is not None and queue.cluster_queue and not (queue.checked or queue.missing):
            source = f"ClusterQueue {queue.cluster_queue}"
            yield Link(Why.QUEUE_UNCHECKED, _deployment(picture), source, want=kueue.JOINT_CHECK)


# --- of one replica ---


def _replica(picture: Picture, role: RoleSlots, slot: Slot, hold: Hold) -> Iterator[Link]:
    subject = f"{role.name}/{slot.ordinal}"
    if slots.serving(role, slot.ordinal):
        return
    if not slot.occupied:
        yield from _vacant(picture, subject, slot, hold)
    elif slot.state is SlotState.TERMINAL:
        over = next(member for member in slot.live if member.over)
        yield Link(Why.ENDED, subject, f"Pod {over.name}", said=over.phase.value)
    elif len(slot.live) != role.size:
        yield Link(Why.INCOMPLETE, subject, have=str(len(slot.live)), want=str(role.size))
    elif slot.workload is None:
        yield Link(Why.NO_WORKLOAD, subject)
        yield from _queue(picture, role)
    else:
        yield from _composed(picture, role, slot, slot.workload, subject)


def _vacant(picture: Picture, subject: str, slot: Slot, hold: Hold) -> Iterator[Link]:
    for member in slot.leaving:
        held_by = ", ".join(picture.pods.get(member.uid, PodDetails()).finalizers)
        yield Link(Why.LEAVING, subject, f"Pod {member.name}", said=f" and held by {held_by}" if held_by else "")
    if slot.state is SlotState.STRANDED and slot.workload is not None:
        yield Link(Why.STRANDED, subject, f"Workload {slot.workload.name}")
    if not slot.leaving:
        yield Link(Why.NOT_CREATED, subject)
        blocked = loading.blocked(picture.snapshot) if hold is Hold.WEIGHTS else None
        if blocked is not None:
            yield Link(Why.WEIGHTS_BLOCKED, subject, said=sentences.of(blocked))


def _composed(picture: Picture, role: RoleSlots, slot: Slot, workload: Workload, subject: str) -> Iterator[Link]:
    source = f"Workload {workload.name}"
    details = picture.workloads.get(workload.uid, WorkloadDetails())
    if workload.parked:
        yield Link(Why.PARKED, subject, source)
    elif workload.yields_to:
        yield Link(Why.YIELDING, subject, source, said=workload.yields_to)
    elif not workload.active:
        yield Link(Why.STOPPED, subject, source, said=f": {details.evicted}" if details.evicted else "")
    elif not workload.reserved:
        because = f": {workload.waits_because}" if workload.waits_because else ""
        where = f"{source} in LocalQueue {workload.queue}"
        if workload.preempted:
            yield Link(Why.PREEMPTED, subject, source, said=details.evicted or "Kueue gave it to another")
        elif details.evicted:
            yield Link(Why.EVICTED, subject, source, said=details.evicted)
        yield Link(Why.UNRESERVED, subject, where, said=because)
        yield from _queue(picture, role, subject)
    elif not workload.admitted:
        yield from _checked(picture, subject, source, details)
    else:
        yield from _alike(link for member in slot.live for link in _member(picture, member, subject))


def _checked(picture: Picture, subject: str, source: str, details: WorkloadDetails) -> Iterator[Link]:
    open_ = [check for check in details.checks if check.state != kueue.CheckState.READY]
    for check in open_:
        if check.name in picture.ours and picture.count is not None:
            count = picture.count
            roles = ", ".join(f"role {name}" for name in count.waiting)
            said = f"; {roles} waits" if len(count.waiting) == 1 else f"; {roles} wait" if count.waiting else ""
            yield Link(Why.HELD, subject, source, said, str(count.present), str(count.total), count.waiting)
        else:
            message = f": {check.message}" if check.message else ""
            yield Link(Why.HELD_BY_ANOTHER, subject, source, said=f"{check.name}, which is {check.state}{message}")
    if not open_:
        yield Link(Why.ADMITTING, subject, source)


def _queue(picture: Picture, role: RoleSlots, subject: str = "") -> Iterator[Link]:
    """What keeps the queue of a role from giving quota; with `subject` also what is free in it."""
    assert role.role is not None
    entrance = picture.snapshot.queues.get(role.role.queue)
    if entrance is None or not entrance.cluster_queue:
        if entrance is not None:
            yield Link(Why.NO_LOCAL_QUEUE, subject or f"role {role.name}", f"LocalQueue {role.role.queue}")
        return
    queue = picture.queues.get(entrance.cluster_queue)
    if queue is None:
        return
    source = f"ClusterQueue {queue.name}"
    if not queue.there:
        yield Link(Why.NO_CLUSTER_QUEUE, subject or f"role {role.name}", source)
        return
    if not queue.active:
        yield Link(Why.QUEUE_INACTIVE, subject or f"role {role.name}", source, said=queue.because)
        return
    for flavor in queue.flavors if subject else ():
        want = amounts.asked(picture.snapshot.deployment, role.name, flavor.unit)
        have = f"{_number(flavor.free)} of {_number(flavor.total)} {flavor.unit}"
        yield Link(Why.FREE, subject, f"{source}, flavor {flavor.name}", have=have, want=want)
    wanted = amounts.cards(picture.snapshot.deployment, role.name) or 0
    counted = [flavor for flavor in queue.flavors if flavor.unit == amounts.CARDS] if subject else []
    largest = max((flavor.total for flavor in counted), default=Fraction(wanted))
    if not queue.cohort and wanted > largest:
        have = f"{_number(largest)} {amounts.CARDS}"
        yield Link(Why.NEVER_FITS, subject, source, have=have, want=amounts.count(wanted))


def _alike(links: Iterable[Link]) -> Iterator[Link]:
    """Links of the members of one replica, those that say the same as one."""
    same: dict[Link, list[Link]] = {}
    for link in links:
        same.setdefault(replace(link, source=""), []).append(link)
    for first, *others in same.values():
        yield replace(first, source=f"{first.source}, one of {len(others) + 1} alike,") if others else first


def _member(picture: Picture, member: Member, subject: str) -> Iterator[Link]:
    if member.ready:
        return
    source = f"Pod {member.name}"
    details = picture.pods.get(member.uid, PodDetails())
    if details.gates:
        yield Link(Why.GATED, subject, source, said=", ".join(details.gates))
    elif details.unscheduled:
        yield Link(Why.UNSCHEDULED, subject, source, said=details.unscheduled)
    elif details.node_ready is False:
        yield Link(Why.NODE_SILENT, subject, source, said=member.node)
    elif details.waiting:
        yield Link(Why.CONTAINER_WAITS, subject, source, said="; ".join(details.waiting))
    elif member.restarts:
        times = "once" if member.restarts == 1 else f"{member.restarts} times"
        yield Link(Why.RESTARTING, subject, source, have=times)
    else:
        yield Link(Why.NOT_READY, subject, source, said=member.phase.value)


def _with_causes(waiting: Sequence[Waiting]) -> tuple[Waiting, ...]:
    """Let what waits for its set go on with what the set waits for: the first such replica of each role it names."""
    first: dict[str, tuple[Link, ...]] = {}
    for each in waiting:
        if each.links[0].why not in _HOLDING:
            first.setdefault(each.role, each.links)
    return tuple(replace(each, links=(*each.links, *_missing(each.links, first))) for each in waiting)


def _missing(links: Sequence[Link], first: Mapping[str, tuple[Link, ...]]) -> Iterator[Link]:
    for link in links:
        for name in link.names:
            yield from first.get(name, ())


_HOLDING = frozenset({Why.HELD, Why.HELD_BY_ANOTHER, Why.ADMITTING})


def _number(amount: Fraction) -> str:
    return f"{float(amount):g}"
