"""Pods that are really served: real routers find fake engines at the addresses the API server tells."""

import pytest
from e2e_board import ready, restarts
from e2e_retiring import EACH, load, routed, served_directly, servers
from e2e_routed import create, router_pods
from e2e_worlds import World
from modeldeployment.kube.kinds import PODS
from modeldeployment.lab.engines import Phase
from modeldeployment.lab.serving import Serving

pytestmark = pytest.mark.lab


@EACH
async def test_replicas_behind_each_router_answer_what_is_sent_to_its_address(
    world: World, serving: Serving, engine: str, router: str
) -> None:
    await create(world, servers(world, engine, router, replicas=3))
    url = await routed(world, serving)
    account = await load(url, rate=40)
    assert account.unanswered == (), account.text(serving.names())
    pods = {pod.metadata.name for [pod] in world.board.replicas("chat").values()}
    assert {serving.names()[engine] for engine in account.engines()} == pods


@EACH
async def test_routers_come_crash_and_go_as_their_deployment_says(
    world: World, serving: Serving, engine: str, router: str
) -> None:
    await create(world, servers(world, engine, router, replicas=1))
    await routed(world, serving)
    await world.edit("chat", "/spec/router/replicas", 2)
    await world.board.until(lambda: sum(map(ready, router_pods(world, "chat"))) == 2, what="two routers are ready")
    routers = serving.routers("chat")
    assert len({each.url for each in routers.values()}) == 2
    for each in routers.values():
        account = await load(each.url, rate=5, seconds=1)
        assert account.unanswered == (), account.text()

    crashed = next(iter(routers))
    serving.restart(crashed)
    await world.board.until(
        lambda: any(restarts(pod) == 1 and ready(pod) for pod in router_pods(world, "chat")), what="it is up again"
    )
    account = await load(serving.router(crashed).url, rate=5, seconds=1)
    assert account.unanswered == (), account.text()

    await world.edit("chat", "/spec/router/replicas", 1)
    await world.board.until(
        lambda: len([pod for pod in world.board.all_pods("chat") if pod in router_pods(world, "chat")]) == 1,
        what="one router is left",
    )


async def test_a_pod_that_is_deleted_stays_in_service_until_its_hook_lets_it_go(world: World, serving: Serving) -> None:
    await create(world, servers(world, "vLLM", None, replicas=2))
    async with served_directly(world, serving) as url:
        victim = world.board.replicas("chat")[1][0].metadata.name
        leaving = serving.engine(victim)
        assert (await load(url, seconds=1)).unanswered == ()
        await world.client.delete(PODS, victim, world.namespace)
        assert leaving.phase is Phase.SERVING
        assert (await load(url, seconds=2)).unanswered == ()
        await world.board.until(
            lambda: victim not in {pod.metadata.name for pod in world.board.all_pods("chat")}, what="the Pod is gone"
        )
    assert (leaving.phase, leaving.ended) == (Phase.ENDED, "ended by SIGTERM")
    assert [each.path for each in leaving.received if each.path == "/metrics"] == ["/metrics"] * 2


async def test_an_engine_that_is_sick_is_not_ready_and_one_that_crashes_comes_up_again(
    world: World, serving: Serving
) -> None:
    await create(world, servers(world, "vLLM", None, replicas=1))
    await world.settled("chat")
    (pod,) = world.board.replicas("chat")[0]
    engine = serving.engine(pod.metadata.name)
    engine.behave(health=503)
    await world.board.until(lambda: not ready(world.board.replicas("chat")[0][0]), what="it is not ready")
    engine.behave(health=200)
    serving.restart(pod.metadata.name)
    await world.board.until(
        lambda: restarts(found := world.board.replicas("chat")[0][0]) == 1 and ready(found), what="it is up again"
    )
    assert engine.life == 1
