import json
from typing import Any

import msgspec
import pytest
from modeldeployment.api import keys
from modeldeployment.kube.kinds import NODES, SERVICES, WORKLOADS
from modeldeployment.kube.shapes import Custom, Node, ObjectMeta, Partial, Service, Workload
from modeldeployment.lab.demo.history import (
    ConditionSeen,
    DeploymentSeen,
    PodSeen,
    RouterSeen,
    ServiceSeen,
    WorkloadSeen,
)
from modeldeployment.lab.demo.reading import (
    DEPLOYMENTS,
    KINDS,
    PODS,
    ImagedPod,
    RolledOut,
    image_patch,
    replicas_patch,
    seen,
)


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
    assert seen(PODS, pod({"labels": labels}, "True")) == PodSeen(
        "p", "chat-server-x", 2, "server", "vllm:1", "node-0", ready=True, leaving=False
    )
    going = seen(PODS, pod({"labels": labels, "deletionTimestamp": "2030-01-01T00:00:00Z"}, "False"))
    assert going == PodSeen("p", "chat-server-x", 2, "server", "vllm:1", "node-0", ready=False, leaving=True)


def test_a_pod_without_a_number_for_its_ordinal_is_nobodys_replica() -> None:
    assert seen(PODS, pod({}, "True")) == PodSeen("p", "chat-server-x", -1, "", "vllm:1", "node-0", ready=True)


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
    assert seen(WORKLOADS, msgspec.convert(stored, Workload)) == WorkloadSeen(
        "w", "group", frozenset({"p"}), admitted=True, flavors={"credits": "a10g-8d"}
    )
    waiting = msgspec.convert({"metadata": stored["metadata"]}, Workload)
    assert seen(WORKLOADS, waiting) == WorkloadSeen("w", "group", frozenset({"p"}))


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
    assert seen(DEPLOYMENTS, deployment(observed)) == DeploymentSeen(
        "d", "chat", "server", 4, "Degraded", "3 of 4", 3, 2, current, (condition,)
    )


def test_a_deployment_says_which_replica_is_on_its_way_out() -> None:
    status = json.dumps({"retirement": {"roleName": "server", "replicaOrdinal": 3, "state": "Draining"}}).encode()
    stored = msgspec.structs.replace(deployment(7), status=msgspec.Raw(status))
    told = seen(DEPLOYMENTS, stored)
    assert isinstance(told, DeploymentSeen)
    assert str(told.retirement) == "server/3 Draining"


def test_a_service_is_read_by_its_name_and_nothing_else_is_kept() -> None:
    assert seen(SERVICES, Service(metadata=ObjectMeta(name="chat", uid="s"))) == ServiceSeen("s", "chat")
    with pytest.raises(TypeError, match="no history is kept of Node"):
        seen(NODES, Node(metadata=ObjectMeta(name="n")))


def test_edits_change_one_field_and_leave_the_frozen_ones_unsaid() -> None:
    assert json.loads(replicas_patch(8)) == [{"op": "replace", "path": "/spec/roles/0/replicas", "value": 8}]
    assert json.loads(image_patch("i")) == [{"op": "add", "path": "/spec/roles/0/image", "value": "i"}]


LABELS = {keys.ROUTER: "llm-d-router"}


def test_the_sidecars_of_a_pod_are_the_containers_that_start_first_and_stay() -> None:
    stored = {
        "metadata": {"name": "chat-decode-x", "uid": "p"},
        "spec": {
            "initContainers": [{"name": "fetch"}, {"name": "routing-proxy", "restartPolicy": "Always"}],
            "containers": [{"name": "main", "image": "vllm:1"}],
        },
    }
    assert seen(PODS, msgspec.convert(stored, ImagedPod)) == PodSeen(
        "p", "chat-decode-x", -1, "", "vllm:1", sidecars=("routing-proxy",)
    )


@pytest.mark.parametrize(("pods", "ready"), [(0, False), (1, True)])
def test_a_routers_deployment_is_ready_once_a_pod_of_it_is(pods: int, *, ready: bool) -> None:
    (kind,) = (each for each in KINDS if each.kind == "Deployment")
    stored = {"metadata": {"name": "chat-router", "uid": "r", "labels": LABELS}, "status": {"readyReplicas": pods}}
    assert seen(kind, msgspec.convert(stored, RolledOut)) == RouterSeen("r", "Deployment", "chat-router", ready=ready)


def test_pods_and_services_of_a_router_are_no_replicas_and_nobody_elses() -> None:
    assert seen(PODS, pod({"labels": LABELS}, "True")) == RouterSeen("p", "Pod", "chat-server-x", ready=True)
    leaving = pod({"labels": LABELS, "deletionTimestamp": "2030-01-01T00:00:00Z"}, "True")
    assert seen(PODS, leaving) == RouterSeen("p", "Pod", "chat-server-x", ready=False)
    service = Service(metadata=ObjectMeta(name="chat-router", uid="s", labels=LABELS))
    assert seen(SERVICES, service) == RouterSeen("s", "Service", "chat-router")


def test_what_a_namespace_has_of_its_own_is_not_followed() -> None:
    assert {kind.kind: labels for kind, labels in KINDS.items()} == {
        "ModelDeployment": "",
        "Pod": "",
        "Workload": "",
        "Service": "",
        "ServiceAccount": keys.ROUTER,
        "Role": keys.ROUTER,
        "RoleBinding": keys.ROUTER,
        "ConfigMap": keys.ROUTER,
        "Deployment": keys.ROUTER,
    }
    (kind,) = (each for each in KINDS if each.kind == "Role")
    assert seen(kind, Partial(metadata=ObjectMeta(name="chat-router", uid="o", labels=LABELS))) == RouterSeen(
        "o", "Role", "chat-router"
    )


def test_a_routed_deployment_is_read_with_what_status_says_of_its_router() -> None:
    spec = {
        "model": {"name": "m"},
        "engine": {"name": "vLLM", "image": "i"},
        "router": {"name": "llm-d-router"},
        "roles": [{"name": "prefill", "kind": "Prefill", "instanceType": "t"}],
    }
    status = {"roleSummary": "1R1P", "endpoint": "http://chat-router.team-a.svc:8081"}
    stored = Custom(
        metadata=ObjectMeta(name="chat", uid="d"),
        spec=msgspec.Raw(json.dumps(spec).encode()),
        status=msgspec.Raw(json.dumps(status).encode()),
    )
    read = seen(DEPLOYMENTS, stored)
    assert isinstance(read, DeploymentSeen)
    assert (read.router, read.summary, read.endpoint) == (
        "llm-d-router",
        "1R1P",
        "http://chat-router.team-a.svc:8081",
    )
