"""The rim of the fake engines: one process that listens at many Pod addresses."""

import asyncio
import itertools
import json
import logging
import secrets
from collections.abc import Iterable
from contextlib import AsyncExitStack
from typing import Any, Final, Self

from aiohttp import http_exceptions, web

from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines import addresses
from modeldeployment.lab.engines.behaviour import Behaviour
from modeldeployment.lab.engines.errors import AddressTaken
from modeldeployment.lab.engines.fake import FakeEngine, Received
from modeldeployment.lab.engines.routes import Routes

_log: Final = logging.getLogger(__name__)

SERVING_PORT: Final = 8000
"""Where an engine serves unless told otherwise."""


def _is_ours(record: logging.LogRecord) -> bool:
    """Tell whether a record is about us and not about a peer that speaks another protocol, as gateways try gRPC."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, http_exceptions.BadHttpMessage)


_log.addFilter(_is_ours)


class EngineServer:
    """Fake engines by address; use it as an async context manager, at whose end all of them are gone.

    Engines are opened and closed while it runs. `seed` chooses where free addresses are looked for.
    """

    def __init__(self, *, seed: int | None = None) -> None:
        self._engines: dict[str, FakeEngine] = {}
        self._listening: dict[str, list[asyncio.Server]] = {}
        self._seed = secrets.randbits(32) if seed is None else seed
        self._free = addresses.candidates(self._seed)
        self._routes = Routes(itertools.count(1))
        self._open: AsyncExitStack | None = None
        self._handler: web.Server | None = None

    async def __aenter__(self) -> Self:
        application = web.Application(client_max_size=64 * 2**20)
        application.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(application, access_log=None, logger=_log, shutdown_timeout=0, handler_cancellation=True)
        await runner.setup()
        self._open = AsyncExitStack()
        self._open.push_async_callback(runner.cleanup)
        self._handler = runner.server
        return self

    async def __aexit__(self, *_: object) -> None:
        for engine in list(self._engines.values()):
            await self.close(engine)
        if self._open is not None:
            await self._open.aclose()

    @property
    def engines(self) -> tuple[FakeEngine, ...]:
        """Every engine that listens, in the order of opening."""
        return tuple(self._engines.values())

    async def open(
        self,
        engine: EngineName,
        *,
        address: str | None = None,
        ports: Iterable[int] = (SERVING_PORT,),
        served: str = "model",
        behaviour: Behaviour | None = None,
    ) -> FakeEngine:
        """Start an engine at a Pod address, a free one if none is given; `ports` beyond the first are bootstrap ports.

        Raises AddressRefused, AddressTaken and TooManySockets.
        """
        wanted = tuple(ports)
        where, sockets = self._sockets(address, wanted)
        fake = FakeEngine(engine, where, wanted, served, behaviour or Behaviour())
        assert self._handler is not None, "an EngineServer is entered before engines are opened"
        loop = asyncio.get_running_loop()
        self._engines[where] = fake
        self._listening[where] = [await loop.create_server(self._handler, sock=each) for each in sockets]
        return fake

    async def close(self, engine: FakeEngine) -> None:
        """Stop listening: from now on connections are refused and open ones are cut."""
        for server in self._listening.pop(engine.address, ()):
            server.close()
        self._engines.pop(engine.address, None)
        for connection in list(self._handler.connections) if self._handler is not None else ():
            transport = connection.transport
            if transport is not None and transport.get_extra_info("sockname")[0] == engine.address:
                transport.abort()

    def _sockets(self, address: str | None, ports: tuple[int, ...]) -> tuple[str, tuple[Any, ...]]:
        if address in self._engines:
            raise AddressTaken(
                f"{address} has an engine of this server already; close that one, or choose another address"
            )
        if address is not None:
            return address, addresses.listen(address, ports)
        for candidate in self._free:
            try:
                return candidate, addresses.listen(candidate, ports)
            except AddressTaken:
                continue
        raise AddressTaken(f"no address of {addresses.POD_NETWORK} is free on ports {list(ports)}; end other programs")

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.transport is None:
            raise web.HTTPServiceUnavailable
        address, port = request.transport.get_extra_info("sockname")[:2]
        engine = self._engines.get(address)
        if engine is None:
            raise web.HTTPServiceUnavailable
        raw = await request.read()
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = None
        headers = {name.lower(): value for name, value in request.headers.items()}
        engine.received.append(Received(port, request.method, request.path, headers, body))
        return await self._routes.answer(request, engine, port, body)
