"""Above the bounds requests are lost: each is counted, and its cause and engine are known."""

import asyncio

import pytest
from e2e_retiring import EACH, routed, servers, slowly, under_load
from e2e_routed import create
from e2e_worlds import World
from modeldeployment.kube.kinds import PODS
from modeldeployment.lab import engines
from modeldeployment.lab.loading import Outcome
from modeldeployment.lab.serving import Serving

pytestmark = pytest.mark.lab


@EACH
async def test_a_pod_that_is_deleted_under_requests_longer_than_its_grace_loses_them_and_each_is_counted(
    world: World, serving: Serving, engine: str, router: str
) -> None:
    slowly(serving, 1.0)
    await create(world, servers(world, engine, router, replicas=2, terminationGracePeriodSeconds=15))
    url = await routed(world, serving)
    victim = world.board.replicas("chat")[1][0].metadata.name
    leaving = serving.engine(victim)
    async with under_load(url, rate=2, tokens=(30, 35)) as loaded:
        async with asyncio.timeout(60):
            while leaving.model.running < 3:  # noqa: ASYNC110 -- what other tasks do is polled
                await asyncio.sleep(0.1)
        await world.client.delete(PODS, victim, world.namespace)
        await world.board.until(
            lambda: victim not in {pod.metadata.name for pod in world.board.all_pods("chat")}, what="the Pod is gone"
        )
    cut = {each.mark: each.cause for each in leaving.ledger.entries if each.outcome is engines.Outcome.CUT}
    assert set(cut.values()) <= {"ended by SIGTERM", "killed"}
    account = loaded.account
    lost = {each.mark for each in account.lost}
    assert lost, account.text(serving.names())
    assert lost <= set(cut), account.text(serving.names())
    # A router may try once more what it had not begun to pass on; then another engine answered it.
    again = [each for each in account.answers if each.mark in cut and each.mark not in lost]
    assert {(each.outcome, each.engine.startswith(leaving.address)) for each in again} <= {(Outcome.ANSWERED, False)}
    assert account.unanswered == account.lost
