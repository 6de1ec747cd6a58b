"""What the real routers count, and what they ask engines to count. Source: facts routers-measured §3."""

import asyncio

import pytest
from conformance_routers import Begin, Member, ask, counted, lists, servers, until
from modeldeployment.lab.engines import Behaviour

pytestmark = pytest.mark.lab

CHOSEN = "vllm_router_processed_requests_total"
RUNNING = "vllm_router_running_requests"
ACTIVE = "smg_worker_requests_active"
RENDER = "/v1/chat/completions/render"
ROUND_ROBIN = "--policy=round_robin"


def counts(*members: Member) -> list[tuple[int, int]]:
    """How often each member was asked to render a request, and to tokenize one."""
    return [(len(member.engine.asked(RENDER)), len(member.engine.asked("/tokenize"))) for member in members]


@pytest.mark.parametrize(
    ("arguments", "scale_out", "asked"),
    [
        pytest.param((), False, [(3, 3), (3, 3)], id="by-default"),
        pytest.param((), True, [(3, 0), (3, 0)], id="with-scale-out"),
        pytest.param((ROUND_ROBIN,), False, [(0, 0), (0, 0)], id="round-robin"),
    ],
)
async def test_vllm_routers_default_policy_has_every_replica_count_the_tokens_of_every_request(
    begin: Begin, arguments: tuple[str, ...], scale_out: bool, asked: list[tuple[int, int]]
) -> None:
    world = begin(servers("vLLM", "vllm-router", *arguments, replicas=2))
    behaviour = Behaviour(scale_out=scale_out)
    one, other = [await world.pod("server", ordinal, behaviour=behaviour) for ordinal in range(2)]
    running = await world.start()
    await lists(running, one, other)
    await ask(running, world.served, times=3)
    assert counts(one, other) == asked


async def test_vllm_router_counts_a_request_when_it_chooses_and_what_runs_survives_a_removal(begin: Begin) -> None:
    world = begin(servers("vLLM", "vllm-router"))
    server = await world.pod("server")
    server.engine.hold()
    running = await world.start()
    await lists(running, server)
    asking = asyncio.create_task(ask(running, world.served))
    await until(lambda: server.engine.model.running == 1, what="the request runs")
    assert (await counted(running, CHOSEN, server), await counted(running, RUNNING, server)) == (1, 1)
    await running.remove(server.url)
    await lists(running)
    assert (await counted(running, CHOSEN, server), await counted(running, RUNNING, server)) == (1, 1)
    server.engine.release()
    await asking
    assert (await counted(running, CHOSEN, server), await counted(running, RUNNING, server)) == (1, 0)


async def test_vllm_router_tells_nothing_of_what_runs_under_round_robin(begin: Begin) -> None:
    world = begin(servers("vLLM", "vllm-router", ROUND_ROBIN))
    server = await world.pod("server")
    running = await world.start()
    await lists(running, server)
    await ask(running, world.served, times=2)
    assert (await counted(running, CHOSEN, server), await counted(running, RUNNING, server)) == (2, None)


async def test_sglang_gateway_forgets_what_runs_when_a_worker_is_removed(begin: Begin) -> None:
    world = begin(servers("SGLang", "sglang-gateway"))
    server = await world.pod("server")
    server.engine.hold()
    running = await world.start()
    await lists(running, server)
    asking = asyncio.create_task(ask(running, world.served))
    await until(lambda: server.engine.model.running == 1, what="the request runs")
    assert await counted(running, ACTIVE, server) == 1
    await running.remove(server.url)
    await lists(running)
    assert await counted(running, ACTIVE, server) in (0, None)
    assert server.engine.model.running == 1
    server.engine.release()
    await asking
