"""What tests of fake engines ask of them."""

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp
from modeldeployment.lab.engines import FakeEngine

PATIENCE = 20.0


def chat(mark: str = "question", **body: Any) -> dict[str, Any]:
    """The body of a chat whose first word is its mark."""
    return {"model": "model", "messages": [{"role": "user", "content": f"{mark} how far is the moon"}], **body}


async def ask(http: aiohttp.ClientSession, fake: FakeEngine, mark: str = "question", **body: Any) -> tuple[int, str]:
    """Ask for a chat and read all of the answer; the status, and the text."""
    async with http.post(f"{fake.url}/v1/chat/completions", json=chat(mark, **body)) as response:
        return response.status, await response.text()


async def until(holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 -- what other tasks do is polled
            await asyncio.sleep(0.005)


async def gauges(http: aiohttp.ClientSession, fake: FakeEngine) -> dict[str, float]:
    """What the engine tells of requests in flight, without labels."""
    async with http.get(f"{fake.url}/metrics") as response:
        text = await response.text()
    found: dict[str, float] = {}
    for line in text.splitlines():
        name = line.partition("{")[0]
        if "num_" in name and not line.startswith("#"):
            found[name.partition(":")[2]] = float(line.rpartition(" ")[2])
    return found
