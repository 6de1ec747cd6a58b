"""What scalers cost and how late they decide: many of them, each over engines that it has to ask.

The API server is a stub in this process, the engines tell their metrics from another one, and the operator with all of
its hats but the webhook is a third. Load is such that every scaler finds its counts right: what costs is to ask, to
read and to plan, and nothing is written.
"""

import asyncio
import contextlib
import json
import os
import statistics
import sys
import tempfile
from array import array
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from modeldeployment.api import keys
from modeldeployment.lab.bench import goals, stubbed, stubbing
from modeldeployment.lab.bench.errors import BenchError, TooSlow
from modeldeployment.lab.bench.manifests import ROLE
from modeldeployment.lab.bench.operating import operator
from modeldeployment.lab.bench.pretending import Pretence
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.telling import Tell
from modeldeployment.lab.bench.worlds import NAMESPACE
from modeldeployment.lab.controlplane import processes

_SCALED: Final = "modeldeployment.lab.bench.scaled"
_EXPORTING: Final = "modeldeployment.lab.bench.exporting"
_COLLECTION: Final = f"/apis/{keys.API_VERSION}/modeldeploymentscalers"

CAPACITY: Final = 825
"""Tokens a second of one replica: a little more than each serves, and too little for one replica fewer."""
_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class Size:
    """How many scalers of how many replicas each, how often they plan, and for how long they are watched.

    Before that they have `warm` seconds, until windows are established and each has planned a few times.
    """

    scalers: int
    replicas: int
    seconds: float = 90.0
    warm: float = 60.0
    interval: int = 15

    def __str__(self) -> str:
        return f"{self.scalers} x {self.replicas} replicas every {self.interval} s"


@dataclass(frozen=True, slots=True)
class Run:
    """What was seen of one run: cores used, how late each plan was in seconds, the promptest first, and the rest.

    `memory` is in MiB, `asked` in engines a second.
    """

    cores: float
    lags: Sequence[float]
    memory: float
    asked: float


async def active(size: Size, tell: Tell) -> tuple[Value, ...]:
    """Let Active scalers plan. Raises BenchError."""
    run = await _run("Active", size, tell)
    p99 = run.lags[int(len(run.lags) * 0.99)]
    middle, slowest = statistics.median(run.lags), run.lags[-1]
    told = f"{len(run.lags)} plans, each after its sample was due; median {middle:.2f} s, slowest {slowest:.2f}"
    return (
        Value(goals.SCALER_SHARE, run.cores, f"{size} Active; {run.asked:.0f} engines a second, {run.memory:.0f} MiB"),
        Value(goals.SCALER_LAG, p99, f"{size} Active; {told}"),
    )


async def shadow(size: Size, tell: Tell) -> tuple[Value, ...]:
    """Let Shadow scalers plan. Raises BenchError."""
    run = await _run("Shadow", size, tell)
    told = f"{run.asked:.0f} engines a second, {run.memory:.0f} MiB, the latest plan {run.lags[-1]:.2f} s late"
    return (Value(goals.SCALER_SHADOW, run.cores, f"{size} Shadow; {told}"),)


def manifest(name: str, mode: str, size: Size) -> dict[str, Any]:
    """A scaler of one deployment with the windows that are soonest established."""
    return {
        "apiVersion": keys.API_VERSION,
        "kind": "ModelDeploymentScaler",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "targetRef": {"name": name},
            "mode": mode,
            "sampling": {"intervalSeconds": size.interval, "pendingTimeoutSeconds": 300},
            "roles": [{"name": ROLE, "minReplicas": 1, "maxReplicas": 2 * size.replicas}],
            "algorithm": {
                "type": "TokenThroughput",
                "tokenThroughput": {
                    "serverTargetTokensPerSecond": str(CAPACITY),
                    "stableWindowSeconds": 60,
                    "panicWindowSeconds": 30,
                },
            },
        },
    }


async def _run(mode: str, size: Size, tell: Tell) -> Run:
    names = [f"scaled-{number:04d}" for number in range(size.scalers)]
    with tempfile.TemporaryDirectory(prefix="md-scaled-") as temporary:
        planned, told = Path(temporary) / "planned", Path(temporary) / "told"
        async with _exporters(size.scalers * size.replicas, told) as addresses:
            pretence = Pretence(addresses)
            program = [sys.executable, "-m", _SCALED, str(planned)]
            async with (
                stubbed.ground(pretence.stub) as ground,
                operator(ground, "--only=controllers", "--only=scaler", program=program) as running,
            ):
                await running.until_ready()
                tell(f"settling {size.scalers} deployments of {size.replicas} replicas on a stub")
                await stubbed.settle(pretence, names, (ROLE,), size.replicas)
                tell(f"{mode} scalers begin; after {size.warm:.0f} s they are watched for {size.seconds:.0f} s")
                for number, name in enumerate(names):
                    body = manifest(name, mode, size)
                    body["metadata"]["uid"] = f"6a7c1f2e-0000-4000-8000-{number:012d}"
                    pretence.stub.put(_COLLECTION, body)
                    # As those of people do, they begin at different moments of an interval.
                    await asyncio.sleep(size.interval / size.scalers)
                await asyncio.sleep(size.warm)
                used, begun = running.cpu_seconds(), stubbing.now()
                await asyncio.sleep(size.seconds)
                ended, memory = stubbing.now(), running.memory()
                cores = (running.cpu_seconds() - used) * 1e6 / (ended - begun)
                written = dict(pretence.stub.requests)
        asked, plans = times(told.read_bytes()), times(planned.read_bytes())
    lags = late(plans, begun, ended, size.interval)
    if not lags:
        raise BenchError(f"no scaler was seen to plan twice within {size.seconds:.0f} s; requests: {written}")
    within = sum(begun <= at <= ended for _, at in asked)
    tell(f"{len(lags)} plans, {within} engines asked, {cores:.3f} cores, {memory:.0f} MiB; requests: {written}")
    return Run(cores, lags, memory, within * 1e6 / (ended - begun))


def times(content: bytes) -> list[tuple[int, int]]:
    """Read pairs of who and when."""
    numbers = array(stubbing.TYPECODE)
    numbers.frombytes(content)
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def late(plans: Sequence[tuple[int, int]], begun: int, ended: int, interval: int) -> list[float]:
    """How many seconds after its sample was due each plan was made, the promptest first.

    The sample of a plan is due an interval after the plan before; a plan that was never made counts with the next.
    """
    last: dict[int, int] = {}
    found: list[float] = []
    for who, at in plans:
        if who in last and begun <= at <= ended:
            found.append(max(0.0, (at - last[who]) / 1e6 - interval))
        last[who] = at
    return sorted(found)


@contextlib.asynccontextmanager
async def _exporters(count: int, file: Path) -> AsyncIterator[list[str]]:
    """Engines in a process of their own, which writes `file` at its end; yields where they listen. Raises TooSlow."""
    log = file.with_suffix(".log")
    process = processes.start([sys.executable, "-m", _EXPORTING, str(count), str(file)], os.environ, file.parent, log)
    try:
        try:
            async with asyncio.timeout(_START_SECONDS):
                while not (said := log.read_text() if log.exists() else "").endswith("\n"):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        except TimeoutError as error:
            raise TooSlow(f"{count} engines did not listen within {_START_SECONDS:.0f} s: {said[-500:]}") from error
        yield json.loads(said)
    finally:
        await asyncio.to_thread(processes.stop, [process], _STOP_SECONDS)
