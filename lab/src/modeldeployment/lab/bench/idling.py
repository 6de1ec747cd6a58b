"""What the operator costs while nothing happens."""

import asyncio
import time
from typing import Final

from modeldeployment.lab.bench import audits, goals
from modeldeployment.lab.bench.clearing import clear
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.settling import settled
from modeldeployment.lab.bench.telling import Tell
from modeldeployment.lab.bench.worlds import World

SECONDS: Final = 60.0


async def measure(world: World, deployments: int, seconds: float, tell: Tell) -> tuple[Value, ...]:
    """Settle deployments of one replica each, then count requests and processor time of one quiet window.

    Watches and Leases are the two kinds of request that are allowed; reads count as much as writes. Raises BenchError.
    """
    async with settled(world, "idle", deployments=deployments, replicas=1, tell=tell) as running:
        tell(f"{deployments} deployments are settled; watching them for {seconds:.0f} s")
        audit = world.audit()
        began, used = time.perf_counter(), running.cpu_seconds()
        await asyncio.sleep(seconds)
        asked = audit.since_last()
        share = (running.cpu_seconds() - used) / (time.perf_counter() - began)
    tell(f"idle: {share:.4f} cores; requests: {audits.told(asked)}")
    await clear(world)
    beyond = audits.besides_watches_and_leases(asked)
    window = f"{deployments} settled deployments, {seconds:.0f} s"
    return (
        Value(goals.IDLE_REQUESTS, sum(beyond.values()), f"{window}; requests: {audits.told(asked)}"),
        Value(goals.IDLE_SHARE, share, f"{window}; processor time of the operator alone"),
    )
