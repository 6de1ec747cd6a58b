"""`kubectl md why mds/NAME`: from a journal and from status, and what it says to wrong use."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from modeldeployment.api import RoleKind
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.scaler.planning.observed import Reading, RoleReading
from people_clusters import Cluster, served
from people_journals import AT, SPEC, journal, planned
from people_worlds import Said, run

Capture = pytest.CaptureFixture[str]


def asked(capsys: Capture, *arguments: str | Path) -> Said:
    return run(capsys, "why", *arguments)


def slow(seconds: int) -> Any:
    """Seven replicas are wanted, and one pass adds one."""
    spec = SPEC | {"behavior": {"scaleUp": {"stepPolicy": {"type": "Pods", "value": 1}}}}
    reading = Reading(
        roles={
            "server": RoleReading(
                state=SignalState.FRESH, ready=4, complete=True, at=AT, running_requests=50, waiting_requests=6
            )
        }
    )
    return planned(seconds, spec=spec, reading=reading)


def test_a_pass_is_told_from_its_input_to_its_vector(tmp_path: Path, capsys: Capture) -> None:
    said = asked(capsys, "mds/chat", "--journal", journal(tmp_path / "j", slow(0)))
    assert said.out == (
        "default/chat at 2026-11-30T10:00:00Z: spec generation 1, written\n"
        "role server: 4 declared, 4 ready\n"
        "  input         Fresh at 2026-11-30T10:00:00Z: running 50, waiting 6\n"
        "  algorithm     4 -> 7: its QueueDepth of 56 over its target of 8 per replica, with 4 ready\n"
        "  steps         7 -> 5: one pass adds at most 1\n"
        "  outcome       raw 7, constrained 5: PacingBounded\n"
        "vector: server 4 -> 5 (Planned)\n"
        "MetricsReady Observed: all required role signals are available\n"
        "Blocked PacingBounded: role server: one pass adds at most 1\n"
    )
    assert (said.status, said.err) == (1, "")


def test_of_a_role_that_has_what_is_recommended_nothing_is_held(tmp_path: Path, capsys: Capture) -> None:
    said = asked(capsys, "mds/chat", "server", "--journal", journal(tmp_path / "j", planned(0)))
    assert said.status == 0
    assert "  outcome       raw 5, constrained 5: Proportional" in said.lines


def test_programs_read_the_same_with_every_step_and_its_sentence(tmp_path: Path, capsys: Capture) -> None:
    said = asked(capsys, "mds/chat", "-o", "json", "--journal", journal(tmp_path / "j", slow(0)))
    told = json.loads(said.out)
    assert {key: told[key] for key in ("namespace", "name", "at", "declared", "vector", "move", "settled")} == {
        "namespace": "default",
        "name": "chat",
        "at": "2026-11-30T10:00:00Z",
        "declared": {"server": 4},
        "vector": {"server": 5},
        "move": "Planned",
        "settled": False,
    }
    (role,) = told["roles"]
    assert [(step["stage"], step["before"], step["after"], step["cause"]) for step in role["steps"]] == [
        ("algorithm", 4, 7, "Load"),
        ("steps", 7, 5, "UpStep"),
    ]
    assert role["steps"][1]["sentence"] == "one pass adds at most 1"
    assert role["input"]["runningRequests"] == 50


def test_a_role_that_the_scaler_does_not_name_is_told_as_one(tmp_path: Path, capsys: Capture) -> None:
    one = planned(0)
    (server,) = one.target.roles
    decode = msgspec.structs.replace(server, name="decode", kind=RoleKind.DECODE)
    two = msgspec.structs.replace(one.target, roles=(server, decode))
    place = journal(tmp_path / "j", planned(0, target=two))
    said = asked(capsys, "mds/chat", "decode", "--journal", place)
    assert said.status == 1
    assert said.lines[1:] == [
        "role decode: 4 declared, not scaled: the scaler has no bounds for it",
        "vector: server 4, decode 4",
        (
            "MetricsReady BoundsConflict: role decode: the scaler has no bounds for it; "
            "hint: add it to spec.roles with minReplicas and maxReplicas"
        ),
        (
            "Blocked BoundsConflict: role decode: the scaler has no bounds for it; "
            "hint: add it to spec.roles with minReplicas and maxReplicas"
        ),
        "what helps: add it to spec.roles with minReplicas and maxReplicas",
    ]


def test_the_last_pass_at_or_before_an_instant_is_told(tmp_path: Path, capsys: Capture) -> None:
    place = journal(tmp_path / "j", planned(0), planned(15), planned(30))
    for at, told in (
        ("2026-11-30T10:00:29Z", "10:00:15Z"),
        ("2026-11-30T11:00:15+01:00", "10:00:15Z"),
        ("2026-11-30T10:00:40Z", "10:00:30Z"),
    ):
        said = asked(capsys, "mds/chat", "--at", at, "--journal", place)
        assert said.lines[0].startswith(f"default/chat at 2026-11-30T{told}")


def test_a_line_that_was_torn_is_a_note_and_the_others_are_told(tmp_path: Path, capsys: Capture) -> None:
    place = journal(tmp_path / "j", planned(0), planned(15))
    file = place / "journal-000001.jsonl"
    file.write_bytes(file.read_bytes()[:-50])
    said = asked(capsys, "mds/chat", "--journal", place)
    assert said.lines[0].startswith("default/chat at 2026-11-30T10:00:00Z")
    assert said.err == f"kubectl md: {file}:2 ends within a line and is passed over\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("mds/chat", "decode"), "default/chat has no role 'decode'; it has server"),
        (("mds/",), "mds/ names no scaler: write mds/NAME, NAME as kubectl get mds shows it"),
        (("mds/chat/server",), "mds/chat/server names no scaler: write mds/NAME, NAME as kubectl get mds shows it"),
        (("mds/../chat",), "mds/../chat names no scaler: write mds/NAME, NAME as kubectl get mds shows it"),
        (("mds/other",), "{journal} has no pass of default/other; it tells of default/chat"),
        (("mds/chat", "-n", "team-a"), "{journal} has no pass of team-a/chat; it tells of default/chat"),
        (
            ("mds/chat", "--at", "2026-11-30T09:59:59Z"),
            (
                "--at is 2026-11-30T09:59:59Z: {journal} tells of default/chat from 2026-11-30T10:00:00Z to "
                "2026-11-30T10:00:15Z"
            ),
        ),
        (
            ("mds/chat", "--at", "2026-11-30T12:00:00Z"),
            (
                "--at is 2026-11-30T12:00:00Z: {journal} tells of default/chat from 2026-11-30T10:00:00Z to "
                "2026-11-30T10:00:15Z"
            ),
        ),
        (("mds/chat", "--at", "yesterday"), "--at is yesterday: it is no instant; write it as 2026-11-30T10:00:00Z"),
        (
            ("mds/chat", "--at", "2026-11-30T10:00:00"),
            "--at is 2026-11-30T10:00:00: it has no offset, so it is many instants; write 2026-11-30T10:00:00Z for UTC",
        ),
        (
            ("mds/chat", "--operator", "http://h"),
            "--journal is {journal} and --operator is http://h: passes are read from one place; leave one out",
        ),
        (("chat",), "--journal is {journal}: it is for scalers; write mds/NAME for one, or leave it out"),
    ],
)
def test_what_cannot_be_told_is_one_sentence(
    arguments: tuple[str, ...], told: str, tmp_path: Path, capsys: Capture
) -> None:
    place = journal(tmp_path / "j", planned(0), planned(15))
    said = asked(capsys, *arguments, "--journal", place)
    assert (said.status, said.out) == (2, "")
    assert said.err == f"kubectl md: {told.format(journal=place)}\n"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "{file} has no pass of default/chat; it is empty"),
        (b"\x7fELF\x02\x01", "{file}:1: it is not JSON: JSON is malformed: invalid character (byte 0)"),
        (b"{}\n", "{file}:1: at is missing\nhint: it has no default; write it"),
        (b"[]\n{}\n", "{file}:1: the document is []: it has to be an object"),
    ],
)
def test_a_file_that_is_no_journal_is_told_with_its_line(
    content: bytes, told: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    said = asked(capsys, "mds/chat", "--journal", file)
    assert (said.status, said.err) == (2, f"kubectl md: {told.format(file=file)}\n")


def test_places_without_a_journal_are_told(tmp_path: Path, capsys: Capture) -> None:
    assert asked(capsys, "mds/chat", "--journal", tmp_path / "none").err == (
        f"kubectl md: {tmp_path}/none cannot be read: No such file or directory\n"
    )
    assert asked(capsys, "mds/chat", "--journal", tmp_path).err.startswith(f"kubectl md: {tmp_path} has no journal: ")


STATUS: dict[str, Any] = {
    "observedGeneration": 3,
    "roles": [
        {
            "name": "server",
            "currentReplicas": 4,
            "readyReplicas": 3,
            "signalState": "Fresh",
            "runningRequests": 50,
            "waitingRequests": 6,
            "promptTokensPerSecond": "2400500m",
            "rawRecommendedReplicas": 7,
            "constrainedReplicas": 5,
            "reason": "PacingBounded",
        }
    ],
    "conditions": [
        {
            "type": "Blocked",
            "status": "True",
            "reason": "PacingBounded",
            "message": "role server: one pass adds at most 1",
            "lastTransitionTime": "2026-11-30T10:00:00Z",
        }
    ],
    "lastCommit": {
        "decisionID": "decision-1",
        "term": 2,
        "vector": {"server": 4},
        "baselineVector": {"server": 3},
        "timestamp": "2026-11-30T09:00:00Z",
        "targetGeneration": 9,
    },
}


def scaled(status: dict[str, Any]) -> Cluster:
    cluster = Cluster()
    body = {
        "apiVersion": "worker.gpustack.ai/v1",
        "kind": "ModelDeploymentScaler",
        "metadata": {"name": "chat", "namespace": "team-a", "generation": 3},
        "spec": SPEC,
    }
    cluster.put("modeldeploymentscalers", body, **status)
    return cluster


def of_status(cluster: Cluster, folder: Path, capsys: Capture, *arguments: str) -> Said:
    with served(cluster, folder) as kubeconfig:
        return run(capsys, "why", *arguments, "-n", "team-a", "--kubeconfig", kubeconfig)


def test_without_a_journal_status_tells_what_it_knows_and_where_the_rest_is(tmp_path: Path, capsys: Capture) -> None:
    said = of_status(scaled(STATUS), tmp_path, capsys, "mds/chat", "server")
    assert said.out == (
        "team-a/chat: status of generation 3, spec generation 3\n"
        "role server: 4 declared, 3 ready\n"
        "  input         Fresh: running 50, waiting 6, prompt 2400.5 tokens/s\n"
        "  outcome       raw 7, constrained 5: PacingBounded\n"
        "Blocked PacingBounded: role server: one pass adds at most 1\n"
        "last write: server 3 -> 4, decision decision-1 of term 2\n"
    )
    assert said.status == 1
    assert said.err == (
        "kubectl md: this is what status says; the rules between raw and constrained are in the journal: "
        "--operator URL or --journal PATH\n"
    )


def test_a_scaler_that_nobody_has_looked_at_is_held(tmp_path: Path, capsys: Capture) -> None:
    said = of_status(scaled({}), tmp_path, capsys, "mds/chat")
    assert (said.status, said.lines) == (1, ["team-a/chat: status never looked at, spec generation 3"])


def test_status_is_told_to_programs_as_it_stands(tmp_path: Path, capsys: Capture) -> None:
    told = json.loads(of_status(scaled(STATUS), tmp_path, capsys, "mds/chat", "-o", "json").out)
    assert (told["source"], told["settled"], told["observedGeneration"]) == ("status", False, 3)
    assert told["roles"][0]["rawRecommendedReplicas"] == 7
    assert told["lastCommit"]["decisionID"] == "decision-1"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("mds/none",), "there is no ModelDeploymentScaler team-a/none"),
        (("mds/chat", "decode"), "team-a/chat has no role 'decode'; it has server"),
        (
            ("mds/chat", "--at", "2026-11-30T10:00:00Z"),
            "--at is 2026-11-30T10:00:00Z: status tells of no time but now; add --journal PATH or --operator URL",
        ),
    ],
)
def test_what_status_cannot_tell_is_one_sentence(
    arguments: tuple[str, ...], told: str, tmp_path: Path, capsys: Capture
) -> None:
    said = of_status(scaled(STATUS), tmp_path, capsys, *arguments)
    assert (said.status, said.out, said.err) == (2, "", f"kubectl md: {told}\n")
