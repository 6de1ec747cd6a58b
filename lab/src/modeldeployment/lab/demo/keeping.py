"""The process that owns the operator: it ends when the operator does, when asked to, or when its lifeline ends.

Run as `python -m modeldeployment.lab.demo.keeping LIFELINE LOG PROGRAM ARGUMENT…`; LIFELINE is a process id. The exit
code is the operator's, or KILLED and the signal's number. A keeper that is killed takes the operator with it (see
`controlplane.processes`).
"""

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Final

import psutil  # type: ignore[import-untyped]

from modeldeployment.lab.controlplane import processes

KILLED: Final = 128

_POLL: Final = 0.1
_GRACE: Final = 5.0


def main(arguments: list[str]) -> int:
    """Start the operator and stay with it."""
    lifeline = int(arguments[0])
    log = Path(arguments[1])
    told = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: told.set())
    try:
        holder = psutil.Process(lifeline)
    except psutil.NoSuchProcess:
        return 0
    operator = processes.start(arguments[2:], os.environ, log.parent, log)
    while operator.poll() is None and _runs(holder):
        if told.wait(_POLL):
            break
    processes.stop([operator], _GRACE)
    return operator.returncode if operator.returncode >= 0 else KILLED - operator.returncode


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
