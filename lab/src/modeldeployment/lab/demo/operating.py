"""The real operator as a child process: found, started, asked how it is, and ended."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from modeldeployment.lab.controlplane import ports
from modeldeployment.lab.controlplane.options import HOST
from modeldeployment.lab.demo.errors import OperatorAbsent
from modeldeployment.lab.demo.keeping import KILLED
from modeldeployment.lab.errors import tail

PROGRAM: Final = "modeldeployment-operator"
KEEPER: Final = "modeldeployment.lab.demo.keeping"
SETTINGS: Final = "GPUSTACK_"
"""Prefix of the operator's settings in the environment; the caller's own are not for the demo's operator."""

_STOP_SECONDS: Final = 10.0
_QUIET: Final = ("debug", "info", "warning")
_CROP: Final = 300


@dataclass(frozen=True, slots=True)
class Operator:
    """A running operator behind its keeper; `log` holds one JSON object a line."""

    log: Path
    port: int
    _keeper: "subprocess.Popen[bytes]" = field(repr=False)

    @property
    def metrics(self) -> str:
        """Where it tells its metrics."""
        return f"http://{HOST}:{self.port}/metrics"

    def ending(self) -> str:
        """Return how it ended, or nothing while it runs."""
        return "" if (code := self._keeper.poll()) is None else ending(code)

    def last_lines(self) -> tuple[str, ...]:
        """Return the end of its log, for people."""
        return tuple(readable(line) for line in tail(self.log))

    def complaints(self) -> tuple[str, ...]:
        """Return the errors it logged, and whatever is no log record: a traceback, a message of the interpreter."""
        return tuple(complaints(self.log.read_text(errors="replace").splitlines()))

    def stop(self) -> None:
        """End it: it finishes its pass and hands its Lease on."""
        self._keeper.terminate()
        deadline = time.monotonic() + _STOP_SECONDS
        while self._keeper.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        if self._keeper.poll() is None:
            os.killpg(self._keeper.pid, signal.SIGKILL)
            self._keeper.wait()


def start(kubeconfig: Path, log: Path, lifeline: int, environ: Mapping[str, str], *, webhook: bool) -> Operator:
    """Start the operator, to end with the process `lifeline`; raises OperatorAbsent.

    With `webhook` it has writes reviewed, which needs an API server on this machine. It is in a session of its own, so
    a terminal's Ctrl-C reaches it only by way of us.
    """
    program = find(Path(sys.executable))
    free = (port for port in random.sample(range(20_000, 32_000), 1_000) if ports.is_free(port))
    port = next(free)
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(b"")
    keeper = subprocess.Popen(
        [sys.executable, "-P", "-m", KEEPER, str(lifeline), str(log), program, "run", "--kubeconfig", str(kubeconfig)],
        env=environment(environ, port, next(free) if webhook else None),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return Operator(log, port, keeper)


def find(interpreter: Path) -> str:
    """Return the operator's program beside an interpreter, else on PATH; raises OperatorAbsent."""
    beside = interpreter.with_name(PROGRAM)
    found = str(beside) if beside.is_file() else shutil.which(PROGRAM)
    if found is None:
        raise OperatorAbsent(f"there is no program {PROGRAM} in {interpreter.parent}; install it there: pip install it")
    return found


def environment(environ: Mapping[str, str], port: int, webhook: int | None = None) -> dict[str, str]:
    """Return the operator's environment: the caller's without its own settings, and the demo's.

    `webhook` is the port of the webhook; without one there is none.
    """
    inherited = {name: value for name, value in environ.items() if not name.startswith(SETTINGS)}
    settings = {"LISTEN": f"{HOST}:{port}", "LOG_FORMAT": "json"}
    if webhook is not None:
        settings |= {"WEBHOOK_LISTEN": f"{HOST}:{webhook}", "WEBHOOK_URL": f"https://{HOST}:{webhook}"}
    return inherited | {f"{SETTINGS}{name}": value for name, value in settings.items()}


def ending(code: int) -> str:
    """Say how the operator ended, by its keeper's exit code."""
    if code > KILLED:
        return f"was killed by {signal.Signals(code - KILLED).name}"
    if code < 0:
        return f"ended with its keeper, which was killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def complaints(lines: Iterable[str]) -> Iterator[str]:
    """Yield, readable, the records of a JSON log above a warning, and the lines that are no record."""
    for line in lines:
        if line.strip() and _level(line) not in _QUIET:
            yield readable(line)


def readable(line: str) -> str:
    """Return a JSON log record as one line for people; any other line as it is, both cropped."""
    record = _record(line)
    if not record:
        return line[:_CROP]
    parts = [record.get(key, "") for key in ("timestamp", "level", "logger", "event", "object", "reason", "exception")]
    return " ".join(str(part) for part in parts if part).replace("\n", " | ")[:_CROP]


def _level(line: str) -> str:
    return str(_record(line).get("level", ""))


def _record(line: str) -> dict[str, object]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
