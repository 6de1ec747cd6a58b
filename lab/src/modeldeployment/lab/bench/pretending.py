"""What kubelet and Kueue do, done to the objects of a stub at once: every Pod is admitted, Running and Ready."""

import copy
import itertools
from collections.abc import Iterable
from typing import Any, Final

from modeldeployment.api import keys, kueue
from modeldeployment.lab.bench.stubbing import Json, Stub, managed_fields
from modeldeployment.lab.bench.worlds import FLEET, NAMESPACE
from modeldeployment.lab.flavors.instance_types import instance_type, instance_type_status
from modeldeployment.lab.flavors.names import flavor_name
from modeldeployment.lab.flavors.pools import pool_of
from modeldeployment.lab.flavors.queues import cluster_queue, local_queue_manifest

_POOL: Final = pool_of([FLEET])
INSTANCE_TYPE: Final = _POOL.name
PODS: Final = "/api/v1/pods"
_KUEUE: Final = f"/apis/{kueue.API_VERSION}"
WORKLOADS: Final = f"{_KUEUE}/workloads"
_POD_CONDITIONS: Final = ("PodScheduled", "Initialized", "PodReadyToStartContainers", "ContainersReady", "Ready")
_READINESS: Final = ("ContainersReady", "Ready")
_NOWHERE: Final = "127.1.0.1"
_SINCE: Final = "2026-01-01T00:00:00Z"


class Pretence:
    """A stub with a fleet's InstanceType, its queue with our check, and Pods that run as soon as they are created.

    Each Pod gets the next of `addresses`, or all of them the same one where none are given. `make` is what the stub is
    made by.
    """

    def __init__(self, addresses: Iterable[str] = (), make: type[Stub] = Stub) -> None:
        self.stub: Final = make(self._created)
        self._addresses: Final = itertools.chain(addresses, itertools.repeat(_NOWHERE))
        self.stub.put(f"/apis/{keys.API_VERSION}/instancetypes", _instance_type())
        self.stub.put(f"{_KUEUE}/clusterqueues", cluster_queue(_POOL, (kueue.JOINT_CHECK,)) | _active())
        self.stub.put(f"{_KUEUE}/localqueues", local_queue_manifest(NAMESPACE, _POOL.name))
        check = {
            "apiVersion": kueue.API_VERSION,
            "kind": "AdmissionCheck",
            "metadata": {"name": kueue.JOINT_CHECK},
            "spec": {"controllerName": kueue.JOINT_CONTROLLER},
        }
        self.stub.put(f"{_KUEUE}/admissionchecks", check | _active())

    def restart(self, name: str) -> None:
        """Let a Pod's container have been started once more."""
        pod, status = self._status(name)
        (container,) = status["containerStatuses"]
        status["containerStatuses"] = [container | {"restartCount": container["restartCount"] + 1}]
        self.stub.put(PODS, pod)

    def turn_readiness(self, name: str) -> None:
        """Let a Pod be Ready that was not, or the other way round."""
        pod, status = self._status(name)
        turned = {"True": "False", "False": "True"}
        status["conditions"] = [
            each | {"status": turned[each["status"]]} if each["type"] in _READINESS else each
            for each in status["conditions"]
        ]
        self.stub.put(PODS, pod)

    def _status(self, name: str) -> tuple[Json, dict[str, Any]]:
        pod = self.stub.get(PODS, NAMESPACE, name)
        assert pod is not None, name
        status = dict(pod["status"])
        return {**pod, "metadata": dict(pod["metadata"]), "status": status}, status

    def _created(self, collection: str, thing: Json) -> None:
        if collection == PODS:
            self.stub.put(WORKLOADS, _workload(thing))
            self.stub.put(PODS, _running(thing, next(self._addresses)))


def _instance_type() -> Json:
    return {**instance_type(_POOL), "status": instance_type_status(_POOL)["status"]}


def _active() -> Json:
    return {"status": {"conditions": [_true("Active", "Ready")]}}


def _running(pod: Json, address: str) -> Json:
    made = copy.deepcopy(pod)
    made["spec"].pop("schedulingGates", None)
    made["spec"] |= {"nodeName": "bench-0", "serviceAccountName": "default", "schedulerName": "default-scheduler"}
    (container, *_) = made["spec"]["containers"]
    made["status"] = {
        "phase": "Running",
        "hostIP": "127.0.0.1",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": _SINCE,
        "qosClass": "Burstable",
        "conditions": [
            _true(each, "")
            for each in ("PodScheduled", "Initialized", "ContainersReady", "PodReadyToStartContainers", "Ready")
        ],
        "containerStatuses": [
            {
                "name": container["name"],
                "image": container.get("image", ""),
                "imageID": "",
                "containerID": f"containerd://{made['metadata']['uid']}",
                "ready": True,
                "started": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": _SINCE}},
            }
        ],
    }
    made["metadata"]["managedFields"] = managed_fields(made, "modeldeployment-operator")
    return made


def _workload(pod: Json) -> Json:
    """The Workload of a group of one Pod, admitted long ago."""
    meta = pod["metadata"]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]}
    made: Json = {
        "apiVersion": kueue.API_VERSION,
        "kind": "Workload",
        "metadata": {
            "name": meta["labels"][keys.GROUP_NAME],
            "namespace": meta["namespace"],
            "ownerReferences": [owner],
        },
        "spec": {
            "active": True,
            "queueName": meta["labels"][keys.QUEUE_NAME],
            "podSets": [{"name": "main", "count": 1, "template": {"metadata": {}, "spec": pod["spec"]}}],
        },
        "status": {
            "admission": {
                "clusterQueue": _POOL.name,
                "podSetAssignments": [
                    {"name": "main", "count": 1, "flavors": {f"{kueue.CREDITS}{_POOL.kind.maker}": flavor_name(FLEET)}}
                ],
            },
            "admissionChecks": [
                {"name": kueue.JOINT_CHECK, "state": "Ready", "message": "", "lastTransitionTime": _SINCE}
            ],
            "conditions": [_true("QuotaReserved", "QuotaReserved"), _true("Admitted", "Admitted")],
        },
    }
    made["metadata"]["managedFields"] = managed_fields(made, "kueue")
    return made


def _true(kind: str, reason: str) -> Json:
    return {"type": kind, "status": "True", "reason": reason, "message": "", "lastTransitionTime": _SINCE}
