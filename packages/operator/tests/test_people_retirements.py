"""`kubectl md status` and `why` of a deployment in which replicas leave."""

import json
from pathlib import Path
from typing import Any

import pytest
from people_clusters import Cluster, served
from people_retirements import DEADLINE, DRAINS, SPENT, retirement, shrunk, uid
from people_worlds import Said, run

Capture = pytest.CaptureFixture[str]


def told(cluster: Cluster, folder: Path, capsys: Capture, command: str, *arguments: str) -> Said:
    """Run a command on that cluster."""
    with served(cluster, folder) as kubeconfig:
        return run(capsys, command, "qwen-72b", *arguments, "-n", "team-a", "--kubeconfig", kubeconfig)


def leaving(there: int = 4, **fields: Any) -> Cluster:
    """Two replicas are declared, the highest ordinal is on its way out, and the others wait."""
    cluster = shrunk(there=there)
    retirement(cluster, ordinal=there - 1, **fields)
    return cluster


def test_status_shows_the_phase_what_it_waits_for_and_until_when(tmp_path: Path, capsys: Capture) -> None:
    said = told(leaving(), tmp_path, capsys, "status")
    assert said.status == 0, said.err
    at = said.lines.index(f"  retirement of server/3: Draining since {DRAINS} until {SPENT} at the latest")
    assert said.lines[at + 1] == "    waiting until it runs empty: Pod chat has 2 requests"


def test_status_says_how_many_are_left_and_when_all_are_gone_one_after_the_other(
    tmp_path: Path, capsys: Capture
) -> None:
    said = told(leaving(there=10), tmp_path, capsys, "status")
    assert "    7 more replicas wait, since one leaves at a time" in said.lines
    first, last = "2030-01-01T12:01:52Z", "2030-01-01T12:40:00Z"
    assert f"    expected to end between {first}, if idle, and {last}, if it takes all of its time" in said.lines
    one = told(leaving(there=4), tmp_path, capsys, "status")
    assert "    1 more replica waits its turn, since one leaves at a time" in one.lines


def test_status_gives_each_leaving_replica_its_reason_and_draws_those_that_wait_together(
    tmp_path: Path, capsys: Capture
) -> None:
    said = told(leaving(there=6), tmp_path, capsys, "status")
    assert "    server/5: not declared any more" in said.lines
    assert [each for each in said.lines if "why: server/5 is on its way out: Draining until" in each]
    assert "    server/2-4: not declared any more, 3 replicas" in said.lines
    assert [each for each in said.lines if each.endswith("waits for server/5 to leave: one replica at a time")]


def test_programs_get_the_operation(tmp_path: Path, capsys: Capture) -> None:
    said = told(leaving(), tmp_path, capsys, "status", "-o", "json")
    assert json.loads(said.out)["retirement"] == {
        "replica": "server/3",
        "state": "Draining",
        "reason": "waiting until it runs empty: Pod chat has 2 requests",
        "startedAt": "2030-01-01T12:00:00Z",
        "phaseStartedAt": DRAINS,
        "deadline": DEADLINE,
        "until": SPENT,
        "waiting": 1,
        "earliestEnd": "2030-01-01T12:00:28Z",
        "latestEnd": "2030-01-01T12:10:00Z",
    }
    assert json.loads(told(shrunk(2), tmp_path, capsys, "status", "-o", "json").out)["retirement"] is None


def test_a_delete_that_was_committed_has_no_end_and_is_still_told(tmp_path: Path, capsys: Capture) -> None:
    said = told(leaving(state="Deleting", reason="being deleted"), tmp_path, capsys, "status")
    assert f"  retirement of server/3: Deleting since {DRAINS}" in said.lines


def test_an_aborted_one_says_when_and_why_and_expects_no_end(tmp_path: Path, capsys: Capture) -> None:
    said = told(leaving(state="Aborted"), tmp_path, capsys, "status")
    assert f"  retirement of server/3: Aborted at {SPENT}" in said.lines
    assert not [each for each in said.lines if "expected to end" in each]
    assert [each for each in said.lines if "server/3 is not declared any more and stays: drain took" in each]


def test_a_retirement_that_nobody_can_read_is_one_sentence(tmp_path: Path, capsys: Capture) -> None:
    cluster = shrunk()
    retirement(cluster, startedAt="yesterday")
    said = told(cluster, tmp_path, capsys, "status")
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith("kubectl md: ModelDeployment qwen-72b: status.retirement.startedAt is 'yesterday': ")


def test_why_explains_a_retiring_replica(tmp_path: Path, capsys: Capture) -> None:
    said = told(leaving(), tmp_path, capsys, "why", "server/3")
    assert said.status == 1
    assert said.lines == [
        (
            f"server/3 is on its way out: Draining until {SPENT} at the latest; "
            "waiting until it runs empty: Pod chat has 2 requests"
        )
    ]


def test_why_explains_a_held_replica(tmp_path: Path, capsys: Capture) -> None:
    said = told(leaving(), tmp_path, capsys, "why", "server/2")
    assert (said.status, said.lines) == (
        1,
        ["server/2 is not declared any more and waits for server/3 to leave: one replica at a time"],
    )


def test_why_explains_a_replica_behind_one_that_was_kept(tmp_path: Path, capsys: Capture) -> None:
    said = told(leaving(state="Aborted"), tmp_path, capsys, "why", "server/2")
    assert said.lines[0].startswith("server/2 is not declared any more and stays: the retirement of server/3 was abort")
    kept = told(leaving(state="Aborted"), tmp_path, capsys, "why", "server/3")
    assert kept.lines[-1] == "what helps: retry it with kubectl md retry NAME server/3, or declare the replica again"


def test_why_of_the_whole_tells_it_beside_what_serves(tmp_path: Path, capsys: Capture) -> None:
    said = told(leaving(there=5), tmp_path, capsys, "why")
    assert said.status == 0
    assert said.lines[0] == "qwen-72b serves: 2 of 2 replicas are ready"
    assert said.lines[1].startswith("server/4 is on its way out: Draining")
    assert said.lines[2].endswith("waits for server/4 to leave: one replica at a time (as server/2)")
    table = json.loads(told(leaving(), tmp_path, capsys, "why", "-o", "json").out)
    assert (table["serves"], [each["links"][0]["code"] for each in table["retiring"]]) == (
        True,
        ["Retiring", "RetirementHeld"],
    )


def test_one_that_was_declared_again_is_not_told_to_leave(tmp_path: Path, capsys: Capture) -> None:
    cluster = shrunk(there=4, declared=4)
    retirement(cluster, "Aborted")
    said = told(cluster, tmp_path, capsys, "why", "server/3")
    assert (said.status, said.out) == (0, "server/3 serves\n")


@pytest.mark.parametrize(
    ("replica", "sentence"),
    [
        ("server/4", "qwen-72b has no replica 'server/4'; of that role there is server/0 to server/3"),
        ("server/-1", "qwen-72b has no replica 'server/-1'; of that role there is server/0 to server/3"),
        ("server/", "qwen-72b has no replica 'server/'; of that role there is server/0 to server/3"),
        ("server/x", "qwen-72b has no replica 'server/x'; of that role there is server/0 to server/3"),
        ("server/3/0", "qwen-72b has no replica 'server/3/0'; of that role there is server/0 to server/3"),
        ("decode/0", "qwen-72b has no role 'decode'; it has server"),
        ("/3", "qwen-72b has no role ''; it has server"),
        ("Server/3", "qwen-72b has no role 'Server'; it has server"),
        ("server/３", "qwen-72b has no replica 'server/３'; of that role there is server/0 to server/3"),
        (
            "server/99999999999999999999",
            "has no replica 'server/99999999999999999999'; of that role there is server/0 to server/3",
        ),
    ],
)
def test_what_is_not_there_is_answered_with_what_is(
    replica: str, sentence: str, tmp_path: Path, capsys: Capture
) -> None:
    said = told(leaving(), tmp_path, capsys, "why", replica)
    assert said.status == 2
    assert said.err.strip().endswith(sentence)


def test_the_operation_is_of_these_very_pods() -> None:
    cluster = shrunk()
    assert retirement(cluster)["targetMemberUIDs"] == [uid(cluster, 3)]
