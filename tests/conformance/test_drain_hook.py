"""The preStop hook of rendered Pods, its very command line, run against fake engines."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import render_worlds
from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines import Behaviour, EngineServer, FakeEngine, Half, Manner
from modeldeployment.lab.serving import hook
from modeldeployment.render import Seat, render

CHAT = {"messages": [{"role": "user", "content": "how far is the moon"}]}
WINDOW = 15
"""The shortest grace period that is admitted; its hook reads for five seconds."""


@pytest.fixture
async def server() -> AsyncIterator[EngineServer]:
    async with EngineServer() as server:
        yield server


def pod(engine: EngineName, member: int = 0, **fields: Any) -> dict[str, Any]:
    """A Pod of a Server role as it is rendered."""
    role = render_worlds.role(terminationGracePeriodSeconds=WINDOW, **fields)
    (rendered,) = render(render_worlds.deployment(role, engine=engine), render_worlds.facts()).roles
    return rendered.template.pod(Seat(0, member))


async def leaves(leaving: dict[str, Any], address: str) -> None:
    """Run the hook of a Pod at an address until it returns, as a kubelet does."""
    command = hook(leaving, address)
    assert command is not None
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    assert await process.communicate() == (b"", b"")
    assert process.returncode == 0


def reads(engine: FakeEngine) -> int:
    return len(engine.asked("/metrics"))


def certificate() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(render_worlds.__file__).with_name("selfsigned.pem"))
    return context


async def until(engine: FakeEngine, count: int) -> None:
    async with asyncio.timeout(60):
        while reads(engine) < count:  # noqa: ASYNC110 -- what another process does is polled
            await asyncio.sleep(0.02)


async def runs(engine: FakeEngine, stack: AsyncExitStack, http: aiohttp.ClientSession) -> None:
    """Give an engine a request that it does not answer before it is released."""
    engine.hold()
    asking = asyncio.create_task(http.post(f"{engine.url}/v1/chat/completions", json=CHAT).__aenter__())
    stack.callback(asking.cancel)
    async with asyncio.timeout(60):
        while not engine.model.running:  # noqa: ASYNC110 -- as above
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("name", EngineName)
async def test_the_hook_as_rendered_lets_an_engine_go_when_it_is_idle_and_not_before(
    server: EngineServer, name: EngineName
) -> None:
    """Every way at once, since each takes the seconds it takes."""
    tls = {"extraArgs": ["--ssl-certfile=/tls/crt", "--ssl-keyfile=/tls/key"]}
    first = "vllm:num_requests_waiting" if name is EngineName.VLLM else "sglang:num_queue_reqs"
    opened = {
        way: await server.open(name)
        for way in ("idle", "busy, then idle", "busy", "hangs", "trickles", "fails", "is no TLS", "a series is missing")
    }
    opened["other port"] = await server.open(name, ports=(9100,))
    opened["TLS"] = await server.open(name, tls=certificate())
    opened["says it is idle once"] = await server.open(name)
    opened["says nonsense"] = await server.open(name)

    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(aiohttp.ClientSession())
        for way in ("busy, then idle", "busy", "says it is idle once"):
            await runs(opened[way], stack, http)
        opened["hangs"].tell(manner=Manner.HANG)
        opened["trickles"].tell(manner=Manner.TRICKLE)
        opened["fails"].tell(status=500)
        opened["a series is missing"].tell(without=frozenset({first}))
        opened["says nonsense"].tell(lies={first: "many"})

        async def changes() -> None:
            await until(opened["busy, then idle"], 2)
            opened["busy, then idle"].release()

        async def lies() -> None:
            engine, running = opened["says it is idle once"], first.replace("waiting", "running")
            running = "sglang:num_running_reqs" if name is EngineName.SGLANG else running
            await until(engine, 1)
            engine.tell(lies={running: "0"})
            await until(engine, 2)
            engine.tell()

        special: dict[str, dict[str, Any]] = {
            "other port": {"extraArgs": ["--port=9100"]},
            "TLS": tls,
            "is no TLS": tls,
        }
        hooks = [leaves(pod(name, **special.get(way, {})), engine.address) for way, engine in opened.items()]
        nobody = leaves(pod(name, member=1, size=2), "127.1.255.254")
        await asyncio.gather(*hooks, nobody, changes(), lies())

        counts = {way: reads(engine) for way, engine in opened.items()}
        assert {way: counts.pop(way) for way in ("idle", "other port", "TLS", "fails", "is no TLS")} == {
            "idle": 2,
            "other port": 2,
            "TLS": 2,
            "fails": 1,
            "is no TLS": 0,
        }
        assert counts.pop("busy, then idle") in (4, 5)
        assert all(counts.values()), counts
        assert min(counts[way] for way in ("busy", "a series is missing", "says nonsense", "says it is idle once")) > 2
        assert opened["busy"].model.running == opened["says it is idle once"].model.running == 1


async def test_the_hook_of_an_sglang_half_counts_every_queue_of_the_pair(server: EngineServer) -> None:
    room = {"bootstrap_host": "127.1.0.1", "bootstrap_port": 8998, "bootstrap_room": 3}
    prefill = await server.open(EngineName.SGLANG, behaviour=Behaviour(half=Half.PREFILL))
    decode = await server.open(EngineName.SGLANG, behaviour=Behaviour(half=Half.DECODE))
    async with aiohttp.ClientSession() as http, AsyncExitStack() as stack:
        asked = asyncio.create_task(http.post(f"{prefill.url}/v1/chat/completions", json={**CHAT, **room}).__aenter__())
        stack.callback(asked.cancel)
        async with asyncio.timeout(60):
            while not prefill.model.under_way:  # noqa: ASYNC110 -- what another task does is polled
                await asyncio.sleep(0.01)

        async def comes() -> None:
            await until(prefill, 1)
            assert prefill.model.running == prefill.model.waiting == 0
            async with http.post(f"{decode.url}/v1/chat/completions", json={**CHAT, **room}) as response:
                assert response.status == 200

        leaving = pod(EngineName.SGLANG)
        await asyncio.gather(leaves(leaving, prefill.address), comes())
        async with await asked as response:
            assert response.status == 200
    assert reads(prefill) >= 3
