"""Lines are the same after they were written and read, files rotate, and no disk ends a pass."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from modeldeployment.scaler.errors import Undecodable
from modeldeployment.scaler.journal import (
    Difference,
    Journal,
    Line,
    Recorded,
    Ring,
    Torn,
    Writer,
    decode,
    difference,
    encode,
    files,
    read,
    repeat,
)
from modeldeployment.scaler.planning import Cause, Stage, Step, coding
from modeldeployment.scaler.planning.outcome import Plan
from scaler_lines import PLAN, SPEC, line
from scaler_plain import values


def lines_of(path: Path) -> list[Line]:
    return [each.line for each in read(path) if isinstance(each, Recorded)]


def written(directory: Path, lines: list[Line], *, size: int = 10**6, count: int = 4) -> list[str]:
    told: list[str] = []
    writer = Writer(directory, told.append, size=size, count=count)
    writer.start()
    for each in lines:
        writer.append(encode(each))
    writer.close()
    return told


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(values(Line))
def test_a_line_is_the_same_after_it_was_written_and_read(one: Line) -> None:
    assert decode(encode(one)) == one
    assert encode(decode(encode(one))) == encode(one)


def test_a_ring_keeps_the_last_lines() -> None:
    ring = Ring(2)
    for each in (b"1", b"2", b"3"):
        ring.append(each)
    assert list(ring) == [b"2", b"3"]


def test_a_journal_keeps_the_last_passes_of_each_scaler_and_forgets_one_that_is_gone() -> None:
    journal = Journal(2)
    for seconds in (0, 15, 30):
        journal.append(line(seconds))
    journal.append(line(0, name="other"))
    assert [decode(each) for each in journal.of("default", "chat")] == [line(15), line(30)]
    assert [decode(each) for each in journal.of("default", "other")] == [line(0, name="other")]
    journal.forget("default", "chat")
    assert journal.of("default", "chat") == ()


def test_a_journal_with_a_writer_writes_every_pass(tmp_path: Path) -> None:
    writer = Writer(tmp_path, pytest.fail, size=10**6, count=2)
    writer.start()
    journal = Journal(0, writer)
    journal.append(line(0))
    journal.append(line(15))
    writer.close()
    assert journal.of("default", "chat") == ()
    assert lines_of(tmp_path) == [line(0), line(15)]


def test_files_begin_anew_when_one_is_full_and_the_oldest_goes(tmp_path: Path) -> None:
    each = len(encode(line(0))) + 1
    assert written(tmp_path, [line(seconds) for seconds in range(7)], size=2 * each, count=3) == []
    assert [path.name for path in files.of(tmp_path)] == [
        "journal-000002.jsonl",
        "journal-000003.jsonl",
        "journal-000004.jsonl",
    ]
    assert lines_of(tmp_path) == [line(seconds) for seconds in range(2, 7)]


def test_a_line_longer_than_a_file_has_one_of_its_own(tmp_path: Path) -> None:
    assert written(tmp_path, [line(0), line(15)], size=10) == []
    assert len(files.of(tmp_path)) == 2


def test_a_start_begins_a_file_of_its_own_after_those_that_are_there(tmp_path: Path) -> None:
    written(tmp_path, [line(0)])
    written(tmp_path, [line(15)])
    assert [path.name for path in files.of(tmp_path)] == ["journal-000001.jsonl", "journal-000002.jsonl"]
    assert lines_of(tmp_path) == [line(0), line(15)]


def test_a_directory_that_cannot_be_written_is_told_once_and_fails_nothing(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("")
    assert written(place, [line(0), line(15), line(30)]) == [
        f"{place}: File exists; passes are not recorded until it takes them"
    ]


FULL_DISK = """
import resource, sys, threading
from pathlib import Path
from modeldeployment.scaler.journal import Writer
told, heard = [], threading.Event()
def tell(sentence):
    told.append(sentence)
    heard.set()
lines = [each.encode() for each in sys.argv[2:]]
room = len(lines[0]) + 1 + len(lines[1]) // 2
resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
writer = Writer(Path(sys.argv[1]), tell, size=10**6, count=4)
writer.start()
writer.append(lines[0])
writer.append(lines[1])
assert heard.wait(30)
heard.clear()
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
writer.append(lines[2])
assert heard.wait(30)
writer.close()
print("\\n".join(told))
"""
"""A program whose files may grow so far and no further: writing then fails within a line, as on a full disk."""


def test_a_full_disk_drops_lines_says_so_once_and_leaves_no_half_line(tmp_path: Path) -> None:
    lines = [encode(line(seconds)).decode() for seconds in (0, 15, 30)]
    ran = subprocess.run([sys.executable, "-c", FULL_DISK, str(tmp_path), *lines], capture_output=True, check=True)
    assert ran.stdout.decode().splitlines() == [
        f"{tmp_path}: File too large; passes are not recorded until it takes them",
        f"{tmp_path}: passes are recorded again; 1 were not",
    ]
    assert lines_of(tmp_path) == [line(0), line(30)]


def test_a_line_that_was_torn_at_the_end_of_a_file_is_told_and_passed_over(tmp_path: Path) -> None:
    written(tmp_path, [line(0), line(15)])
    first = files.of(tmp_path)[0]
    first.write_bytes(first.read_bytes()[:-100])
    written(tmp_path, [line(30)])
    assert list(read(tmp_path)) == [
        Recorded(str(first), 1, line(0)),
        Torn(str(first), 2),
        Recorded(str(tmp_path / "journal-000002.jsonl"), 1, line(30)),
    ]


def test_a_line_that_is_broken_in_the_middle_is_an_error_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "journal-000001.jsonl"
    file.write_bytes(encode(line(0)) + b"\n" + encode(line(15))[:-5] + b"\n" + encode(line(30)) + b"\n")
    with pytest.raises(Undecodable) as raised:
        list(read(tmp_path))
    assert str(raised.value).startswith(f"{file}:2: it is not JSON: ")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\x1f\x8b\x08\x00\x00", ":1: it is not JSON: JSON is malformed: invalid character (byte 0)"),
        (b"hello", ":1: it is not JSON: JSON is malformed: invalid character (byte 0)"),
        (b"[]\n", ":1: the document is []: it has to be an object"),
        (b'{"at":1}\n', ":1: at is 1: expected datetime, got int"),
    ],
)
def test_what_is_no_journal_is_said_with_its_place(tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "file.jsonl"
    file.write_bytes(content)
    with pytest.raises(Undecodable) as raised:
        list(read(file))
    assert str(raised.value) == f"{file}{told}"


def test_a_place_without_a_journal_is_said(tmp_path: Path) -> None:
    with pytest.raises(Undecodable) as missing:
        list(read(tmp_path / "none"))
    assert str(missing.value) == f"{tmp_path}/none cannot be read: No such file or directory"
    with pytest.raises(Undecodable) as empty:
        list(read(tmp_path))
    assert str(empty.value).splitlines()[0] == (
        f"{tmp_path} has no journal: its files are called journal-000001.jsonl and so on"
    )


def test_the_same_plan_has_no_difference() -> None:
    assert difference(PLAN, PLAN) is None


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"vector": {"server": 6}}, Difference("vector.server", "5", "6")),
        ({"move": None}, Difference("move", '"Planned"', "nothing")),
        ({"trail": ()}, Difference("trail[0]", "", "nothing")),
        ({"vector": {"server": 5, "decode": 1}}, Difference("vector.decode", "nothing", "1")),
    ],
)
def test_the_first_field_that_differs_is_named_with_both_values(changed: dict[str, Any], found: Difference) -> None:
    seen = difference(PLAN, msgspec.structs.replace(PLAN, **changed))
    assert seen is not None
    assert (seen.field, seen.repeated) == (found.field, found.repeated)
    assert not found.recorded or seen.recorded == found.recorded


def test_another_order_of_roles_is_a_difference() -> None:
    one = msgspec.structs.replace(PLAN, vector={"prefill": 1, "decode": 2})
    other = msgspec.structs.replace(PLAN, vector={"decode": 2, "prefill": 1})
    assert difference(one, other) == Difference("vector (order)", '["prefill","decode"]', '["decode","prefill"]')


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(values(Plan), values(Plan))
def test_two_plans_have_a_difference_exactly_when_their_bytes_differ(one: Plan, other: Plan) -> None:
    assert (difference(one, other) is None) is (coding.encode(one) == coding.encode(other))


def test_a_pass_that_is_repeated_is_planned_from_what_the_line_says() -> None:
    plan = repeat(line())
    assert plan.vector == {"server": 5}
    assert plan.trail[0] == Step(
        stage=Stage.ALGORITHM,
        role="server",
        before=4,
        after=5,
        cause=Cause.LOAD,
        numbers={
            "metric": "QueueDepth",
            "total": "40",
            "load": "10",
            "ready": 4,
            "target": "8",
            "tolerance": "100m",
        },
    )
    assert plan.committed is not None
    assert plan.committed.last_commit is not None
    assert plan.committed.last_commit.decision_id == "decision-1"


def test_a_pass_that_is_repeated_is_the_same_bit_for_bit_after_it_was_written_and_read() -> None:
    one = line()
    planned = msgspec.structs.replace(one, plan=repeat(one))
    again = decode(encode(planned))
    assert again.plan is not None
    assert difference(again.plan, repeat(again)) is None


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"roles": []}, "spec.roles is []: Tuple should have at least 1 item after validation, not 0"),
        ({"mode": "Loud"}, "spec.mode is 'Loud': Input should be 'Shadow' or 'Active'"),
        (
            {"roles": [{"name": "server", "maxReplicas": 9999}]},
            "spec.roles[0].maxReplicas is 9999: Input should be less than or equal to 1024",
        ),
        (
            {"roles": [{"name": "server"}]},
            "spec.roles[0].maxReplicas is missing\nhint: it has no default; write it",
        ),
    ],
)
def test_a_spec_that_cannot_be_read_is_told_with_its_field(changed: dict[str, Any], told: str) -> None:
    with pytest.raises(Undecodable) as raised:
        repeat(line(spec=SPEC | changed))
    assert str(raised.value) == told
