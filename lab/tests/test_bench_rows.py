import json
from pathlib import Path

import pytest
from bench_values import value
from modeldeployment.lab.bench import goals, report, rows
from modeldeployment.lab.bench.errors import BenchError
from rich.console import Console


def test_a_row_holds_id_value_unit_goal_and_verdict() -> None:
    assert value(goals.CREATE_RATIO, 0.81239).row() == {
        "id": "create-1000-ratio",
        "value": 0.8124,
        "unit": "ratio",
        "goal": ">= 0.80",
        "ok": True,
    }


def test_a_second_run_replaces_its_own_rows_and_keeps_the_others() -> None:
    first = rows.merged([], [value(goals.RENDER_SECONDS, 0.9), value(goals.CREATE_RATIO, 0.5)])
    second = rows.merged(first, [value(goals.CREATE_RATIO, 0.85)])
    assert [(row["id"], row["value"], row["ok"]) for row in second] == [
        ("create-1000-ratio", 0.85, True),
        ("render-65536-seconds", 0.9, True),
    ]


def test_rows_of_ids_that_are_measured_no_more_are_dropped() -> None:
    assert rows.merged([{"id": "create-500-ratio", "value": 1}], []) == []


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    file = tmp_path / ".bench" / "latest.json"
    written = rows.merged([], [value(goals.IDLE_REQUESTS, 0)])
    rows.write(file, written)
    assert rows.read(file) == written
    assert json.loads(file.read_text()) == written
    assert [each.name for each in file.parent.iterdir()] == ["latest.json"]


def test_without_a_file_there_are_no_rows(tmp_path: Path) -> None:
    assert rows.read(tmp_path / "latest.json") == []


@pytest.mark.parametrize("content", ["{", '{"id": 1}', "[1]"])
def test_a_file_that_holds_something_else_is_named_with_the_way_out(tmp_path: Path, content: str) -> None:
    file = tmp_path / "latest.json"
    file.write_text(content)
    with pytest.raises(BenchError, match=r"latest\.json .*; remove it and measure again"):
        rows.read(file)


def test_the_table_says_plainly_that_a_goal_was_missed() -> None:
    console = Console(width=120, record=True)
    with console.capture() as printed:
        console.print(report.table([value(goals.RESTART_WRITES, 3), value(goals.IDLE_REQUESTS, 0)]))
    lines = printed.get().splitlines()
    (missed,) = [line for line in lines if "restart-1000-writes" in line]
    (met,) = [line for line in lines if "idle-200-writes" in line]
    assert "3 requests" in missed
    assert "missed" in missed
    assert "yes" in met
