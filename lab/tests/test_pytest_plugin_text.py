from pathlib import Path

import msgspec
from modeldeployment.kube.shapes import Event, Workload
from modeldeployment.lab.pytest_plugin.naming import namespace_name
from modeldeployment.lab.pytest_plugin.picture import (
    ToldPod,
    event_line,
    log_lines,
    picture,
    pod_line,
    workload_line,
)

POD = msgspec.convert(
    {
        "metadata": {
            "name": "a-0",
            "deletionTimestamp": "2026-01-01T00:00:00Z",
            "finalizers": ["kueue.x-k8s.io/managed"],
        },
        "spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]},
        "status": {
            "phase": "Pending",
            "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": "gated"}
            ],
        },
    },
    ToldPod,
)
WORKLOAD = msgspec.convert(
    {
        "metadata": {"name": "a"},
        "spec": {"queueName": "lq", "active": False},
        "status": {
            "conditions": [{"type": "QuotaReserved", "status": "True"}],
            "admission": {
                "clusterQueue": "cq",
                "podSetAssignments": [{"name": "m", "flavors": {"cpu": "f"}, "count": 1}],
            },
            "admissionChecks": [{"name": "joint", "state": "Pending", "message": ""}],
        },
    },
    Workload,
)
EVENT = msgspec.convert(
    {
        "metadata": {"name": "e", "resourceVersion": "7"},
        "type": "Warning",
        "reason": "FailedScheduling",
        "note": "0/2 nodes",
        "series": {"count": 3},
        "regarding": {"kind": "Pod", "name": "a-0"},
    },
    Event,
)


def test_a_namespace_is_named_by_the_test_the_worker_and_a_number() -> None:
    assert namespace_name("test_a_pod_group_of_one[nvidia-h20]", "gw1", 3) == "a-pod-group-of-one-n-gw1-3"
    assert namespace_name("test_x", "main", 1) == "x-main-1"


def test_a_pod_is_one_line_that_says_what_holds_it() -> None:
    assert pod_line(POD) == (
        "Pod a-0: Pending; on no node; gated by kueue.x-k8s.io/admission; "
        "being deleted, held by kueue.x-k8s.io/managed; PodScheduled=False/SchedulingGated gated"
    )


def test_a_workload_is_one_line_with_flavors_checks_and_conditions() -> None:
    assert workload_line(WORKLOAD) == (
        "Workload a in lq; not active; given cpu=f; check joint Pending; QuotaReserved=True"
    )


def test_an_event_is_one_line_with_how_often_it_came() -> None:
    assert event_line(EVENT) == "Warning FailedScheduling (x3) on Pod a-0: 0/2 nodes"


def test_a_log_is_cut_to_the_last_lines_that_mention_the_namespace(tmp_path: Path) -> None:
    log = tmp_path / "kueue.log"
    log.write_text("".join(f"{number} ns={'mine' if number % 2 else 'other'}\n" for number in range(100)))
    assert log_lines(log, "mine", lines=2) == ("97 ns=mine", "99 ns=mine")
    assert log_lines(tmp_path / "none.log", "mine") == ()


def test_the_picture_lists_objects_events_and_logs(tmp_path: Path) -> None:
    log = tmp_path / "kueue.log"
    log.write_text("admitting mine\n")
    (tmp_path / "quiet.log").write_text("nothing here\n")
    lines = picture([POD], [], [EVENT], [log, tmp_path / "quiet.log"], "mine").splitlines()
    assert lines == [pod_line(POD), event_line(EVENT), "--- kueue", "admitting mine"]


def test_an_empty_namespace_says_so() -> None:
    assert picture([], [], [], [], "mine") == "no Pods and no Workloads"
