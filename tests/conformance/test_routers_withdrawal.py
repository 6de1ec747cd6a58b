"""What the real routers do when a Pod is withdrawn. Source: facts routers-measured §2 to §4.

Where nothing is to happen, a Pod that comes later says when the router has seen everything before it.
"""

import asyncio

import pytest
from conformance_routers import EACH, Begin, Member, World, arrivals, ask, counted, halves, lists, servers, until
from modeldeployment.api import keys
from modeldeployment.lab.routers import RunningRouter

pytestmark = pytest.mark.lab

PENDING = "vllm_router_pd_pending_decode_requests"
ROUND_ROBIN = "--policy=round_robin"
SGLANG = ("SGLang", "sglang-gateway", ROUND_ROBIN)
VLLM = ("vLLM", "vllm-router", ROUND_ROBIN)


async def three(world: World, *, held: bool = False) -> tuple[RunningRouter, Member, Member]:
    """A router with two workers, the second of which is to go; a third replica is still to come."""
    stays, goes = await world.pod("server", 0), await world.pod("server", 1, held=held)
    running = await world.start()
    await lists(running, stays, goes)
    return running, stays, goes


@pytest.mark.parametrize("how", ["label off", "not ready"])
async def test_vllm_router_drops_a_pod_that_is_not_eligible_or_not_ready_any_more(begin: Begin, how: str) -> None:
    world = begin(servers(*VLLM, replicas=2))
    running, stays, goes = await three(world)
    if how == "label off":
        await world.label(goes, eligible=None)
    else:
        await world.tell(goes, ready=False)
    await lists(running, stays)
    assert await arrivals(running, world.served, stays, goes) == [12, 0]
    await world.label(goes, eligible=keys.TRUE)
    await world.tell(goes, ready=True)
    await lists(running, stays, goes)
    assert await arrivals(running, world.served, stays, goes) == [6, 6]


@pytest.mark.parametrize("how", ["label off", "not ready"])
async def test_sglang_gateway_keeps_sending_to_a_pod_that_is_not_eligible_or_not_ready_any_more(
    begin: Begin, how: str
) -> None:
    world = begin(servers(*SGLANG, replicas=3))
    running, stays, goes = await three(world)
    if how == "label off":
        await world.label(goes, eligible=None)
    else:
        await world.tell(goes, ready=False)
    later = await world.pod("server", 2)
    await lists(running, stays, goes, later)
    assert await arrivals(running, world.served, stays, goes, later) == [4, 4, 4]


@EACH
async def test_a_pod_that_is_being_deleted_is_dropped_and_its_requests_end(
    begin: Begin, engine: str, router: str
) -> None:
    world = begin(servers(engine, router, ROUND_ROBIN, replicas=2))
    running, stays, goes = await three(world, held=True)
    goes.engine.hold()
    asking = asyncio.create_task(ask(running, world.served, times=2))
    await until(lambda: goes.engine.model.running == 1, what="a request runs at the Pod that goes")
    await world.delete(goes)
    await lists(running, stays)
    assert goes.engine.model.running == 1
    assert await arrivals(running, world.served, stays, goes) == [12, 0]
    goes.engine.release()
    assert len(await asking) == 2
    assert goes.engine.model.aborted == 0


async def test_sglang_gateway_never_drops_a_pod_that_lost_its_label_before_it_was_deleted(begin: Begin) -> None:
    world = begin(servers(*SGLANG, replicas=3))
    running, _, goes = await three(world)
    await world.label(goes, eligible=None)
    await world.delete(goes)
    await world.engines.close(goes.engine)
    later = await world.pod("server", 2)
    await until(lambda: bool(later.engine.received), what="the router has seen the Pod that came last")
    urls = {worker.url for worker in await running.workers()}
    assert goes.url in urls, (
        "sglang-gateway drops a deleted Pod that had lost its label: the ghost of facts routers-measured §2 is gone; "
        "correct it there, and decisions D8 with it"
    )


async def test_vllm_router_drops_a_pod_that_lost_its_label_before_it_was_deleted(begin: Begin) -> None:
    world = begin(servers(*VLLM, replicas=2))
    running, stays, goes = await three(world)
    await world.label(goes, eligible=None)
    await world.delete(goes)
    await lists(running, stays)


@EACH
async def test_a_deleted_pod_is_dropped_and_its_successor_is_found(begin: Begin, engine: str, router: str) -> None:
    world = begin(servers(engine, router, replicas=2))
    running, stays, goes = await three(world)
    await world.delete(goes)
    await lists(running, stays)
    await world.engines.close(goes.engine)
    successor = await world.pod("server", 1)
    assert successor.name == goes.name
    await lists(running, stays, successor)


async def test_sglang_gateway_never_finds_a_successor_with_the_address_of_a_withdrawn_pod(begin: Begin) -> None:
    world = begin(servers(*SGLANG, replicas=3))
    running, stays, goes = await three(world)
    await world.label(goes, eligible=None)
    await running.remove(goes.url)
    await lists(running, stays)
    await world.delete(goes)
    await world.engines.close(goes.engine)
    same = await world.pod("server", 1, address=goes.engine.address)
    later = await world.pod("server", 2)
    await lists(running, stays, later)
    assert same.engine.received == []


async def test_sglang_gateway_finds_that_successor_where_the_label_came_back_while_the_pod_was_leaving(
    begin: Begin,
) -> None:
    world = begin(servers(*SGLANG, replicas=3))
    running, stays, goes = await three(world, held=True)
    await world.label(goes, eligible=None)
    await running.remove(goes.url)
    await lists(running, stays)
    await world.delete(goes)
    await world.label(goes, eligible=keys.TRUE)
    later = await world.pod("server", 2)
    await lists(running, stays, later)
    await world.engines.close(goes.engine)
    await world.let_go(goes)
    same = await world.pod("server", 1, address=goes.engine.address)
    await lists(running, stays, later, same)


async def test_after_label_off_a_decode_half_is_still_asked_for_what_vllm_router_chose_it_for(begin: Begin) -> None:
    world = begin(halves("vLLM", "vllm-router", ROUND_ROBIN, decode=2))
    prefill = await world.pod("prefill")
    prefill.engine.hold()
    stays, goes = await world.pod("decode", 0), await world.pod("decode", 1)
    running = await world.start()
    await lists(running, prefill, stays, goes)
    asking = [asyncio.create_task(ask(running, world.served)) for _ in range(4)]
    await until(lambda: prefill.engine.model.running == 4, what="all four are with the prefill half")
    await world.label(goes, eligible=None)
    await lists(running, prefill, stays)
    assert goes.served == 0
    assert await counted(running, PENDING, goes) == 2
    prefill.engine.release()
    await asyncio.gather(*asking)
    assert goes.served == 2
    assert await counted(running, PENDING, goes) == 0


async def test_sglang_gateway_asks_both_halves_at_once_so_nothing_follows_a_removal(begin: Begin) -> None:
    world = begin(halves("SGLang", "sglang-gateway", ROUND_ROBIN, decode=2))
    prefill = await world.pod("prefill")
    prefill.engine.hold()
    stays, goes = await world.pod("decode", 0), await world.pod("decode", 1)
    running = await world.start()
    await lists(running, prefill, stays, goes)
    asking = [asyncio.create_task(ask(running, world.served)) for _ in range(4)]
    await until(lambda: stays.served + goes.served == 4, what="all four are with both halves")
    before = goes.served
    await world.label(goes, eligible=None)
    await running.remove(goes.url)
    await lists(running, prefill, stays)
    prefill.engine.release()
    await asyncio.gather(*asking)
    await ask(running, world.served, times=4)
    assert goes.served == before == 2
