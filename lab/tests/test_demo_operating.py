import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest
from modeldeployment.lab.demo import operating
from modeldeployment.lab.demo.errors import OperatorAbsent
from modeldeployment.lab.demo.keeping import KILLED

SLEEPER = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def keeper(lifeline: int, log: Path, command: list[str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-P", "-m", operating.KEEPER, str(lifeline), str(log), *command])


def kept(keeping: "subprocess.Popen[bytes]", log: Path) -> psutil.Process:
    wait_until(lambda: log.exists() and log.read_text() == "up\n")
    return psutil.Process(keeping.pid).children()[0]


def test_what_is_kept_ends_with_its_lifeline(tmp_path: Path) -> None:
    with subprocess.Popen(SLEEPER, stdout=subprocess.DEVNULL) as lifeline:
        keeping = keeper(lifeline.pid, tmp_path / "log", SLEEPER)
        child = kept(keeping, tmp_path / "log")
        lifeline.kill()
        assert keeping.wait(20) == KILLED + signal.SIGTERM
    assert not child.is_running()


def test_what_is_kept_ends_when_the_keeper_is_asked_to(tmp_path: Path) -> None:
    keeping = keeper(os.getpid(), tmp_path / "log", SLEEPER)
    child = kept(keeping, tmp_path / "log")
    keeping.terminate()
    keeping.wait(20)
    assert not child.is_running()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent was killed")
def test_what_is_kept_ends_with_a_keeper_that_was_killed(tmp_path: Path) -> None:
    keeping = keeper(os.getpid(), tmp_path / "log", SLEEPER)
    child = kept(keeping, tmp_path / "log")
    keeping.kill()
    keeping.wait(20)
    child.wait(20)


def test_the_keeper_tells_how_what_it_kept_ended(tmp_path: Path) -> None:
    keeping = keeper(os.getpid(), tmp_path / "log", [sys.executable, "-c", "raise SystemExit(7)"])
    assert operating.ending(keeping.wait(20)) == "ended with exit code 7"
    dying = [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]
    assert operating.ending(keeper(os.getpid(), tmp_path / "log", dying).wait(20)) == "was killed by SIGKILL"


def test_a_lifeline_that_ended_before_keeps_nothing(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
        assert keeper(ended.pid, tmp_path / "log", SLEEPER).wait(20) == 0
    assert not (tmp_path / "log").exists()


def test_the_callers_own_operator_settings_are_not_the_demos() -> None:
    environment = operating.environment({"GPUSTACK_LOG_FORMAT": "console", "GPUSTACK_WORKERS": "1", "PATH": "/bin"}, 9)
    assert environment == {"PATH": "/bin", "GPUSTACK_LISTEN": "127.0.0.1:9", "GPUSTACK_LOG_FORMAT": "json"}


def test_the_webhook_is_reached_at_the_loopback_port_it_listens_on() -> None:
    caller = {"GPUSTACK_WEBHOOK_SERVICE": "gpustack/webhook"}
    assert operating.environment(caller, 9, 10) == {
        "GPUSTACK_LISTEN": "127.0.0.1:9",
        "GPUSTACK_LOG_FORMAT": "json",
        "GPUSTACK_WEBHOOK_LISTEN": "127.0.0.1:10",
        "GPUSTACK_WEBHOOK_URL": "https://127.0.0.1:10",
    }


def test_an_operator_that_is_not_installed_is_told_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(OperatorAbsent, match=r"there is no program modeldeployment-operator in .*; install it there"):
        operating.find(tmp_path / "python")
    (tmp_path / "modeldeployment-operator").touch()
    assert operating.find(tmp_path / "python") == str(tmp_path / "modeldeployment-operator")


def test_errors_and_lines_that_are_no_records_are_complaints() -> None:
    lines = [
        '{"event": "started", "level": "info", "logger": "operator"}',
        '{"event": "settings not taken over", "level": "warning"}',
        '{"event": "pass failed", "level": "error", "object": "team-a/chat", "reason": "409"}',
        "Traceback (most recent call last):",
        "",
    ]
    assert list(operating.complaints(lines)) == [
        "error pass failed team-a/chat 409",
        "Traceback (most recent call last):",
    ]
