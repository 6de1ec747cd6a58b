"""`kubectl md plan`: one pass from a document of which most may be left out, and what is said of a wrong one."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from modeldeployment.scaler.journal import encode
from people_journals import planned
from people_worlds import Said, run

Capture = pytest.CaptureFixture[str]
JSON = dict[str, Any]

ROLE: JSON = {"name": "server", "minReplicas": 1, "maxReplicas": 8}
ALGORITHM: JSON = {"proportional": {"metric": "QueueDepth", "roleTargets": [{"name": "server", "target": "8"}]}}
DOCUMENT: JSON = {
    "spec": {"roles": [ROLE], "algorithm": ALGORITHM},
    "target": {"roles": [{"name": "server", "replicas": 4}]},
    "reading": {"roles": {"server": {"runningRequests": 32, "waitingRequests": 8}}},
}


def asked(capsys: Capture, folder: Path, document: Any, *arguments: str) -> Said:
    file = folder / "input.json"
    file.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
    return run(capsys, "plan", "--input", file, *arguments)


def test_a_document_with_little_in_it_is_a_pass_of_a_quiet_day(tmp_path: Path, capsys: Capture) -> None:
    said = asked(capsys, tmp_path, DOCUMENT)
    plan = json.loads(said.out)
    assert (said.status, said.err) == (0, "")
    assert (plan["vector"], plan["move"]) == ({"server": 5}, "Planned")
    assert plan["roles"] == [{"name": "server", "raw": 5, "constrained": 5, "reason": "Proportional"}]
    assert plan["committed"]["lastCommit"]["term"] == 1


def test_the_standard_input_is_read_as_a_file_is(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(DOCUMENT).encode())))
    assert json.loads(run(capsys, "plan", "--input", "-").out)["vector"] == {"server": 5}


def test_people_read_the_pass_as_why_tells_it(tmp_path: Path, capsys: Capture) -> None:
    said = asked(capsys, tmp_path, DOCUMENT | {"at": "2026-11-30T10:00:00Z", "name": "mine"}, "-o", "text")
    assert said.lines[:2] == [
        "default/mine at 2026-11-30T10:00:00Z: spec generation 1, not written",
        "role server: 4 declared, 4 ready",
    ]
    assert "vector: server 4 -> 5 (Planned)" in said.lines


def test_the_line_of_a_journal_is_an_input_as_it_stands(tmp_path: Path, capsys: Capture) -> None:
    line = planned(0)
    said = asked(capsys, tmp_path, encode(line))
    assert line.plan is not None
    assert json.loads(said.out) == msgspec.to_builtins(msgspec.json.decode(msgspec.json.encode(line.plan)))


def test_the_pass_is_at_its_latest_reading_where_nothing_says_when(tmp_path: Path, capsys: Capture) -> None:
    reading = {"server": {"runningRequests": 1, "waitingRequests": 0, "at": "2026-11-30T10:00:00Z"}}
    plan = json.loads(asked(capsys, tmp_path, DOCUMENT | {"reading": {"roles": reading}}).out)
    assert plan["memory"]["roles"]["server"]["recommended"] == [{"at": "2026-11-30T10:00:00Z", "replicas": 1}]


def changed(*path: str | int, to: Any) -> JSON:
    """The document with one value put, or taken out where it is None."""
    document: JSON = json.loads(json.dumps(DOCUMENT))
    place: Any = document
    for step in path[:-1]:
        place = place[step] if isinstance(step, int) else place.setdefault(step, {})
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return document


SERVER = ("reading", "roles", "server")


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (changed("target", to=None), "target is missing\nhint: it has no default; write it"),
        (changed("spec", to=None), "spec is missing\nhint: it has no default; write it"),
        (changed("readings", to={}), "readings is unknown\nhint: write reading"),
        (
            changed(*SERVER, "runningRequest", to=1),
            "reading.roles.server.runningRequest is unknown\nhint: write runningRequests",
        ),
        (
            changed(*SERVER, "runningRequests", to="32"),
            'reading.roles.server.runningRequests is "32": expected int, got str',
        ),
        (changed(*SERVER, "waitingRequests", to=-1), "reading.roles.server.waitingRequests is -1: expected int >= 0"),
        (
            changed(*SERVER, "ttftMilliseconds", to="soon"),
            (
                "reading.roles.server.ttftMilliseconds is \"soon\": 'soon' is not a quantity: write a number such as "
                "2, 500m or 16Gi"
            ),
        ),
        (
            changed("reading", "roles", "decode", to={}),
            "reading.roles.decode.ready is missing\nhint: it has no default; write it",
        ),
        (
            changed("reading", "roles", "decode", to={"ready": 2}),
            (
                "reading.roles.decode: the target has no such role; it has server\n"
                "hint: write it in target.roles, or leave its reading out"
            ),
        ),
        (changed("target", "roles", 0, "replicas", to=-4), "target.roles[0].replicas is -4: expected int >= 0"),
        (
            changed("target", "roles", 0, "kind", to="Servant"),
            'target.roles[0].kind is "Servant": it is none of Server, Prefill, Decode, Encode',
        ),
        (
            changed("target", "roles", to=[{"name": "server", "replicas": 1}] * 2),
            "target.roles[1].name is 'server': another role has that name\nhint: rename one of the two",
        ),
        (
            changed("at", to="2026-11-30 10:00"),
            'at is "2026-11-30 10:00": invalid RFC3339 encoded datetime',
        ),
        (changed("memory", to=[]), "memory is []: it has to be an object"),
        (changed("reading", to=7), "reading is 7: it has to be an object"),
        (changed("target", to=[1]), "target is [1]: it has to be an object"),
        (changed("target", "roles", to="all"), 'target.roles is "all": expected array, got str'),
    ],
)
def test_what_is_wrong_with_a_document_is_told_with_its_field(
    document: JSON, told: str, tmp_path: Path, capsys: Capture
) -> None:
    said = asked(capsys, tmp_path, document)
    assert (said.status, said.out) == (2, "")
    assert said.err == f"kubectl md: {tmp_path}/input.json: {told}\n"


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (("spec", "roles", 0, "maxReplica"), 8, "spec.roles[0].maxReplica"),
        (("spec", "roles", 0, "maxReplicas"), 9999, "spec.roles[0].maxReplicas"),
        (("spec", "roles", 0, "minReplicas"), -1, "spec.roles[0].minReplicas"),
        (("spec", "sampling"), {"intervalSeconds": "15"}, "spec.sampling.intervalSeconds"),
        (("spec", "algorithm", "type"), "Prophetic", "spec.algorithm.type"),
    ],
)
def test_a_spec_is_held_to_its_schema(
    path: tuple[str | int, ...], value: Any, field: str, tmp_path: Path, capsys: Capture
) -> None:
    said = asked(capsys, tmp_path, changed(*path, to=value))
    assert said.status == 2
    assert said.err.startswith(f"kubectl md: {tmp_path}/input.json: {field}: ")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", ":1:1: not JSON: Expecting value"),
        (b'{\n  "spec": {},\n  "target" {}\n}', ":3:12: not JSON: Expecting ':' delimiter"),
        (b"[]", " is []: it has to be an object with spec and target"),
        (b"\x7fELF\xff\xfe", " is no text: byte 4 is not UTF-8"),
        (
            b'{"spec": {}, "spec": {}}',
            ": not JSON that can be read: the key spec is there twice, and one of the two would be dropped",
        ),
        (b'{"spec": NaN}', ": not JSON that can be read: NaN is no number of JSON"),
        (
            b"{}\n{}\n",
            (
                ":2:1: a second document begins here, and one pass is planned\n"
                "hint: give one line of a journal; kubectl md replay takes all of them"
            ),
        ),
    ],
)
def test_what_is_no_document_is_told_with_its_place(content: bytes, told: str, tmp_path: Path, capsys: Capture) -> None:
    said = asked(capsys, tmp_path, content)
    assert (said.status, said.err) == (2, f"kubectl md: {tmp_path}/input.json{told}\n")


def test_a_file_that_is_not_there_and_one_that_is_a_directory_are_told(tmp_path: Path, capsys: Capture) -> None:
    assert run(capsys, "plan", "--input", tmp_path / "none").err == (
        f"kubectl md: {tmp_path}/none cannot be read: No such file or directory\n"
    )
    assert run(capsys, "plan", "--input", tmp_path).err == f"kubectl md: {tmp_path} cannot be read: Is a directory\n"
