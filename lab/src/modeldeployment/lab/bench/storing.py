"""What a thousand Pods cost in memory, in our store and in the official client's models."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Final

from modeldeployment.lab.bench import goals
from modeldeployment.lab.bench.errors import BenchError
from modeldeployment.lab.bench.restarting import one_list
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.telling import Tell
from modeldeployment.lab.bench.worlds import NAMESPACE, World

_FILLING: Final = "modeldeployment.lab.bench.filling"


async def measure(world: World, tell: Tell) -> tuple[Value, ...]:
    """List the settled Pods into our store in fresh processes, and hold the same Pods as the official client does.

    The larger of two differences counts: resident memory, and allocations as Python traces them. Raises BenchError.
    """
    listing = await one_list(world)
    recorded = world.folder / "pods.json"
    await asyncio.to_thread(recorded.write_bytes, listing)
    size = len(listing)
    del listing
    seen = await ours(world.operator_kubeconfig, NAMESPACE)
    resident, pods = seen["rss"], int(seen["pods"])
    traced = (await ours(world.operator_kubeconfig, NAMESPACE, "-X", "tracemalloc"))["traced"]
    held = (await stock(recorded))["rss"]
    thousand = 1000 / pods
    tell(f"store: {resident:.2f} MiB resident, {traced:.2f} MiB traced, stock client {held:.1f} MiB, {pods} Pods")
    against = (
        f"{pods} Running Pods of {size / pods / 1000:.1f} KB JSON: resident {resident * thousand:.1f}, "
        f"traced {traced * thousand:.1f}; the official client's models {held * thousand:.0f}"
    )
    return (Value(goals.STORE_MEMORY, max(resident, traced) * thousand, against),)


async def ours(kubeconfig: Path, namespace: str, *options: str) -> dict[str, float]:
    """Fill our store in a fresh process: Pods, and MiB by `rss` and `traced`. Raises BenchError."""
    return await _filled(*options, "-m", _FILLING, "ours", str(kubeconfig), namespace)


async def stock(recorded: Path) -> dict[str, float]:
    """Hold a recorded LIST as the official client does, in a fresh process. Raises BenchError."""
    return await _filled("-m", _FILLING, "stock", str(recorded))


async def _filled(*arguments: str) -> dict[str, float]:
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=-1, stderr=-1)
    said, complaint = await process.communicate()
    if process.returncode != 0:
        last = (complaint.decode(errors="replace").strip().splitlines() or ["nothing"])[-1]
        raise BenchError(f"{_FILLING} ended with status {process.returncode}; it said: {last}")
    measured: dict[str, float] = json.loads(said)
    return measured
