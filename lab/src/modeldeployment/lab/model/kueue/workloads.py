"""Workloads: composed from a group, reserved, admitted, evicted; each a change of the object and nothing else.

Sources: facts kueue §4 to §6.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from modeldeployment.api import keys
from modeldeployment.api.kueue import CheckState, WorkloadCondition
from modeldeployment.lab.model import conditions
from modeldeployment.lab.model.kueue import words
from modeldeployment.lab.model.resources import JSON
from modeldeployment.lab.model.server import Server

Change: TypeAlias = Callable[[JSON], JSON]

RESET: Final = "Reset to Pending after eviction. Previously: "


def composed(members: Iterable[JSON], total: int, priority: int) -> JSON:
    """The Workload of a complete group: one PodSet, owned by every member, by none of them as controller."""
    pods = list(members)
    first = pods[0]
    notes = first["metadata"].get("annotations") or {}
    containers = [
        {key: each[key] for key in ("name", "resources") if key in each} for each in first["spec"]["containers"]
    ]
    pod_set: JSON = {
        "name": notes.get(keys.ROLE_HASH, "main").lower(),
        "count": total,
        "template": {"spec": {"containers": containers}},
    }
    if level := notes.get(keys.REQUIRED_TOPOLOGY):
        pod_set["topologyRequest"] = {"required": level}
    labels = first["metadata"]["labels"]
    return {
        "metadata": {
            "name": labels[keys.GROUP_NAME],
            "namespace": first["metadata"]["namespace"],
            "annotations": {words.IS_GROUP: keys.TRUE},
            "finalizers": [words.IN_USE],
            "ownerReferences": [owner(each) for each in pods],
        },
        "spec": {"active": True, "queueName": labels[keys.QUEUE_NAME], "priority": priority, "podSets": [pod_set]},
    }


def owner(pod: JSON) -> JSON:
    """A plain owner reference to a member."""
    return {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}


def reserved(workload: JSON) -> bool:
    """Whether it holds quota."""
    return bool((workload.get("status") or {}).get("admission"))


def admitted(workload: JSON) -> bool:
    """Whether its members may start."""
    return conditions.true(workload, WorkloadCondition.ADMITTED)


def evicted(workload: JSON) -> bool:
    """Whether it is being evicted, or has been and got nothing since."""
    return conditions.true(workload, WorkloadCondition.EVICTED)


def active(workload: JSON) -> bool:
    """Whether anybody switched it off."""
    return workload["spec"].get("active") is not False


def queueable(workload: JSON) -> bool:
    """Whether it may get quota (facts kueue §5)."""
    return (
        "deletionTimestamp" not in workload["metadata"]
        and active(workload)
        and not reserved(workload)
        and not conditions.true(workload, WorkloadCondition.WAITING_FOR_REPLACEMENT_PODS)
        and not conditions.true(workload, WorkloadCondition.FINISHED)
    )


def write(server: Server, workload: JSON, change: Change) -> None:
    """Change the status of a Workload, if that very one still stands."""
    meta = workload["metadata"]
    held = server.find("workloads", meta["name"], meta["namespace"])
    if held is not None and held["metadata"]["uid"] == meta["uid"]:
        server.update(
            "workloads",
            meta["name"],
            meta["namespace"],
            lambda thing: {**thing, "status": change(thing.get("status") or {})},
            by=words.KUEUE,
            subresource="status",
        )


# --- changes of a status ---


def condition(kind: WorkloadCondition, value: bool, reason: str, message: str, now: str) -> Change:
    """Set one condition."""
    return lambda status: conditions.put(status, kind, value, reason, message, now)


def reserve(admission: JSON, checks: Iterable[str], now: str) -> Change:
    """Give quota. Without checks it is admitted in the same write; what a last eviction said no longer holds."""

    def change(status: JSON) -> JSON:
        queue = admission["clusterQueue"]
        new = {**status, "admission": admission}
        new = conditions.put(
            new, WorkloadCondition.QUOTA_RESERVED, True, "QuotaReserved", f"Quota reserved in ClusterQueue {queue}", now
        )
        for kind in (WorkloadCondition.EVICTED, WorkloadCondition.PREEMPTED):
            old = conditions.of({"status": status}, kind)
            if old.get("status") == "True":
                new = conditions.put(new, kind, False, "QuotaReserved", f"Previously: {old['message']}", now)
        if not tuple(checks):
            new = admit(now)(new)
        return new

    return change


def admit(now: str) -> Change:
    """Let its members start."""
    return lambda status: conditions.put(
        status, WorkloadCondition.ADMITTED, True, "Admitted", "The workload is admitted", now
    )


def evict(reason: str, message: str, now: str, preempted: str = "") -> Change:
    """Begin an eviction; `preempted` is the reason of a preemption."""

    def change(status: JSON) -> JSON:
        new = conditions.put(status, WorkloadCondition.EVICTED, True, reason, message, now)
        if preempted:
            new = conditions.put(new, WorkloadCondition.PREEMPTED, True, preempted, message, now)
        return new

    return change


def release(now: str) -> Change:
    """End an eviction: the quota goes back, and checks that had answered are asked anew (facts kueue §6.5).

    Only entries that are not Pending are reset; what a Pending one says stays.
    """

    def change(status: JSON) -> JSON:
        why = conditions.of({"status": status}, WorkloadCondition.EVICTED)
        new = {key: value for key, value in status.items() if key != "admission"}
        new = conditions.put(new, WorkloadCondition.QUOTA_RESERVED, False, "Pending", why.get("message", ""), now)
        if conditions.true({"status": status}, WorkloadCondition.ADMITTED):
            new = conditions.put(
                new, WorkloadCondition.ADMITTED, False, "NoReservation", "The workload has no reservation", now
            )
        if why.get("reason") in ("Preempted", "NodeFailures"):
            new = conditions.put(new, WorkloadCondition.REQUEUED, True, why["reason"], why["message"], now)
        if "admissionChecks" in new:
            new["admissionChecks"] = [_asked_anew(each, now) for each in new["admissionChecks"]]
        return new

    return change


def _asked_anew(entry: JSON, now: str) -> JSON:
    if entry["state"] == CheckState.PENDING:
        return entry
    count = entry.get("retryCount", 0) + (entry["state"] == CheckState.RETRY)
    return {
        "name": entry["name"],
        "state": CheckState.PENDING.value,
        "message": f"{RESET}{entry.get('message', '')}",
        "lastTransitionTime": now,
        **({"retryCount": count} if count else {}),
    }


def ask(checks: Iterable[str], now: str) -> Change:
    """Have one entry for each check that its queue asks, and no other."""

    def change(status: JSON) -> JSON:
        have = {each["name"]: each for each in status.get("admissionChecks") or ()}
        new = {"state": CheckState.PENDING.value, "message": "", "lastTransitionTime": now}
        return {**status, "admissionChecks": [have.get(name) or {"name": name, **new} for name in checks]}

    return change


def assignments(workload: Mapping[str, Any]) -> list[JSON]:
    """The PodSet assignments of a reservation; none without one."""
    admission = (workload.get("status") or {}).get("admission") or {}
    return list(admission.get("podSetAssignments") or ())
