"""The owners of Pods that stand beside the operator: what they are asked to make, and where.

Every Pod is like one of the operator's; what all Pods of one template would share wrongly is left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from modeldeployment.api import keys
from modeldeployment.lab.bench.worlds import NAMESPACE
from modeldeployment.render import RoleRendering, Seat

JOBS: Final = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
STATEFUL_SETS: Final = f"/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets"
GROUPS: Final = f"/apis/leaderworkerset.x-k8s.io/v1/namespaces/{NAMESPACE}/leaderworkersets"

GATE: Final = "lab.modeldeployment.io/held"
"""Scheduling gate of Pods that no queue holds."""

_OF_ONE_POD: Final = {
    keys.GROUP_NAME,
    keys.ORDINAL,
    keys.MEMBER_INDEX,
    keys.GROUP_TOTAL,
    keys.GROUP_SERVING,
}


class Body(Protocol):
    """Makes the object of a name that asks for a role's Pods; `queued` says whether they go through our queue."""

    def __call__(self, name: str, role: RoleRendering, *, queued: bool) -> Mapping[str, Any]:
        """Make it."""
        ...


@dataclass(frozen=True, slots=True)
class Peer:
    """A controller: its name, the collection of its objects, and the object that asks for a role's Pods."""

    name: str
    path: str
    body: Body


def job(name: str, role: RoleRendering, *, queued: bool) -> dict[str, Any]:
    """An Indexed Job of as many Pods as the role has."""
    template = _template(role, queued=queued)
    template["spec"]["restartPolicy"] = "Never"
    pods = role.replicas * role.size
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "completionMode": "Indexed",
            "completions": pods,
            "parallelism": pods,
            "backoffLimit": 1_000_000,
            "template": template,
        },
    }


def stateful_set(name: str, role: RoleRendering, *, queued: bool) -> dict[str, Any]:
    """A StatefulSet of as many Pods as the role has, made in parallel."""
    template = _template(role, queued=queued)
    template["metadata"]["labels"]["peer"] = name
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "replicas": role.replicas * role.size,
            "serviceName": name,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": {"peer": name}},
            "template": template,
        },
    }


def leader_worker_set(name: str, role: RoleRendering, *, queued: bool) -> dict[str, Any]:
    """A LeaderWorkerSet of the role's replicas and size."""
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "replicas": role.replicas,
            "leaderWorkerTemplate": {"size": role.size, "workerTemplate": _template(role, queued=queued)},
        },
    }


JOB: Final = Peer("Job", JOBS, job)
STATEFUL_SET: Final = Peer("StatefulSet", STATEFUL_SETS, stateful_set)
LEADER_WORKER_SET: Final = Peer("LeaderWorkerSet", GROUPS, leader_worker_set)


def _template(role: RoleRendering, *, queued: bool) -> dict[str, Any]:
    """The role's last Pod as a template: `queued`, each Pod of it is a Workload of its own, else it has a gate.

    The Pods are the operator's by no label: its watch of the next round must not see them.
    """
    pod = role.template.pod(Seat(role.replicas - 1, role.size - 1))
    metadata, spec = pod["metadata"], pod["spec"]
    left_out = _OF_ONE_POD | {keys.NAME} | (set() if queued else {keys.QUEUE_NAME})
    for named in ("hostname", "subdomain"):
        spec.pop(named, None)
    if not queued:
        spec["schedulingGates"] = [{"name": GATE}]
    return {
        "metadata": {
            part: {key: value for key, value in metadata[part].items() if key not in left_out}
            for part in ("labels", "annotations")
        },
        "spec": spec,
    }
