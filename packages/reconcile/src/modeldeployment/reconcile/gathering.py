"""What the API server holds of sets, reduced to what set admission reads: the near side of its rim.

Reductions are pure, and each object is reduced once a version.
"""

from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from typing import Final

import msgspec

from modeldeployment.api import keys, kueue, names
from modeldeployment.kube import shapes
from modeldeployment.reconcile.kinds import DEPLOYMENTS
from modeldeployment.reconcile.sets.seen import Entry, Pod, Role, Set, Workload
from modeldeployment.reconcile.watching import Key, Watched

_NEVER: Final = datetime(1, 1, 1, tzinfo=UTC)


class _Role(msgspec.Struct, frozen=True):
    name: str
    replicas: int = 1


class _Spec(msgspec.Struct, frozen=True):
    roles: tuple[_Role, ...] = ()


_spec: Final = msgspec.json.Decoder(_Spec)


def workload(seen: shapes.Workload, ours: Collection[str]) -> Workload:
    """Reduce a Workload; of its checks those stay whose names are `ours`."""
    conditions = {each.type: each for each in seen.status.conditions}
    created = _time(seen.metadata.creation_timestamp) or _NEVER
    quota = conditions.get(kueue.WorkloadCondition.QUOTA_RESERVED)
    requeued = conditions.get(kueue.WorkloadCondition.REQUEUED)
    reserved = _true(quota)
    # A reservation has a time of its own, and nobody holds one before.
    since = [_since(quota)] if reserved else [created, _since(quota), _since(requeued)]
    return Workload(
        name=seen.metadata.name,
        uid=seen.metadata.uid,
        version=seen.metadata.resource_version,
        created=created,
        since=max(since),
        owners=frozenset(each.uid for each in pod_owners(seen)),
        queue=seen.spec.queue_name,
        reserved=reserved,
        admitted=_true(conditions.get(kueue.WorkloadCondition.ADMITTED)),
        evicted=_true(conditions.get(kueue.WorkloadCondition.EVICTED)),
        finished=_true(conditions.get(kueue.WorkloadCondition.FINISHED)),
        active=seen.spec.active is not False,
        leaving=seen.metadata.deletion_timestamp is not None,
        entries=tuple(
            Entry(each.name, each.state, each.message, _time(each.last_transition_time))
            for each in seen.status.admission_checks
            if each.name in ours
        ),
    )


def pod_owners(seen: shapes.Workload) -> tuple[shapes.OwnerReference, ...]:
    """The Pods that a Workload was composed of."""
    return tuple(each for each in seen.metadata.owner_references if each.kind == "Pod" and each.api_version == "v1")


def deployment_of(meta: shapes.ObjectMeta) -> tuple[Key, str] | None:
    """The deployment that controls a Pod, and its UID."""
    for owner in meta.owner_references:
        if owner.controller and owner.kind == DEPLOYMENTS.kind and owner.api_version.startswith(f"{keys.GROUP}/"):
            return Key(meta.namespace, owner.name), owner.uid
    return None


def deployments_of(watched: Watched, seen: shapes.Workload) -> dict[str, Key]:
    """The deployments whose Pods a Workload was composed of, by UID, as far as the Pods are among ours."""
    pods = (pod for owner in pod_owners(seen) for pod in watched.pods.by_index("uid", owner.uid))
    return {found[1]: found[0] for pod in pods if (found := deployment_of(pod.metadata)) is not None}


def role_counts(stored: shapes.Custom) -> tuple[tuple[str, int], ...]:
    """The roles of a deployment and how many replicas each declares; none where the spec cannot be read."""
    try:
        return tuple((role.name, role.replicas) for role in _spec.decode(stored.spec).roles)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return ()


class Roles:
    """Roles with the names of their groups, remembered while a deployment is not edited: each name is a hash."""

    def __init__(self) -> None:
        self._known: dict[Key, tuple[str, int, tuple[Role, ...]]] = {}

    def of(self, stored: shapes.Custom) -> tuple[Role, ...]:
        """The roles of a stored deployment."""
        meta = stored.metadata
        key = Key(meta.namespace, meta.name)
        known = self._known.get(key)
        if known is None or known[:2] != (meta.uid, meta.generation):
            roles = tuple(
                Role(name, tuple(names.group_name(*key, name, ordinal) for ordinal in range(replicas)))
                for name, replicas in role_counts(stored)
            )
            known = self._known[key] = (meta.uid, meta.generation, roles)
        return known[2]

    def forget(self, key: Key) -> None:
        """Drop a deployment that is gone."""
        self._known.pop(key, None)


def gathered(
    watched: Watched,
    stored: shapes.Custom,
    roles: tuple[Role, ...],
    workloads: Callable[[shapes.Workload], Workload],
    strays: Iterable[shapes.Workload] = (),
) -> Set:
    """Gather a set from the stores, in steps of its own size; `strays` are Workloads of Pods that are not in them."""
    meta = stored.metadata
    pods: dict[str, list[Pod]] = {}
    found = {each.metadata.uid: each for each in strays}
    for pod in watched.pods.by_index("owner", meta.uid):
        group = pod.metadata.labels.get(keys.GROUP_NAME, "")
        pods.setdefault(group, []).append(Pod(pod.metadata.uid, pod.metadata.deletion_timestamp is not None))
        for each in watched.workloads.by_index("member", pod.metadata.uid):
            found[each.metadata.uid] = each
    own = {pod.uid for members in pods.values() for pod in members}
    reduced: list[Workload] = []
    shared: list[Workload] = []
    for each in found.values():
        read = workloads(each)
        # Of its own Pods alone are nearly all, and those are told without a look at any other.
        alone = read.owners <= own or not deployments_of(watched, each).keys() - {meta.uid}
        (reduced if alone else shared).append(read)
    return Set(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        generation=meta.generation,
        created=_time(meta.creation_timestamp) or _NEVER,
        deleting=meta.deletion_timestamp is not None,
        roles=roles,
        pods={group: tuple(members) for group, members in pods.items()},
        workloads=tuple(reduced),
        shared=tuple(shared),
        pools={queue: _pool(watched, meta.namespace, queue) for queue in {each.queue for each in reduced}},
    )


def edition(deployment: shapes.Custom) -> tuple[str, int, bool]:
    """What of a deployment a change must touch to matter to its set."""
    meta = deployment.metadata
    return meta.uid, meta.generation, meta.deletion_timestamp is not None


def place(pod: shapes.Pod) -> tuple[object, ...]:
    """What of a Pod a change must touch to matter to the set that it is part of, or was."""
    meta = pod.metadata
    return meta.uid, meta.deletion_timestamp is not None, meta.labels, deployment_of(meta)


def _pool(watched: Watched, namespace: str, local_queue: str) -> str:
    cluster_queue = watched.queues.queue(namespace, local_queue).cluster_queue
    return watched.queues.pool(cluster_queue) if cluster_queue else ""


def _true(condition: shapes.Condition | None) -> bool:
    return condition is not None and condition.status == "True"


def _since(condition: shapes.Condition | None) -> datetime:
    return (_time(condition.last_transition_time) if condition is not None else None) or _NEVER


def _time(stamp: str) -> datetime | None:
    """Read a stamp; the zero of the API, and what is none, are nothing."""
    try:
        read = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return read if read.tzinfo is not None and read > _NEVER else None
