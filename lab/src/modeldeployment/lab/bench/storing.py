"""What a thousand Pods cost in memory, in our store and in the official client's models."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Final

from modeldeployment.lab.bench import filling, goals
from modeldeployment.lab.bench.errors import BenchError
from modeldeployment.lab.bench.restarting import one_list
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.telling import Tell
from modeldeployment.lab.bench.worlds import World

_FILLING: Final = "modeldeployment.lab.bench.filling"


async def measure(world: World, tell: Tell) -> tuple[Value, ...]:
    """Record the settled Pods as the API server sends them and fill fresh processes with them.

    The larger of two differences counts: resident memory, and allocations as Python traces them. Raises BenchError.
    """
    file = world.folder / "pods.json"
    listing = await one_list(world)
    size = len(listing)
    pods = await asyncio.to_thread(filling.split, listing, file)
    del listing
    resident = (await filled("ours", file))["rss"]
    traced = (await filled("ours", file, "-X", "tracemalloc"))["traced"]
    stock = (await filled("stock", file))["rss"]
    thousand = 1000 / pods
    tell(f"store: {resident:.2f} MiB resident, {traced:.2f} MiB traced, stock client {stock:.1f} MiB, {pods} Pods")
    against = (
        f"{pods} Running Pods of {size / pods / 1000:.1f} KB JSON: resident {resident * thousand:.1f}, "
        f"traced {traced * thousand:.1f}; the official client's models {stock * thousand:.0f}"
    )
    return (Value(goals.STORE_MEMORY, max(resident, traced) * thousand, against),)


async def filled(what: str, file: Path, *options: str) -> dict[str, float]:
    """Fill one store in a fresh process: Pods, and MiB by `rss` and `traced`. Raises BenchError."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, *options, "-m", _FILLING, what, str(file), stdout=-1, stderr=-1
    )
    said, complaint = await process.communicate()
    if process.returncode != 0:
        last = (complaint.decode(errors="replace").strip().splitlines() or ["nothing"])[-1]
        raise BenchError(f"the process that fills the {what} store ended with {process.returncode}; it said: {last}")
    measured: dict[str, float] = json.loads(said)
    return measured
