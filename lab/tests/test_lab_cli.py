"""`md-lab` from the outside: exit codes, and one sentence for every mistake."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest
from modeldeployment.lab import cli
from modeldeployment.lab.controlplane import Component
from modeldeployment.lab.controlplane.record import Record


@pytest.fixture(autouse=True)
def ready_programs(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path_factory.mktemp("no-programs")
    monkeypatch.setenv("MODELDEPLOYMENT_LAB_BIN", str(folder))
    monkeypatch.setenv("COLUMNS", "400")


@dataclass(frozen=True)
class Outcome:
    """What one call of `md-lab` answered; `errors` has single spaces only."""

    code: int
    output: str
    errors: str


MdLab = Callable[..., Outcome]


@pytest.fixture
def md_lab(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> MdLab:
    def call(*arguments: str) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["md-lab", *arguments])
        with pytest.raises(SystemExit) as leaving:
            cli.main()
        code = leaving.value.code
        captured = capsys.readouterr()
        return Outcome(code if isinstance(code, int) else 0, captured.out, " ".join(captured.err.split()))

    return call


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("frob",), "No such command 'frob'"),
        (("up", "--port", "99999"), "less than or equal to 65535"),
        (("up", "--name", "Bad Name"), "cannot name a control plane"),
        (("up", "--arg", "foo"), "'foo' is not COMPONENT=ARGUMENT"),
        (("up", "--arg", "kubelet=--v=4"), "component 'kubelet' does not exist; the components are etcd"),
        (("logs", "kubelet"), "component 'kubelet' does not exist; the components are etcd"),
    ],
)
def test_wrong_usage_is_code_two_and_names_the_value(md_lab: MdLab, arguments: tuple[str, ...], sentence: str) -> None:
    outcome = md_lab(*arguments)
    assert (outcome.code, outcome.output) == (2, "")
    assert sentence in outcome.errors


@pytest.mark.parametrize("command", ["down", "status", "kubeconfig", "logs", "kubectl"])
def test_what_needs_a_control_plane_says_how_to_get_one(md_lab: MdLab, tmp_path: Path, command: str) -> None:
    outcome = md_lab(command, "--state", str(tmp_path / "none"))
    assert (outcome.code, outcome.output) == (1, "")
    assert outcome.errors.startswith("md-lab: ")
    assert "`md-lab up`" in outcome.errors or "nothing to stop" in outcome.errors
    assert "Traceback" not in outcome.errors


def test_missing_programs_are_named_before_anything_starts(md_lab: MdLab, tmp_path: Path) -> None:
    outcome = md_lab("up", "--state", str(tmp_path / "lab"))
    assert outcome.code == 1
    assert "lacks etcd, kwok, kueue, kube-apiserver" in outcome.errors
    assert not (tmp_path / "lab").exists()


@pytest.fixture
def programs(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path_factory.mktemp("programs")
    for name in ("etcd", "kwok", "kueue", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"):
        (folder / name).write_text("#!/bin/sh\necho not today >&2\nexit 3\n")
        (folder / name).chmod(0o755)
    (folder / "kueue-config" / "crd" / "bases").mkdir(parents=True)
    (folder / "kueue-config" / "webhook").mkdir()
    (folder / "kueue-config" / "webhook" / "manifests.yaml").touch()
    monkeypatch.setenv("MODELDEPLOYMENT_LAB_BIN", str(folder))


@pytest.mark.usefixtures("programs")
def test_a_port_in_use_is_told(md_lab: MdLab, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        outcome = md_lab("up", "--state", str(tmp_path / "lab"), "--port", str(port))
    assert outcome.code == 1
    assert outcome.errors == f"md-lab: port {port} is in use on 127.0.0.1; choose another one, or leave it out"


@pytest.mark.usefixtures("programs")
def test_a_directory_of_somebody_elses_is_refused(md_lab: MdLab, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    outcome = md_lab("up", "--state", str(tmp_path))
    assert outcome.code == 1
    assert "holds other files (thesis.tex)" in outcome.errors


@pytest.mark.usefixtures("programs")
def test_a_component_that_ends_at_start_is_told_with_its_log_and_leaves_nothing_running(
    md_lab: MdLab, tmp_path: Path
) -> None:
    state = str(tmp_path / "lab")
    outcome = md_lab("up", "--state", state)
    assert (outcome.code, outcome.output) == (1, "")
    assert "etcd exited with status 3; the last lines of" in outcome.errors
    assert "| not today" in outcome.errors
    told = md_lab("status", "--state", state)
    assert told.code == 1
    assert told.output.startswith("default: Failed - etcd exited with status 3; see ")
    logs = md_lab("logs", "etcd", "--state", state)
    assert (logs.code, logs.output) == (0, "not today\n")


@pytest.mark.usefixtures("programs")
def test_a_lifeline_that_is_gone_is_told(md_lab: MdLab, tmp_path: Path) -> None:
    outcome = md_lab("up", "--state", str(tmp_path / "lab"), "--lifeline", str(2**22 + 1))
    assert outcome.code == 1
    assert "does not exist; name a process that runs" in outcome.errors


@pytest.fixture
def slow_etcd(programs: None) -> None:  # noqa: ARG001 - it changes what that fixture made
    etcd = Path(os.environ["MODELDEPLOYMENT_LAB_BIN"]) / "etcd"
    etcd.write_text("#!/bin/sh\nexec sleep 600\n")


MD_LAB = (sys.executable, "-c", "from modeldeployment.lab.cli import main; main()")


@contextmanager
def running(*command: str) -> Iterator[subprocess.Popen[str]]:
    """Run a program until the block ends."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def etcd_of(state: Path) -> int:
    """Wait until a start has come as far as etcd, and return its process id."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        record = Record.read(state / "state.json")
        if record is not None and record.components[Component.ETCD].pid:
            return record.components[Component.ETCD].pid
        time.sleep(0.02)
    pytest.fail("etcd was never started")


@pytest.mark.usefixtures("slow_etcd")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_start_leaves_nothing_running(tmp_path: Path, number: signal.Signals) -> None:
    state = tmp_path / "lab"
    with running(*MD_LAB, "up", "--state", str(state)) as starting:
        etcd = etcd_of(state)
        starting.send_signal(number)
        starting.communicate()
    assert starting.returncode not in (0, 1, 2)
    assert not psutil.pid_exists(etcd)


@pytest.mark.usefixtures("slow_etcd")
def test_the_end_of_the_lifeline_process_ends_the_control_plane(tmp_path: Path) -> None:
    state = tmp_path / "lab"
    with (
        running("sleep", "600") as lifeline,
        running(*MD_LAB, "up", "--state", str(state), "--lifeline", str(lifeline.pid)) as starting,
    ):
        etcd = etcd_of(state)
        lifeline.kill()
        _, errors = starting.communicate()
    assert starting.returncode == 1
    assert errors == "md-lab: default was stopped while it started; start it again\n"
    assert not psutil.pid_exists(etcd)


def test_runtimes_that_cannot_be_used_here_are_named_with_the_reason(
    md_lab: MdLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert md_lab("runtimes").output.splitlines() == [
        "processes    usable",
        "kubeconfig   usable",
        "kwokctl      runtime 'kwokctl' is skipped: no program 'kwokctl' on PATH; install it or use processes",
        "kind         runtime 'kind' is skipped: no program 'kind' on PATH; install it or use processes",
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("up", "--runtime", "docker"),
            "runtime 'docker' is unknown; the runtimes are processes, kubeconfig, kwokctl, kind",
        ),
        (("up", "--runtime", "kubeconfig"), "runtime 'kubeconfig' needs --kubeconfig FILE, the cluster to use"),
        (("up", "--kubeconfig", "/nonexistent"), "the cluster of /nonexistent cannot be used"),
    ],
)
def test_a_cluster_that_cannot_be_had_is_one_sentence(md_lab: MdLab, arguments: tuple[str, ...], sentence: str) -> None:
    outcome = md_lab(*arguments)
    assert outcome.code == 1
    assert sentence in outcome.errors
