"""The operator as the process that users run."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import pytest
from modeldeployment.lab.controlplane import processes

PROGRAM: Final = str(Path(sys.executable).with_name("modeldeployment-operator"))
PATIENCE: Final = 60.0


class Operator:
    """One operator process; it ends with this process at the latest.

    Unless told otherwise it runs the controllers alone: a webhook is installed for the whole control plane, which
    others use too.
    """

    def __init__(
        self,
        kubeconfig: Path,
        folder: Path,
        name: str,
        settings: Mapping[str, str],
        only: Sequence[str] = ("controllers",),
    ) -> None:
        self.port = free_port()
        self.settings = settings
        self.log = folder / f"{name}.log"
        listen = {"GPUSTACK_LISTEN": f"127.0.0.1:{self.port}"}
        command = [PROGRAM, "run", "--kubeconfig", str(kubeconfig), *(f"--only={hat}" for hat in only)]
        self.process = processes.start(command, environment({**listen, **settings}), folder, self.log)

    async def ready(self) -> None:
        """Wait until its stores are complete."""
        await self.until(lambda: self.get("/readyz")[0] == 200, "readyz answers 200")

    async def leading(self) -> None:
        """Wait until it holds the Lease and its stores are complete."""
        await self.ready()
        await self.until(lambda: self.metric("modeldeployment_leader") == 1, "it leads")

    async def until(self, holds: Callable[[], object], what: str, within: float = PATIENCE) -> None:
        """Wait until `holds()`, asked ten times a second; fails the test with the log's end otherwise."""
        try:
            async with asyncio.timeout(within):
                while not await asyncio.to_thread(holds):
                    if self.process.poll() is not None:
                        pytest.fail(f"the operator ended with {self.process.returncode}:\n{self.tail()}")
                    await asyncio.sleep(0.1)
        except TimeoutError:
            pytest.fail(f"not so within {within:.0f} s: {what}\n{self.tail()}")

    async def says(self, event: str, part: str = "") -> dict[str, Any]:
        """Return the first log record of that event whose reason contains `part`, once there is one."""
        await self.until(lambda: self.said(event, part), f"the log says {event!r} and {part!r}")
        return self.said(event, part)[0]

    def said(self, event: str, part: str = "") -> list[dict[str, Any]]:
        """The log records of that event so far whose reason contains `part`."""
        return [each for each in self.records() if each["event"] == event and part in str(each.get("reason", ""))]

    def records(self) -> list[dict[str, Any]]:
        """Every complete log record so far."""
        lines = self.log.read_text(errors="replace").split("\n")[:-1]
        return [json.loads(line) for line in lines if line.startswith("{")]

    def tail(self) -> str:
        """The end of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-30:])

    def get(self, path: str) -> tuple[int, str]:
        """Status and body of one of its endpoints; status 0 while it does not listen."""
        return http_get(f"http://127.0.0.1:{self.port}{path}")

    def metric(self, series: str) -> float:
        """The value of a series in its exposition, 0 where it has none."""
        _, text = self.get("/metrics")
        for line in text.splitlines():
            name, _, value = line.rpartition(" ")
            if name == series:
                return float(value)
        return 0.0

    def writes(self) -> dict[str, float]:
        """Everything it counts as written: steps by kind, and status patches."""
        _, text = self.get("/metrics")
        found: dict[str, float] = {}
        for line in text.splitlines():
            name, _, value = line.rpartition(" ")
            if name.startswith(("modeldeployment_steps_total", "modeldeployment_status_writes_total")) and float(value):
                found[name] = float(value)
        return found

    def kill(self) -> None:
        """End it at once, as the kernel would."""
        self.process.kill()
        self.process.wait()

    async def stop(self, within: float = PATIENCE) -> int:
        """Ask it to end and return its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return await asyncio.to_thread(self.process.wait, within)


class Start(Protocol):
    """Starts an operator on the test's control plane; `settings` are environment variables."""

    def __call__(self, **settings: str) -> Operator:
        """Return the process, which has only just begun."""


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """The environment of an operator: nobody's settings but these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GPUSTACK_", "KUBECONFIG"))}
    return {**kept, **settings}


async def run_once(
    *arguments: str, settings: Mapping[str, str] | None = None, within: float = PATIENCE
) -> subprocess.CompletedProcess[str]:
    """Run the program until it ends by itself."""
    return await asyncio.to_thread(
        subprocess.run,
        [PROGRAM, *arguments],
        env=environment(settings or {}),
        capture_output=True,
        text=True,
        timeout=within,
        check=False,
    )


def http_get(url: str) -> tuple[int, str]:
    """Status and body; status 0 where nobody answers."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except OSError:
        return 0, ""
