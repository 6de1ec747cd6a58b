import json
import re

import pytest
from e2e_board import admitted, owners, ready, restarts, uids
from e2e_worlds import WHOLE_PODS, World
from modeldeployment.api import keys
from modeldeployment.kube.kinds import ENDPOINT_SLICES, PODS, WORKLOADS

pytestmark = pytest.mark.lab


async def test_four_replicas_are_admitted_one_by_one_and_serve(world: World) -> None:
    await world.create("chat", replicas=4)
    await world.settled("chat")

    pods = [pod for members in world.board.replicas("chat").values() for pod in members]
    assert list(world.board.replicas("chat")) == [0, 1, 2, 3]
    assert len(pods) == 4
    assert all(ready(pod) and restarts(pod) == 0 for pod in pods)
    assert all(re.fullmatch(r"chat-server-[a-z0-9]{5}", pod.metadata.name) for pod in pods)

    groups = {pod.metadata.labels[keys.GROUP_NAME] for pod in pods}
    assert len(groups) == 4
    assert all(re.fullmatch(r"gpustack-fnv64-[0-9a-f]{16}", group) for group in groups)
    workloads = list(world.board.workloads.items())
    assert {workload.metadata.name for workload in workloads} == groups
    assert all(admitted(workload) for workload in workloads)
    assert all([each.count for each in workload.spec.pod_sets] == [1] for workload in workloads)
    assert {name.name for workload in workloads for name in workload.spec.pod_sets} == {"server"}
    assert {uid for workload in workloads for uid in owners(workload)} == set(uids(pods))

    assert len(world.board.came(PODS)) == 4
    assert world.board.deleted(PODS) == []
    assert world.board.deleted(WORKLOADS) == []


async def test_a_replica_says_who_it_is_and_whose(world: World) -> None:
    await world.create("chat", replicas=1)
    await world.settled("chat")

    (pod,) = world.board.replicas("chat")[0]
    labels = pod.metadata.labels
    assert labels.pop("kueue.x-k8s.io/pod-group-name").startswith("gpustack-fnv64-")
    assert labels.pop("kueue.x-k8s.io/queue-name") == world.provision.local_queue
    ours = {key: value for key, value in labels.items() if not key.startswith(("kueue.x-k8s.io/", "topology."))}
    assert ours == {
        "app.kubernetes.io/name": "model-deployment",
        "app.kubernetes.io/instance": "chat",
        "app.kubernetes.io/component": "server",
        "app.kubernetes.io/part-of": "gpustack-operator-worker",
        "resource.gpustack.ai/type": "modeldeployments",
        "modeldeployment.gpustack.ai/role-kind": "server",
        "modeldeployment.gpustack.ai/pod-ordinal": "0",
        "modeldeployment.gpustack.ai/endpoint-eligible": "true",
    }
    annotations = pod.metadata.annotations
    assert annotations["kueue.x-k8s.io/pod-group-total-count"] == "1"
    assert annotations["kueue.x-k8s.io/role-hash"] == "server"
    assert annotations["kueue.x-k8s.io/pod-group-serving"] == "true"
    assert "kueue.x-k8s.io/pod-group-fast-admission" not in annotations
    assert re.fullmatch(r"[0-9a-f]{64}", annotations["modeldeployment.gpustack.ai/pod-spec-hash"])

    deployment = world.board.deployments.get(world.namespace, "chat")
    assert deployment is not None
    (owner,) = pod.metadata.owner_references
    assert (owner.kind, owner.name, owner.uid, owner.controller) == (
        "ModelDeployment",
        "chat",
        deployment.metadata.uid,
        True,
    )
    assert deployment.metadata.finalizers == ("gpustack.ai/controlled",)


async def test_services_reach_every_replica(world: World) -> None:
    await world.create("chat", replicas=2)
    await world.settled("chat")

    assert {each.metadata.name for each in world.board.services.items()} == {"chat", "chat-server"}
    addresses = {pod.status.pod_ip for pod in world.board.all_pods("chat")}
    for name in ("chat", "chat-server"):
        service = world.board.services.get(world.namespace, name)
        assert service is not None
        assert service.spec.selector == {
            "app.kubernetes.io/name": "model-deployment",
            "app.kubernetes.io/instance": "chat",
            "app.kubernetes.io/component": "server",
            "modeldeployment.gpustack.ai/endpoint-eligible": "true",
        }
        assert [(port.port, port.target_port) for port in service.spec.ports] == [(8000, 8000)]
        assert await _reached(world, name, len(addresses)) == addresses


async def test_status_and_kubectl_tell_what_a_user_asks_first(world: World) -> None:
    await world.create("chat", replicas=2, kind="Server")
    await world.settled("chat")

    status = world.board.status("chat")
    assert status["phase"] == "Ready"
    assert "phaseMessage" not in status
    assert status["endpoint"] == f"http://chat.{world.namespace}.svc:8000"
    assert status["roleSummary"] == "2S"
    assert status["roles"] == [
        {
            "name": "server",
            "kind": "Server",
            "desired": 2,
            "ready": 2,
            "quotaReserved": 2,
            "unmanaged": False,
            "assignedFlavors": [f"{world.instance_type}-8d"],
            "parallelism": {
                "declared": {},
                "loadBalance": "Internal",
                "source": {"kind": "ExtraArgs", "complete": True},
            },
            "endpoints": {"eligible": 2, "serving": {"state": "NotConfigured"}},
        }
    ]
    assert {each["type"]: (each["status"], each["reason"], each["message"]) for each in status["conditions"]} == {
        "Rendered": ("True", "Rendered", "every role is rendered"),
        "DomainRegistered": ("True", "NotApplicable", "spec.kvCache is not declared"),
        "WeightsReady": ("True", "NotApplicable", "spec.model.artifactRef is not declared"),
        "QuotaReserved": (
            "True",
            "Reserved",
            f"every replica holds quota in ClusterQueue {world.provision.cluster_queue}",
        ),
        "ReplicasUpToDate": ("True", "UpToDate", "every replica matches the spec"),
        "RoleKindsReady": ("True", "AllKindsReady", "every declared kind has a ready replica"),
        "KVEventsPublishing": (
            "True",
            "NotApplicable",
            "no role publishes KV events, and nothing would follow them",
        ),
        "RouterReady": ("True", "NotApplicable", "spec.router is not declared"),
        "CacheAttached": ("True", "NotApplicable", "spec.kvCache is not declared"),
        "EndpointEligibility": (
            "True",
            "Observed",
            "of every role it is known which replicas may be sent requests",
        ),
    }
    header, row = (await world.kubectl("get", "md")).out.splitlines()
    assert header.split() == ["NAME", "ENGINE", "ROLES", "PHASE", "ENDPOINT"]
    assert row.split() == ["chat", "vLLM", "2S", "Ready", f"http://chat.{world.namespace}.svc:8000"]


async def test_a_replica_of_two_members_is_one_group_behind_its_leader(world: World) -> None:
    await world.create("wide", replicas=2, size=2)
    await world.settled("wide")

    replicas = world.board.replicas("wide")
    names = {ordinal: [pod.metadata.name for pod in members] for ordinal, members in replicas.items()}
    assert names == {
        0: ["wide-server-r0-m0", "wide-server-r0-m1"],
        1: ["wide-server-r1-m0", "wide-server-r1-m1"],
    }
    for members in replicas.values():
        workloads = [world.board.workload_of(pod) for pod in members]
        assert workloads[0] is workloads[1] is not None
        assert owners(workloads[0]) == set(uids(members))
        assert [pod.metadata.labels["modeldeployment.gpustack.ai/member-index"] for pod in members] == ["0", "1"]
    assert len(list(world.board.workloads.items())) == 2

    follower = await world.whole(WHOLE_PODS, "wide-server-r1-m1")
    assert follower["spec"]["hostname"] == "wide-server-r1-m1"
    assert follower["spec"]["subdomain"] == "wide-server-r1"
    variables = {each["name"]: each for each in follower["spec"]["containers"][0]["env"]}
    assert variables["GPUSTACK_REPLICA_LEADER_ADDRESS"]["value"] == "wide-server-r1-m0.wide-server-r1"
    assert variables["GPUSTACK_REPLICA_SIZE"]["value"] == "2"
    path = variables["GPUSTACK_MEMBER_INDEX"]["valueFrom"]["fieldRef"]["fieldPath"]
    assert path == "metadata.labels['modeldeployment.gpustack.ai/member-index']"

    assert {each.metadata.name for each in world.board.services.items()} == {
        "wide",
        "wide-server",
        "wide-server-r0",
        "wide-server-r1",
    }
    headless = world.board.services.get(world.namespace, "wide-server-r1")
    assert headless is not None
    assert (headless.spec.cluster_ip, headless.spec.publish_not_ready_addresses) == ("None", True)
    assert await _reached(world, "wide-server-r1", 2) == {pod.status.pod_ip for pod in replicas[1]}
    leaders = {members[0].status.pod_ip for members in replicas.values()}
    assert await _reached(world, "wide", 2) == leaders
    assert await _reached(world, "wide-server", 2) == leaders
    assert world.board.status("wide")["roles"][0]["ready"] == 2


async def test_two_server_roles_have_replicas_and_services_of_their_own(world: World) -> None:
    await world.create(
        "two", roles=[world.role("small", replicas=2), world.role("large", resources={"accelerator": 4})]
    )
    await world.settled("two")

    assert list(world.board.replicas("two", "small")) == [0, 1]
    assert list(world.board.replicas("two", "large")) == [0]
    assert {each.metadata.name for each in world.board.services.items()} == {"two", "two-small", "two-large"}
    front = world.board.services.get(world.namespace, "two")
    assert front is not None
    assert front.spec.selector["app.kubernetes.io/component"] == "small"
    status = world.board.status("two")
    assert [(role["name"], role["desired"], role["ready"]) for role in status["roles"]] == [
        ("small", 2, 2),
        ("large", 1, 1),
    ]
    assert status["roleSummary"] == "3S"
    assert await _reached(world, "two-large", 1) == {world.board.replicas("two", "large")[0][0].status.pod_ip}


async def _reached(world: World, service: str, wanted: int) -> set[str]:
    """The addresses behind a Service once there are so many; the board does not watch slices, so this asks."""
    async for _ in world.asking():
        listing = await world.client.list(
            ENDPOINT_SLICES, world.namespace, labels=f"kubernetes.io/service-name={service}"
        )
        found = {address for each in listing.items for end in each.endpoints for address in end.addresses}
        if len(found) == wanted:
            return found
    pytest.fail(f"Service {service} reaches {len(found)} addresses, not {wanted}")


async def test_replicas_that_run_have_their_services_while_others_cannot_be_created(world: World) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "two-pods", "namespace": world.namespace},
        "spec": {"hard": {"pods": "2"}},
    }
    await world.kubectl("create", "-f", "-", stdin=json.dumps(quota))
    await world.create("chat", replicas=4)
    await world.board.until(lambda: len(list(world.board.pods.items())) == 2, what="two Pods fit")
    await world.board.until(lambda: world.board.services.get(world.namespace, "chat-server"), what="its Service")
    await world.board.until(
        lambda: any("exceeded quota: two-pods" in note for note in world.board.notes("ReplicaNotCreated")),
        what="the refusal is said",
    )

    await world.kubectl("delete", "resourcequota", "two-pods", "-n", world.namespace)
    await world.settled("chat")
    assert list(world.board.replicas("chat")) == [0, 1, 2, 3]
