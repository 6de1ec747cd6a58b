"""How long a restarted operator takes to know its world again, beside one raw LIST of its Pods; and what it writes."""

import asyncio
import statistics
import time
from typing import Final

from modeldeployment.lab.bench import audits
from modeldeployment.lab.bench.errors import Unexpected
from modeldeployment.lab.bench.figures import lists_beyond
from modeldeployment.lab.bench.goals import Measurement
from modeldeployment.lab.bench.operating import operator
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.telling import Tell
from modeldeployment.lab.bench.wire import Connection
from modeldeployment.lab.bench.worlds import PODS, World

ROUNDS: Final = 3
FREE_SECONDS: Final = 2.0
"""What a restart may take besides its LISTs."""

AFTER_SECONDS: Final = 10.0
_LISTS: Final = 5


async def measure(
    world: World, pods: int, deployments: int, after: float, asked: tuple[Measurement, Measurement], tell: Tell
) -> tuple[Value, ...]:
    """Restart the operator over settled Pods: until stores are synced and every deployment's first pass is over.

    LISTs are read and not parsed. Writes are counted until `after` seconds later, by the API server. Raises BenchError.
    """
    seconds: list[float] = []
    lists = await raw_lists(world)
    written: list[dict[tuple[str, str], int]] = []
    for _ in range(ROUNDS):
        audit = world.audit()
        async with operator(world) as running:
            done = await running.until_passes(deployments)
            seconds.append(done - running.started)
            used = running.cpu_seconds()
            await asyncio.sleep(after)
            written.append(audits.writes(audit.since_last()))
        lists += await raw_lists(world)
        tell(f"restart: {seconds[-1]:.2f} s, {used:.1f} CPU s; wrote {audits.told(written[-1])}")
    most = max(written, key=lambda each: sum(each.values()))
    against = (
        f"restart {statistics.median(seconds):.2f} s (best {min(seconds):.2f}) with {pods} settled Pods, "
        f"{FREE_SECONDS:.0f} s free; raw LIST {statistics.median(lists):.2f} s"
    )
    ratio, writes = asked
    return (
        Value(ratio, lists_beyond(seconds, lists, FREE_SECONDS), against),
        Value(writes, sum(most.values()), f"most of {ROUNDS} restarts and {after:.0f} s: {audits.told(most)}"),
    )


async def raw_lists(world: World) -> list[float]:
    """The seconds of some LISTs of all Pods, read to the last byte."""
    connection = await Connection.open(world.driver)
    try:
        taken = []
        for _ in range(_LISTS):
            began = time.perf_counter()
            await _list(connection)
            taken.append(time.perf_counter() - began)
        return taken
    finally:
        await connection.close()


async def one_list(world: World) -> bytes:
    """One LIST of all Pods, as the API server sends it."""
    connection = await Connection.open(world.driver)
    try:
        return await _list(connection)
    finally:
        await connection.close()


async def _list(connection: Connection) -> bytes:
    status, body = await connection.call("GET", PODS)
    if status != 200:
        raise Unexpected(f"LIST {PODS}: the API server answered {status}: {body[:300].decode(errors='replace')}")
    return body
