"""`kubectl md why` from its command line to what it prints, against a server that answers like a cluster."""

import json
from pathlib import Path
from typing import Any

import pytest
from modeldeployment.admission.examples import changed
from people_clusters import ALONE, Cluster, installed, replica, roles, served
from people_renderings import pair
from people_worlds import Said, run

Capture = pytest.CaptureFixture[str]


def asked(cluster: Cluster, folder: Path, capsys: Capture, *arguments: str) -> Said:
    """Run `why` on that cluster, in the examples' namespace."""
    with served(cluster, folder) as kubeconfig:
        return run(capsys, "why", *arguments, "-n", "team-a", "--kubeconfig", kubeconfig)


def waiting(**fields: Any) -> Cluster:
    """Three of four replicas serve, and the last one waits for quota."""
    cluster = installed(ALONE, **{"cards": 4, "used": 4, **fields})
    (role,) = roles(ALONE)
    for ordinal in range(3):
        replica(cluster, role, ordinal)
    replica(cluster, role, 3, said="couldn't assign flavors to pod set server: insufficient unused quota")
    return cluster


def serving() -> Cluster:
    """All four replicas serve."""
    cluster = installed(ALONE)
    (role,) = roles(ALONE)
    for ordinal in range(4):
        replica(cluster, role, ordinal)
    return cluster


def test_of_what_serves_one_line_says_so(tmp_path: Path, capsys: Capture) -> None:
    said = asked(serving(), tmp_path, capsys, "qwen-72b")
    assert (said.status, said.out) == (0, "qwen-72b serves: 4 of 4 replicas are ready\n")
    assert said.err == ""


def test_the_chain_leads_from_the_replica_to_the_cards_that_are_missing(tmp_path: Path, capsys: Capture) -> None:
    said = asked(waiting(), tmp_path, capsys, "qwen-72b")
    assert said.status == 1, said.err
    first, second, *helps = said.lines
    assert first.startswith("server/3 has no quota: Workload gpustack-")
    assert first.endswith(
        " in LocalQueue queue-h20-8x: couldn't assign flavors to pod set server: insufficient unused quota"
    )
    assert second == "  ClusterQueue h20, flavor h20, has 0 of 4 cards free; server/3 asks for 1 card"
    assert [each.strip().partition(":")[0] for each in helps] == ["what helps"]


def test_a_replica_alone_is_asked_about_and_the_others_are_not_told(tmp_path: Path, capsys: Capture) -> None:
    said = asked(waiting(), tmp_path, capsys, "qwen-72b", "server/0")
    assert (said.status, said.out) == (0, "server/0 serves\n")
    assert asked(waiting(), tmp_path, capsys, "qwen-72b", "server/3").status == 1
    assert asked(waiting(), tmp_path, capsys, "qwen-72b", "server").status == 1


def test_programs_get_the_same_facts_with_their_codes(tmp_path: Path, capsys: Capture) -> None:
    said = asked(waiting(), tmp_path, capsys, "qwen-72b", "-o", "json")
    assert said.status == 1
    table = json.loads(said.out)
    assert (table["serves"], table["ready"], table["declared"]) == (False, 3, 4)
    (chain,) = table["chains"]
    assert chain["replicas"] == ["server/3"]
    assert [link["code"] for link in chain["links"]] == ["Unreserved", "Free"]


def test_a_pod_that_no_node_takes_says_what_the_scheduler_says(tmp_path: Path, capsys: Capture) -> None:
    body = changed(pair(None), {"metadata": {"name": "chat", "namespace": "team-a"}})
    cluster = installed(body, cards=1)
    decode = next(each for each in roles(body) if each.name == "decode")
    replica(cluster, decode, 0, conditions=[{"type": "PodScheduled", "status": "False", "message": "0/3 nodes"}])
    said = asked(cluster, tmp_path, capsys, "chat", "decode/0")
    assert said.status == 1, said.err
    assert said.lines[0].endswith("of decode/0 is not scheduled: 0/3 nodes")


@pytest.mark.parametrize(
    ("phase", "expected"),
    [
        (
            {"containerStatuses": [{"name": "engine", "state": {"waiting": {"reason": "ImagePullBackOff"}}}]},
            "engine waits",
        ),
        ({"containerStatuses": [{"name": "engine", "restartCount": 2}]}, "restarted 2 times"),
        ({"phase": "Running"}, "runs on node n1, which is not Ready"),
    ],
)
def test_what_is_admitted_is_followed_to_its_container_and_its_node(
    phase: dict[str, Any], expected: str, tmp_path: Path, capsys: Capture
) -> None:
    cluster = installed(changed(ALONE, {"spec.roles[0].replicas": 1}))
    silent = "node" in expected
    cluster.put(
        "nodes", {"metadata": {"name": "n1"}}, conditions=[{"type": "Ready", "status": "False" if silent else "True"}]
    )
    replica(cluster, roles(changed(ALONE, {"spec.roles[0].replicas": 1}))[0], 0, **phase)
    said = asked(cluster, tmp_path, capsys, "qwen-72b")
    assert said.status == 1, said.err
    assert expected in said.out


def test_nodes_are_read_of_those_pods_alone_that_are_not_ready(tmp_path: Path, capsys: Capture) -> None:
    cluster = serving()
    asked(cluster, tmp_path, capsys, "qwen-72b")
    assert not [each for each in cluster.asked if "nodes" in each]
    assert len([each for each in cluster.asked if each.endswith("/pods")]) == 1


# --- what may not be read ---


@pytest.mark.parametrize(
    ("shut", "note"),
    [
        ("clusterqueues", "you may not read clusterqueues.kueue.x-k8s.io, so what they say is left out"),
        ("localqueues", "you may not read localqueues.kueue.x-k8s.io, so what they say is left out"),
        ("admissionchecks", "you may not read admissionchecks.kueue.x-k8s.io, so what they say is left out"),
    ],
)
def test_what_may_not_be_read_is_one_line_and_nothing_is_made_up_of_it(
    shut: str, note: str, tmp_path: Path, capsys: Capture
) -> None:
    cluster = waiting()
    cluster.shut.add(shut)
    said = asked(cluster, tmp_path, capsys, "qwen-72b")
    assert said.status == 1
    assert said.err == f"kubectl md: {note}\n"
    assert "server/3 has no quota" in said.out
    assert "does not exist" not in said.out


def test_who_may_not_read_instance_types_is_told_that_replicas_are_not_explained(
    tmp_path: Path, capsys: Capture
) -> None:
    cluster = serving()
    cluster.shut.add("instancetypes")
    said = asked(cluster, tmp_path, capsys, "qwen-72b")
    assert "what qwen-72b is rendered to is not known here" in said.out
    assert "cannot be rendered" not in said.out


def test_who_may_not_read_nodes_is_told_the_rest(tmp_path: Path, capsys: Capture) -> None:
    cluster = installed(changed(ALONE, {"spec.roles[0].replicas": 1}))
    cluster.shut.add("nodes")
    replica(cluster, roles(ALONE)[0], 0, phase="Pending")
    said = asked(cluster, tmp_path, capsys, "qwen-72b")
    assert said.status == 1
    assert said.err.count("\n") == 1
    assert "is Pending and not ready yet" in said.out


# --- wrong use ---


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("gone",), "ModelDeployment 'gone' is not in namespace 'team-a': there is qwen-72b"),
        (("qwen-72b", "decode"), "qwen-72b has no role 'decode'; it has server"),
        (("qwen-72b", "server/4"), "qwen-72b has no replica 'server/4'; of that role there is server/0 to server/3"),
        (("qwen-72b", "server/x"), "qwen-72b has no replica 'server/x'; of that role there is server/0 to server/3"),
        (("qwen-72b", "server/"), "qwen-72b has no replica 'server/'; of that role there is server/0 to server/3"),
        (("qwen-72b", "server/-1"), "qwen-72b has no replica 'server/-1'; of that role there is server/0 to server/3"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(
    arguments: tuple[str, ...], expected: str, tmp_path: Path, capsys: Capture
) -> None:
    said = asked(serving(), tmp_path, capsys, *arguments)
    assert (said.status, said.err, said.out) == (2, f"kubectl md: {expected}\n", "")
