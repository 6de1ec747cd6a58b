"""`kubectl md status` from its command line to the tree it prints."""

import json
from pathlib import Path
from typing import Any

import pytest
from modeldeployment.admission.examples import changed
from people_clusters import ALONE, Cluster, installed, replica, roles, served
from people_worlds import Said, run

Capture = pytest.CaptureFixture[str]
NO_ROOM = "couldn't assign flavors to pod set server: insufficient unused quota"


def shown(cluster: Cluster, folder: Path, capsys: Capture, *arguments: str) -> Said:
    """Run `status` on that cluster."""
    with served(cluster, folder) as kubeconfig:
        return run(capsys, "status", "qwen-72b", *arguments, "-n", "team-a", "--kubeconfig", kubeconfig)


def many(count: int, serve: int) -> Cluster:
    """A deployment of so many replicas, of which the first serve and the others wait for quota."""
    body = changed(ALONE, {"spec.roles[0].replicas": count})
    cluster = installed(body, cards=serve, used=serve)
    (role,) = roles(body)
    for ordinal in range(count):
        replica(cluster, role, ordinal, said="" if ordinal < serve else NO_ROOM)
    return cluster


def test_replicas_of_which_the_same_is_true_are_one_branch_however_many(tmp_path: Path, capsys: Capture) -> None:
    said = shown(many(100, 98), tmp_path, capsys)
    assert said.status == 0, said.err
    assert len(said.lines) < 12
    assert said.lines[0].startswith("ModelDeployment team-a/qwen-72b: Starting")
    assert "  role server (Server): 98 of 100 ready" in said.lines
    assert "    server/0-97: Ready, 98 replicas" in said.lines
    assert "    server/98-99: Gated, 2 replicas" in said.lines
    assert [each for each in said.lines if each.startswith("      why: server/98 has no quota: ")]


def test_one_by_one_each_has_its_pod_its_workload_its_queue_its_flavor_and_its_node(
    tmp_path: Path, capsys: Capture
) -> None:
    said = shown(many(2, 1), tmp_path, capsys, "--all")
    assert said.status == 0
    at = said.lines.index("    server/0: Ready")
    pod, workload, queue = said.lines[at + 1 : at + 4]
    assert pod.startswith("      Pod ")
    assert pod.endswith(": ready on node n1")
    assert workload.startswith("      Workload gpustack-")
    assert workload.endswith(": admitted")
    assert queue == "        LocalQueue queue-h20-8x -> ClusterQueue h20, flavor h20 -> node n1"
    assert "    server/1: Gated" in said.lines


def test_programs_get_every_replica(tmp_path: Path, capsys: Capture) -> None:
    said = shown(many(5, 4), tmp_path, capsys, "-o", "json")
    (role,) = json.loads(said.out)["roles"]
    assert (role["declared"], role["ready"]) == (5, 4)
    assert [each["serves"] for each in role["replicas"]] == [True, True, True, True, False]
    last = role["replicas"][4]
    assert [link["code"] for link in last["why"]] == ["Unreserved", "Free"]
    assert last["workload"]["clusterQueue"] == "h20"
    assert last["workload"]["quotaReserved"] is False


def test_a_deployment_that_cannot_be_rendered_shows_its_pods_all_the_same(tmp_path: Path, capsys: Capture) -> None:
    cluster = many(2, 2)
    cluster.held["instancetypes"] = []
    said = shown(cluster, tmp_path, capsys)
    assert said.status == 0
    assert [each for each in said.lines if "cannot be rendered: " in each]
    assert [each for each in said.lines if each.strip().startswith("role server")]


def test_the_status_of_an_older_spec_is_told(tmp_path: Path, capsys: Capture) -> None:
    cluster = many(1, 1)
    cluster.held["modeldeployments"][0]["metadata"]["generation"] = 2
    lease = {"metadata": {"name": "modeldeployment-operator", "namespace": "default"}, "spec": {"holderIdentity": ""}}
    cluster.put("leases", lease)
    said = shown(cluster, tmp_path, capsys)
    assert [each for each in said.lines if "speaks of generation 1 and the spec is of generation 2" in each]
    assert [each for each in said.lines if "Lease default/modeldeployment-operator is held by nobody" in each]


@pytest.mark.parametrize(
    ("endpoints", "line"),
    [
        ({"eligible": 2, "serving": {"state": "Confirmed", "value": 1}}, "requests go to 1 endpoint, 2 eligible"),
        ({"serving": {"state": "Confirmed", "value": 0}}, "requests go to 0 endpoints"),
        (
            {"eligible": 2, "serving": {"state": "NotConverged"}},
            "its processes do not send requests to the same endpoints",
        ),
        ({"eligible": 2, "serving": {"state": "Unknown"}}, "it is not known where requests go"),
        ({}, ""),
    ],
)
def test_where_the_router_sends_requests_is_told_by_role(
    endpoints: dict[str, Any], line: str, tmp_path: Path, capsys: Capture
) -> None:
    cluster = installed(changed(ALONE, {"spec.router": {"name": "vllm-router"}}), cards=1, used=0)
    counts = {"desired": 2, "ready": 2, "quotaReserved": 2, "unmanaged": False}
    role = {"name": "server", "kind": "Server", **counts, "endpoints": endpoints}
    cluster.held["modeldeployments"][0]["status"]["roles"] = [role]
    said = shown(cluster, tmp_path, capsys)
    assert said.status == 0, said.err
    above = said.lines.index("  router vllm-router: not looked at yet")
    told = [each.strip() for each in said.lines[above + 1 :] if each.startswith("    server: ")]
    assert told == ([f"server: {line}"] if line else [])
