from modeldeployment.render import Seat, render
from render_worlds import deployment, facts, one_pod, one_role, rendered, role

MEMBER = "modeldeployment.gpustack.ai/member-index"
ORDINAL = "modeldeployment.gpustack.ai/pod-ordinal"
ELIGIBLE = "modeldeployment.gpustack.ai/endpoint-eligible"
GROUP = "kueue.x-k8s.io/pod-group-name"


def test_i1_a_replica_of_one_pod_has_a_generated_name_and_no_member_index() -> None:
    pod = one_pod()
    labels, annotations = pod["metadata"]["labels"], pod["metadata"]["annotations"]
    assert pod["metadata"]["generateName"] == "qwen-server-"
    assert "name" not in pod["metadata"]
    assert not {"hostname", "subdomain"} & set(pod["spec"])
    assert labels == {
        "app.kubernetes.io/name": "model-deployment",
        "app.kubernetes.io/instance": "qwen",
        "app.kubernetes.io/component": "server",
        "app.kubernetes.io/part-of": "gpustack-operator-worker",
        "resource.gpustack.ai/type": "modeldeployments",
        "modeldeployment.gpustack.ai/role-kind": "server",
        ORDINAL: "0",
        ELIGIBLE: "true",
        "kueue.x-k8s.io/queue-name": "queue-for-h20-8x",
        GROUP: "gpustack-fnv64-bdf8eb21739dcea9",
    }
    assert annotations["kueue.x-k8s.io/pod-group-total-count"] == "1"
    assert annotations["kueue.x-k8s.io/role-hash"] == "server"
    assert annotations["kueue.x-k8s.io/pod-group-serving"] == "true"
    assert annotations["note.gpustack.ai/role"] == "server"
    assert "kueue.x-k8s.io/pod-group-fast-admission" not in annotations | labels


def test_i2_members_of_one_replica_are_named_and_share_a_group() -> None:
    template = one_role(size=3, replicas=2).template
    pods = [template.pod(Seat(0, member)) for member in range(3)]
    names = [pod["metadata"]["name"] for pod in pods]
    assert names == ["qwen-server-r0-m0", "qwen-server-r0-m1", "qwen-server-r0-m2"]
    assert [pod["spec"]["hostname"] for pod in pods] == names
    assert {pod["spec"]["subdomain"] for pod in pods} == {"qwen-server-r0"}
    assert {pod["metadata"]["labels"][GROUP] for pod in pods} == {"gpustack-fnv64-bdf8eb21739dcea9"}
    assert [pod["metadata"]["labels"][MEMBER] for pod in pods] == ["0", "1", "2"]
    assert {pod["metadata"]["annotations"]["kueue.x-k8s.io/pod-group-total-count"] for pod in pods} == {"3"}
    assert all("generateName" not in pod["metadata"] for pod in pods)


def test_i3_another_ordinal_is_another_group() -> None:
    template = one_role(size=3, replicas=2).template
    pod = template.pod(Seat(1, 0))
    assert pod["metadata"]["name"] == "qwen-server-r1-m0"
    assert pod["metadata"]["labels"][GROUP] == template.group(1) == "gpustack-fnv64-bdf8ea21739dccf6"


def test_only_the_leader_answers_so_only_it_is_eligible() -> None:
    template = one_role(size=2).template
    assert template.pod(Seat(0, 0))["metadata"]["labels"][ELIGIBLE] == "true"
    assert ELIGIBLE not in template.pod(Seat(0, 1))["metadata"]["labels"]


def test_members_of_one_replica_differ_in_hostname_alone() -> None:
    template = one_role(size=2).template
    first, second = (template.pod(Seat(0, member))["spec"] for member in (0, 1))
    assert first.pop("hostname") != second.pop("hostname")
    assert first == second


def test_the_owner_is_the_controller_and_does_not_block_deletion() -> None:
    pod = one_pod()
    assert pod["metadata"]["namespace"] == "team-a"
    assert pod["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "worker.gpustack.ai/v1",
            "kind": "ModelDeployment",
            "name": "qwen",
            "uid": "5f7c1f2e-0000-4000-8000-000000000001",
            "controller": True,
        }
    ]


def test_a_required_level_is_asked_of_kueue_and_no_node_is_selected() -> None:
    level = {"requiredLevel": "topology.kubernetes.io/zone"}
    pod = one_pod(topology=level)
    assert pod["metadata"]["annotations"]["kueue.x-k8s.io/podset-required-topology"] == "topology.kubernetes.io/zone"
    assert "nodeSelector" not in pod["spec"]
    for nothing in ({}, {"requiredLevel": ""}):
        assert "kueue.x-k8s.io/podset-required-topology" not in one_pod(topology=nothing)["metadata"]["annotations"]


def test_b15_an_unset_kind_is_a_server() -> None:
    assert one_role().template == one_role(kind="Server").template


def test_a_roles_counts_are_reported_as_declared() -> None:
    only = one_role(size=2, replicas=3)
    assert (only.name, only.kind, only.replicas, only.size, only.unmanaged) == ("server", "Server", 3, 2, False)
    assert list(only.seats()) == [Seat(o, m) for o in (0, 1, 2) for m in (0, 1)]
    assert one_role(command=["run"]).unmanaged


def test_what_every_pod_has() -> None:
    spec = one_pod()["spec"]
    assert (spec["automountServiceAccountToken"], spec["enableServiceLinks"], spec["restartPolicy"]) == (
        False,
        False,
        "Always",
    )


def test_a_cache_pool_changes_nothing_yet() -> None:
    plain = deployment(role())
    cached = plain.model_copy(
        update={"spec": plain.spec.model_validate(plain.spec.body() | {"kvCache": {"poolRef": {"name": "dram"}}})}
    )
    assert cached.spec.kv_cache is not None
    assert render(cached, facts()).roles[0].template.body(Seat(0, 0)) == rendered().roles[0].template.body(Seat(0, 0))
