import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def bench(folder: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("md-lab")
    return subprocess.run(
        [str(program), "bench", *arguments],
        cwd=folder,
        env={**os.environ, "COLUMNS": "200", **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_unknown_id_is_a_wrong_use_that_lists_the_ids(tmp_path: Path) -> None:
    done = bench(tmp_path, "--only", "create-9-ratio")
    assert done.returncode == 2
    assert "'create-9-ratio', which is not measured; the ids are create-1000-ratio" in done.stderr
    assert not (tmp_path / ".bench").exists()


def test_without_programs_the_suite_says_in_one_sentence_what_is_missing(tmp_path: Path) -> None:
    done = bench(tmp_path, "--only", "idle-200-writes", MODELDEPLOYMENT_LAB_BIN=str(tmp_path))
    assert done.returncode == 1
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("md-lab: ")]
    assert "kube-apiserver" in said
    assert "Traceback" not in done.stderr


def test_a_scaled_run_prints_its_table_and_keeps_no_row(tmp_path: Path) -> None:
    done = bench(tmp_path, "--only", "render-65536-seconds", "--scale", "0.002")
    assert done.returncode == 0, done.stderr
    assert "render-65536-seconds" in done.stdout
    assert "128 seats" in done.stdout
    assert not (tmp_path / ".bench").exists()


def test_rows_of_other_ids_stay_when_one_is_measured_again(tmp_path: Path) -> None:
    kept = {"id": "idle-200-writes", "value": 0, "unit": "requests", "goal": "0", "ok": True}
    (tmp_path / ".bench").mkdir()
    (tmp_path / ".bench" / "latest.json").write_text(json.dumps([kept]))
    done = bench(tmp_path, "--only", "render-65536-seconds")
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / ".bench" / "latest.json").read_text())
    assert [row["id"] for row in rows] == ["idle-200-writes", "render-65536-seconds"]
    assert rows[0] == kept
    assert set(rows[1]) == {"id", "value", "unit", "goal", "ok"}


@pytest.mark.lab
def test_a_tiny_run_measures_the_webhook_and_then_an_idle_operator_on_a_control_plane_of_its_own(
    tmp_path: Path,
) -> None:
    # One after the other: the webhook's configurations are gone when the next scenario writes.
    done = bench(tmp_path, "--only", "webhook-cpu-ms-per-review,idle-200-writes", "--scale", "0.005")
    assert done.returncode == 0, done.stderr
    assert "20 reviews" in done.stdout
    assert "patch leases" in done.stdout
    assert "1 settled deployments" in done.stdout
