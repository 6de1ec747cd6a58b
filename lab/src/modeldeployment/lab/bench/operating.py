"""The real operator, as a child process that ends with the suite."""

import asyncio
import contextlib
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from typing import Final, Protocol

import aiohttp

from modeldeployment.lab.bench.errors import OperatorFailed
from modeldeployment.lab.controlplane import ports, processes
from modeldeployment.lab.errors import tail

PROGRAM: Final = "modeldeployment-operator"
_POLL: Final = 0.05
"""Asking a starting operator a hundred times a second would be a twentieth of what it does meanwhile."""
_STOP_SECONDS: Final = 20.0
_SERIES: Final = re.compile(r"^modeldeployment_(\w+?)(\{[^}]*\})? (\S+)$", re.MULTILINE)


class Home(Protocol):
    """Where the operator runs: a folder for its files and a kubeconfig of its own."""

    @property
    def folder(self) -> Path:
        """Of its log."""
        ...

    @property
    def operator_kubeconfig(self) -> Path:
        """Its way to the API server."""
        ...


@dataclass(frozen=True, slots=True)
class Operator:
    """The running operator; `started` is when it was executed (`time.perf_counter`)."""

    process: Popen[bytes]
    started: float
    listen: str
    log: Path
    session: aiohttp.ClientSession

    def cpu_seconds(self) -> float:
        """Processor seconds used so far."""
        return processes.usage(self.process.pid)[1]

    def memory(self) -> float:
        """Resident memory now, in MiB."""
        return processes.usage(self.process.pid)[0] / 2**20

    async def until_ready(self, seconds: float = 60.0) -> float:
        """Wait until every store has seen a full list; the answer is when. Raises OperatorFailed."""
        async with self._limit(seconds, "did not become ready"):
            while True:
                if await self._get("/readyz") is not None:
                    return time.perf_counter()
                await asyncio.sleep(_POLL)

    async def until_passes(self, count: int, seconds: float = 60.0) -> float:
        """Wait until so many passes are over and none is under way; the answer is when. Raises OperatorFailed."""
        await self.until_ready(seconds)
        async with self._limit(seconds, f"made fewer than {count} passes"):
            while True:
                series = await self.metrics()
                if series.get("passes_total", 0) >= count and series.get("passes_busy", 1) == 0:
                    return time.perf_counter()
                await asyncio.sleep(_POLL)

    async def metrics(self) -> Mapping[str, float]:
        """The operator's own series without their prefix; those with labels summed up."""
        return series(await self._get("/metrics") or "")

    async def _get(self, path: str) -> str | None:
        if self.process.poll() is not None:
            raise OperatorFailed(self._said(f"ended with status {self.process.returncode}"))
        try:
            async with self.session.get(f"http://{self.listen}{path}") as answer:
                text = await answer.text()
                return text if answer.status == 200 else None
        except aiohttp.ClientError:
            return None

    @contextlib.asynccontextmanager
    async def _limit(self, seconds: float, what: str) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError as error:
            raise OperatorFailed(self._said(f"{what} within {seconds:.0f} s")) from error

    def _said(self, what: str) -> str:
        return f"the operator {what}; the end of its log:\n" + "\n".join(f"  | {line}" for line in tail(self.log))


def series(exposition: str) -> dict[str, float]:
    """Read the operator's series from the text Prometheus reads, labels summed up."""
    found: dict[str, float] = {}
    for name, _, value in _SERIES.findall(exposition):
        found[name] = found.get(name, 0.0) + float(value)
    return found


@contextlib.asynccontextmanager
async def operator(
    home: Home,
    *arguments: str,
    settings: Mapping[str, str] | None = None,
    program: Sequence[str] = (),
    name: str = PROGRAM,
) -> AsyncIterator[Operator]:
    """Run the operator; it is asked to stop at the end, which frees its Lease for the next.

    `program` stands in for the operator's own; `name` tells the logs of several apart. Raises OperatorFailed.
    """
    own = Path(sys.executable).with_name(PROGRAM)
    if not own.exists():
        raise OperatorFailed(f"{own} does not exist; install modeldeployment-operator beside the lab")
    listen = f"127.0.0.1:{ports.choose().control}"
    log = home.folder / f"{name}.log"
    log.unlink(missing_ok=True)
    environ = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home.folder),
        "GPUSTACK_LISTEN": listen,
        "GPUSTACK_LEADER_NAMESPACE": "default",
        **(settings or {}),
    }
    command = [*(program or (str(own),)), "run", "--kubeconfig", str(home.operator_kubeconfig), *arguments]
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=10)) as session:
        started = time.perf_counter()
        process = processes.start(command, environ, home.folder, log)
        try:
            yield Operator(process, started, listen, log, session)
        finally:
            # Not on this loop, which may serve what the operator does at its end.
            await asyncio.to_thread(processes.stop, [process], _STOP_SECONDS)
