"""Child processes that never outlive the supervisor.

On Linux the kernel kills a child when the thread that started it ends (PR_SET_PDEATHSIG), so even kill -9 of the
supervisor leaves nothing behind. Children also stay in the supervisor's own process group, which is killed as a
whole where that mechanism does not exist.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import psutil  # type: ignore[import-untyped]

_PR_SET_PDEATHSIG: Final = 1


def _die_with_parent() -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def set_signal() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # the parent died between fork and prctl
            os._exit(1)

    return set_signal


def start(command: Sequence[str], environ: Mapping[str, str], folder: Path, log: Path) -> subprocess.Popen[bytes]:
    """Start a program whose output is appended to `log`. Call from the main thread, whose end ends the child."""
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(environ),
            cwd=folder,
            preexec_fn=_die_with_parent(),
        )


def stop(together: Sequence[subprocess.Popen[bytes]], grace: float) -> None:
    """End programs: SIGTERM to all, SIGKILL to those left after `grace` seconds; paused ones are woken to hear it."""
    living = [process for process in together if process.poll() is None]
    for process in living:
        process.terminate()
        process.send_signal(signal.SIGCONT)
    deadline = time.monotonic() + grace
    while time.monotonic() < deadline and any(process.poll() is None for process in living):
        time.sleep(0.01)
    for process in living:
        if process.poll() is None:
            process.kill()
        process.wait()


def exists(pid: int) -> bool:
    """Tell whether any process has this id."""
    return bool(psutil.pid_exists(pid))


def command_line(pid: int) -> tuple[str, ...]:
    """Return the arguments of a running process; empty if there is none, or if it has ended and awaits its parent."""
    try:
        return tuple(psutil.Process(pid).cmdline())
    except psutil.Error:
        return ()


def usage(pid: int) -> tuple[int, float]:
    """Return a process's resident memory in bytes and its processor seconds; zeros if it is gone."""
    try:
        process = psutil.Process(pid)
        times = process.cpu_times()
        return process.memory_info().rss, round(times.user + times.system, 2)
    except psutil.Error:
        return 0, 0.0
