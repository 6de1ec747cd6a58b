"""What retirements cost the operator: one pass with a thousand replicas waiting, and many operations side by side.

The API server is a stub in this process and one engine answers for every Pod from another one, over real HTTP; a Pod
that is deleted takes as long to leave as the preStop hook of an idle engine does.
"""

import asyncio
import contextlib
import itertools
import os
import statistics
import sys
import tempfile
from array import array
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from modeldeployment.api import keys
from modeldeployment.lab.bench import goals, stubbed, stubbing
from modeldeployment.lab.bench.errors import BenchError, TooSlow
from modeldeployment.lab.bench.manifests import ROLE
from modeldeployment.lab.bench.operating import Operator, operator
from modeldeployment.lab.bench.pretending import PODS, Pretence
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.stubbing import Json, Stub
from modeldeployment.lab.bench.telling import Tell
from modeldeployment.lab.bench.worlds import DEPLOYMENTS, NAMESPACE
from modeldeployment.lab.controlplane import processes
from modeldeployment.lab.loading import Load, send

LEAVING: Final = 3
"""Replicas that leave the large deployment."""
TOKENS: Final = 240
TOKEN_SECONDS: Final = 0.25
"""What the replicas that leave side by side are busy with: a request that takes a minute."""
HOOK: Final = 6.0
"""Seconds that the Pod of an idle engine takes to leave (facts shutdown §1)."""

_RETIRED: Final = "modeldeployment.lab.bench.retired"
_DEPLOYED: Final = f"/apis/{keys.API_VERSION}/{DEPLOYMENTS.plural}"
_SECONDS: Final = 300.0
_START_SECONDS: Final = 30.0
_POLL: Final = 0.1


class Departing(Stub):
    """A stub whose Pods take their time to leave."""

    def remove(self, collection: str, namespace: str, name: str) -> Json | None:
        """Take an object out; a Pod is told to leave, and goes later."""
        thing = self.get(collection, namespace, name)
        if collection != PODS or thing is None:
            return super().remove(collection, namespace, name)
        if "deletionTimestamp" not in thing["metadata"]:
            leaving = {**thing["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
            self.put(collection, {**thing, "metadata": leaving})
            asyncio.get_running_loop().call_later(HOOK, super().remove, collection, namespace, name)
        return thing


async def measure(replicas: int, deployments: int, tell: Tell) -> tuple[Value, ...]:
    """Shrink one large deployment for a while, then many small ones at once. Raises BenchError."""
    return (await _passes(replicas, tell), await _abreast(deployments, tell))


async def _passes(replicas: int, tell: Tell) -> Value:
    async with _ground() as (pretence, ground, _):
        file = ground.folder / "spent"
        async with operator(ground, program=[sys.executable, "-m", _RETIRED, str(file)]) as running:
            await running.until_ready()
            tell(f"settling one deployment of {replicas} replicas on a stub")
            await stubbed.settle(pretence, ("large",), (ROLE,), replicas)
            before = await _counted(running)
            _scale(pretence, "large", 1)
            await _until(lambda: len(pretence.stub.objects(PODS)) <= replicas - LEAVING, "some replicas have left")
            made = await _counted(running) - before
        spent = array(stubbing.TYPECODE)
        spent.frombytes(file.read_bytes())
    if len(spent) < 2:
        raise BenchError(f"of {made:.0f} passes of the operator {len(spent)} were seen to have a reservation")
    costs = sorted(each / 1000 for each in spent)
    told = f"{len(costs)} passes of {LEAVING} retirements out of {replicas} replicas"
    slow = f"median {statistics.median(costs):.1f}, slowest {costs[-1]:.1f}"
    tell(f"{told}: {slow} ms")
    return Value(goals.RETIRE_PASS, statistics.fmean(costs), f"mean of {told}; {slow}")


async def _abreast(deployments: int, tell: Tell) -> Value:
    names = [f"small-{number:04d}" for number in range(deployments)]
    async with _ground() as (pretence, ground, url), operator(ground) as running:
        await running.until_ready()
        tell(f"settling {deployments} deployments of 2 replicas on a stub")
        await stubbed.settle(pretence, names, (ROLE,), 2)
        asking = asyncio.create_task(send(Load(rate=100, seconds=600, count=1, tokens=(TOKENS, TOKENS)), url, "model"))
        loop = asyncio.get_running_loop()
        used, begun = running.cpu_seconds(), loop.time()
        for name in names:
            _scale(pretence, name, 1)
        await _until(lambda: len(pretence.stub.objects(PODS)) == deployments, "every deployment has one replica left")
        took = loop.time() - begun
        cores = (running.cpu_seconds() - used) / took
        account = await asking
    if account.unanswered:
        raise BenchError(f"the engine was not busy as it was meant to be: {account.text()}")
    busy = TOKENS * TOKEN_SECONDS
    told = (
        f"{deployments} retirements at once, busy for {busy:.0f} s, from the edit until all had left after {took:.0f} s"
    )
    tell(f"{told}: {cores:.2f} cores; requests: {pretence.stub.requests}")
    return Value(goals.RETIRE_SHARE, cores, told)


@contextlib.asynccontextmanager
async def _ground() -> AsyncIterator[tuple[Pretence, stubbed.Ground, str]]:
    async with _engine() as url:
        pretence = Pretence(itertools.repeat(str(urlsplit(url).hostname)), Departing)
        async with stubbed.ground(pretence.stub) as ground:
            yield pretence, ground, url


@contextlib.asynccontextmanager
async def _engine() -> AsyncIterator[str]:
    """One engine in a process of its own; yields where it is asked. Raises TooSlow."""
    program = str(Path(sys.executable).with_name("md-lab"))
    slowly = (f"--token-seconds={TOKEN_SECONDS}", f"--tokens={TOKENS}")
    with tempfile.TemporaryDirectory(prefix="md-engine-") as temporary:
        log = Path(temporary) / "engine.log"
        process = processes.start([program, "engines", *slowly], os.environ, log.parent, log)
        try:
            try:
                async with asyncio.timeout(_START_SECONDS):
                    while not (said := log.read_text() if log.exists() else "").startswith("http"):  # noqa: ASYNC110
                        await asyncio.sleep(_POLL)
            except TimeoutError as error:
                raise TooSlow(f"no engine listened within {_START_SECONDS:.0f} s: {said[-500:]}") from error
            yield said.split()[0]
        finally:
            await asyncio.to_thread(processes.stop, [process], _START_SECONDS)


def _scale(pretence: Pretence, name: str, replicas: int) -> None:
    held = pretence.stub.get(_DEPLOYED, NAMESPACE, name)
    assert held is not None, name
    spec: dict[str, Any] = {**held["spec"], "roles": [{**each, "replicas": replicas} for each in held["spec"]["roles"]]}
    metadata = {**held["metadata"], "generation": held["metadata"]["generation"] + 1}
    pretence.stub.put(_DEPLOYED, {**held, "metadata": metadata, "spec": spec})


async def _counted(running: Operator) -> float:
    return (await running.metrics()).get("passes_total", 0.0)


async def _until(holds: Callable[[], bool], what: str) -> None:
    try:
        async with asyncio.timeout(_SECONDS):
            while not holds():  # noqa: ASYNC110 -- a look now and then is cheaper
                await asyncio.sleep(_POLL)
    except TimeoutError as error:
        raise TooSlow(f"not so within {_SECONDS:.0f} s: {what}") from error
