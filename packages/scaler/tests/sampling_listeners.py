"""Engines that really listen, each answering as it is told."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web
from modeldeployment.api import RoleKind
from modeldeployment.api.choices import EngineName
from modeldeployment.kube import fetching
from modeldeployment.kube.fetching import LARGEST
from modeldeployment.scaler.planning.observed import Reading, RoleReading
from modeldeployment.scaler.sampling import ALTOGETHER, Engine, Pace, Sampler, Standing
from sampling_engines import after, vllm

PATIENT: Final = Pace(each=20, round=30)
"""A machine may be busy with other tests."""
HURRIED: Final = Pace(each=0.3, round=0.6)
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


def saying(body: str | bytes, status: int = 200, **headers: str) -> Answer:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=body.encode() if isinstance(body, str) else body, status=status, headers=headers)

    return answer


async def endless(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b"# nothing\n" * 100)
        await asyncio.sleep(0.05)


async def huge(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(100):
        await response.write(b"#" * LARGEST)
    return response


async def silent(_: web.Request) -> web.StreamResponse:
    await asyncio.sleep(60)
    return web.Response()


class Listener:
    """An engine; `paths` lists what it was asked for."""

    def __init__(self) -> None:
        self.answer: Answer = saying(vllm())
        self.paths: list[str] = []
        self.port = 0

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.paths.append(request.path)
        return await self.answer(request)

    def engine(self, pod: str = "chat-server-0", *, role: str = "server", address: str = "127.0.0.1") -> Engine:
        url = f"http://{address}:{self.port}/metrics"
        return Engine(role, RoleKind.SERVER, EngineName.VLLM, pod, f"uid-{pod}", "c", 0, url)


class Sampled:
    """A sampler of one scaler over real sockets, whose clock stands until it is moved."""

    def __init__(self, sampler: Sampler, clock: list[float]) -> None:
        self.sampler = sampler
        self.clock = clock
        self.interval = 15

    async def at(
        self, seconds: float, *members: Engine, ready: int | None = None, standing: Standing = lambda _: True
    ) -> RoleReading:
        reading = await self.reading(seconds, *members, ready=ready, standing=standing)
        return reading.roles["server"]

    async def reading(
        self, seconds: float, *members: Engine, ready: int | None = None, standing: Standing = lambda _: True
    ) -> Reading:
        self.clock[0] = seconds
        counts = {"server": len(members) if ready is None else ready}
        return await self.sampler.sample(
            "team/chat", self.interval, members, after(seconds + 0.9), ready=counts, standing=standing
        )


@asynccontextmanager
async def listening(listener: Listener, address: str = "127.0.0.1") -> AsyncIterator[Listener]:
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", listener.serve)
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, address, listener.port).start()
    listener.port = runner.addresses[0][1]
    yield listener
    await runner.cleanup()


@asynccontextmanager
async def sampling(pace: Pace = PATIENT) -> AsyncIterator[Sampled]:
    clock = [0.0]
    async with fetching.session(ALTOGETHER) as http:
        yield Sampled(Sampler(http, lambda: clock[0], pace), clock)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 (what is waited for is told by nobody)
            await asyncio.sleep(0.005)
