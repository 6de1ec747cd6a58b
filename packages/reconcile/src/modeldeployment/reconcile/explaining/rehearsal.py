"""What would happen if a replica were to leave now: which operation, what it waits for, and what keeps it from leaving.

Nothing is written and nobody is asked; the same functions decide as in a pass, on a spec that declares so many fewer.
Source: facts reconcile §7, facts shutdown §2 to §4, decisions D6 to D10, D49.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import Final

from modeldeployment.api import RetirementState, RoleKind, RouterName
from modeldeployment.reconcile.deciding import marking, slots
from modeldeployment.reconcile.deciding.seen import Member, Snapshot
from modeldeployment.reconcile.deciding.slots import RoleSlots
from modeldeployment.reconcile.explaining import leaving
from modeldeployment.reconcile.explaining.picture import Picture, PodDetails, RouterProcess
from modeldeployment.reconcile.retiring import machine, wording
from modeldeployment.reconcile.retiring.intents import DRAIN, Held, Intent
from modeldeployment.render import ENGINES, Rendering
from modeldeployment.router import withdrawal

SETTLE: Final = timedelta(seconds=5)
"""How long what was sent to a Service may still arrive (decisions D7)."""


class Would(StrEnum):
    """What would become of it: it leaves, waits its turn, stays, is given up, or is on its way already."""

    LEAVE = "Leave"
    WAIT = "Wait"
    STAY = "Stay"
    ABORT = "Abort"
    LEAVING = "Leaving"


@dataclass(frozen=True, slots=True)
class Ask:
    """Whom the operation asks, and what it has to answer; `hopeless` says why it never can."""

    of: str
    answer: str
    hopeless: str = ""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What would happen to one replica.

    `because` says why it would not simply leave. `replicas` is what its role would have to declare, `declared` what it
    does. `withdrawal` and `idle` are asked in this order; `window` is the handoff window of a half of a pair. `soonest`
    is what it takes when idle.
    """

    name: str
    would: Would
    because: str = ""
    replicas: int = 0
    declared: int = 0
    pods: tuple[str, ...] = ()
    workload: str = ""
    withdrawal: tuple[Ask, ...] = ()
    idle: tuple[Ask, ...] = ()
    window: timedelta | None = None

    @property
    def soonest(self) -> timedelta:
        """What it takes when idle."""
        return leaving.IDLE + (self.window or timedelta())


def of(picture: Picture, role: str, ordinal: int) -> Rehearsal:
    """Rehearse that a replica leaves: its role declares so many replicas that this one is the next."""
    snapshot, name = picture.snapshot, wording.seat(role, ordinal)
    declared = next((each.replicas for each in snapshot.deployment.spec.roles if each.name == role), 0)
    told = Rehearsal(name, Would.STAY, replicas=min(ordinal, declared), declared=declared)
    if snapshot.deployment.metadata.deletion_timestamp is not None:
        because = "the deployment goes whole, each Pod with its drain window and no retirement"
        return replace(told, would=Would.LEAVING, because=because)
    if picture.blind or not isinstance(snapshot.rendering, Rendering):
        refused = picture.blind or getattr(snapshot.rendering, "message", "")
        return replace(told, because=f"the deployment cannot be rendered, which leaves its replicas alone: {refused}")
    mine = leaving.operation(snapshot.status)
    lowered = _lowered(snapshot, snapshot.rendering, role, told.replicas)
    roles = slots.of(lowered.members, lowered.workloads, _rendered(lowered).roles)
    goes = leaving.of(lowered, roles)
    intent = next((each for each in goes.intents if (each.role, each.ordinal) == (role, ordinal)), None)
    if intent is None:
        return _without(told, roles, role, ordinal)
    told = _asked(told, picture, lowered, intent)
    if mine is not None and mine.under_way and mine.members & intent.uids:
        return replace(told, would=Would.LEAVING, because=f"it is {mine.state.value}: {mine.reason}")
    if mine is not None and mine.state is RetirementState.ABORTED and mine.members & intent.uids:
        return replace(told, because=f"its retirement was aborted: {mine.reason}")
    would, because = _fate(told, goes, intent)
    return replace(told, would=would, because=because)


def _without(told: Rehearsal, roles: Iterable[RoleSlots], role: str, ordinal: int) -> Rehearsal:
    """What becomes of a replica that the protocol has nothing to do with: nobody is served by it."""
    slot = next((each.slot(ordinal) for each in roles if each.name == role), None)
    if slot is None or not slot.occupied:
        return replace(told, because="no Pod of it is there, so nothing would leave")
    pods = tuple(each.name for each in slot.live)
    because = f"it is {slot.state.value}, serves nobody as it should, and leaves at once without a retirement"
    return replace(told, would=Would.LEAVE, because=because, pods=pods)


def _fate(told: Rehearsal, goes: leaving.Leaving, intent: Intent) -> tuple[Would, str]:
    """What becomes of an intent, and why."""
    why = next((each for held, each in goes.held if held is intent), None)
    mine = goes.operation
    said = "" if why is None else wording.held(intent, why, mine).removeprefix(f"replica {told.name} ")
    ahead = [wording.seat(each.role, each.ordinal) for each in goes.intents[: goes.intents.index(intent)]]
    if why is Held.OTHER_UNDER_WAY and mine is not None:
        return Would.WAIT, said
    if why is not None and why is not Held.OTHER_UNDER_WAY:
        return Would.STAY, said
    if ahead:
        first = ", ".join(ahead[:3]) + (f" and {len(ahead) - 3} more" if len(ahead) > 3 else "")
        return Would.WAIT, f"{first} would leave before it, one replica at a time"
    hopeless = next((each for each in (*told.withdrawal, *told.idle) if each.hopeless), None)
    if hopeless is not None:
        return Would.ABORT, f"{hopeless.of} {hopeless.hopeless}"
    return Would.LEAVE, ""


def _lowered(snapshot: Snapshot, rendering: Rendering, role: str, replicas: int) -> Snapshot:
    """The snapshot of a deployment that declares so many replicas of a role, and is otherwise the same."""
    spec = snapshot.deployment.spec
    roles = tuple(each.model_copy(update={"replicas": replicas}) if each.name == role else each for each in spec.roles)
    deployment = snapshot.deployment.model_copy(update={"spec": spec.model_copy(update={"roles": roles})})
    rendered = tuple(replace(each, replicas=replicas) if each.name == role else each for each in rendering.roles)
    rendering = replace(rendering, roles=rendered)
    members = marking.of(snapshot.members, rendering).members
    return replace(snapshot, deployment=deployment, rendering=rendering, members=members)


def _rendered(snapshot: Snapshot) -> Rendering:
    assert isinstance(snapshot.rendering, Rendering)
    return snapshot.rendering


def _asked(told: Rehearsal, picture: Picture, snapshot: Snapshot, intent: Intent) -> Rehearsal:
    if all(each.untouched for each in intent.members if each.leads):
        asks: tuple[Ask, ...] = (Ask("nobody", "is asked: it has never been ready, so no request can have reached it"),)
        return replace(_goes(told, snapshot, intent), withdrawal=asks, idle=asks, window=None)
    router = snapshot.deployment.spec.router
    by_uid = {each.uid: each for each in snapshot.members}
    answering = [by_uid[each.uid] for each in intent.members if each.leads and each.uid in by_uid]
    return replace(
        told,
        pods=tuple(each.name for each in intent.members),
        workload=next(
            (each.name for each in snapshot.workloads if intent.workload and each.uid == intent.workload), ""
        ),
        window=intent.window,
        withdrawal=tuple(_let_go(picture, router.name) if router is not None else _unlisted()),
        idle=tuple(_idle(picture, snapshot, intent.role, each) for each in answering),
    )


def _goes(told: Rehearsal, snapshot: Snapshot, intent: Intent) -> Rehearsal:
    """What goes with an intent."""
    group = next((each.name for each in snapshot.workloads if intent.workload and each.uid == intent.workload), "")
    return replace(told, pods=tuple(each.name for each in intent.members), workload=group, window=intent.window)


def _unlisted() -> Iterator[Ask]:
    yield Ask("EndpointSlices", f"list none of its Pods any more, and {SETTLE.seconds} s have passed since")


def _let_go(picture: Picture, router: RouterName) -> Iterator[Ask]:
    if picture.routers is None:
        yield Ask(f"every Pod of {router.value}", "has let go of it")
        return
    if not picture.routers:
        yield Ask("router Pods", "there is none, so none sends it anything")
    for each in picture.routers:
        yield _process(each, router)


def _process(each: RouterProcess, router: RouterName) -> Ask:
    program = withdrawal.program(router, each.version)
    if program is None:
        return Ask(f"router Pod {each.name}", "has let go of it", withdrawal.unproven(router, each.version))
    known = f"{program.title} {each.version}"
    if not each.running:
        return Ask(f"router Pod {each.name} ({known})", "runs, and has let go of it")
    return Ask(f"router Pod {each.name} ({known})", "has let go of it" if not program.listed else _LISTED)


_LISTED: Final = "lists it no more, counts no further request for it, and has none of its own under way"


def _idle(picture: Picture, snapshot: Snapshot, role: str, member: Member) -> Ask:
    deployment, rendered = snapshot.deployment, _rendered(snapshot)
    kind = next((each.kind for each in rendered.roles if each.name == role), RoleKind.SERVER)
    gauges = ENGINES[deployment.spec.engine.name].in_flight.expected(kind)
    url = picture.pods.get(member.uid, PodDetails()).scraped_at
    answer = f"has no request for 2 s: {', '.join(gauges)} are zero{f' at {url}' if url else ''}"
    if any(each.unmanaged for each in rendered.roles if each.name == role):
        return Ask(f"Pod {member.name}", answer, _UNREADABLE)
    if not url and member.ready:
        return Ask(f"Pod {member.name}", answer, _UNREADABLE)
    return Ask(f"Pod {member.name}", answer)


_UNREADABLE: Final = (
    f"does not say where its requests can be read, so it never counts as idle and is given up after "
    f"{int(DRAIN.total_seconds())} s"
)

BUDGETS: Final = (
    ("withdrawal", machine.WITHDRAWAL),
    ("drain", DRAIN),
    ("settle", machine.SETTLE),
    ("overall", machine.OVERALL),
)
"""What each step may take."""
