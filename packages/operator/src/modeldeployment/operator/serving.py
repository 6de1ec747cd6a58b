"""The endpoints for people and probes: /metrics, /healthz, /readyz, and the last passes of a scaler."""

import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from aiohttp import web

from modeldeployment.operator.errors import ListenError
from modeldeployment.operator.metrics import CONTENT_TYPE


@dataclass(frozen=True, slots=True)
class Endpoints:
    """What to answer: the exposition, what is waited for before it is ready, and what scalers decided last."""

    metrics: Callable[[], bytes]
    ready: Callable[[], Sequence[str]]
    journal: Callable[[str, str], Sequence[bytes]] = lambda namespace, name: ()  # noqa: ARG005
    """The last passes of a scaler, by namespace and name, as lines of a journal."""


@contextlib.asynccontextmanager
async def endpoints(address: tuple[str, int], answers: Endpoints) -> AsyncIterator[None]:
    """Serve while the context is open. Raises ListenError where the address cannot be opened."""
    app = web.Application()
    app.add_routes(
        [
            web.get("/metrics", _metrics(answers)),
            web.get("/healthz", _healthz),
            web.get("/readyz", _readyz(answers)),
            web.get("/scalers/{namespace}/{name}/journal", _journal(answers)),
        ]
    )
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    host, port = address
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        await runner.cleanup()
        raise ListenError(
            f"cannot listen on {host}:{port}: {_why(error)}; stop what holds it, or set GPUSTACK_LISTEN"
        ) from error
    try:
        yield
    finally:
        await runner.cleanup()


def _why(error: OSError) -> str:
    # asyncio wraps the system's words in a sentence of its own that repeats the address.
    return os.strerror(error.errno) if error.errno is not None and error.errno > 0 else str(error)


Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


def _metrics(answers: Endpoints) -> Handler:
    async def handle(_: web.Request) -> web.Response:
        return web.Response(body=answers.metrics(), headers={"Content-Type": CONTENT_TYPE})

    return handle


async def _healthz(_: web.Request) -> web.Response:
    return web.Response(text="ok\n")


def _readyz(answers: Endpoints) -> Handler:
    async def handle(_: web.Request) -> web.Response:
        waiting = answers.ready()
        if waiting:
            return web.Response(status=503, text=f"waiting for {'; '.join(waiting)}\n")
        return web.Response(text="ok\n")

    return handle


def _journal(answers: Endpoints) -> Handler:
    async def handle(asked: web.Request) -> web.Response:
        namespace, name = asked.match_info["namespace"], asked.match_info["name"]
        lines = answers.journal(namespace, name)
        if not lines:
            return web.Response(
                status=404,
                text=f"no pass of {namespace}/{name} is kept here: it does not plan yet, or another process leads\n",
            )
        return web.Response(body=b"".join(b"%s\n" % line for line in lines), content_type="application/x-ndjson")

    return handle
