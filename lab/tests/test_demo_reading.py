import json
from typing import Any

import msgspec
import pytest
from modeldeployment.kube.shapes import Custom, Node, ObjectMeta, Service, Workload
from modeldeployment.lab.demo.history import ConditionSeen, DeploymentSeen, PodSeen, ServiceSeen, WorkloadSeen
from modeldeployment.lab.demo.reading import ImagedPod, image_patch, replicas_patch, seen


def pod(metadata: dict[str, Any], ready: str) -> ImagedPod:
    return msgspec.convert(
        {
            "metadata": {"name": "chat-server-x", "uid": "p", **metadata},
            "spec": {"nodeName": "node-0", "containers": [{"image": "vllm:1"}, {"image": "proxy:1"}]},
            "status": {"conditions": [{"type": "Ready", "status": ready}]},
        },
        ImagedPod,
    )


def test_a_pod_is_read_by_its_labels_and_conditions() -> None:
    labels = {"modeldeployment.gpustack.ai/pod-ordinal": "2", "app.kubernetes.io/component": "server"}
    assert seen(pod({"labels": labels}, "True")) == PodSeen(
        "p", "chat-server-x", 2, "server", "vllm:1", "node-0", ready=True, leaving=False
    )
    going = seen(pod({"labels": labels, "deletionTimestamp": "2030-01-01T00:00:00Z"}, "False"))
    assert going == PodSeen("p", "chat-server-x", 2, "server", "vllm:1", "node-0", ready=False, leaving=True)


def test_a_pod_without_a_number_for_its_ordinal_is_nobodys_replica() -> None:
    assert seen(pod({}, "True")) == PodSeen("p", "chat-server-x", -1, "", "vllm:1", "node-0", ready=True)


def test_a_workload_is_read_by_the_pods_it_is_for_and_what_it_was_assigned() -> None:
    stored = {
        "metadata": {
            "name": "group",
            "uid": "w",
            "ownerReferences": [{"kind": "Pod", "uid": "p"}, {"kind": "Job", "uid": "j"}],
        },
        "status": {
            "conditions": [{"type": "Admitted", "status": "True"}],
            "admission": {"podSetAssignments": [{"name": "server", "flavors": {"credits": "a10g-8d"}, "count": 1}]},
        },
    }
    assert seen(msgspec.convert(stored, Workload)) == WorkloadSeen(
        "w", "group", frozenset({"p"}), admitted=True, flavors={"credits": "a10g-8d"}
    )
    waiting = msgspec.convert({"metadata": stored["metadata"]}, Workload)
    assert seen(waiting) == WorkloadSeen("w", "group", frozenset({"p"}))


def deployment(observed: int) -> Custom:
    spec = {
        "model": {"name": "m"},
        "engine": {"name": "vLLM", "version": "1"},
        "roles": [{"name": "server", "replicas": 4, "instanceType": "t"}],
    }
    told = {"type": "ReplicasUpToDate", "status": "True", "reason": "UpToDate", "message": "all match"}
    role = {"name": "server", "kind": "Server", "desired": 4, "ready": 3, "quotaReserved": 2, "unmanaged": False}
    status = {"phase": "Degraded", "phaseMessage": "3 of 4", "roles": [role]}
    status["conditions"] = [{**told, "observedGeneration": observed}]
    metadata = ObjectMeta(name="chat", uid="d", generation=7)
    return Custom(
        metadata=metadata,
        spec=msgspec.Raw(json.dumps(spec).encode()),
        status=msgspec.Raw(json.dumps(status).encode()),
    )


@pytest.mark.parametrize(("observed", "current"), [(7, True), (6, False)])
def test_a_deployment_is_current_when_its_status_speaks_of_its_spec(observed: int, *, current: bool) -> None:
    condition = ConditionSeen("ReplicasUpToDate", "True", "UpToDate", "all match")
    assert seen(deployment(observed)) == DeploymentSeen(
        "d", "chat", "server", 4, "Degraded", "3 of 4", 3, 2, current, (condition,)
    )


def test_a_service_is_read_by_its_name_and_nothing_else_is_kept() -> None:
    assert seen(Service(metadata=ObjectMeta(name="chat", uid="s"))) == ServiceSeen("s", "chat")
    with pytest.raises(TypeError, match="no history is kept of Node"):
        seen(Node(metadata=ObjectMeta(name="n")))


def test_edits_change_one_field_and_leave_the_frozen_ones_unsaid() -> None:
    assert json.loads(replicas_patch(8)) == [{"op": "replace", "path": "/spec/roles/0/replicas", "value": 8}]
    assert json.loads(image_patch("i")) == [{"op": "add", "path": "/spec/roles/0/image", "value": "i"}]
