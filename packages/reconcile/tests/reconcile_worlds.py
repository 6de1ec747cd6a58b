"""Builders of what a pass sees: keyword functions with settled defaults, checked so that impossible worlds fail loudly.

Everything a deployment wants comes from the real `render()`. Unless a test says otherwise, the deployment is `chat` in
namespace `team`, with one role `server` of two replicas on InstanceType `a10`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from modeldeployment.api import InstanceType, ModelDeployment, RetirementState, keys
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.kube import shapes
from modeldeployment.reconcile import (
    Ask,
    Decision,
    Member,
    Names,
    OwnedKind,
    PodPhase,
    RoleSlots,
    SeenObject,
    Slot,
    Snapshot,
    Step,
    Workload,
    decide,
    observing,
)
from modeldeployment.reconcile.deciding import retirement, slots
from modeldeployment.reconcile.deciding.seen import MARKS
from modeldeployment.reconcile.deciding.steps import Advance
from modeldeployment.reconcile.retiring.evidence import Evidence, Leg
from modeldeployment.render import (
    Facts,
    Rendering,
    RenderRefusal,
    RoleRendering,
    RouterRendering,
    Seat,
    Store,
    render,
)
from modeldeployment.router.withdrawal import Verdict

NOW = datetime(2030, 1, 1, 12, 0, 0, tzinfo=UTC)


def deployment(
    *,
    replicas: int = 2,
    size: int = 1,
    roles: Iterable[Mapping[str, Any]] | None = None,
    image: str = "engine:1",
    kv_cache: str = "",
    router: str | Mapping[str, Any] = "",
    engine: str = "vLLM",
    generation: int = 1,
    finalizers: tuple[str, ...] = (keys.FINALIZER,),
    deleted: bool = False,
) -> ModelDeployment:
    """A deployment; `roles` replaces the one role that `replicas` and `size` describe."""
    stated = roles if roles is not None else [role(replicas=replicas, size=size)]
    spec: dict[str, Any] = {
        "model": {"name": "qwen"},
        "engine": {"name": engine, "image": image},
        "roles": list(stated),
    }
    if kv_cache:
        spec["kvCache"] = {"poolRef": {"name": kv_cache}}
    if router:
        spec["router"] = {"name": router} if isinstance(router, str) else router
    metadata = {
        "name": "chat",
        "namespace": "team",
        "uid": "uid-chat",
        "generation": generation,
        "finalizers": list(finalizers),
        "deletionTimestamp": NOW if deleted else None,
    }
    return ModelDeployment.model_validate({"metadata": metadata, "spec": spec})


def role(name: str = "server", *, replicas: int = 2, size: int = 1, **fields: object) -> dict[str, object]:
    """One entry of `spec.roles[]` in JSON spelling."""
    return {"name": name, "replicas": replicas, "size": size, "instanceType": "a10", **fields}


def instance_type(
    name: str = "a10", *, entrance: str = "entrance-a10", runtime_versions: tuple[str, ...] = ("12.8",)
) -> InstanceType:
    """An InstanceType of NVIDIA A10s that publishes its queue."""
    detail = {"manufacturer": "nvidia", "product": "A10G", "family": "Ampere", "runtimeVersions": runtime_versions}
    return InstanceType.model_validate(
        {
            "metadata": {"name": name, "uid": f"uid-{name}"},
            "spec": {"os": "linux", "arch": "amd64", "acceleratable": True, "acceleratorGroup": "nvidia-a10g"},
            "status": {"entrance": entrance, "detail": detail},
        }
    )


def rendering(of: ModelDeployment | None = None, *types: InstanceType, store: Store | None = None) -> Rendering:
    """The real render of a deployment, attached to `store`."""
    known = types or (instance_type(),)
    return render(of or deployment(), Facts({each.metadata.name: each for each in known}, store=store))


STORE = Store("store.kv.svc:50051", ("tcp",), "team", "bfloat16", 16)
"""A store that can be used."""

ECHO = {"binding": "share", "pool": "big", "domain": {"name": "team", "blockSize": 16, "dtype": "bfloat16"}}
"""What status says of its binding."""


def pair(replicas: int = 1, **fields: Any) -> ModelDeployment:
    """A Prefill and a Decode role behind `llm-d-router`, unless `fields` say otherwise."""
    roles = [role(kind.lower(), kind=kind, replicas=replicas) for kind in ("Prefill", "Decode")]
    return deployment(**{"roles": roles, "router": "llm-d-router", **fields})


def routed(of: Rendering, *, ready: int = 1) -> list[SeenObject]:
    """The objects of a router as rendered, its Deployment with so many ready Pods."""
    assert isinstance(of.router, RouterRendering)
    return [held(body, **({"ready": ready} if body["kind"] == "Deployment" else {})) for body in of.router.objects]


def refusal(*, retryable: bool = True) -> RenderRefusal:
    """What a deployment is that cannot be rendered."""
    reason = RefusalReason.INSTANCE_TYPE_NOT_FOUND
    return RenderRefusal(reason, "server", "no such InstanceType", retryable=retryable)


def rendered_role(of: Rendering, name: str = "server") -> RoleRendering:
    """One role of a rendering."""
    return next(each for each in of.roles if each.name == name)


def pod(
    of: Rendering | None = None,
    *,
    role: str = "server",
    ordinal: int | None = 0,
    index: int = 0,
    ready: bool = True,
    outdated: bool = False,
    leaving: bool = False,
    phase: PodPhase = PodPhase.RUNNING,
    name: str = "",
    uid: str = "",
    **fields: Any,
) -> Member:
    """A Pod in its seat: current, ready and eligible. An `ordinal` of None makes an orphan.

    A role that the rendering does not have stands for one that the spec no longer names.
    """
    rendered = next((each for each in (of or rendering()).roles if each.name == role), None)
    if rendered is not None and not 0 <= index < rendered.size:
        raise ValueError(f"role {role} has size {rendered.size}: no member {index}")
    if ordinal is not None and ordinal < 0:
        raise ValueError(f"no ordinal {ordinal}")
    name = name or f"chat-{role}-{'x' if ordinal is None else ordinal}-{index}"
    placed = rendered is not None and ordinal is not None
    fingerprint = rendered.template.fingerprint(Seat(ordinal, index)) if rendered and ordinal is not None else "orphan"
    defaults: dict[str, Any] = {
        "group": rendered.template.group(ordinal) if rendered and ordinal is not None else f"group-{role}-{ordinal}",
        "fingerprint": f"old-{fingerprint}" if outdated else fingerprint,
        "node": "node-1",
        "eligible": index == 0 and placed,
        "marks": marks(of or rendering(), role, ordinal, index),
    }
    return Member(
        name=name,
        uid=uid or f"uid-{name}",
        role=role,
        ordinal=ordinal,
        index=index,
        phase=phase,
        ready=ready and phase is PodPhase.RUNNING and not leaving,
        leaving=leaving,
        **{**defaults, **fields},
    )


def marks(of: Rendering, role: str, ordinal: int | None, index: int = 0) -> tuple[str | None, ...]:
    """What a Pod of a seat is marked with; one of a role that is not rendered is marked with nothing else."""
    rendered = next((each for each in of.roles if each.name == role), None)
    labels: dict[str, str] = {keys.NAME: keys.NAME_VALUE, keys.INSTANCE: "chat", keys.COMPONENT: role}
    if rendered is not None:
        labels |= rendered.template.labels(Seat(ordinal or 0, index))
    if ordinal is None:
        labels.pop(keys.ORDINAL, None)
    return tuple(map(labels.get, MARKS))


def relabelled(member: Member, labels: Mapping[str, str | None]) -> Member:
    """A Pod whose labels somebody changed, as it is read then."""
    held: dict[str, str | None] = {**dict(zip(MARKS, member.marks, strict=True)), **labels}
    meta = shapes.ObjectMeta(labels={label: value for label, value in held.items() if value is not None})
    read = observing.member(shapes.Pod(metadata=meta))
    return replace(member, role=read.role, ordinal=read.ordinal, index=read.index, marks=read.marks)


def replica(of: Rendering, ordinal: int, *, role: str = "server", **fields: Any) -> tuple[Member, ...]:
    """All members of one replica."""
    size = rendered_role(of, role).size
    return tuple(pod(of, role=role, ordinal=ordinal, index=index, **fields) for index in range(size))


def workload(*members: Member, name: str = "", uid: str = "", **fields: Any) -> Workload:
    """The Workload of some Pods: reserved and admitted through the queue of `a10`."""
    if not members:
        raise ValueError("Kueue composes a Workload from at least one Pod")
    name = name or members[0].group
    defaults: dict[str, Any] = {
        "queue": "entrance-a10",
        "cluster_queue": "a10",
        "flavors": ("a10-flavor",),
        "reserved": True,
        "admitted": True,
    }
    fields = {**defaults, **fields}
    if not fields["reserved"]:
        fields.update(admitted=False, cluster_queue="", flavors=())
    return Workload(name, uid or f"wl-{name}", frozenset(member.uid for member in members), **fields)


def pending(*members: Member, because: str = "insufficient quota", **fields: Any) -> Workload:
    """A Workload that waits for quota."""
    return workload(*members, reserved=False, waits_because=because, **fields)


def service(body: Mapping[str, Any], **fields: Any) -> SeenObject:
    """A rendered Service as the API server holds it: with an address of its own."""
    name = body["metadata"]["name"]
    metadata = {key: body["metadata"][key] for key in ("name", "labels", "annotations")}
    held = {"metadata": metadata, "spec": {"clusterIP": "10.0.0.7", "sessionAffinity": "None", **body["spec"]}}
    return SeenObject(**{"kind": OwnedKind.SERVICE, "name": name, "uid": f"svc-{name}", "body": held, **fields})


def held(body: Mapping[str, Any], **fields: Any) -> SeenObject:
    """A rendered object of any kind as the API server holds it."""
    if body["kind"] == "Service":
        return service(body, **fields)
    name, kind = body["metadata"]["name"], OwnedKind(body["kind"])
    kept = {key: value for key, value in body.items() if key not in ("apiVersion", "kind", "roleRef")}
    return SeenObject(**{"kind": kind, "name": name, "uid": f"{kind}-{name}", "body": kept, **fields})


def names(*foreign: str, of: Iterable[OwnedKind] = OwnedKind) -> dict[OwnedKind, Names]:
    """The answer who holds names: these are held by somebody else, whatever the kind."""
    return {kind: Names(frozenset(foreign)) for kind in of}


def snapshot(
    of: ModelDeployment | None = None,
    members: Iterable[Member] | None = None,
    workloads: Iterable[Workload] | None = None,
    objects: Iterable[SeenObject] | None = None,
    *,
    types: tuple[InstanceType, ...] = (),
    store: Store | None = None,
    **fields: Any,
) -> Snapshot:
    """What a pass sees of a deployment: every replica ready and admitted, every object as rendered, no status yet."""
    of = of or deployment()
    wanted = rendering(of, *types, store=store)
    if members is None:
        members = [
            pod(wanted, role=each.name, ordinal=seat.ordinal, index=seat.member)
            for each in wanted.roles
            for seat in each.seats()
        ]
    members = tuple(members)
    router = routed(wanted) if isinstance(wanted.router, RouterRendering) else []
    seen = Snapshot(
        deployment=of,
        rendering=wanted,
        members=members,
        workloads=tuple(composed(members) if workloads is None else workloads),
        objects=tuple(objects if objects is not None else [*map(service, wanted.services), *router]),
        **fields,
    )
    return possible(seen)


def composed(members: Iterable[Member]) -> list[Workload]:
    """One admitted Workload for each group of Pods."""
    groups: dict[str, list[Member]] = {}
    for member in members:
        groups.setdefault(member.group, []).append(member)
    return [workload(*each, name=name) for name, each in groups.items()]


def settled(of: ModelDeployment | None = None, **fields: Any) -> Snapshot:
    """A snapshot whose stored status already says what a pass would write."""
    seen = snapshot(of, **fields)
    return replace(seen, status=patched(seen.status, decision(seen).status))


def possible(seen: Snapshot) -> Snapshot:
    """Return the snapshot, or raise ValueError where no API server could hold it."""
    owned = [tuple(each for each in seen.objects if each.kind is kind) for kind in OwnedKind]
    kinds: tuple[tuple[Member | Workload | SeenObject, ...], ...] = (seen.members, seen.workloads, *owned)
    uids = [each.uid for kind in kinds for each in kind]
    if len(set(uids)) != len(uids):
        raise ValueError("two objects share a UID")
    for kind in kinds:
        if len({each.name for each in kind}) != len(kind):
            raise ValueError("two objects of one kind share a name")
    for each in seen.workloads:
        if not each.owners:
            raise ValueError(f"Workload {each.name} owns no Pod, so no pass would have found it")
        if each.admitted and not each.reserved:
            raise ValueError(f"Workload {each.name} is admitted without a reservation")
    for member in seen.members:
        if member.ready and member.phase is not PodPhase.RUNNING:
            raise ValueError(f"Pod {member.name} is ready in phase {member.phase}")
    return seen


def proven(seen: Snapshot) -> Snapshot:
    """The snapshot once everything is proven of what the spec wants gone first: a pass over it deletes that."""
    assert isinstance(seen.rendering, Rendering)
    roles = slots.of(seen.members, seen.workloads, seen.rendering.roles)
    kept = retirement.of(seen, roles, NOW).reservation
    assert kept is not None, "the spec wants nobody gone"
    leg = Leg(Verdict.PROVEN, "proven")
    return replace(
        seen,
        status={**seen.status, "retirement": replace(kept, state=RetirementState.DRAINING).body()},
        members=tuple(replace(each, eligible=each.eligible and each.uid not in kept.members) for each in seen.members),
        evidence=Evidence(kept.members, leg, leg),
    )


def decision(seen: Snapshot, now: datetime = NOW) -> Decision:
    """The decision on a snapshot that leaves nothing to ask."""
    outcome = decide(seen, now)
    assert isinstance(outcome, Decision), outcome
    return outcome


def question(seen: Snapshot) -> Ask:
    """What a pass asks about a snapshot."""
    outcome = decide(seen, NOW)
    assert isinstance(outcome, Ask), outcome
    return outcome


def steps(seen: Snapshot) -> tuple[Step, ...]:
    """The steps decided on a snapshot."""
    outcome = decision(seen)
    assert isinstance(outcome.next, Advance), outcome.next
    return outcome.next.steps


def condition(seen: Snapshot, kind: str, now: datetime = NOW) -> Mapping[str, Any]:
    """One condition as a pass over the snapshot leaves it."""
    status: Mapping[str, Any] = patched(seen.status, decision(seen, now).status)
    return next(each for each in status["conditions"] if each["type"] == kind)


def patched(status: Mapping[str, object], patch: Mapping[str, object] | None) -> dict[str, object]:
    """A status after a merge patch (RFC 7386)."""
    merged = dict(status)
    for key, value in (patch or {}).items():
        before = merged.get(key)
        inside = isinstance(value, Mapping)
        merged[key] = patched(before if isinstance(before, Mapping) else {}, value) if inside else value  # type: ignore[arg-type]
    return {key: value for key, value in merged.items() if value is not None}


def role_slots(seen: Snapshot, name: str = "server") -> RoleSlots:
    """The slots of one role, as a pass over the snapshot classifies them."""
    assert isinstance(seen.rendering, Rendering)
    reserved = retirement.reserved(seen.status)
    classified = slots.of(seen.members, seen.workloads, seen.rendering.roles, reserved)
    return next(each for each in classified if each.name == name)


def slot(seen: Snapshot, ordinal: int = 0, role: str = "server") -> Slot:
    """One slot of a role."""
    return role_slots(seen, role).slot(ordinal)
