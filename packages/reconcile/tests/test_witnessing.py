"""What the witness hears of routers and engines over real sockets, and what it makes of it (decisions D6 to D10)."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp import web
from modeldeployment.api import RoleKind, RouterName, keys
from modeldeployment.kube.errors import Details, ServerFailure
from modeldeployment.reconcile.retiring.evidence import Evidence, Stage
from modeldeployment.router.withdrawal import Verdict
from reconcile_stored import CHAT
from reconcile_witness import BUSY, IDLE, Peer, Routing, World, flood, hang, router_pod, text, worlds

PROVEN, WAITING, IMPOSSIBLE = Verdict.PROVEN, Verdict.WAITING, Verdict.IMPOSSIBLE
VLLM, SGLANG = RouterName.VLLM, RouterName.SGLANG
STAYS = "http://10.0.0.2:8000"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with worlds() as one:
        yield one


def let_go(evidence: Evidence) -> bool:
    return evidence.withdrawal.verdict is PROVEN


def done(evidence: Evidence) -> bool:
    return let_go(evidence) and evidence.idle.verdict is PROVEN


def says(part: str) -> Callable[[Evidence], bool]:
    return lambda evidence: part in evidence.withdrawal.reason


async def idle(world: World, **said: Any) -> Peer:
    """An idle engine behind the member that goes, and another member that stays."""
    engine = await world.engine(text(IDLE))
    world.member(engine.address, **said)
    world.stays()
    return engine


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param(text("", 302, Location="/elsewhere"), "HTTP 302", id="redirects"),
        pytest.param(text(IDLE, 401), "HTTP 401", id="closed"),
        pytest.param(text(IDLE, 404), "HTTP 404", id="not-there"),
        pytest.param(text(IDLE, 500), "HTTP 500", id="fails"),
        pytest.param(flood, "more than 1048576 bytes", id="floods"),
        pytest.param(hang, "no answer within 2 s", id="never-ends"),
        pytest.param(text(""), "publishes no vllm:num_requests_running", id="empty"),
        pytest.param(text("<html>"), "publishes no vllm:num_requests_running", id="no-numbers"),
        pytest.param(text(IDLE.splitlines()[0] + "\n"), "publishes no vllm:num_requests_waiting", id="incomplete"),
        pytest.param(text(IDLE.replace("0.0", "NaN")), "as nan", id="nan"),
        pytest.param(text(IDLE.replace("0.0", "-1")), "as -1", id="below-zero"),
        pytest.param(text(IDLE * 2), "one series twice", id="duplicate-ranks"),
        pytest.param(
            text(b"\xff" + IDLE.encode() + b'vllm:num_requests_running{engine="\xff"} 0\n'), "no text", id="no-text"
        ),
        pytest.param(text(BUSY), "has 3 requests", id="busy"),
    ],
)
async def test_an_engine_that_does_not_say_that_it_is_idle_holds(world: World, answer: Any, said: str) -> None:
    engine = await world.engine(answer)
    world.member(engine.address)
    world.inquire()
    evidence = await world.until(lambda seen: said in seen.idle.reason)
    assert (evidence.idle.verdict, evidence.idle_since) == (WAITING, None)
    assert evidence.idle.reason.startswith("Pod pod-goes ")
    assert {path for _, path, _ in engine.asked} == {"/metrics"}


async def test_without_a_router_it_is_let_go_of_once_no_slice_lists_it_and_the_settle_has_passed(world: World) -> None:
    await idle(world)
    world.service()
    world.slice("goes", "stays")
    world.inquire()
    await world.until(says("EndpointSlice chat-x7 still lists Pod pod-goes"))
    world.slice("stays")
    settling = await world.until(says("no EndpointSlice lists it; what was sent before arrives within 5 s"))
    assert settling.withdrawal.until is not None
    evidence = await world.until(done)
    assert (evidence.members, evidence.in_flight) == (frozenset({"goes"}), 0)
    assert evidence.idle_since is not None
    assert world.client.listed.count("endpointslices") < 8


async def test_services_for_peers_alone_are_not_looked_at(world: World) -> None:
    await idle(world)
    world.service("chat-peers", clusterIP="None", selector={})
    world.slice("goes")
    world.inquire()
    await world.until(says("no EndpointSlice lists it; what was sent"))
    assert world.client.listed == []


async def test_a_router_that_dropped_it_proves_it_in_two_seconds(world: World) -> None:
    await idle(world)
    router = await world.router(Routing({STAYS: "regular"}))
    world.inquire(VLLM)
    evidence = await world.until(done)
    assert "router Pod chat-router-5d-a (vllm-router 0.1.17) sends pod-goes nothing more" in evidence.withdrawal.reason
    assert {method for method, _, _ in router.asked} == {"GET", "DELETE"}
    assert len(router.asked) < 20
    assert world.client.listed.count("pods") == 2
    assert len(world.woken) <= 4


async def test_a_gateway_is_told_to_drop_it_with_its_key_and_to_take_it_back(world: World) -> None:
    engine = await idle(world)
    url = f"http://{engine.address}:8000"
    routing = Routing({url: "regular", STAYS: "regular"}, by_id=True)
    args = ["--control-plane-api-keys=a:b:admin:secret"]
    router = await world.router(routing, router=SGLANG, args=args)
    world.inquire(SGLANG)
    await world.until(let_go)
    assert list(routing.lists) == [STAYS]
    keyed = {path: key for _, path, key in router.asked}
    assert (keyed.pop("/metrics"), set(keyed.values())) == (None, {"Bearer secret"})
    world.inquire(SGLANG, stage=Stage.RESTORING)
    evidence = await world.until(lambda seen: seen.restored is not None and seen.restored.verdict is PROVEN)
    assert (routing.lists[url], evidence.withdrawal.verdict) == ("regular", WAITING)


async def test_every_router_process_is_asked(world: World) -> None:
    engine = await idle(world)
    keeps = Routing({f"http://{engine.address}:8000": "regular", STAYS: "regular"})
    keeps.lists[f"http://{engine.address}:9999"] = "regular"
    await world.router(Routing({STAYS: "regular"}))
    other = await world.router(keeps, "chat-router-5d-b")
    world.inquire(VLLM)
    evidence = await world.until(says("router Pod chat-router-5d-b (vllm-router 0.1.17) still lists"))
    assert evidence.withdrawal.verdict is WAITING
    assert other.asked


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param(text("", 302, Location="http://127.0.0.1/"), "HTTP 302 to GET /workers", id="redirects"),
        pytest.param(text("", 401), "HTTP 401 to GET /workers", id="closed"),
        pytest.param(text("", 404), "HTTP 404 to GET /workers", id="not-there"),
        pytest.param(text("", 500), "HTTP 500 to GET /workers", id="fails"),
        pytest.param(text("<html>"), "with what is no JSON", id="no-JSON"),
        pytest.param(text('{"workers": [], "total": 9}'), "with what is no list of workers", id="a-part"),
        pytest.param(flood, "more than 4194304 bytes", id="floods"),
        pytest.param(hang, "no answer within 2 s", id="never-ends"),
    ],
)
async def test_a_router_that_answers_otherwise_holds(world: World, answer: Any, said: str) -> None:
    await idle(world)
    await world.router(answer)
    world.inquire(VLLM)
    evidence = await world.until(says(said))
    assert evidence.withdrawal.verdict is WAITING


async def test_a_router_at_which_nobody_listens_holds(world: World) -> None:
    await idle(world)
    world.client.pods.append(router_pod(Peer("127.77.251.1", text(""))))
    world.inquire(VLLM)
    await world.until(says("ClientConnectorError"))


async def test_a_gateway_that_wants_a_key_is_told_at_once(world: World) -> None:
    await idle(world)
    await world.router(text("", 401), router=SGLANG)
    world.inquire(SGLANG)
    evidence = await world.until(says("--control-plane-api-keys=ID:NAME:admin:KEY"))
    assert evidence.withdrawal.verdict is IMPOSSIBLE


async def test_a_router_of_a_version_that_was_not_measured_proves_nothing(world: World) -> None:
    await idle(world)
    router = await world.router(Routing({STAYS: "regular"}), image="gpustack/llm-router:v9")
    world.inquire(VLLM)
    evidence = await world.until(lambda seen: seen.withdrawal.verdict is IMPOSSIBLE)
    assert evidence.withdrawal.reason.startswith("router Pod chat-router-5d-a runs an image that does not tell")
    assert router.asked == []


async def test_a_router_pod_that_comes_or_restarts_has_to_prove_it_too(world: World) -> None:
    engine = await idle(world)
    router = await world.router(Routing({STAYS: "regular"}))
    world.inquire(VLLM)
    await world.until(let_go)
    keeps = Routing({STAYS: "regular", f"http://{engine.address}:8000": "regular"})
    late = await world.router(keeps, "chat-router-5d-b")
    world.watched.pods.put(world.member(late.address, "r", labels={keys.ROUTER: "vllm-router", keys.INSTANCE: "chat"}))
    await world.until(says("router Pod chat-router-5d-b"))
    world.client.pods.pop()
    world.member(late.address, "r", labels={keys.ROUTER: "vllm-router", keys.INSTANCE: "chat"}, restarts=1)
    await world.until(let_go)
    world.client.pods[0] = router_pod(router, restarts=1)
    world.member(late.address, "r", labels={keys.ROUTER: "vllm-router", keys.INSTANCE: "chat"}, restarts=2)
    await world.until(says("which has to stand for 2 s"))
    await world.until(let_go)


async def test_a_router_pod_found_by_the_last_list_reopens_the_proof(world: World) -> None:
    await idle(world)
    await world.router(Routing({STAYS: "regular"}))
    world.inquire(VLLM)
    await world.until(says("which has to stand for 2 s"))
    await world.router(text("", 500), "chat-router-5d-b")
    await world.until(says("router Pod chat-router-5d-b"))


async def test_who_does_not_belong_to_the_router_or_does_not_run_is_not_asked(world: World) -> None:
    await idle(world)
    await world.router(Routing({STAYS: "regular"}))
    others = [
        await world.router(text("", 500), "stranger", owner="another-router-5d"),
        await world.router(text("", 500), "over", phase="Failed"),
        await world.router(text("", 500), "waits", phase="Pending"),
    ]
    world.inquire(VLLM)
    await world.until(let_go)
    assert [each.asked for each in others] == [[], [], []]


async def test_an_api_server_that_does_not_answer_holds(world: World) -> None:
    await idle(world)
    world.client.refusal = ServerFailure(503, "ServiceUnavailable", "busy", Details())
    world.inquire(VLLM)
    evidence = await world.until(says("the API server does not list the router's Pods: 503"))
    assert evidence.withdrawal.verdict is WAITING


async def test_a_container_that_was_restarted_holds_for_good(world: World) -> None:
    engine = await idle(world)
    world.inquire()
    await world.until(lambda seen: seen.in_flight == 0)
    world.member(engine.address, restarts=1, container="c2")
    evidence = await world.until(lambda seen: "its container was restarted" in seen.idle.reason)
    assert evidence.idle_since is None


async def test_a_container_that_restarts_while_it_is_read_is_not_heard(world: World) -> None:
    async def restarts(_: web.Request) -> web.Response:
        world.member(engine.address, restarts=1, container="c2")
        return web.Response(text=IDLE)

    engine = await world.engine(restarts)
    world.member(engine.address)
    world.inquire()
    await world.until(lambda seen: "its container was restarted" in seen.idle.reason)


async def test_a_pod_whose_address_went_to_another_is_not_heard(world: World) -> None:
    async def moves(_: web.Request) -> web.Response:
        world.member("10.0.0.9")
        return web.Response(text=IDLE)

    engine = await world.engine(moves)
    world.member(engine.address)
    world.inquire()
    await world.until(lambda seen: "its Pod went away while it was read" in seen.idle.reason)


async def test_a_role_that_took_over_its_command_holds(world: World) -> None:
    await idle(world, annotations={})
    world.inquire()
    evidence = await world.until(lambda seen: "a role with a command of its own" in seen.idle.reason)
    assert evidence.idle.verdict is WAITING


async def test_one_member_of_several_that_is_busy_or_gone_holds(world: World) -> None:
    await idle(world)
    other = await world.engine(text(BUSY))
    pod = world.member(other.address, "too")
    world.inquire(None, "goes", "too")
    evidence = await world.until(lambda seen: "Pod pod-too has 3 requests" in seen.idle.reason)
    assert (evidence.in_flight, evidence.idle_since) == (3, None)
    world.watched.pods.remove(pod)
    await world.until(lambda seen: "its Pod is gone" in seen.idle.reason)
    world.inquire(None, "goes", "never")
    await world.until(lambda seen: "Pod never does not tell its requests: it is gone" in seen.idle.reason)


async def test_two_readings_in_a_row_are_idle_or_it_is_busy(world: World) -> None:
    answers = iter([IDLE, BUSY] * 100)

    async def turns(_: web.Request) -> web.Response:
        return web.Response(text=next(answers))

    engine = await world.engine(turns)
    world.member(engine.address)
    world.inquire()
    await world.until(lambda seen: "has 3 requests" in seen.idle.reason)


async def test_an_engine_that_hung_for_a_while_is_heard_again(world: World) -> None:
    hangs = iter([True] * 3)

    async def at_last(request: web.Request) -> web.StreamResponse:
        return await hang(request) if next(hangs, False) else await text(IDLE)(request)

    engine = await world.engine(at_last)
    world.member(engine.address)
    world.inquire()
    await world.until(lambda seen: "no answer within 2 s" in seen.idle.reason)
    await world.until(lambda seen: seen.in_flight == 0)


async def test_what_is_under_way_at_a_router_holds_the_drain_and_not_the_withdrawal(world: World) -> None:
    engine = await idle(world)
    routing = Routing({STAYS: "regular"})
    running = 'vllm_router_running_requests{{worker="http://{}:8000"}} {}\n'
    routing.numbers = running.format(engine.address, 2)
    await world.router(routing)
    world.inquire(VLLM)
    evidence = await world.until(let_go)
    assert (evidence.idle.verdict, "is still under way" in evidence.idle.reason) == (WAITING, True)
    world.inquire(VLLM, stage=Stage.DRAINING)
    routing.numbers = running.format(engine.address, 0)
    await world.until(done)
    assert world.witness.tally.inquiries == 1


async def test_a_member_that_is_asked_for_anew_is_heard_anew(world: World) -> None:
    await idle(world)
    world.inquire()
    await world.until(lambda seen: seen.in_flight == 0)
    world.inquire(None, "goes", members=frozenset({"goes", "mate"}))
    evidence = await world.until(lambda seen: seen.members == {"goes", "mate"})
    assert evidence.idle.verdict is WAITING
    world.witness.inquire(CHAT, None)
    assert world.witness.evidence(CHAT) is None


async def test_who_ceases_to_lead_hears_nobody() -> None:
    async with worlds() as other:
        await idle(other)
        other.inquire()
        await other.until(lambda seen: seen.in_flight == 0)
    assert other.witness.evidence(CHAT) is None
    other.inquire()
    await asyncio.sleep(0.05)
    assert other.witness.evidence(CHAT) is None


async def test_a_half_is_withdrawn_beside_its_like_alone(world: World) -> None:
    engine = await idle(world, labels={keys.ROLE_KIND: "decode"})
    await world.router(Routing({STAYS: "prefill"}), args=["--vllm-pd-disaggregation"])
    world.inquire(VLLM, kind=RoleKind.DECODE)
    evidence = await world.until(let_go)  # no other decode half is there: whether it may leave is not asked here
    assert engine.asked
    assert evidence.withdrawal.verdict is PROVEN
