"""The rim of the fake engines: one process that listens at many Pod addresses."""

import asyncio
import itertools
import json
import logging
import random
import secrets
import ssl
from collections.abc import Coroutine, Iterable
from contextlib import AsyncExitStack
from typing import Any, Final, Self

from aiohttp import http_exceptions, web

from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines import addresses, answering, control
from modeldeployment.lab.engines.behaviour import Behaviour
from modeldeployment.lab.engines.errors import AddressTaken
from modeldeployment.lab.engines.fake import FakeEngine, Phase, Received
from modeldeployment.lab.engines.pairing import Pairing
from modeldeployment.lab.engines.routes import Routes
from modeldeployment.lab.networks import cease

_log: Final = logging.getLogger(__name__)

SERVING_PORT: Final = 8000
"""Where an engine serves unless told otherwise."""
_TURNS: Final = 1_000
_POLL: Final = 0.01


def _is_ours(record: logging.LogRecord) -> bool:
    """Tell whether a record is about us and not about a peer that speaks another protocol, as gateways try gRPC."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, http_exceptions.BadHttpMessage)


_log.addFilter(_is_ours)


class EngineServer:
    """Fake engines by address; use it as an async context manager, at whose end all of them are gone.

    Engines are opened and closed while it runs. `seed` chooses where free addresses are looked for, and what engines
    draw by chance.
    """

    def __init__(self, *, seed: int | None = None) -> None:
        self._engines: dict[str, FakeEngine] = {}
        self._listening: dict[str, list[asyncio.Server]] = {}
        self._seed = secrets.randbits(32) if seed is None else seed
        self._free = addresses.candidates(self._seed)
        self._routes = Routes(itertools.count(1), Pairing(self._engines.get))
        self._open: AsyncExitStack | None = None
        self._handler: web.Server | None = None
        self._told: set[asyncio.Task[None]] = set()

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
        for task in list(self._told):
            task.cancel()
        await asyncio.gather(*self._told, return_exceptions=True)
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
        tls: ssl.SSLContext | None = None,
    ) -> FakeEngine:
        """Start an engine at a Pod address, a free one if none is given; `ports` beyond the first are bootstrap ports.

        Raises AddressRefused, AddressTaken and TooManySockets.
        """
        wanted = tuple(ports)
        where, sockets = self._sockets(address, wanted)
        chance = random.Random(f"{self._seed}/{where}")
        fake = FakeEngine(engine, where, wanted, served, behaviour or Behaviour(), tls, chance)
        await self._listen(fake, sockets)
        return fake

    async def drain(self, engine: FakeEngine) -> None:
        """Take nothing new from now on; return once nothing is in flight."""
        engine.phase = Phase.DRAINING
        while engine.phase is Phase.DRAINING:
            if not engine.model.under_way and not engine.ledger.under_way:
                return
            await asyncio.sleep(_POLL)

    async def terminate(self, engine: FakeEngine) -> None:
        """Do what the engine does on SIGTERM and return once it has ended (facts shutdown §1).

        vLLM aborts what runs; SGLang finishes it, unless it is killed first.
        """
        if engine.engine is EngineName.SGLANG:
            await self.drain(engine)
        engine.phase = Phase.DRAINING if engine.phase is Phase.SERVING else engine.phase
        await engine.take(engine.behaviour.exit_seconds)
        await self.close(engine, "ended by SIGTERM")

    async def restart(self, engine: FakeEngine, *, seconds: float = 0.0) -> None:
        """Crash and be up again after some seconds, with nothing remembered; its ledger goes on.

        Raises AddressTaken where another program took the address meanwhile.
        """
        await self.close(engine, "restarted")
        await asyncio.sleep(seconds)
        sockets = addresses.listen(engine.address, engine.ports)
        engine.life += 1
        engine.phase, engine.ended = Phase.SERVING, ""
        engine.forget()
        await self._listen(engine, sockets)

    async def close(self, engine: FakeEngine, how: str = "killed") -> None:
        """Stop listening: from now on connections are refused and open ones are cut. `how` is told as their cause."""
        if self._engines.get(engine.address) is not engine:
            return
        await cease(self._listening.get(engine.address, ()))
        if self._engines.get(engine.address) is not engine:  # somebody else closed it meanwhile
            return
        engine.phase, engine.ended = Phase.ENDED, how
        del self._engines[engine.address]
        self._listening.pop(engine.address, None)
        for connection in list(self._handler.connections) if self._handler is not None else ():
            transport = connection.transport
            if transport is not None and transport.get_extra_info("sockname")[0] == engine.address:
                transport.abort()
        for _ in range(_TURNS):  # until each handler has heard of it, so that the ledger is complete
            if not engine.ledger.under_way:
                break
            await asyncio.sleep(0)

    async def _listen(self, engine: FakeEngine, sockets: tuple[Any, ...]) -> None:
        assert self._handler is not None, "an EngineServer is entered before engines are opened"
        loop = asyncio.get_running_loop()
        self._engines[engine.address] = engine
        self._listening[engine.address] = [
            await loop.create_server(self._handler, sock=each, ssl=engine.tls) for each in sockets
        ]

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
        if request.path.startswith(control.PREFIX):
            return self._directed(engine, request.path.removeprefix(control.PREFIX), body)
        headers = {name.lower(): value for name, value in request.headers.items()}
        engine.received.append(Received(port, request.method, request.path, headers, body))
        return await self._routes.answer(request, engine, port, body)

    def _directed(self, engine: FakeEngine, word: str, body: Any) -> web.Response:
        """Do what a control route says; what takes a while goes on beside the answer."""
        try:
            match word:
                case "behave":
                    engine.behaviour = control.changed(engine.behaviour, body)
                case "tell":
                    engine.telling = control.changed(engine.telling, body)
                case "hold":
                    engine.hold()
                case "release":
                    engine.release()
                case "drain":
                    self._beside(self.drain(engine))
                case "terminate":
                    self._beside(self.terminate(engine))
                case "restart":
                    self._beside(self.restart(engine, seconds=float((body or {}).get("seconds", 0))))
                case "kill":
                    self._beside(self.close(engine))
                case "ledger":
                    pass
                case _:
                    return web.json_response(answering.error(404, f"{word!r} is no control route"), status=404)
        except (control.Misdirected, AttributeError, TypeError, ValueError) as error:
            return web.json_response(answering.error(400, str(error)), status=400)
        return web.json_response(control.shown(engine))

    def _beside(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._told.add(task)
        task.add_done_callback(self._told.discard)
