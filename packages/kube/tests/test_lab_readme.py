"""The README's example, run against the real API server."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from kube_worlds import gated
from modeldeployment.kube import Client, kinds, load

pytestmark = pytest.mark.lab

README = Path(__file__).parents[1] / "README.md"


async def test_the_example_visits_a_pod_when_it_comes_and_when_it_goes(control_plane: Any, namespace: str) -> None:
    (code,) = re.findall(r"```python\n(import asyncio.*?)```", README.read_text(), re.DOTALL)
    visits: asyncio.Queue[str] = asyncio.Queue()
    names: dict[str, Any] = {"print": lambda *words: visits.put_nowait(" ".join(words))}
    exec(code, names)
    running = asyncio.create_task(names["main"](control_plane.kubeconfig, namespace))
    async with asyncio.timeout(60), Client(load(control_plane.kubeconfig)) as client:
        await client.create(kinds.PODS, gated("a"), namespace)
        assert await visits.get() == "a Pending"
        await client.delete(kinds.PODS, "a", namespace, grace_seconds=0)
        while (visit := await visits.get()) != "a gone":
            assert visit == "a Pending"
    running.cancel()
    await asyncio.wait({running})
