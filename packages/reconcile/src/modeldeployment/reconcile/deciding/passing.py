"""One pass over one deployment: a snapshot and the time in, a decision out.

Pass order: facts reconcile §3. Nothing here reads a clock or the network; a rare read is asked for (`Ask`) and the pass
decided again with the answer added.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from modeldeployment.api import keys
from modeldeployment.reconcile.deciding import (
    announcing,
    attaching,
    departing,
    fronting,
    keeping,
    loading,
    marking,
    qualifying,
    retirement,
    routing,
    status,
    teardown,
    turnover,
)
from modeldeployment.reconcile.deciding import ground as grounds
from modeldeployment.reconcile.deciding.findings import RenderRefused
from modeldeployment.reconcile.deciding.ground import Ground
from modeldeployment.reconcile.deciding.roster import Roster
from modeldeployment.reconcile.deciding.seen import OwnedKind, Snapshot
from modeldeployment.reconcile.deciding.slots import RoleSlots
from modeldeployment.reconcile.deciding.steps import (
    SOON,
    AddFinalizer,
    Advance,
    Ask,
    Blocked,
    CreateReplica,
    Decision,
    Done,
    Fact,
    Next,
    Step,
    Wait,
)
from modeldeployment.reconcile.deciding.turnover import (
    AwaitingAdmission,
    AwaitingReadiness,
    Come,
    HeldByCache,
    HeldByWeights,
    Hold,
    Leave,
    Regaining,
    Retiring,
    Turnover,
    Vacating,
)
from modeldeployment.render import Rendering, RenderRefusal

LATER = timedelta(seconds=30)
"""When to look again at what only somebody else can mend and no watch reports."""


def decide(snapshot: Snapshot, now: datetime, ground: Ground | None = None) -> Decision | Ask:
    """Decide what should be written next for one deployment; `ground` is the snapshot's own where it is known.

    A store that is older than this controller's own last write decides nothing. A deployment that is being deleted is
    torn down and nothing else. Everything else follows the order of facts reconcile §3.
    """
    if snapshot.stale:
        return Decision(Blocked(Wait.STALE_STORE, now + SOON))
    if snapshot.deployment.metadata.deletion_timestamp is not None:
        return teardown.of(snapshot, now)
    if isinstance(snapshot.rendering, RenderRefusal):
        return _refuse(snapshot, snapshot.rendering, now)
    ground = ground or grounds.of(snapshot)
    assert ground is not None
    return _converge(snapshot, snapshot.rendering, ground, now)


def _converge(snapshot: Snapshot, rendering: Rendering, ground: Ground, now: datetime) -> Decision | Ask:
    marks, roles, roster = ground.marks, ground.roles, ground.roster
    if marks.members is not snapshot.members:
        snapshot = replace(snapshot, members=marks.members)
    hold = held(snapshot)
    operation = retirement.of(snapshot, roles, now, roster=roster)
    turnovers = {role.name: turnover.of(role, hold, operation.reserved) for role in roles}
    doubtful = _doubtful(roles, turnovers)
    wanted = fronting.wanted(rendering.services, roles)
    in_front, of_router = routing.split(snapshot.objects, wanted, snapshot.deployment.metadata.name)
    fronts = keeping.of(wanted, in_front, snapshot.answers.names)
    routed = routing.of(snapshot, rendering, of_router)
    ask = _question(snapshot, {**_wanted(rendering, turnovers), **doubtful}, fronts, routed.kept)
    if ask is not None:
        return ask
    turnovers |= _regaining(snapshot, doubtful)
    going = turnover.going(turnovers.values()) | operation.going
    leaving = [departure for each in turnovers.values() if isinstance(each, Leave) for departure in each.departures]
    steps: list[Step] = [
        *_finalizer(snapshot),
        *attaching.claim(snapshot),
        *departing.stranded(roster),
        *departing.steps_of(leaving, snapshot.members),
        *retirement.steps(operation, snapshot, roster),
        *_creates(snapshot, rendering, turnovers),
        *marking.steps(marks, snapshot, going, now),
        *qualifying.labels(roles, going | operation.target),
        *fronts.steps,
        *routed.kept.steps,
    ]
    patch = status.of(snapshot, rendering, roles, turnovers, routed, hold, operation, now)
    events = (
        *announcing.departures(roster.noted),
        *announcing.skews(rendering),
        *announcing.taken(snapshot, fronts, routed),
        *announcing.strangers(snapshot, rendering),
        *announcing.undone(snapshot, marks),
        *announcing.unrouted(snapshot, rendering),
        *announcing.retirement(snapshot, operation),
    )
    following = _next(snapshot, steps, turnovers, rendering, (fronts, routed.kept), now)
    if operation.waits:
        following = _until(following, operation.turn.until, Wait.RETIREMENT)
    look = marking.next_look(marks, snapshot, now)
    return Decision(
        following if look is None else _until(following, look, Wait.MARKS),
        patch,
        events,
        retirement.patch(operation, snapshot),
        retirement.inquiry(operation, snapshot, rendering, roster),
        operation.turn.ended,
    )


def held(snapshot: Snapshot) -> Hold:
    """What keeps replicas from turning over, or from coming."""
    if loading.blocked(snapshot) is not None:
        return Hold.WEIGHTS
    return Hold.CACHE if attaching.held(snapshot) else Hold.NOTHING


def _question(snapshot: Snapshot, groups: Mapping[str, tuple[str, ...]], *kept: keeping.Keeping) -> Ask | None:
    """The fact that this pass lacks, if any: who is in these groups, by role, and who holds the wanted names."""
    unknown = {name: each for name, each in groups.items() if name not in snapshot.answers.groups}
    if unknown:
        return Ask(Fact.ROLE_GROUPS, tuple(unknown), unknown)
    names: dict[OwnedKind, tuple[str, ...]] = {}
    for kind, name in itertools.chain.from_iterable(each.unknown for each in kept):
        names[kind] = (*names.get(kind, ()), name)
    return Ask(Fact.NAMES, names=names) if names else None


def _creates(snapshot: Snapshot, rendering: Rendering, turnovers: Mapping[str, Turnover]) -> list[Step]:
    """Create the empty ordinals whose group labels no Pod on the API server, lowest first.

    Kueue counts everybody's Pods of a group, and would delete ours as one too many without end.
    """
    if not any(isinstance(each, Come) for each in turnovers.values()):
        return []
    templates = {role.name: role.template for role in rendering.roles}
    held = {member.group for member in snapshot.members}
    steps: list[Step] = []
    for name, wanted in turnovers.items():
        if isinstance(wanted, Come):
            taken = snapshot.answers.groups[name] | held
            steps += [
                CreateReplica(name, ordinal)
                for ordinal in wanted.ordinals
                if templates[name].group(ordinal) not in taken
            ]
    return steps


def _wanted(rendering: Rendering, turnovers: Mapping[str, Turnover]) -> dict[str, tuple[str, ...]]:
    """The groups that a replica is wanted in, by role."""
    templates = {role.name: role.template for role in rendering.roles}
    return {
        name: tuple(templates[name].group(ordinal) for ordinal in each.ordinals)
        for name, each in turnovers.items()
        if isinstance(each, Come)
    }


def _doubtful(roles: Sequence[RoleSlots], turnovers: Mapping[str, Turnover]) -> dict[str, tuple[str, ...]]:
    """The groups of replicas that would leave for a member which may be out of sight only, by role."""
    return {role.name: groups for role in roles if (groups := turnover.doubtful(role, turnovers[role.name]))}


def _regaining(snapshot: Snapshot, doubtful: Mapping[str, tuple[str, ...]]) -> dict[str, Turnover]:
    """The roles of which a member is there and cannot be seen."""
    lost = {each.group for each in snapshot.answers.lost if not each.leaving}
    return {name: Regaining() for name, groups in doubtful.items() if lost.intersection(groups)}


def _until(following: Next, look: datetime | None, on: Wait) -> Next:
    """The end of a pass, which looks again by then, and waits for this if for nothing else."""
    if isinstance(following, Advance):
        return following
    if isinstance(following, Done):
        return Blocked(on, look)
    times = [each for each in (following.until, look) if each is not None]
    return replace(following, until=min(times, default=None))


def _next(
    snapshot: Snapshot,
    steps: list[Step],
    turnovers: Mapping[str, Turnover],
    rendering: Rendering,
    kept: Iterable[keeping.Keeping],
    now: datetime,
) -> Next:
    if steps:
        return Advance(tuple(steps))
    strangers = snapshot.answers.strangers.keys() | {each.group for each in snapshot.answers.lost if not each.leaving}
    wanted = [group for each in _wanted(rendering, turnovers).values() for group in each]
    if any(group not in strangers for group in wanted) or any(
        isinstance(each, Vacating) for each in turnovers.values()
    ):
        return Blocked(Wait.DEPARTURE, now + SOON)
    if wanted:
        return Blocked(Wait.NAME_TAKEN, now + LATER)
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
    (Wait.WEIGHTS, HeldByWeights),
    (Wait.CACHE, HeldByCache),
    (Wait.MARKS, Regaining),
    (Wait.RETIREMENT, Retiring),
)
"""What a role may wait for without a time of its own: a watch tells."""


def _refuse(snapshot: Snapshot, refusal: RenderRefusal, now: datetime) -> Decision:
    """A deployment that cannot be rendered: the finalizer, the conditions, the event, and no half-rendered set."""
    weights = loading.refused(refusal)
    findings = (RenderRefused(refusal.reason.value, refusal.message), *((weights,) if weights else ()))
    steps = [*_finalizer(snapshot), *attaching.claim(snapshot)]
    operation = retirement.of(snapshot, (), now, rendered=False)
    steps += retirement.steps(operation, snapshot, Roster(snapshot.members, snapshot.workloads))
    return Decision(
        Advance(tuple(steps)) if steps else Blocked(Wait.RENDER, now + LATER if refusal.retryable else None),
        status.refused(snapshot, findings, now),
        (announcing.refused(snapshot, refusal),),
        retirement.patch(operation, snapshot),
        ended=operation.turn.ended,
    )


def _finalizer(snapshot: Snapshot) -> list[Step]:
    held = keys.FINALIZER in snapshot.deployment.metadata.finalizers
    return [] if held else [AddFinalizer()]
