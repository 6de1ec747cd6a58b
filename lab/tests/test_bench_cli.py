import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from modeldeployment.lab.toolchain.groups import groups_folder
from modeldeployment.lab.toolchain.place import cache_folder


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


@pytest.mark.lab
def test_a_tiny_run_creates_and_tears_down_beside_raw_senders_and_peers(tmp_path: Path) -> None:
    done = bench(tmp_path, "--only", "create-1000-peer-ratio,teardown-1024-ratio", "--scale", "0.005")
    assert done.returncode == 0, done.stderr
    assert "StatefulSet: " in done.stderr
    assert "best peer" in done.stdout
    assert "replicas/s" in done.stdout


@pytest.mark.lab
def test_a_tiny_run_makes_gangs_beside_a_leader_worker_set(tmp_path: Path) -> None:
    if not groups_folder().is_dir():
        pytest.skip("LeaderWorkerSet is built by the first `make bench`")
    done = bench(tmp_path, "--only", "gang-64x16-ratio,gang-64x16-peer-ratio", "--scale", "0.03")
    assert done.returncode == 0, done.stderr
    assert "best peer LeaderWorkerSet" in done.stdout


@pytest.mark.lab
def test_a_tiny_run_kills_a_leader_and_another_makes_each_replica_once(tmp_path: Path) -> None:
    done = bench(tmp_path, "--only", "leader-gap-seconds,leader-double-creates", "--scale", "0.03")
    assert done.returncode == 0, done.stderr
    assert "30 seats, 30 Pods" in done.stdout


@pytest.mark.lab
def test_a_tiny_run_admits_sets_through_our_check_a_loop_and_none(tmp_path: Path) -> None:
    done = bench(tmp_path, "--only", "gate-lift-seconds,set-admission-ratio", "--scale", "0.02")
    assert done.returncode == 0, done.stderr
    assert "slowest of 2 sets" in done.stdout
    assert "4 groups in 2 sets" in done.stdout


@pytest.mark.lab
def test_a_tiny_run_counts_status_writes_and_finds_none_without_effect(tmp_path: Path) -> None:
    done = bench(tmp_path, "--only", "status-writes-per-replica,noop-writes", "--scale", "0.02")
    assert done.returncode == 0, done.stderr
    assert "for 4 replicas until Ready" in done.stdout
    assert "without effect: none" in done.stderr


@pytest.mark.lab
def test_a_tiny_fleet_is_prepared_once_and_a_restart_over_it_writes_nothing(tmp_path: Path) -> None:
    caches = {"XDG_CACHE_HOME": str(tmp_path), "MODELDEPLOYMENT_LAB_BIN": str(cache_folder())}
    first = bench(tmp_path, "--only", "restart-10000-writes", "--scale", "0.002", **caches)
    assert first.returncode == 0, first.stderr
    assert "wrote none" in first.stderr
    (kept,) = (tmp_path / "modeldeployment" / "lab").iterdir()
    assert kept.name.startswith("database-fleet2-")
