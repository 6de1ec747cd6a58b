"""Who is asked for an account and what its engine can do to the one who asks, over real sockets (decisions D23)."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from aiohttp import web
from modeldeployment.api import keys
from modeldeployment.kube import shapes
from modeldeployment.kube.fetching import LARGEST
from modeldeployment.reconcile import Key, Watched
from modeldeployment.reconcile.deciding.seen import Account
from modeldeployment.reconcile.gauging import Gauging, Leader, Pace, leaders

OK: Final = 'vllm:mooncake_store_operation_total{operation="save_put",status="ok"} 3.0\n'
BROKEN: Final = 'vllm:mooncake_store_operation_total{operation="save_put",status="error"} 3.0\n'
SOON: Final = Pace(every=0.01, each=0.3, first=5.0, at_once=4)
CHAT: Final = Key("team", "chat")
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Engine:
    """One listener that answers what it is told to, and counts how often it was asked for each path."""

    def __init__(self) -> None:
        self.port = 0
        self.asked: list[str] = []
        self.answer: Answer = self.text(OK)

    @staticmethod
    def text(body: str, status: int = 200, **headers: str) -> Answer:
        async def answer(_: web.Request) -> web.Response:
            return web.Response(text=body, status=status, headers=headers)

        return answer

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        return await self.answer(request)


async def listening(engine: Engine, context: ssl.SSLContext | None = None) -> web.AppRunner:
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", engine.serve)
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    engine.port = runner.addresses[0][1]
    return runner


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    made = Engine()
    runner = await listening(made)
    yield made
    await runner.cleanup()


def pod(port: int | str, uid: str = "u", *, labels: dict[str, str] | None = None, **said: Any) -> shapes.Pod:
    """A ready leader of the one role of `chat`; `said` replaces its address, its version, its annotations' parts."""
    status = {
        "podIP": said.get("ip", "127.0.0.1"),
        "conditions": [{"type": "Ready", "status": said.get("ready", "True")}],
    }
    scrape = {
        keys.SCRAPE: said.get("scrape", "true"),
        keys.SCRAPE_PATH: said.get("path", "/metrics"),
        keys.SCRAPE_PORT: str(port),
        keys.SCRAPE_SCHEME: said.get("scheme", "http"),
    }
    body = {
        "metadata": {
            "name": f"pod-{uid}",
            "namespace": "team",
            "uid": uid,
            "resourceVersion": str(said.get("version", 1)),
            "deletionTimestamp": said.get("deleted"),
            "labels": {keys.COMPONENT: "server", keys.ORDINAL: "0", **(labels or {})},
            "annotations": scrape,
            "ownerReferences": [
                {
                    "apiVersion": keys.API_VERSION,
                    "kind": "ModelDeployment",
                    "name": "chat",
                    "uid": "d",
                    "controller": True,
                }
            ],
        },
        "status": status,
    }
    return msgspec.convert(body, shapes.Pod)


def world(*pods: shapes.Pod, cached: bool = True, kind: str | None = None) -> tuple[Watched, list[Key]]:
    """Stores with one deployment and these Pods of it; wake-ups are listed."""
    woken: list[Key] = []
    stores = Watched(woken.append)
    role = {"name": "server", "instanceType": "a10", **({"kind": kind} if kind else {})}
    spec: dict[str, Any] = {"model": {"name": "m"}, "engine": {"name": "vLLM"}, "roles": [role]}
    if cached:
        spec["kvCache"] = {"poolRef": {"name": "shared"}}
    meta = shapes.ObjectMeta(name="chat", namespace="team", uid="d", resource_version="1")
    raw = msgspec.Raw(msgspec.json.encode(spec))
    stores.deployments.put(shapes.Custom(metadata=meta, spec=raw, status=msgspec.Raw(b"{}")))
    for each in pods:
        stores.pods.put(each)
    woken.clear()
    return stores, woken


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 (what is waited for is told by nobody)
            await asyncio.sleep(0.005)


async def first_round(stores: Watched, uid: str = "u", each: float = 0.3) -> Account | None:
    """What a member says after everybody was asked once and had `each` seconds for it."""
    async with Gauging(stores, Pace(every=600, each=each, first=30, at_once=4)).running():
        return stores.accounts.of(uid)


async def test_a_ready_leader_gives_its_account_and_its_deployment_is_woken(engine: Engine) -> None:
    stores, woken = world(pod(engine.port))
    async with Gauging(stores, SOON).running():
        assert (stores.accounts.of("u"), woken) == (Account.SUCCEEDING, [CHAT])
        engine.answer = engine.text(OK + BROKEN)
        await until(lambda: stores.accounts.of("u") is Account.FAILING)
        assert woken == [CHAT, CHAT]
        asked = len(engine.asked)
        await until(lambda: len(engine.asked) > asked + 2)
        assert woken == [CHAT, CHAT]
    assert (stores.accounts.of("u"), woken) == (None, [CHAT, CHAT])
    assert set(engine.asked) == {"/metrics"}


@pytest.mark.parametrize(
    "kept_out",
    [
        {"ready": "False"},
        {"deleted": "2030-01-01T00:00:00Z"},
        {"ip": ""},
        {"scrape": "false"},
        {"scheme": "ftp"},
        {"path": "metrics"},
        {"labels": {keys.MEMBER_INDEX: "1"}},
        {"labels": {keys.ORDINAL: "x"}},
        {"labels": {keys.COMPONENT: "other"}},
    ],
)
def test_nobody_else_is_asked(kept_out: dict[str, Any]) -> None:
    stores, _ = world(pod(8000, **kept_out))
    assert list(leaders(stores)) == []


@pytest.mark.parametrize("port", ["", "0", "65536", "-1", "http", "8 ", "٣", "1" * 5000])
def test_a_port_that_is_none_is_not_asked(port: str) -> None:
    assert list(leaders(world(pod(port))[0])) == []


def test_a_deployment_without_a_cache_is_not_asked() -> None:
    assert list(leaders(world(pod(8000), cached=False)[0])) == []


def test_a_leader_is_asked_at_the_address_of_its_pod_and_known_by_its_kind() -> None:
    assert list(leaders(world(pod(8000))[0])) == [Leader("u", "http://127.0.0.1:8000/metrics", decodes=False)]
    six = pod(8443, ip="fd00::7", scheme="https", path="/m")
    assert list(leaders(world(six, kind="Decode")[0])) == [Leader("u", "https://[fd00::7]:8443/m", decodes=True)]


async def test_a_redirect_is_not_followed(engine: Engine) -> None:
    engine.answer = engine.text("", 302, Location=f"http://127.0.0.1:{engine.port}/elsewhere")
    assert await first_round(world(pod(engine.port))[0]) is None
    assert engine.asked == ["/metrics"]


@pytest.mark.parametrize("status", [204, 401, 404, 500, 503])
async def test_another_status_than_200_is_no_account(engine: Engine, status: int) -> None:
    engine.answer = engine.text(OK if status != 204 else "", status)
    assert await first_round(world(pod(engine.port))[0]) is None


async def test_a_body_of_100_megabytes_is_cut(engine: Engine) -> None:
    sent = 0

    async def flood(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(OK.encode())
        for _ in range(100):
            await response.write(b"#" * LARGEST)
            sent += 1
        return response

    engine.answer = flood
    assert await first_round(world(pod(engine.port))[0]) is None
    assert sent < 50


async def test_an_engine_that_hangs_holds_up_nobody_else(engine: Engine) -> None:
    async def hang(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(OK.encode())
        await asyncio.Event().wait()
        return response

    other = Engine()
    runner = await listening(other)
    engine.answer = hang
    stores, _ = world(pod(engine.port, "a"), pod(other.port, "b"))
    assert await first_round(stores, "b") is Account.SUCCEEDING
    assert await first_round(stores, "a") is None
    await runner.cleanup()


async def test_an_engine_that_refuses_connections_or_talks_nonsense_is_silent() -> None:
    async def nonsense(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"\x00\xff" * 9000 + b"HTTP/9 what\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(nonsense, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    assert await first_round(world(pod(port))[0]) is None
    server.close()
    await server.wait_closed()
    assert await first_round(world(pod(port))[0]) is None


@pytest.mark.parametrize("body", ["", "<html>", OK.replace("3.0", "NaN"), OK.replace("}", ""), OK.replace("3.0", "-1")])
async def test_a_body_that_says_nothing_of_the_store_is_silence(engine: Engine, body: str) -> None:
    engine.answer = engine.text(body)
    assert await first_round(world(pod(engine.port))[0]) is None


async def test_a_compressed_body_is_not_unpacked(engine: Engine) -> None:
    asked_for = []

    async def answer(request: web.Request) -> web.Response:
        asked_for.append(request.headers.get("Accept-Encoding"))
        response = web.Response(text=OK)
        response.enable_compression(web.ContentCoding.gzip)
        return response

    engine.answer = answer
    assert await first_round(world(pod(engine.port))[0]) is None
    assert asked_for == ["identity"]


async def test_a_certificate_is_not_asked_for() -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(Path(__file__).with_name("gauging.pem"))
    secure = Engine()
    runner = await listening(secure, context)
    assert await first_round(world(pod(secure.port, scheme="https"))[0]) is Account.SUCCEEDING
    await runner.cleanup()


async def test_a_replica_that_ceases_to_answer_keeps_its_account_for_two_rounds(engine: Engine) -> None:
    stores, woken = world(pod(engine.port))
    async with Gauging(stores, SOON).running():
        engine.asked.clear()
        engine.answer = engine.text("", 503)
        await until(lambda: stores.accounts.of("u") is None)
        assert len(engine.asked) >= 3
        assert woken == [CHAT, CHAT]


async def test_an_answer_of_a_pod_that_has_gone_meanwhile_is_not_heard(engine: Engine) -> None:
    gone = pod(engine.port)
    stores, _ = world(gone)

    async def answer(_: web.Request) -> web.Response:
        stores.pods.remove(gone)
        return web.Response(text=OK)

    engine.answer = answer
    assert await first_round(stores) is None
    assert engine.asked == ["/metrics"]


async def test_no_more_than_a_few_are_asked_at_once(engine: Engine) -> None:
    now, most = 0, 0

    async def answer(_: web.Request) -> web.Response:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1
        return web.Response(text=OK)

    engine.answer = answer
    stores, _ = world(*(pod(engine.port, f"u{index}") for index in range(20)))
    assert await first_round(stores, "u19", each=30) is Account.SUCCEEDING
    assert (most <= 4, len(engine.asked)) == (True, 20)


async def test_waiting_for_the_first_round_has_an_end(engine: Engine) -> None:
    async def hang(_: web.Request) -> web.Response:
        await asyncio.Event().wait()
        return web.Response()

    engine.answer = hang
    stores, _ = world(pod(engine.port))
    async with Gauging(stores, Pace(every=600, each=600, first=0.05, at_once=4)).running():
        assert stores.accounts.of("u") is None


async def test_who_is_told_to_stop_forgets_what_was_heard(engine: Engine) -> None:
    stores, _ = world(pod(engine.port))

    async def lead() -> None:
        async with Gauging(stores, SOON).running():
            await asyncio.Event().wait()

    leading = asyncio.create_task(lead())
    await until(lambda: stores.accounts.of("u") is Account.SUCCEEDING)
    leading.cancel()
    await asyncio.wait([leading])
    assert (leading.cancelled(), stores.accounts.of("u")) == (True, None)
