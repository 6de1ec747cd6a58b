"""Replicas that leave while requests keep coming: none is lost, behind each router, in each arrangement."""

from dataclasses import replace

import pytest
from e2e_retiring import (
    EACH,
    halves,
    nothing_lost,
    retired,
    routed,
    served_directly,
    servers,
    shrunk,
    slowly,
    under_load,
)
from e2e_routed import create
from e2e_worlds import World
from modeldeployment.lab.serving import Serving

pytestmark = pytest.mark.lab


@EACH
async def test_servers_leave_one_by_one_under_load_and_no_request_is_lost(
    world: World, serving: Serving, engine: str, router: str
) -> None:
    slowly(serving)
    await create(world, servers(world, engine, router, replicas=3))
    url = await routed(world, serving)
    async with under_load(url) as loaded:
        await world.scale("chat", 1)
        await shrunk(world, 1)
    nothing_lost(serving, loaded)
    assert retired(world) == 2


@EACH
async def test_a_half_of_a_pair_leaves_under_load_and_no_request_is_lost(
    world: World, serving: Serving, engine: str, router: str
) -> None:
    slowly(serving)
    serving.behaviour = replace(serving.behaviour, prefill_seconds=0.3, transfer_seconds=0.2)
    await create(world, halves(world, engine, router, replicas=2, terminationGracePeriodSeconds=15))
    url = await routed(world, serving)
    async with under_load(url, rate=8) as loaded:
        for at in range(2):
            await world.edit("chat", f"/spec/roles/{at}/replicas", 1)
            await shrunk(world, 3 - at)
    nothing_lost(serving, loaded)
    assert retired(world) == 2


async def test_a_replica_of_two_pods_leaves_under_load_and_no_request_is_lost(world: World, serving: Serving) -> None:
    slowly(serving)
    await create(world, servers(world, "vLLM", "vllm-router", replicas=2, size=2))
    url = await routed(world, serving)
    async with under_load(url) as loaded:
        await world.scale("chat", 1)
        await shrunk(world, 2)
    nothing_lost(serving, loaded)
    assert retired(world) == 1


async def test_replicas_without_a_router_leave_under_load_and_no_request_is_lost(
    world: World, serving: Serving
) -> None:
    slowly(serving)
    await create(world, servers(world, "vLLM", None, replicas=3))
    async with served_directly(world, serving) as url, under_load(url) as loaded:
        await world.scale("chat", 1)
        await shrunk(world, 1)
    nothing_lost(serving, loaded)
    assert retired(world) == 2
