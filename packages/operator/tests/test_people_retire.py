"""`kubectl md retire --dry-run`: what would happen if a replica left now."""

import json
from pathlib import Path
from typing import Any

import pytest
from modeldeployment.admission.examples import changed
from people_clusters import ALONE, JSON, Cluster, served
from people_retirements import retirement, router_pod, shrunk
from people_worlds import Said, run

Capture = pytest.CaptureFixture[str]
ROUTED = changed(ALONE, {"spec.router": {"name": "vllm-router", "replicas": 1}})


def told(cluster: Cluster, folder: Path, capsys: Capture, *arguments: str, name: str = "qwen-72b") -> Said:
    """Run `retire` on that cluster."""
    with served(cluster, folder) as kubeconfig:
        return run(capsys, "retire", name, *arguments, "-n", "team-a", "--kubeconfig", kubeconfig)


def rehearsed(cluster: Cluster, folder: Path, capsys: Capture, replica: str = "server/3") -> JSON:
    """What programs read of a rehearsal."""
    said = told(cluster, folder, capsys, replica, "--dry-run", "-o", "json")
    table: JSON = json.loads(said.out)
    assert said.status == (0 if table["would"] in ("Leave", "Leaving") else 1)
    return table


def settled(body: JSON = ALONE, **fields: Any) -> Cluster:
    """Four replicas are declared and serve."""
    return shrunk(declared=4, body=body, **fields)


def test_the_highest_ordinal_would_leave_and_every_step_is_told(tmp_path: Path, capsys: Capture) -> None:
    cluster = settled()
    said = told(cluster, tmp_path, capsys, "server/3", "--dry-run")
    assert said.status == 0, said.err
    pod = next(each for each in cluster.held["pods"] if each["metadata"]["name"].endswith("3"))["metadata"]["name"]
    group = next(
        each["metadata"]["name"]
        for each in cluster.held["workloads"]
        if each["metadata"]["ownerReferences"][0]["name"] == pod
    )
    assert said.lines == [
        "server/3 would leave",
        f"  what goes: Pod {pod}, Workload {group}",
        "  by: replicas of its role from 4 to 3",
        "  withdrawal, within 30 s: its eligibility label is taken off, and then",
        "    EndpointSlices list none of its Pods any more, and 5 s have passed since",
        "  drain, within 240 s: nothing is deleted, and",
        (
            f"    Pod {pod} has no request for 2 s: vllm:num_requests_running, vllm:num_requests_waiting are zero at "
            "http://10.0.0.3:8000/metrics"
        ),
        "  delete: Pods and Workload together, once both hold at one time; the drain hook runs before the engine ends",
        "  all within 300 s, else it is given up and everything stays; idle, about 14 s",
    ]
    assert not cluster.patched


def test_those_of_higher_ordinals_would_leave_before_it(tmp_path: Path, capsys: Capture) -> None:
    table = rehearsed(settled(), tmp_path, capsys, "server/1")
    assert (table["would"], table["replicas"]) == ("Wait", {"declared": 4, "wouldBe": 1})
    assert table["because"] == "server/3, server/2 would leave before it, one replica at a time"


def test_one_behind_another_operation_would_wait(tmp_path: Path, capsys: Capture) -> None:
    cluster = shrunk(declared=3)
    retirement(cluster)
    table = rehearsed(cluster, tmp_path, capsys, "server/2")
    assert (table["would"], table["because"]) == ("Wait", "waits for server/3 to leave: one replica at a time")


def test_one_behind_an_aborted_operation_would_stay(tmp_path: Path, capsys: Capture) -> None:
    cluster = shrunk(declared=3)
    retirement(cluster, "Aborted")
    table = rehearsed(cluster, tmp_path, capsys, "server/2")
    assert table["would"] == "Stay"
    assert "the retirement of server/3 was aborted" in table["because"]


def test_one_that_is_leaving_says_how_far_it_is(tmp_path: Path, capsys: Capture) -> None:
    cluster = shrunk(declared=3)
    retirement(cluster)
    table = rehearsed(cluster, tmp_path, capsys)
    assert (table["would"], table["because"]) == (
        "Leaving",
        "it is Draining: waiting until it runs empty: Pod chat has 2 requests",
    )


def test_one_that_was_aborted_would_stay(tmp_path: Path, capsys: Capture) -> None:
    cluster = shrunk(declared=3)
    retirement(cluster, "Aborted")
    table = rehearsed(cluster, tmp_path, capsys)
    assert table["would"] == "Stay"
    assert table["because"].startswith("its retirement was aborted: drain took all of its time")


def test_one_without_a_pod_has_nothing_that_would_leave(tmp_path: Path, capsys: Capture) -> None:
    table = rehearsed(shrunk(there=2, declared=4), tmp_path, capsys)
    assert (table["would"], table["because"]) == ("Stay", "no Pod of it is there, so nothing would leave")


def test_every_router_pod_is_asked_and_named_with_its_version(tmp_path: Path, capsys: Capture) -> None:
    cluster = settled(ROUTED)
    for number in (0, 1):
        router_pod(cluster, f"qwen-72b-router-{number}", "vllm-router", "ghcr.io/vllm/vllm-router:v0.1.17")
    table = rehearsed(cluster, tmp_path, capsys)
    assert table["would"] == "Leave"
    assert [each["of"] for each in table["withdrawal"]] == [
        "router Pod qwen-72b-router-0 (vllm-router 0.1.17)",
        "router Pod qwen-72b-router-1 (vllm-router 0.1.17)",
    ]


def test_a_version_outside_of_the_table_would_end_it_aborted(tmp_path: Path, capsys: Capture) -> None:
    cluster = settled(ROUTED)
    router_pod(cluster, "qwen-72b-router-0", "vllm-router", "ghcr.io/vllm/vllm-router:v0.2.0")
    table = rehearsed(cluster, tmp_path, capsys)
    assert table["would"] == "Abort"
    assert table["because"].startswith("router Pod qwen-72b-router-0 runs vllm-router 0.2.0, of which it is not known")
    router_pod(cluster, "qwen-72b-router-1", "vllm-router", "registry.example/mine@sha256:00")
    assert "does not tell the version" in rehearsed(cluster, tmp_path, capsys)["withdrawal"][1]["hopeless"]


def test_a_role_that_took_its_command_line_over_would_end_aborted(tmp_path: Path, capsys: Capture) -> None:
    body = changed(ALONE, {"spec.roles[0].command": ["serve"], "spec.roles[0].extraArgs": None})
    table = rehearsed(settled(body), tmp_path, capsys)
    assert table["would"] == "Abort"
    assert "never counts as idle and is given up after 240 s" in table["because"]


def test_a_deployment_that_cannot_be_rendered_keeps_everything(tmp_path: Path, capsys: Capture) -> None:
    cluster = settled()
    cluster.held["instancetypes"] = []
    table = rehearsed(cluster, tmp_path, capsys)
    assert table["would"] == "Stay"
    assert table["because"].startswith("the deployment cannot be rendered, which leaves its replicas alone: ")


def test_a_deployment_on_its_way_out_needs_no_retirement(tmp_path: Path, capsys: Capture) -> None:
    cluster = settled()
    cluster.held["modeldeployments"][0]["metadata"]["deletionTimestamp"] = "2030-01-01T12:00:00Z"
    said = told(cluster, tmp_path, capsys, "server/3", "--dry-run")
    assert (said.status, said.lines) == (
        0,
        [
            "server/3 is leaving already: the deployment goes whole, each Pod with its drain window and no retirement",
        ],
    )


def test_without_a_dry_run_it_is_refused_with_the_way(tmp_path: Path, capsys: Capture) -> None:
    cluster = settled()
    said = told(cluster, tmp_path, capsys, "server/3")
    assert (said.status, cluster.asked) == (2, [])
    assert said.err == (
        "kubectl md: retire shows what would happen and retires nothing: add --dry-run; to let server/3 leave, set "
        "replicas of role server to 3, since the highest ordinals leave first\n"
    )


@pytest.mark.parametrize("replica", ["server", "server/", "/3", "server/-1", "server/03", "server/3/0", "server 3", ""])
def test_what_names_no_replica_is_refused_before_anything_is_asked(
    replica: str, tmp_path: Path, capsys: Capture
) -> None:
    cluster = settled()
    said = told(cluster, tmp_path, capsys, replica, "--dry-run")
    assert (said.status, cluster.asked) == (2, [])
    assert said.err == f"kubectl md: {replica!r} names no replica; write ROLE/ORDINAL, for example server/3\n"


def test_what_is_not_there_is_answered_with_what_is(tmp_path: Path, capsys: Capture) -> None:
    assert told(settled(), tmp_path, capsys, "server/4", "--dry-run").err == (
        "kubectl md: qwen-72b has no replica 'server/4'; of that role there is server/0 to server/3\n"
    )
    assert told(settled(), tmp_path, capsys, "decode/0", "--dry-run").err == (
        "kubectl md: qwen-72b has no role 'decode'; it has server\n"
    )
    assert told(settled(), tmp_path, capsys, "server/0", "--dry-run", name="nobody").err == (
        "kubectl md: ModelDeployment 'nobody' is not in namespace 'team-a': there is qwen-72b\n"
    )
