"""What happens to a replica that is leaving while something else happens: it leaves unharmed, or it stays."""

import asyncio

import pytest
from e2e_board import ready, restarts
from e2e_operators import Start
from e2e_retiring import (
    EACH,
    arrived,
    busy,
    load,
    nothing_lost,
    reaches,
    retirement,
    routed,
    servers,
    shrunk,
    under_load,
)
from e2e_routed import create, router_pods
from e2e_worlds import World
from modeldeployment.kube.kinds import PODS
from modeldeployment.lab.engines import Manner
from modeldeployment.lab.serving import Serving

pytestmark = pytest.mark.lab


def victim(world: World) -> str:
    """The Pod of the highest of two replicas."""
    return world.board.replicas("chat")[1][0].metadata.name


@EACH
async def test_a_replica_with_a_request_stays_until_it_is_answered_and_gets_no_other(
    world: World, serving: Serving, engine: str, router: str
) -> None:
    await create(world, servers(world, engine, router, replicas=2))
    url = await routed(world, serving)
    leaving = serving.engine(victim(world))
    async with busy(leaving):
        await world.scale("chat", 1)
        await reaches(world, "Draining")
        before = arrived(leaving)
        account = await load(url, seconds=5)
        assert account.unanswered == (), account.text(serving.names())
        assert arrived(leaving) == before
        assert retirement(world)["state"] == "Draining"
    await shrunk(world, 1)
    assert leaving.ledger.causes() == {}


@EACH
async def test_a_router_that_starts_anew_or_joins_while_a_replica_drains_sends_it_nothing(
    world: World, serving: Serving, engine: str, router: str
) -> None:
    await create(world, servers(world, engine, router, replicas=2))
    await routed(world, serving)
    leaving = serving.engine(victim(world))
    async with busy(leaving):
        await world.scale("chat", 1)
        await reaches(world, "Draining")
        before = arrived(leaving)
        (only,) = serving.routers("chat")
        serving.restart(only)
        await world.board.until(
            lambda: any(restarts(pod) == 1 and ready(pod) for pod in router_pods(world, "chat")), what="it is up again"
        )
        await world.edit("chat", "/spec/router/replicas", 2)
        await world.board.until(lambda: sum(map(ready, router_pods(world, "chat"))) == 2, what="two routers are ready")
        for each in serving.routers("chat").values():
            account = await load(each.url, seconds=2)
            assert account.unanswered == (), account.text(serving.names())
        assert arrived(leaving) == before
    await shrunk(world, 1)
    assert leaving.ledger.causes() == {}


@EACH
async def test_a_replica_that_is_wanted_again_while_it_drains_stays_and_is_sent_requests_again(
    world: World, serving: Serving, engine: str, router: str
) -> None:
    await create(world, servers(world, engine, router, replicas=2))
    url = await routed(world, serving)
    kept = victim(world)
    leaving = serving.engine(kept)
    async with busy(leaving):
        await world.scale("chat", 1)
        await reaches(world, "Draining")
        await world.scale("chat", 2)
        await world.board.until(lambda: not retirement(world), within=120, what="it is given up")
    assert victim(world) == kept
    before = arrived(leaving)
    async with asyncio.timeout(60):
        while arrived(leaving) == before:
            account = await load(url, seconds=1)
            assert account.unanswered == (), account.text(serving.names())


async def test_an_engine_that_does_not_tell_holds_its_replica_until_it_does(world: World, serving: Serving) -> None:
    await create(world, servers(world, "vLLM", "vllm-router", replicas=2))
    await routed(world, serving)
    name = victim(world)
    leaving = serving.engine(name)
    leaving.tell(manner=Manner.HANG)
    await world.scale("chat", 1)
    await reaches(world, "Draining", saying=name)
    for wrong in (
        {"without": frozenset({"vllm:num_requests_waiting"})},
        {"lies": {"vllm:num_requests_running": "NaN"}},
    ):
        leaving.tell(**wrong)
        await asyncio.sleep(3)
        assert retirement(world)["state"] == "Draining"
    leaving.tell()
    await shrunk(world, 1)


async def test_a_replica_that_is_deleted_by_somebody_else_while_it_drains_is_not_missed(
    world: World, serving: Serving
) -> None:
    await create(world, servers(world, "vLLM", "vllm-router", replicas=2))
    url = await routed(world, serving)
    name = victim(world)
    async with busy(serving.engine(name)):
        await world.scale("chat", 1)
        await reaches(world, "Draining")
        await world.client.delete(PODS, name, world.namespace)
        await reaches(world, "Aborted", saying="terminated from outside")
    await world.board.until(
        lambda: name not in {pod.metadata.name for pod in world.board.all_pods("chat")}, what="the Pod is gone"
    )
    assert (await load(url, seconds=1)).unanswered == ()
    # Nothing is held: who asks for less or more again is heard.
    await world.scale("chat", 2)
    await world.settled("chat")
    await world.scale("chat", 1)
    await shrunk(world, 1)


@pytest.mark.parametrize("state", ["Admitted", "Disqualified", "Withdrawing", "Draining", "Deleting", "Settling"])
async def test_an_operator_that_is_killed_in_any_state_is_followed_by_one_that_goes_on_and_nothing_is_lost(
    breakable: World, breakable_serving: Serving, start_operator: Start, state: str
) -> None:
    first = start_operator()
    await create(breakable, servers(breakable, "vLLM", "vllm-router", replicas=3))
    url = await routed(breakable, breakable_serving)
    async with under_load(url, tokens=(2, 20)) as loaded:
        await breakable.scale("chat", 1)
        await reaches(breakable, state)
        first.kill()
        start_operator()
        await shrunk(breakable, 1)
    nothing_lost(breakable_serving, loaded)
