"""`kubectl md replay`: the same decisions bit for bit, or the first difference with its place."""

import json
from pathlib import Path

import msgspec
import pytest
from modeldeployment.scaler.journal import Line
from people_journals import SPEC, journal, planned, seen
from people_worlds import run

Capture = pytest.CaptureFixture[str]


def meddled(one: Line) -> Line:
    """The same pass with another outcome written down."""
    assert one.plan is not None
    return msgspec.structs.replace(one, plan=msgspec.structs.replace(one.plan, vector={"server": 6}))


def test_a_journal_whose_decisions_are_all_the_same_is_counted(tmp_path: Path, capsys: Capture) -> None:
    place = journal(tmp_path / "j", planned(0), planned(15), planned(0, name="other"))
    said = run(capsys, "replay", place)
    assert (said.status, said.out, said.err) == (0, "3 passes of 2 scalers: every decision is the same\n", "")
    assert run(capsys, "replay", place / "journal-000001.jsonl").out == said.out


def test_the_first_difference_ends_it_with_its_line_its_field_and_both_values(tmp_path: Path, capsys: Capture) -> None:
    place = journal(tmp_path / "j", planned(0), meddled(planned(15)), meddled(planned(30)))
    said = run(capsys, "replay", place)
    assert (said.status, said.err) == (1, "")
    assert said.out == (
        f"{place}/journal-000001.jsonl:2: default/chat at 2026-11-30T10:00:15Z: plan.vector.server differs\n"
        "  recorded 6\n"
        "  repeated 5\n"
    )


def test_programs_read_the_same(tmp_path: Path, capsys: Capture) -> None:
    place = journal(tmp_path / "j", planned(0), meddled(planned(15)))
    said = run(capsys, "replay", place, "-o", "json")
    assert said.status == 1
    assert json.loads(said.out) == {
        "passes": 2,
        "inputs": 0,
        "scalers": ["default/chat"],
        "notes": [],
        "difference": {
            "file": f"{place}/journal-000001.jsonl",
            "line": 2,
            "namespace": "default",
            "name": "chat",
            "at": "2026-11-30T10:00:15Z",
            "field": "plan.vector.server",
            "recorded": "6",
            "repeated": "5",
        },
    }


def test_lines_without_a_plan_are_counted_and_compared_with_nothing(tmp_path: Path, capsys: Capture) -> None:
    said = run(capsys, "replay", journal(tmp_path / "j", planned(0), seen(15)))
    assert said.out == "1 pass of 1 scaler: every decision is the same; 1 line without a plan\n"


def test_a_torn_end_is_a_note_and_the_rest_is_repeated(tmp_path: Path, capsys: Capture) -> None:
    place = journal(tmp_path / "j", planned(0), planned(15))
    file = place / "journal-000001.jsonl"
    file.write_bytes(file.read_bytes()[:-9])
    said = run(capsys, "replay", place)
    assert (said.status, said.out) == (0, "1 pass of 1 scaler: every decision is the same\n")
    assert said.err == f"kubectl md: {file}:2 ends within a line and is passed over\n"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "{file} has no whole line, so there is nothing to repeat"),
        (b"\n\n", "{file} has no whole line, so there is nothing to repeat"),
        (b"\x00\x01\x02\n", "{file}:1: it is not JSON: JSON is malformed: invalid character (byte 0)"),
        (b'{"at": \n', "{file}:1: it is not JSON: Input data was truncated"),
        (b'{"at": "2026-11-30T10:00:00Z"}\n', "{file}:1: namespace is missing\nhint: it has no default; write it"),
        (b"[]\n", "{file}:1: the document is []: it has to be an object"),
        (b'"hello"\n', '{file}:1: the document is "hello": it has to be an object'),
    ],
)
def test_a_file_that_is_no_journal_is_told_with_its_line(
    content: bytes, told: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "file.jsonl"
    file.write_bytes(content)
    said = run(capsys, "replay", file)
    assert (said.status, said.out, said.err) == (2, "", f"kubectl md: {told.format(file=file)}\n")


def test_a_spec_of_another_release_is_told_with_its_line(tmp_path: Path, capsys: Capture) -> None:
    one = msgspec.structs.replace(planned(0), spec=SPEC | {"mode": "Loud"})
    place = journal(tmp_path / "j", one)
    said = run(capsys, "replay", place)
    assert (said.status, said.err) == (
        2,
        f"kubectl md: {place}/journal-000001.jsonl:1: spec.mode is 'Loud': Input should be 'Shadow' or 'Active'\n",
    )


def test_places_without_a_journal_are_told(tmp_path: Path, capsys: Capture) -> None:
    missing = run(capsys, "replay", tmp_path / "none")
    assert (missing.status, missing.err) == (
        2,
        f"kubectl md: {tmp_path}/none cannot be read: No such file or directory\n",
    )
    assert run(capsys, "replay", tmp_path).status == 2
