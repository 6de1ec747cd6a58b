"""Which path of an engine answers what, and what its ledger says of it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import Any, Final

from aiohttp import web

from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines import answering, asking, exposition, generating
from modeldeployment.lab.engines.answering import Answer
from modeldeployment.lab.engines.asking import Asked
from modeldeployment.lab.engines.fake import FakeEngine, Phase
from modeldeployment.lab.engines.ledger import Entry, Outcome, settle
from modeldeployment.lab.engines.pairing import HandoverLost, Pairing
from modeldeployment.lab.engines.telling import tell

_CHAT: Final = "/v1/chat/completions"
_COMPLETIONS: Final = "/v1/completions"
_RENDER: Final = "/render"
_HEALTH: Final = ("/health", "/health_generate", "/ping")
_DONE: Final = b"data: [DONE]\n\n"


class Routes:
    """Answers requests; `names` numbers those that generate, `pairing` is where halves meet."""

    def __init__(self, names: Iterator[int], pairing: Pairing) -> None:
        self._names = names
        self._pairing = pairing

    async def answer(self, request: web.Request, engine: FakeEngine, port: int, body: Any) -> web.StreamResponse:
        """Answer one request that arrived at a port of an engine."""
        path = request.path
        if port != engine.ports[0]:
            return _bootstrap(engine, path)
        match request.method, path:
            case "POST", "/v1/chat/completions" | "/v1/completions":
                return await self._generate(request, engine, body, chat=path == _CHAT)
            case "POST", "/v1/chat/completions/render" | "/v1/completions/render" if engine.behaviour.scale_out:
                return self._rendered(body, engine, chat=path.removesuffix(_RENDER) == _CHAT)
            case "POST", "/tokenize" if engine.engine is EngineName.VLLM:
                return _tokenized(body)
            case "GET", "/metrics":
                half, telling = engine.behaviour.half, engine.telling
                shown = exposition.metrics(engine.engine, engine.served, engine.model, half, telling)
                return await tell(request, telling, shown)
            case "GET", _ if path in _HEALTH:
                return web.Response(status=503 if engine.phase is Phase.DRAINING else engine.behaviour.health)
            case "GET", _:
                return _known(engine, path)
        return _absent()

    def _rendered(self, body: Any, engine: FakeEngine, *, chat: bool) -> web.Response:
        try:
            asked = asking.read(body, chat=chat)
        except asking.Unreadable as error:
            return web.json_response(answering.error(400, str(error)), status=400)
        return web.json_response(answering.rendered(self._name(chat=chat), engine.served, asked.prompt))

    async def _generate(self, request: web.Request, engine: FakeEngine, body: Any, *, chat: bool) -> web.StreamResponse:
        try:
            asked = asking.read(body, chat=chat)
        except asking.Unreadable as error:
            return _refused(engine.ledger.begin("", engine.life), 400, str(error))
        entry = engine.ledger.begin(asked.mark, engine.life, stream=asked.stream)
        if engine.behaviour.failing:
            return _refused(entry, engine.behaviour.failing, "told to fail")
        if engine.phase is not Phase.SERVING:
            return _refused(entry, 503, "draining")
        answer = Answer(self._name(chat=chat), engine.served, chat, f"{engine.address}/{engine.life}")
        try:
            response = await self._answered(request, engine, asked, answer, entry)
        except HandoverLost as lost:
            settle(entry, Outcome.FAILED, status=500, cause=str(lost))
            return web.json_response(answering.error(500, str(lost)), status=500)
        except (asyncio.CancelledError, ConnectionError):
            settle(entry, Outcome.CUT, cause=engine.ended or "the caller hung up")
            raise
        settle(entry, Outcome.ANSWERED, status=response.status)
        return response

    async def _answered(
        self, request: web.Request, engine: FakeEngine, asked: Asked, answer: Answer, entry: Entry
    ) -> web.StreamResponse:
        """Generate an answer and hand every byte of it to the connection. Raises HandoverLost and connection errors."""
        async with aclosing(generating.tokens(engine, asked, self._pairing)) as tokens:
            if asked.stream:
                return await _streamed(request, asked, answer, tokens, entry)
            count = sum([len(some) async for some, _ in tokens])
        handover = answering.handover(engine.behaviour.transfer, asked, engine.address, engine.identity, answer.name)
        if handover is not None:
            engine.handed.add(answer.name)
        response = web.json_response(answering.whole(answer, asked, count, handover))
        await response.prepare(request)
        await response.write_eof()
        return response

    def _name(self, *, chat: bool) -> str:
        return f"{'chatcmpl' if chat else 'cmpl'}-{next(self._names)}"


async def _streamed(
    request: web.Request, asked: Asked, answer: Answer, tokens: AsyncIterator[tuple[range, bool]], entry: Entry
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    sent = 0
    try:
        async for some, last in tokens:
            await response.write(_event(answering.chunk(answer, some, last=last)))
            sent += len(some)
    except HandoverLost as lost:
        # Too late for a status: the stream says so and ends without its last event.
        settle(entry, Outcome.FAILED, status=200, cause=str(lost))
        await response.write(_event(answering.error(500, str(lost))))
        await response.write_eof()
        return response
    if asked.include_usage:
        await response.write(_event(answering.closing(answer, asked, sent)))
    await response.write(_DONE)
    await response.write_eof()
    return response


def _refused(entry: Entry, status: int, why: str) -> web.Response:
    settle(entry, Outcome.REFUSED, status=status, cause=why)
    return web.json_response(answering.error(status, why), status=status)


def _event(data: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def _known(engine: FakeEngine, path: str) -> web.Response:
    """Answer what an engine says of itself."""
    known: Mapping[str, Callable[[], Any]] = {"/v1/models": lambda: answering.models(engine.engine, engine.served)}
    match engine.engine:
        case EngineName.VLLM:
            known = {**known, "/version": lambda: answering.version(engine.engine)}
        case EngineName.SGLANG:
            known = {
                **known,
                "/server_info": lambda: answering.server_info(engine.served, engine.model),
                "/get_server_info": lambda: answering.server_info(engine.served, engine.model),
                "/model_info": lambda: answering.model_info(engine.served),
                "/get_model_info": lambda: answering.model_info(engine.served),
                "/get_load": lambda: answering.load(engine.model),
            }
    return web.json_response(known[path]()) if path in known else _absent()


def _tokenized(body: Any) -> web.Response:
    try:
        asked = asking.read(body, chat=isinstance(body, dict) and "messages" in body)
    except asking.Unreadable as error:
        return web.json_response(answering.error(400, str(error)), status=400)
    return web.json_response(answering.tokenized(asked.prompt))


def _bootstrap(engine: FakeEngine, path: str) -> web.Response:
    if engine.engine is EngineName.VLLM and path == "/query":
        return web.json_response(answering.bootstrap(engine.address, engine.identity))
    return _absent()


def _absent() -> web.Response:
    return web.json_response({"detail": "Not Found"}, status=404)
