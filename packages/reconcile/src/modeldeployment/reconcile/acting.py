"""Carries out the steps of a decision, in order, against the API server.

Idempotent: a delete of what is gone is a success, deletes and patches name the UID they mean, and a create that
fails leaves the others of its run alone. Killing the process between any two requests is safe.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Final, TypeVar, assert_never, cast

from modeldeployment.api import keys
from modeldeployment.kube import (
    AlreadyExists,
    Client,
    Conflict,
    Forbidden,
    Grant,
    Invalid,
    Kind,
    KubeError,
    NotFound,
    PatchType,
    shapes,
)
from modeldeployment.kube.kinds import PODS, WORKLOADS
from modeldeployment.reconcile.abreast import abreast
from modeldeployment.reconcile.deciding.seen import OwnedKind
from modeldeployment.reconcile.deciding.steps import (
    AddFinalizer,
    AlignObject,
    CreateObject,
    CreateReplica,
    DeleteObject,
    DeletePod,
    DeleteWorkload,
    DropFinalizer,
    Reclaim,
    SetEligibility,
    SetUsers,
    Step,
    TakeOffRetry,
)
from modeldeployment.reconcile.errors import CreateFailed, ObjectRefused
from modeldeployment.reconcile.kinds import BINDINGS, DEPLOYMENTS, OWNED
from modeldeployment.reconcile.watching import Key
from modeldeployment.render import Rendering, RenderRefusal, Seat

_PODS_METADATA = PODS.partial()

GRANTS: Final = (
    Grant(DEPLOYMENTS, ("patch",), "set and drop the finalizer, take off a retry that was heeded"),
    Grant(DEPLOYMENTS, ("patch",), "say what was observed", "status"),
    Grant(BINDINGS, ("patch",), "claim the binding of a cache while a deployment uses it", "status"),
    Grant(PODS, ("create", "patch", "delete"), "make, label and announce replicas, and let them go"),
    Grant(WORKLOADS, ("delete",), "free the quota of a replica that left"),
    Grant(PODS, ("get",), "grant it to routers: nobody may grant what he does not hold"),
    *(Grant(kind, ("create", "patch", "delete"), "front the replicas and run routers") for kind in OWNED.values()),
)

T = TypeVar("T", bound=shapes.Object)


@dataclass(slots=True)
class Target:
    """The deployment a pass acts on. `resource_version` follows our own writes to it."""

    key: Key
    uid: str
    resource_version: str
    finalizers: tuple[str, ...]
    rendering: Rendering | RenderRefusal
    wrote: Callable[[str, str], None]
    """Called with a store's name and the version of each write, so that the next pass waits for it."""
    wanted: Callable[[], bool]
    """Whether the spec this pass was decided on still stands; creates stop when it does not."""
    version: Callable[[OwnedKind, str], str]
    """The version of an owned object that the pass was decided on; empty where it was not seen."""
    insisted: Callable[[str, str], None]
    """Called with the UID of each Pod whose marks were put back, and what the API server had against it."""
    undone: list[str] = field(default_factory=list)
    """Owned objects that a patch left as they were, although it differed from them."""


async def announce(client: Client, pod: shapes.Pod, now: datetime) -> None:
    """Change an annotation of a Pod, so that a router that gave up on it looks again. Raises KubeError."""
    meta = pod.metadata
    body = {"metadata": {"uid": meta.uid, "annotations": {keys.ANNOUNCED: f"{now:%Y-%m-%dT%H:%M:%SZ}"}}}
    await client.patch(_PODS_METADATA, meta.name, body, meta.namespace, how=PatchType.MERGE)


async def carry_out(client: Client, target: Target, steps: Sequence[Step]) -> None:
    """Carry out steps in order; neighbours of one type, and of one kind of object, run side by side.

    Replicas that leave alternate Pods and Workloads, so they go one after the other, highest ordinal first.
    Raises KubeError or ObjectRefused of the first step that must stop the pass. Creates of Pods that fail stop nothing:
    CreateFailed is raised when everything else has been carried out, so that replicas which do run get their Services
    (facts reconcile §3). So is ObjectRefused of patches that something undoes, which would else be sent without end.
    """
    failed: CreateFailed | None = None
    for (kind, _), run in groupby(steps, key=lambda step: (type(step), getattr(step, "kind", None))):
        if kind is not CreateReplica:
            await abreast(run, lambda step: _carry_out_one(client, target, step))
            continue
        try:
            await _create_replicas(client, target, [step for step in run if isinstance(step, CreateReplica)])
        except CreateFailed as failure:
            failed = failure
    if failed is not None:
        raise failed
    if target.undone:
        raise ObjectRefused(
            f"{', '.join(target.undone)} cannot be brought back to its render: the API server takes the change and "
            "something in the cluster undoes it, such as a mutating webhook or policy; exempt objects labelled "
            f"{keys.NAME}={keys.NAME_VALUE} from it"
        )


async def write_status(client: Client, target: Target, status: object) -> shapes.Custom:
    """Merge-patch the status of the version that the pass has read; raises Conflict when it has moved on.

    Answers the deployment as it is then stored.
    """
    body = {"metadata": {"resourceVersion": target.resource_version}, "status": status}
    patched = await client.patch(
        DEPLOYMENTS, target.key.name, body, target.key.namespace, how=PatchType.MERGE, subresource="status"
    )
    _follow(target, patched)
    return patched


async def _carry_out_one(client: Client, target: Target, step: Step) -> None:
    match step:
        case AddFinalizer():
            await _set_finalizers(client, target, (*target.finalizers, keys.FINALIZER))
        case DropFinalizer():
            await _set_finalizers(client, target, tuple(each for each in target.finalizers if each != keys.FINALIZER))
        case DeletePod():
            await _delete(client, target, PODS, step.name, step.uid)
        case DeleteWorkload():
            await _delete(client, target, WORKLOADS, step.name, step.uid)
        case SetEligibility():
            await _set_eligibility(client, target, step)
        case Reclaim():
            await _reclaim(client, target, step)
        case CreateObject():
            await _create(client, target, step)
        case AlignObject():
            await _align(client, target, step)
        case DeleteObject():
            await _delete(client, target, OWNED[step.kind], step.name, step.uid)
        case SetUsers():
            await _set_users(client, target, step)
        case TakeOffRetry():
            await _take_off_retry(client, target)
        case CreateReplica():
            await _create_replicas(client, target, [step])
        case other:
            assert_never(other)


async def _create_replicas(client: Client, target: Target, steps: Sequence[CreateReplica]) -> None:
    """Create the Pods of many replicas; the first failure is raised once all were tried."""
    assert isinstance(target.rendering, Rendering)
    templates = {role.name: (role.template, role.size) for role in target.rendering.roles}
    failures: list[KubeError] = []
    total = 0

    def bodies() -> Iterator[bytes]:
        nonlocal total
        for step in steps:
            template, size = templates[step.role]
            # Members of one replica are never split: a group with some of its Pods is composed by nobody.
            if not target.wanted():
                return
            for member in range(size):
                total += 1
                yield template.body(Seat(step.ordinal, member))

    async def create(body: bytes) -> None:
        try:
            # Only the version is read of the answer; the whole Pod arrives by the watch anyway.
            made = await client.create(_PODS_METADATA, body, target.key.namespace)
        except KubeError as error:
            failures.append(error)
        else:
            target.wrote(PODS.plural, made.metadata.resource_version)

    await abreast(bodies(), create)
    if failures:
        raise CreateFailed(f"{len(failures)} of {total} Pods could not be created: {failures[0]}") from failures[0]


async def _delete(client: Client, target: Target, kind: Kind[T], name: str, uid: str) -> None:
    """Delete by UID; gone already, or another object of that name by now, is success."""
    try:
        gone = await client.delete(kind, name, target.key.namespace, uid=uid)
    except (NotFound, Conflict):
        return
    if gone is not None:
        target.wrote(kind.plural, gone.metadata.resource_version)


async def _create(client: Client, target: Target, step: CreateObject) -> None:
    """Create an object; where somebody was faster, the next pass finds out whose it is."""
    kind = OWNED[step.kind]
    try:
        made = await client.create(kind, step.body, target.key.namespace)
    except AlreadyExists:
        return
    except (Forbidden, Invalid) as refusal:
        raise ObjectRefused(f"{step.kind} {step.name} cannot be created: {refusal}") from refusal
    target.wrote(kind.plural, made.metadata.resource_version)


async def _align(client: Client, target: Target, step: AlignObject) -> None:
    kind = OWNED[step.kind]
    body = {**step.patch, "metadata": {**_metadata(step.patch), "uid": step.uid}}
    try:
        aligned = await client.patch(kind, step.name, body, target.key.namespace, how=PatchType.MERGE)
    except (NotFound, Conflict):
        return
    except (Forbidden, Invalid) as refusal:
        raise ObjectRefused(f"{step.kind} {step.name} cannot be brought back to its render: {refusal}") from refusal
    if aligned.metadata.resource_version == target.version(step.kind, step.name):
        target.undone.append(f"{step.kind} {step.name}")
    target.wrote(kind.plural, aligned.metadata.resource_version)


def _metadata(patch: Mapping[str, object]) -> Mapping[str, object]:
    return cast("Mapping[str, object]", patch.get("metadata") or {})


async def _set_eligibility(client: Client, target: Target, step: SetEligibility) -> None:
    await _label(client, target, step.name, step.uid, {keys.ELIGIBLE: keys.TRUE if step.eligible else None})


async def _label(client: Client, target: Target, name: str, uid: str, labels: Mapping[str, str | None]) -> None:
    body = {"metadata": {"uid": uid, "labels": dict(labels)}}
    try:
        patched = await client.patch(PODS, name, body, target.key.namespace, how=PatchType.MERGE)
    except (NotFound, Conflict):
        return
    target.wrote(PODS.plural, patched.metadata.resource_version)


async def _reclaim(client: Client, target: Target, step: Reclaim) -> None:
    """Put marks back. Where that is refused or undone the pass goes on: no replica is the worse for it."""
    body = {"metadata": {"uid": step.uid, "labels": dict(step.labels)}}
    try:
        patched = await client.patch(PODS, step.name, body, target.key.namespace, how=PatchType.MERGE)
    except (NotFound, Conflict):
        return
    except (Forbidden, Invalid) as refusal:
        target.insisted(step.uid, str(refusal))
        return
    target.insisted(step.uid, "")
    if all(patched.metadata.labels.get(label) == value for label, value in step.labels.items()):
        # A Pod that did not get back what it is watched by never comes to the store.
        target.wrote(PODS.plural, patched.metadata.resource_version)


async def _set_users(client: Client, target: Target, step: SetUsers) -> None:
    """Write who uses a binding; raises Conflict or NotFound, which end the pass: it was decided on another binding."""
    users = [{"kind": each.kind, "namespace": each.namespace, "name": each.name} for each in step.users]
    body = {"metadata": {"resourceVersion": step.version}, "status": {"usedBy": users}}
    patched = await client.patch(
        BINDINGS, step.binding, body, target.key.namespace, how=PatchType.MERGE, subresource="status"
    )
    target.wrote(BINDINGS.plural, patched.metadata.resource_version)


async def _set_finalizers(client: Client, target: Target, finalizers: tuple[str, ...]) -> None:
    body = {"metadata": {"resourceVersion": target.resource_version, "finalizers": list(finalizers)}}
    patched = await client.patch(DEPLOYMENTS, target.key.name, body, target.key.namespace, how=PatchType.MERGE)
    _follow(target, patched)


async def _take_off_retry(client: Client, target: Target) -> None:
    """Take the annotation off that the pass has read; raises Conflict where another may stand there by now."""
    metadata = {"resourceVersion": target.resource_version, "annotations": {keys.RETIREMENT_RETRY: None}}
    patched = await client.patch(
        DEPLOYMENTS, target.key.name, {"metadata": metadata}, target.key.namespace, how=PatchType.MERGE
    )
    _follow(target, patched)


def _follow(target: Target, patched: shapes.Custom) -> None:
    target.resource_version = patched.metadata.resource_version
    target.wrote(DEPLOYMENTS.plural, patched.metadata.resource_version)
