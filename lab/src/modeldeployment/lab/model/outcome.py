"""What a person sees of a deployment in the end, computed from plain objects of the fake world or of a real cluster."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from modeldeployment.api import keys
from modeldeployment.api.kueue import WorkloadCondition
from modeldeployment.lab.model import conditions
from modeldeployment.lab.model.resources import JSON


@dataclass(frozen=True, slots=True, order=True)
class Seat:
    """One Pod of a role: where it sits, how it is, and what it was rendered from."""

    role: str
    ordinal: str
    member: str
    phase: str
    ready: bool
    eligible: bool
    leaving: bool
    fingerprint: str


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """One Workload: whose replica it is, and what Kueue gave it."""

    role: str
    ordinal: str
    reserved: bool
    admitted: bool
    active: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """A deployment as it stands. Names, UIDs, times and messages are left out: they differ between equal outcomes."""

    exists: bool
    observed: bool
    """Whether every condition judges the spec as it is now."""
    phase: str
    roles: tuple[tuple[str, int, int, int], ...]
    """Name, desired, ready and reserved replicas of each role, as status says."""
    conditions: tuple[tuple[str, str, str], ...]
    """Type, status and reason of each condition, by type."""
    seats: tuple[Seat, ...]
    groups: tuple[Group, ...]
    services: tuple[str, ...]


def outcome_of(
    deployment: JSON | None, pods: Iterable[JSON], workloads: Iterable[JSON], services: Iterable[JSON], name: str
) -> Outcome:
    """Reduce what there is of a deployment; objects of others are left out by their labels and owners."""
    ours = [pod for pod in pods if _of(pod, name) and keys.ORDINAL in (pod["metadata"].get("labels") or {})]
    seats = {pod["metadata"]["uid"]: _seat(pod) for pod in ours}
    status = (deployment or {}).get("status") or {}
    groups = []
    for workload in workloads:
        owned = [
            seats[each["uid"]] for each in workload["metadata"].get("ownerReferences") or () if each["uid"] in seats
        ]
        if owned:
            groups.append(_group(workload, owned[0]))
    return Outcome(
        exists=deployment is not None,
        observed=_observed(deployment),
        phase=status.get("phase", ""),
        roles=tuple(
            (each["name"], each.get("desired", 0), each.get("ready", 0), each.get("quotaReserved", 0))
            for each in status.get("roles") or ()
        ),
        conditions=tuple(
            sorted((each["type"], each["status"], each["reason"]) for each in status.get("conditions") or ())
        ),
        seats=tuple(sorted(seats.values())),
        groups=tuple(sorted(groups)),
        services=tuple(sorted(each["metadata"]["name"] for each in services if _of(each, name))),
    )


def _observed(deployment: JSON | None) -> bool:
    if deployment is None:
        return False
    generation = deployment["metadata"]["generation"]
    said = (deployment.get("status") or {}).get("conditions") or ()
    return bool(said) and all(each.get("observedGeneration") == generation for each in said)


def _of(thing: Mapping[str, Any], name: str) -> bool:
    return (thing["metadata"].get("labels") or {}).get(keys.INSTANCE) == name


def _seat(pod: JSON) -> Seat:
    labels, notes = pod["metadata"]["labels"], pod["metadata"].get("annotations") or {}
    return Seat(
        role=labels.get(keys.COMPONENT, ""),
        ordinal=labels[keys.ORDINAL],
        member=labels.get(keys.MEMBER_INDEX, "0"),
        phase=(pod.get("status") or {}).get("phase", ""),
        ready=conditions.true(pod, "Ready"),
        eligible=labels.get(keys.ELIGIBLE) == keys.TRUE,
        leaving="deletionTimestamp" in pod["metadata"],
        fingerprint=notes.get(keys.FINGERPRINT, ""),
    )


def _group(workload: JSON, seat: Seat) -> Group:
    return Group(
        role=seat.role,
        ordinal=seat.ordinal,
        reserved=conditions.true(workload, WorkloadCondition.QUOTA_RESERVED),
        admitted=conditions.true(workload, WorkloadCondition.ADMITTED),
        active=workload["spec"].get("active") is not False,
    )
