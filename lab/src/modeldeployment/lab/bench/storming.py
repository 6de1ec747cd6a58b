"""The operator over a thousand deployments while their Pods change a thousand times a second.

The API server is a stub in this process, since the real one tops out near a hundred writes a second on two cores;
kubelet and Kueue are what it does when a Pod is created. The operator is its own process and sees what real ones show.
"""

import asyncio
import statistics
import sys
from array import array
from collections.abc import Sequence
from typing import Final

from modeldeployment.lab.bench import goals, stubbed, stubbing
from modeldeployment.lab.bench.errors import BenchError
from modeldeployment.lab.bench.operating import Operator, operator
from modeldeployment.lab.bench.pretending import PODS, Pretence
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.telling import Tell

_STORMED: Final = "modeldeployment.lab.bench.stormed"

RATE: Final = 1000.0
"""Changes a second."""
SECONDS: Final = 60.0
ROLES: Final = ("first", "second", "third")

_READINESS_EVERY: Final = 10
"""One change in so many turns a Pod's readiness, which has to be written; a real API server would bear no more."""
_TICK: Final = 0.005


async def measure(deployments: int, rate: float, seconds: float, tell: Tell) -> tuple[Value, ...]:
    """Settle deployments of three roles of one Pod, then let the storm pass over them. Raises BenchError."""
    pretence = Pretence()
    async with stubbed.ground(pretence.stub) as ground:
        file = ground.folder / "decided"
        program = [sys.executable, "-m", _STORMED, str(file)]
        async with operator(ground, program=program) as running:
            await running.until_ready()
            tell(f"settling {deployments} deployments of {len(ROLES)} roles on a stub")
            await stubbed.settle(pretence, [f"fleet-{number:04d}" for number in range(deployments)], ROLES, replicas=1)
            settled = running.memory()
            tell(
                f"{deployments} deployments of {len(ROLES)} roles: {settled:.0f} MiB, {running.cpu_seconds():.0f} CPU s"
            )
            with stubbed.no_garbage():
                begun, sent, cores, most = await _storm(pretence, running, rate, seconds)
            ended = stubbing.now()
            await stubbed.until_quiet(pretence.stub)
            asked = dict(pretence.stub.requests)
        ages = taken(file.read_bytes(), begun, ended)
    if not ages:
        raise BenchError("no decision of the operator was seen while its Pods changed")
    p99 = ages[int(len(ages) * 0.99)]
    world = f"{deployments} deployments x {len(ROLES)} roles"
    storm = f"{sent} changes in {seconds:.0f} s, one in {_READINESS_EVERY} of readiness, else restarts"
    middle, slowest = statistics.median(ages), ages[-1]
    line = f"{world}; {storm}; {len(ages)} decided on, median {middle:.1f} ms, slowest {slowest:.0f}"
    tell(f"{line}; p99 {p99:.1f} ms; {cores:.2f} cores; {most:.0f} MiB; requests: {asked}")
    return (
        Value(goals.STORM_P99, p99, line),
        Value(goals.FLEET_MEMORY, max(settled, most), f"{world}; settled {settled:.0f}, most in the storm {most:.0f}"),
        Value(goals.FLEET_CORES, cores, f"{world}; in the storm; settled it is that of idle deployments"),
    )


def taken(content: bytes, begun: int, ended: int) -> Sequence[float]:
    """The ages in milliseconds, youngest first, of the versions that came to be in a time of `stubbing.now`."""
    numbers = array(stubbing.TYPECODE)
    numbers.frombytes(content)
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return sorted((at - version) / 1000 for version, at in pairs if begun <= version <= ended)


async def _storm(pretence: Pretence, running: Operator, rate: float, seconds: float) -> tuple[int, int, float, float]:
    """Change Pods, each in its turn: when it began, how many changes, cores used, and most memory seen."""
    loop = asyncio.get_running_loop()
    names = [each["metadata"]["name"] for each in pretence.stub.objects(PODS)]
    # Neighbours in time are of different deployments.
    names = [name for offset in range(len(ROLES)) for name in names[offset :: len(ROLES)]]
    total = int(rate * seconds)
    most, sampled, sent = 0.0, 0.0, 0
    began, used, begun = loop.time(), running.cpu_seconds(), stubbing.now()
    while sent < total:
        await asyncio.sleep(_TICK)
        elapsed = loop.time() - began
        while sent < min(total, int(elapsed * rate)):
            name = names[sent % len(names)]
            if sent % _READINESS_EVERY == 0:
                pretence.turn_readiness(name)
            else:
                pretence.restart(name)
            sent += 1
        if elapsed - sampled >= 1.0:
            most, sampled = max(most, running.memory()), elapsed
    cores = (running.cpu_seconds() - used) / (loop.time() - began)
    return begun, sent, cores, max(most, running.memory())
