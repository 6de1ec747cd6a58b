"""What a Pod can do to whoever asks it over HTTP: nothing but not be heard (decisions D23)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from modeldeployment.kube.fetching import LARGEST, Failure, Fetched, fetch, session

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def listening(answer: Answer) -> AsyncIterator[str]:
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def asked(answer: Answer, path: str = "/metrics", *, patience: float = 2.0) -> Fetched:
    async with listening(answer) as url, session(4) as http:
        return await fetch(http, url + path, patience=patience)


async def test_an_answer_is_read_with_its_status_and_the_path_is_sent_as_written() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=f"{request.method} {request.raw_path}", status=404)

    assert await asked(answer, "/workers/http%3A%2F%2F10.0.0.1%3A8000") == Fetched(
        404, b"GET /workers/http%3A%2F%2F10.0.0.1%3A8000"
    )


async def test_a_body_and_headers_are_sent() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=f"{request.content_type} {request.headers['Authorization']} {await request.text()}")

    async with listening(answer) as url, session(4, keep=True) as http:
        heard = await fetch(http, url, "POST", body=b"{}", headers={"Authorization": "Bearer k"})
    assert heard.body == b"application/json Bearer k {}"


async def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    paths = []

    async def answer(request: web.Request) -> web.Response:
        paths.append(request.path)
        return web.Response(status=302, headers={"Location": "/elsewhere"})

    assert (await asked(answer)).status == 302
    assert paths == ["/metrics"]


async def test_100_megabytes_are_not_read_to_their_end() -> None:
    sent = 0

    async def flood(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(100):
            await response.write(b"#" * LARGEST)
            sent += 1
        return response

    assert await asked(flood) == Fetched(None, why=f"more than {LARGEST} bytes", failure=Failure.TOO_LARGE)
    assert sent < 50


async def test_an_answer_that_never_ends_is_none() -> None:
    async def trickle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"# \n")
            await asyncio.sleep(0.01)

    assert await asked(trickle, patience=0.2) == Fetched(None, why="no answer within 0.2 s", failure=Failure.LATE)


@pytest.mark.parametrize(
    "said", [b"", b"\x00\xff" * 9000, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", b"HTTP/9 x\r\n"]
)
async def test_nonsense_is_no_answer(said: bytes) -> None:
    async def nonsense(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(said)
        writer.close()

    server = await asyncio.start_server(nonsense, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with session(4) as http:
        assert (await fetch(http, f"http://127.0.0.1:{port}/")).status is None
    server.close()
    await server.wait_closed()
    async with session(4) as http:
        assert await fetch(http, f"http://127.0.0.1:{port}/") == Fetched(
            None, why="ClientConnectorError", failure=Failure.UNREACHABLE
        )


@pytest.mark.parametrize("url", ["", "http://", "http://[::1", "ftp://127.0.0.1/", "http://127.0.0.1:99999/"])
async def test_a_url_that_is_none_is_not_asked(url: str) -> None:
    async with session(1) as http:
        assert (await fetch(http, url)).status is None


async def test_a_header_that_would_break_the_request_is_not_sent() -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response()

    async with listening(answer) as url, session(1) as http:
        assert (await fetch(http, url, headers={"Authorization": "Bearer a\r\nX: y"})).status is None


async def test_the_environments_proxy_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")

    async def answer(_: web.Request) -> web.Response:
        return web.Response()

    assert (await asked(answer)).status == 200
