"""Which path of an engine answers what, and the pace at which it generates."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import Any, Final

from aiohttp import web

from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines import answering, asking, exposition
from modeldeployment.lab.engines.asking import Asked
from modeldeployment.lab.engines.fake import FakeEngine

_CHAT: Final = "/v1/chat/completions"
_COMPLETIONS: Final = "/v1/completions"
_RENDER: Final = "/render"
_HEALTH: Final = ("/health", "/health_generate", "/ping")
_DONE: Final = b"data: [DONE]\n\n"


class Routes:
    """Answers requests; `names` numbers those that generate."""

    def __init__(self, names: Iterator[int]) -> None:
        self._names = names

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
                shown = exposition.metrics(engine.engine, engine.served, engine.model)
                return web.Response(body=shown.encode(), headers={"Content-Type": exposition.CONTENT_TYPE})
            case "GET", _ if path in _HEALTH:
                return web.Response(status=engine.behaviour.health)
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
        if engine.behaviour.failing:
            status = engine.behaviour.failing
            return web.json_response(answering.error(status, "told to fail"), status=status)
        try:
            asked = asking.read(body, chat=chat)
        except asking.Unreadable as error:
            return web.json_response(answering.error(400, str(error)), status=400)
        name = self._name(chat=chat)
        async with aclosing(_tokens(engine, asked)) as tokens:
            if asked.stream:
                return await _streamed(request, engine, asked, name, tokens, chat=chat)
            count = len([token async for token in tokens])
        handover = answering.handover(engine.behaviour.transfer, asked, engine.address, name)
        return web.json_response(answering.whole(name, engine.served, asked, count, chat=chat, handover=handover))

    def _name(self, *, chat: bool) -> str:
        return f"{'chatcmpl' if chat else 'cmpl'}-{next(self._names)}"


async def _tokens(engine: FakeEngine, asked: Asked) -> AsyncGenerator[tuple[int, bool], None]:
    """Yield each token's number and whether it is the last, at the engine's pace; its model counts along."""
    behaviour, model = engine.behaviour, engine.model
    count = max(1, min(behaviour.tokens, asked.limit or behaviour.tokens))
    request, finished = model.arrive(asked.prompt), False
    try:
        before = time.monotonic()
        model.start(request)
        if asked.transfer and asked.transfer.get("do_remote_prefill") is True:
            model.received(len(asked.prompt))
        await asyncio.sleep(behaviour.prefill_seconds)
        await engine.released.wait()
        for token in range(count):
            if token:
                await asyncio.sleep(behaviour.token_seconds)
            now = time.monotonic()
            (model.next_token if token else model.first_token)(request, now - before)
            before = now
            yield token, token == count - 1
        finished = True
    finally:
        model.leave(request, finished=finished)


async def _streamed(
    request: web.Request,
    engine: FakeEngine,
    asked: Asked,
    name: str,
    tokens: AsyncIterator[tuple[int, bool]],
    *,
    chat: bool,
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    sent = 0
    async for token, last in tokens:
        await response.write(_event(answering.chunk(name, engine.served, token, chat=chat, last=last)))
        sent += 1
    if asked.include_usage:
        await response.write(_event(answering.closing(name, engine.served, asked, sent, chat=chat)))
    await response.write(_DONE)
    await response.write_eof()
    return response


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
        return web.json_response(answering.bootstrap(engine.address))
    return _absent()


def _absent() -> web.Response:
    return web.json_response({"detail": "Not Found"}, status=404)
