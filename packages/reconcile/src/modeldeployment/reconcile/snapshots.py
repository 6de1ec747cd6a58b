"""One consistent reading of a deployment out of the stores; a rendering is made anew only where its sources changed."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

from modeldeployment.api import ModelDeployment, RefusalReason
from modeldeployment.kube import shapes
from modeldeployment.reconcile import following, observing, reading
from modeldeployment.reconcile.deciding import parting
from modeldeployment.reconcile.deciding.seen import Member, Queue, Snapshot, Weights, Workload
from modeldeployment.reconcile.errors import Unreadable
from modeldeployment.reconcile.watching import Key, Watched
from modeldeployment.render import Facts, Policy, Rendering, RenderRefusal, Store, WeightsRefusal, render


@dataclass(slots=True)
class _Memory:
    """What is remembered of a deployment between readings: nothing that a restart may not lose."""

    version: str = ""
    deployment: ModelDeployment | None = None
    spec: bytes = b""
    status: Mapping[str, object] = field(default_factory=dict)
    rendered_from: tuple[object, ...] = ()
    rendering: Rendering | RenderRefusal | None = None
    pods: tuple[shapes.Pod, ...] = ()
    members: tuple[Member, ...] = ()
    uids: tuple[str, ...] = ()
    grouped: tuple[tuple[shapes.Workload, ...], ...] = ()
    looked: tuple[int, tuple[str, ...], tuple[str, ...]] = (0, (), ())
    groups: tuple[shapes.Workload, ...] = ()
    workloads: tuple[Workload, ...] = ()


class Snapshots:
    """Reads deployments out of stores that somebody keeps current: the controller's, or those of a command line."""

    def __init__(self, watched: Watched, policy: Policy) -> None:
        self._watched = watched
        self._policy = policy
        self._memory: dict[Key, _Memory] = {}

    def set_policy(self, policy: Policy) -> bool:
        """Render with other settings from now on; says whether they are others."""
        changed, self._policy = policy != self._policy, policy
        return changed

    def forget(self, key: Key) -> None:
        """Drop what is remembered of a deployment that is gone."""
        self._memory.pop(key, None)

    def prepare(self, stored: shapes.Custom, *, native: bool) -> None:
        """Render a deployment before its first reading, which then finds the rendering there. Raises Unreadable."""
        memory = self._memory.setdefault(Key(stored.metadata.namespace, stored.metadata.name), _Memory())
        deployment = _read(stored, memory)
        _, store = following.cache(self._watched, deployment)
        self._rendering(deployment, store, memory, native=native)

    def of(self, stored: shapes.Custom, *, native: bool, stale: bool = False) -> Snapshot:
        """Read one deployment; `native` says whether the API server starts sidecars first. Raises Unreadable."""
        meta, watched = stored.metadata, self._watched
        memory = self._memory.setdefault(Key(meta.namespace, meta.name), _Memory())
        deployment = _read(stored, memory)
        self._look(meta.uid, memory)
        attachment, store = following.cache(watched, deployment)
        rendering, weights = self._rendering(deployment, store, memory, native=native)
        return Snapshot(
            deployment=deployment,
            rendering=rendering,
            members=memory.members,
            workloads=memory.workloads,
            objects=tuple(
                watched.kept[kind].of(each)
                for kind, owned in watched.owned.items()
                for each in owned.by_index("owner", meta.uid)
            ),
            status=memory.status,
            cache=attachment,
            weights=weights,
            queues=self._queues(meta.namespace, rendering),
            accounts=watched.accounts.among(memory.uids),
            stale=stale,
        )

    def _look(self, owner: str, memory: _Memory) -> None:
        """Look which Pods and Workloads there are; of those that did not change, what was read of them stands."""
        watched, of_member = self._watched, partial(self._watched.workloads.by_index, "member")
        pods, retired = watched.pods.by_index("owner", owner), tuple(_retired(memory.status))
        parted = parting.of(memory.pods, pods)
        if not parted.alike:
            memory.members = parted.remade(memory.members, pods, watched.members.of)
            memory.uids = parted.remade(memory.uids, pods, _uid)
            memory.pods = pods
        looked = (watched.workload_changes, retired, memory.uids)
        if looked == memory.looked:
            return
        if watched.workload_changes == memory.looked[0]:
            memory.grouped = parted.remade(memory.grouped, pods, lambda pod: of_member(_uid(pod)))
        else:
            memory.grouped = tuple(map(of_member, memory.uids))
        found = tuple(itertools.chain.from_iterable((*memory.grouped, *map(of_member, retired))))
        groups = tuple(dict(zip(map(id, found), found, strict=True)).values())
        memory.workloads = parting.of(memory.groups, groups).remade(memory.workloads, groups, watched.groups.of)
        memory.looked, memory.groups = looked, groups

    def after(self, seen: Snapshot, stored: shapes.Custom) -> Snapshot:
        """A reading as it will be once the store holds what was written to the status. Raises Unreadable."""
        memory = self._memory.setdefault(Key(stored.metadata.namespace, stored.metadata.name), _Memory())
        return replace(seen, deployment=_read(stored, memory), status=memory.status)

    def _queues(self, namespace: str, rendering: Rendering | RenderRefusal) -> Mapping[str, Queue]:
        roles = rendering.roles if isinstance(rendering, Rendering) else ()
        return {role.queue: self._watched.queues.queue(namespace, role.queue) for role in roles}

    def _rendering(
        self, deployment: ModelDeployment, store: Store | None, memory: _Memory, *, native: bool
    ) -> tuple[Rendering | RenderRefusal, Weights | None]:
        """The rendering, and the weights that it loads."""
        named = {role.instance_type for role in deployment.spec.roles}
        read = {
            name: self._watched.read_types.of(each)
            for name in sorted(named)
            if (each := self._watched.types.get("", name)) is not None
        }
        classes = frozenset(each.metadata.name for each in self._watched.runtime_classes.items())
        try:
            artifact = following.artifact(self._watched, deployment)
        except WeightsRefusal as refusal:
            return refusal, None
        # Of what is only followed, what is read of it: figures move all the time.
        source = (
            deployment.metadata.uid,
            deployment.metadata.generation,
            self._policy,
            classes,
            store,
            artifact,
            native,
            *read.values(),
        )
        if memory.rendering is None or memory.rendered_from != source:
            types = {name: each for name, each in read.items() if not isinstance(each, Unreadable)}
            facts = Facts(types, self._policy, classes, store, artifact, native)
            unreadable = next((each for each in read.values() if isinstance(each, Unreadable)), None)
            memory.rendering = _rendered(deployment, facts) if unreadable is None else _unready(unreadable)
            memory.rendered_from = source
        return memory.rendering, following.weights(self._watched, deployment, artifact, self._policy)


def _uid(pod: shapes.Pod) -> str:
    return pod.metadata.uid


def _retired(status: Mapping[str, object]) -> Iterable[str]:
    """The UIDs of the Pods that a retirement reserved: its Workload is looked at when they are gone, too."""
    held = cast("Mapping[str, list[str]]", status.get("retirement") or {})
    return held.get("targetMemberUIDs", ())


def _read(stored: shapes.Custom, memory: _Memory) -> ModelDeployment:
    meta = stored.metadata
    version = f"{meta.uid}/{meta.resource_version}"
    if memory.deployment is None or memory.version != version:
        known, spec = memory.deployment, bytes(stored.spec)
        same = known is not None and known.metadata.uid == meta.uid and spec == memory.spec
        memory.deployment = reading.renewed(known, stored) if known and same else reading.deployment(stored)
        memory.spec = spec
        memory.status = observing.table(stored.status)
        memory.version = version
    return memory.deployment


def _rendered(deployment: ModelDeployment, facts: Facts) -> Rendering | RenderRefusal:
    try:
        return render(deployment, facts)
    except RenderRefusal as refusal:
        return refusal


def _unready(unreadable: Unreadable) -> RenderRefusal:
    return RenderRefusal(RefusalReason.INSTANCE_TYPE_NOT_READY, None, str(unreadable), retryable=True)
