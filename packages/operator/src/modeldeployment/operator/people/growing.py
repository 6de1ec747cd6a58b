"""A deployment as a tree: its roles, their replicas, and of each the Pods, the Workload, the queue and the nodes.

Replicas of which the same is true are one branch, unless every one is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from modeldeployment.api.conditions import ConditionType
from modeldeployment.api.rolestatus import ServingState
from modeldeployment.reconcile.deciding import slots
from modeldeployment.reconcile.explaining import chains, sentences
from modeldeployment.reconcile.explaining.leaving import instant

if TYPE_CHECKING:
    from modeldeployment.reconcile.deciding.seen import Member, Workload
    from modeldeployment.reconcile.deciding.slots import RoleSlots, Slot
    from modeldeployment.reconcile.explaining.chains import Explained
    from modeldeployment.reconcile.explaining.leaving import Leaving
    from modeldeployment.reconcile.explaining.links import Link
    from modeldeployment.reconcile.explaining.picture import Picture

_NODES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Branch:
    """One line and what hangs below it."""

    text: str
    below: tuple[Branch, ...] = field(default=())

    def lines(self, indent: str = "") -> Iterator[str]:
        """The tree in lines, two more spaces a level."""
        yield f"{indent}{self.text}"
        for each in self.below:
            yield from each.lines(f"{indent}  ")


@dataclass(frozen=True, slots=True)
class _Replica:
    """One slot and why it does not serve; no links where it does."""

    role: RoleSlots
    slot: Slot
    links: tuple[Link, ...]

    @property
    def name(self) -> str:
        return f"{self.role.name}/{self.slot.ordinal}"


def tree(picture: Picture, explained: Explained, *, everything: bool) -> Branch:
    """Grow the tree; with `everything` each replica has a branch of its own."""
    snapshot = picture.snapshot
    meta, status = snapshot.deployment.metadata, snapshot.status
    phase = str(status.get("phase") or "no status yet")
    message = status.get("phaseMessage")
    head = f"ModelDeployment {meta.namespace}/{meta.name}: {phase}{f', {message}' if message else ''}"
    held = tuple(Branch(f"why: {sentences.of(link)}") for link in explained.whole)
    grown = tuple(_role(picture, explained, role, everything=everything) for role in _roles(picture, explained))
    return Branch(head, (*held, *_endpoint(picture), *grown, *_router(picture), *retirement(explained.leaving)))


def table(picture: Picture, explained: Explained) -> dict[str, Any]:
    """The same for programs, with a row for every replica."""
    snapshot = picture.snapshot
    meta = snapshot.deployment.metadata
    return {
        "namespace": meta.namespace,
        "name": meta.name,
        "phase": snapshot.status.get("phase"),
        "endpoint": snapshot.status.get("endpoint"),
        "why": [link_row(link) for link in explained.whole],
        "retirement": retirement_row(explained.leaving),
        "roles": [
            {
                "name": role.name,
                "declared": role.declared,
                "ready": _ready(role),
                "replicas": [_row(picture, each) for each in _replicas(explained, role)],
            }
            for role in _roles(picture, explained)
        ],
        "unread": list(picture.unread),
    }


def link_row(link: Link) -> dict[str, Any]:
    """One fact for programs."""
    row = {"code": link.why.value, "subject": link.subject, "source": link.source, "message": sentences.of(link)}
    return row | ({"wayOut": way_out} if (way_out := sentences.way_out(link)) else {})


def _roles(picture: Picture, explained: Explained) -> tuple[RoleSlots, ...]:
    """The roles; those of the Pods that are there where the deployment cannot be rendered."""
    return explained.roles or slots.of(picture.snapshot.members, picture.snapshot.workloads, ())


def _replicas(explained: Explained, role: RoleSlots) -> tuple[_Replica, ...]:
    waiting = {each.ordinal: each.links for each in (*explained.on_their_way(role.name), *explained.of(role.name))}
    ordinals = sorted({*range(role.declared), *role.slots})
    return tuple(_Replica(role, role.slot(ordinal), waiting.get(ordinal, ())) for ordinal in ordinals)


def _ready(role: RoleSlots) -> int:
    return sum(1 for ordinal in role.slots if slots.serving(role, ordinal))


def _endpoint(picture: Picture) -> Iterator[Branch]:
    endpoint = picture.snapshot.status.get("endpoint")
    if endpoint:
        yield Branch(f"endpoint {endpoint}")


def _router(picture: Picture) -> Iterator[Branch]:
    """The router as status has it, and what it sends requests to by role."""
    stored = picture.snapshot.status.get("conditions") or []
    assert isinstance(stored, list)
    said = next((each for each in stored if each.get("type") == ConditionType.ROUTER_READY), None)
    named = picture.snapshot.deployment.spec.router
    if named is not None:
        message = f": {said['reason']}, {said.get('message', '')}" if said is not None else ": not looked at yet"
        yield Branch(f"router {named.name}{message.rstrip(', ')}", tuple(_served(picture)))


def _served(picture: Picture) -> Iterator[Branch]:
    roles = picture.snapshot.status.get("roles") or []
    assert isinstance(roles, list)
    for role in roles:
        told = role.get("endpoints") or {}
        serving, eligible = told.get("serving") or {}, told.get("eligible")
        match serving.get("state"):
            case ServingState.CONFIRMED:
                known, value = "" if eligible is None else f", {eligible} eligible", serving.get("value")
                yield Branch(f"{role['name']}: requests go to {value} endpoint{'' if value == 1 else 's'}{known}")
            case ServingState.NOT_CONVERGED:
                yield Branch(f"{role['name']}: its processes do not send requests to the same endpoints")
            case ServingState.UNKNOWN:
                yield Branch(f"{role['name']}: it is not known where requests go")
            case _:
                pass


def retirement(leaving: Leaving) -> Iterator[Branch]:
    """The operation under way or retained: what it waits for, until when, how many wait behind it, and when all end."""
    mine = leaving.operation
    if mine is None:
        return
    until = f" until {instant(leaving.until)} at the latest" if mine.under_way and leaving.until is not None else ""
    begun = f"since {instant(mine.phase_started)}" if mine.under_way else f"at {instant(mine.deadline)}"
    below = [Branch(mine.reason or "no reason is told yet")]
    if leaving.waiting:
        waits = "1 more replica waits its turn" if leaving.waiting == 1 else f"{leaving.waiting} more replicas wait"
        below.append(Branch(f"{waits}, since one leaves at a time"))
    if leaving.expected is not None:
        first, last = map(instant, leaving.expected)
        below.append(Branch(f"expected to end between {first}, if idle, and {last}, if it takes all of its time"))
    yield Branch(f"retirement of {mine.role}/{mine.ordinal}: {mine.state.value} {begun}{until}", tuple(below))


def retirement_row(leaving: Leaving) -> dict[str, Any] | None:
    """The same for programs; None where status holds no operation."""
    mine = leaving.operation
    if mine is None:
        return None
    first, last = leaving.expected or (None, None)
    return {
        "replica": f"{mine.role}/{mine.ordinal}",
        "state": mine.state.value,
        "reason": mine.reason,
        "startedAt": instant(mine.started),
        "phaseStartedAt": instant(mine.phase_started),
        "deadline": instant(mine.deadline),
        "until": instant(leaving.until) if mine.under_way and leaving.until is not None else None,
        "waiting": leaving.waiting,
        "earliestEnd": instant(first) if first is not None else None,
        "latestEnd": instant(last) if last is not None else None,
    }


def _role(picture: Picture, explained: Explained, role: RoleSlots, *, everything: bool) -> Branch:
    if role.role is None:
        known = "not declared any more" if explained.roles else "not rendered"
        head = f"role {role.name}, {known}"
    else:
        head = f"role {role.name} ({role.role.kind.value}): {_ready(role)} of {role.declared} ready"
    replicas = _replicas(explained, role)
    alike = [(each,) for each in replicas] if everything else _alike(replicas)
    return Branch(head, tuple(_branch(picture, each) for each in alike))


def _alike(replicas: Iterable[_Replica]) -> list[tuple[_Replica, ...]]:
    """Replicas of which the same is true, by the first of them."""
    found: dict[object, tuple[_Replica, ...]] = {}
    for each in replicas:
        workload = each.slot.workload
        where = (workload.queue, workload.cluster_queue, workload.flavors) if workload is not None else ()
        declared = each.slot.ordinal < each.role.declared
        said = chains.nameless(each.links, each.name)
        same = (each.slot.state, bool(each.slot.leaving), declared, where, said)
        found[same] = (*found.get(same, ()), each)
    return list(found.values())


def _branch(picture: Picture, alike: Sequence[_Replica]) -> Branch:
    first = alike[0]
    surplus = first.role.role is not None and first.slot.ordinal >= first.role.declared
    state = "not declared any more" if surplus else str(first.slot.state)
    many = f", {len(alike)} replicas" if len(alike) > 1 else ""
    head = f"{spans([each.name for each in alike])}: {state}{many}"
    below = [Branch(f"why: {sentences.of(first.links[0])}")] if first.links else []
    if len(alike) > 1:
        nodes = _listed(member.node for each in alike for member in each.slot.live)
        return Branch(head, (*below, *_queue(picture, first.slot.workload, nodes)))
    slot = first.slot
    pods = [_pod(picture, member) for member in (*slot.live, *slot.leaving)]
    group = [_workload(picture, slot.workload, slot.live)] if slot.workload is not None else []
    return Branch(head, (*below, *pods, *group))


def _pod(picture: Picture, member: Member) -> Branch:
    said = "leaving" if member.leaving else "ready" if member.ready else str(member.phase)
    details = picture.pods.get(member.uid)
    gated = details.gates if details is not None else ()
    where = f" on node {member.node}" if member.node else f", gated by {', '.join(gated)}" if gated else ""
    silent = " (NotReady)" if details is not None and details.node_ready is False else ""
    restarts = f", restarts {member.restarts}" if member.restarts else ""
    return Branch(f"Pod {member.name}: {said}{where}{silent}{restarts}")


def _workload(picture: Picture, workload: Workload, live: Iterable[Member]) -> Branch:
    nodes = _listed(member.node for member in live)
    return Branch(f"Workload {workload.name}: {_quota(workload)}", tuple(_queue(picture, workload, nodes)))


def _quota(workload: Workload) -> str:
    if workload.admitted:
        return "admitted"
    if not workload.active:
        return "taken out of the queue"
    return "quota reserved" if workload.reserved else "no quota"


def _queue(picture: Picture, workload: Workload | None, nodes: str) -> Iterator[Branch]:
    if workload is None:
        return
    entrance = picture.snapshot.queues.get(workload.queue)
    behind = workload.cluster_queue or (entrance.cluster_queue if entrance is not None else "")
    lost = ", which does not exist" if entrance is not None and not behind else ""
    to = f" -> ClusterQueue {behind}" if behind else lost
    flavor = f", flavor {', '.join(workload.flavors)}" if workload.flavors else ""
    yield Branch(f"LocalQueue {workload.queue}{to}{flavor}{f' -> {nodes}' if nodes else ''}")


def _listed(names: Iterable[str]) -> str:
    """Names of nodes, the first few of many."""
    found = sorted({name for name in names if name})
    if not found:
        return ""
    more = f" and {len(found) - _NODES_SHOWN} more" if len(found) > _NODES_SHOWN else ""
    return f"node{'s' if len(found) > 1 else ''} {', '.join(found[:_NODES_SHOWN])}{more}"


def spans(names: Sequence[str]) -> str:
    """Names `role/ordinal` of one role with ordinals that follow each other drawn together: `decode/0-3, decode/5`."""
    role = names[0].rpartition("/")[0]
    parts: list[list[int]] = []
    for ordinal in sorted(int(name.rpartition("/")[2]) for name in names):
        if parts and parts[-1][-1] == ordinal - 1:
            parts[-1].append(ordinal)
        else:
            parts.append([ordinal])
    return ", ".join(f"{role}/{each[0]}-{each[-1]}" if len(each) > 1 else f"{role}/{each[0]}" for each in parts)


def _row(picture: Picture, replica: _Replica) -> dict[str, Any]:
    slot, workload = replica.slot, replica.slot.workload
    return {
        "ordinal": slot.ordinal,
        "state": slot.state.value,
        "serves": slots.serving(replica.role, slot.ordinal),
        "why": [link_row(link) for link in replica.links],
        "pods": [_pod_row(picture, member) for member in (*slot.live, *slot.leaving)],
        "workload": None if workload is None else _workload_row(picture, workload),
    }


def _pod_row(picture: Picture, member: Member) -> dict[str, Any]:
    details = picture.pods.get(member.uid)
    return {
        "name": member.name,
        "phase": member.phase.value,
        "ready": member.ready,
        "leaving": member.leaving,
        "node": member.node or None,
        "nodeReady": details.node_ready if details is not None else None,
        "restarts": member.restarts,
    }


def _workload_row(picture: Picture, workload: Workload) -> dict[str, Any]:
    entrance = picture.snapshot.queues.get(workload.queue)
    return {
        "name": workload.name,
        "active": workload.active,
        "quotaReserved": workload.reserved,
        "admitted": workload.admitted,
        "localQueue": workload.queue,
        "clusterQueue": workload.cluster_queue or (entrance.cluster_queue if entrance is not None else "") or None,
        "flavors": list(workload.flavors),
    }
