"""What the API server holds, reduced to what decisions read: the near side of the rim.

Reductions are pure. Each object is reduced once a version: a pass over a thousand settled Pods costs a thousand
look-ups.
"""

from collections.abc import Iterable, Mapping
from typing import Generic, Protocol, TypeVar, cast

import msgspec

from modeldeployment.api import keys, kueue
from modeldeployment.kube import shapes
from modeldeployment.reconcile.deciding.seen import MARKS, Member, OwnedKind, PodPhase, SeenObject, Workload
from modeldeployment.reconcile.kinds import Document
from modeldeployment.reconcile.sets import markers


class Stamped(Protocol):
    """Anything with Kubernetes metadata."""

    @property
    def metadata(self) -> shapes.ObjectMeta:
        """Its metadata."""
        ...


Source = TypeVar("Source", bound=Stamped)
Reduced = TypeVar("Reduced")


class Reductions(Generic[Source, Reduced]):
    """Reductions of current objects, remembered by UID and version."""

    def __init__(self, reduce: "Reduction[Source, Reduced]") -> None:
        self._reduce = reduce
        self._known: dict[str, tuple[str, Reduced]] = {}

    def of(self, thing: Source) -> Reduced:
        """Reduce an object, or recall the reduction of this very version."""
        meta = thing.metadata
        known = self._known.get(meta.uid)
        if known is not None and known[0] == meta.resource_version:
            return known[1]
        reduced = self._reduce(thing)
        self._known[meta.uid] = (meta.resource_version, reduced)
        return reduced

    def alike(self, old: Source | None, new: Source | None) -> bool:
        """Whether a change is none to a decision; what is gone is no longer remembered."""
        if old is None or new is None:
            if old is not None:
                self._known.pop(old.metadata.uid, None)
            return False
        return old.metadata.uid == new.metadata.uid and self.of(old) == self.of(new)


class Reduction(Protocol[Source, Reduced]):  # type: ignore[misc]
    """A pure function from an object to what decisions read of it."""

    def __call__(self, thing: Source, /) -> Reduced:
        """Reduce one object."""
        ...


def member(pod: shapes.Pod) -> Member:
    """Reduce a Pod; an ordinal that is not plain digits reads as absent (facts reconcile §2)."""
    meta, status = pod.metadata, pod.status
    return Member(
        name=meta.name,
        uid=meta.uid,
        role=meta.labels.get(keys.COMPONENT, ""),
        ordinal=_digits(meta.labels.get(keys.ORDINAL)),
        index=_digits(meta.labels.get(keys.MEMBER_INDEX)) or 0,
        group=meta.labels.get(keys.GROUP_NAME, ""),
        fingerprint=meta.annotations.get(keys.FINGERPRINT, ""),
        phase=_phase(status.phase),
        ready=any(each.type == "Ready" and each.status == "True" for each in status.conditions),
        leaving=meta.deletion_timestamp is not None,
        evicted=status.reason == "Evicted",
        restarts=sum(each.restart_count for each in status.container_statuses),
        node=pod.spec.node_name,
        eligible=meta.labels.get(keys.ELIGIBLE) == keys.TRUE,
        unstarted=any(each.started is False and not _ran(each) for each in status.container_statuses),
        marks=tuple(map(meta.labels.get, MARKS)),
    )


def _ran(container: shapes.ContainerStatus) -> bool:
    """Whether a container has ended before: for a moment after a crash its node counts no restart yet."""
    states = (container.state, container.last_state)
    return container.restart_count > 0 or any(each.terminated is not None for each in states)


def workload(seen: shapes.Workload) -> Workload:
    """Reduce a Workload; owner references of kind Pod name the replica it belongs to."""
    conditions = {each.type: each for each in seen.status.conditions}
    admission = seen.status.admission
    assigned = admission.pod_set_assignments if admission is not None else ()
    flavors = {
        flavor for each in assigned for resource, flavor in each.flavors.items() if resource.startswith(kueue.CREDITS)
    }
    quota = conditions.get(kueue.WorkloadCondition.QUOTA_RESERVED)
    reserved = quota is not None and quota.status == "True"
    active = seen.spec.active is not False
    said = "" if active else _said_by_joint_check(seen)
    given_way = markers.yielded(said)
    return Workload(
        name=seen.metadata.name,
        uid=seen.metadata.uid,
        owners=frozenset(
            each.uid for each in seen.metadata.owner_references if each.kind == "Pod" and each.api_version == "v1"
        ),
        queue=seen.spec.queue_name,
        cluster_queue=admission.cluster_queue if admission is not None else "",
        flavors=tuple(sorted(flavors)),
        reserved=reserved,
        admitted=_true(conditions.get(kueue.WorkloadCondition.ADMITTED)),
        preempted=_preempted(conditions),
        leaving=seen.metadata.deletion_timestamp is not None,
        waits_because="" if reserved or quota is None else quota.message,
        active=active,
        parked=markers.parked(said),
        yields_to=given_way.older if given_way is not None else "",
    )


def _said_by_joint_check(seen: shapes.Workload) -> str:
    return next((each.message for each in seen.status.admission_checks if each.name == kueue.JOINT_CHECK), "")


def owned(kind: OwnedKind) -> "Reduction[Document, SeenObject]":
    """Make the reduction of owned objects of one kind to what their drift is judged by."""

    def reduced(seen: Document, /) -> SeenObject:
        meta = seen.metadata
        parts = {part: msgspec.json.decode(raw) for part in _PARTS if bytes(raw := getattr(seen, part))}
        ready = table(seen.status).get("readyReplicas", 0) if kind is OwnedKind.DEPLOYMENT else 0
        return SeenObject(
            kind=kind,
            name=meta.name,
            uid=meta.uid,
            body={
                "metadata": {"name": meta.name, "labels": meta.labels, "annotations": meta.annotations},
                **{part: value for part, value in parts.items() if value is not None},
            },
            managed=keys.RESOURCE_TYPE in meta.labels,
            ready=cast("int", ready),
            leaving=meta.deletion_timestamp is not None,
        )

    return reduced


_PARTS = ("spec", "data", "rules", "subjects")


def table(raw: msgspec.Raw) -> Mapping[str, object]:
    """Decode an opaque part of a custom object; absent or null is empty."""
    return cast("Mapping[str, object]", (msgspec.json.decode(raw) if bytes(raw) else None) or {})


def _digits(label: str | None) -> int | None:
    return int(label) if label is not None and label.isascii() and label.isdigit() else None


def _phase(phase: str) -> PodPhase:
    return PodPhase(phase) if phase in _PHASES else PodPhase.UNKNOWN


_PHASES = frozenset(PodPhase)


def _true(condition: shapes.Condition | None) -> bool:
    return condition is not None and condition.status == "True"


def _preempted(conditions: Mapping[str, shapes.Condition]) -> bool:
    evicted = conditions.get(kueue.WorkloadCondition.EVICTED)
    return _true(conditions.get(kueue.WorkloadCondition.PREEMPTED)) or (
        evicted is not None and evicted.status == "True" and evicted.reason == "Preempted"
    )


def controllers(owners: Iterable[shapes.OwnerReference]) -> tuple[str, ...]:
    """UIDs of the controller references: ownership is confirmed by these, never by labels alone."""
    return tuple(each.uid for each in owners if each.controller)
