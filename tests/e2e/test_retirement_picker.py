"""Replicas that leave behind `llm-d-router` while requests keep coming, through the real proxy, picker and sidecar."""

import asyncio
from dataclasses import replace

import pytest
from e2e_board import ready, restarts
from e2e_picked import ENGINES, answers, halves, picks, servers
from e2e_retiring import (
    arrived,
    busy,
    load,
    nothing_lost,
    reaches,
    retired,
    retirement,
    shrunk,
    slowly,
    under_load,
)
from e2e_routed import create, router_pods
from e2e_worlds import World
from modeldeployment.kube.kinds import PODS
from modeldeployment.lab import engines
from modeldeployment.lab.serving import Serving
from modeldeployment.lab.toolchain.picker import Picker

pytestmark = pytest.mark.lab


@ENGINES
async def test_servers_leave_one_by_one_under_load_behind_the_picker_and_no_request_is_lost(
    world: World, picked: Serving, picker: Picker, engine: str
) -> None:
    slowly(picked)
    await create(world, servers(world, picker, engine, replicas=3))
    url = await picks(world, picked)
    async with under_load(url) as loaded:
        await world.scale("chat", 1)
        await shrunk(world, 1)
    nothing_lost(picked, loaded)
    assert retired(world) == 2


async def test_a_half_of_a_pair_leaves_under_load_behind_the_picker_and_no_request_is_lost(
    world: World, picked: Serving, picker: Picker
) -> None:
    slowly(picked)
    picked.behaviour = replace(picked.behaviour, prefill_seconds=0.3, transfer_seconds=0.2)
    await create(world, halves(world, picker, "SGLang", replicas=2, terminationGracePeriodSeconds=15))
    url = await picks(world, picked)
    async with under_load(url, rate=8, seed=1) as loaded:
        for at in range(2):
            await world.edit("chat", f"/spec/roles/{at}/replicas", 1)
            await shrunk(world, 3 - at)
    nothing_lost(picked, loaded)
    assert retired(world) == 2
    # Each request went through the routing proxy to both halves.
    for sent in loaded.account.answers:
        assert [len(each.ledger.of(sent.mark)) for _, each in picked.history].count(1) == 2


async def test_a_replica_with_a_request_is_sent_no_other_by_the_picker_and_stays_until_it_is_answered(
    world: World, picked: Serving, picker: Picker
) -> None:
    await create(world, servers(world, picker, "vLLM", replicas=2))
    url = await picks(world, picked)
    leaving = picked.engine(world.board.replicas("chat")[1][0].metadata.name)
    async with busy(leaving):
        await world.scale("chat", 1)
        await reaches(world, "Draining")
        before = arrived(leaving)
        account = await load(url, seconds=5)
        assert account.unanswered == (), account.text(picked.names())
        assert arrived(leaving) == before
        assert retirement(world)["state"] == "Draining"
    await shrunk(world, 1)
    assert leaving.ledger.causes() == {}


async def test_a_picker_that_starts_anew_while_a_replica_drains_sends_it_nothing(
    world: World, picked: Serving, picker: Picker
) -> None:
    await create(world, servers(world, picker, "vLLM", replicas=2))
    url = await picks(world, picked)
    leaving = picked.engine(world.board.replicas("chat")[1][0].metadata.name)
    async with busy(leaving):
        await world.scale("chat", 1)
        await reaches(world, "Draining")
        before = arrived(leaving)
        (only,) = picked.routers("chat")
        picked.restart(only)
        await world.board.until(
            lambda: any(restarts(pod) == 1 and ready(pod) for pod in router_pods(world, "chat")), what="it is up again"
        )
        await answers(url)
        account = await load(url, seconds=3)
        assert account.unanswered == (), account.text(picked.names())
        assert arrived(leaving) == before
    await shrunk(world, 1)
    assert leaving.ledger.causes() == {}


async def test_a_picker_that_crashes_takes_what_passes_through_it_and_the_replicas_that_leave_lose_nothing(
    world: World, picked: Serving, picker: Picker
) -> None:
    slowly(picked)
    await create(world, servers(world, picker, "vLLM", replicas=3))
    url = await picks(world, picked)
    (router,) = picked.routers("chat")
    async with under_load(url) as loaded:
        await world.scale("chat", 1)
        await reaches(world, "Draining")
        picked.restart(router)
        await world.board.until(
            lambda: any(restarts(pod) == 1 and ready(pod) for pod in router_pods(world, "chat")), what="it is up again"
        )
    # The proxy passes each answer through the picker, whatever it is told of failures: what is under way goes with it.
    assert loaded.account.lost, loaded.account.text(picked.names())
    cut = {
        entry.mark: entry.cause
        for _, each in picked.history
        for entry in each.ledger.entries
        if entry.outcome is engines.Outcome.CUT
    }
    assert set(cut.values()) <= {"the caller hung up"}
    assert set(cut) <= {each.mark for each in loaded.account.lost}
    await answers(url)
    async with under_load(url, seed=1) as after:
        await shrunk(world, 1)
    assert after.account.unanswered == (), after.account.text(picked.names())
    assert retired(world) == 2


async def test_a_pod_that_is_deleted_under_longer_requests_than_its_grace_loses_them_behind_the_picker_too(
    world: World, picked: Serving, picker: Picker
) -> None:
    slowly(picked, 1.0)
    await create(world, servers(world, picker, "vLLM", replicas=2, terminationGracePeriodSeconds=15))
    url = await picks(world, picked)
    victim = world.board.replicas("chat")[1][0].metadata.name
    leaving = picked.engine(victim)
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
    assert account.lost, account.text(picked.names())
    assert {each.mark for each in account.lost} == set(cut), account.text(picked.names())
    assert account.unanswered == account.lost
