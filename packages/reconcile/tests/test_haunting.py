"""Ghosts are taken out of routers' lists, and nobody else is (facts routers-measured §7)."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from modeldeployment.api import RouterName
from modeldeployment.kube import fetching, shapes
from modeldeployment.reconcile.haunting import Haunting
from modeldeployment.reconcile.sources import Sources
from reconcile_witness import Peer, Routing, World, router_pod

STAYS, GONE, LEAVES = (f"http://10.0.0.{last}:8000" for last in (2, 3, 4))


@dataclass
class Haunted:
    """A world whose time a test moves, and who looks for ghosts in it."""

    world: World
    haunting: Haunting
    now: datetime = datetime(2030, 1, 1, tzinfo=UTC)
    inquired: frozenset[str] = frozenset()

    async def router(self, routing: Routing, **said: Any) -> Peer:
        """A router process that the API server lists and the store holds."""
        peer = await self.world.router(routing, **said)
        self.world.watched.pods.put(msgspec.convert(self.world.client.pods[-1], shapes.Pod))
        return peer

    async def after(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        await self.haunting.round()


@pytest.fixture
async def haunted() -> AsyncIterator[Haunted]:
    async with AsyncExitStack() as stack:
        world = World(stack)
        world.stays()
        http = await stack.enter_async_context(fetching.session(8))
        sources = Sources(world.client, world.watched, http, lambda: one.now, 8)
        one = Haunted(world, Haunting(sources, lambda _: one.inquired))
        yield one


async def test_a_worker_whose_pod_is_gone_is_taken_out_after_ninety_seconds(haunted: Haunted) -> None:
    routing = Routing({STAYS: "regular", GONE: "regular"})
    await haunted.router(routing)
    await haunted.after(0)
    await haunted.after(60)
    assert list(routing.lists) == [STAYS, GONE]
    await haunted.after(30)
    assert list(routing.lists) == [STAYS]


async def test_a_member_that_is_on_its_way_out_is_no_ghost(haunted: Haunted) -> None:
    haunted.world.member("10.0.0.4", "leaves")
    haunted.inquired = frozenset({"leaves"})
    routing = Routing({STAYS: "regular", LEAVES: "regular"})
    await haunted.router(routing)
    for _ in range(3):
        await haunted.after(60)
    assert list(routing.lists) == [STAYS, LEAVES]


async def test_a_gateway_with_a_key_is_asked_with_it(haunted: Haunted) -> None:
    routing = Routing({STAYS: "regular", GONE: "regular"}, by_id=True, key="secret")
    await haunted.router(routing, router=RouterName.SGLANG, args=["--api-key=secret"])
    await haunted.after(0)
    await haunted.after(90)
    assert list(routing.lists) == [STAYS]


async def test_a_router_that_was_not_measured_or_is_not_ours_is_told_nothing(haunted: Haunted) -> None:
    strange = Routing({GONE: "regular"})
    await haunted.router(strange, name="chat-router-5d-a", image="x/y:1")
    foreign = await haunted.world.peer(other := Routing({GONE: "regular"}), 8081, 9090)
    haunted.world.watched.pods.put(msgspec.convert(router_pod(foreign, "foreign"), shapes.Pod))
    for _ in range(3):
        await haunted.after(60)
    assert (list(strange.lists), list(other.lists)) == ([GONE], [GONE])


async def test_a_process_that_began_anew_has_its_time_anew(haunted: Haunted) -> None:
    routing = Routing({STAYS: "regular", GONE: "regular"})
    peer = await haunted.router(routing)
    await haunted.after(0)
    haunted.world.client.pods[0] = router_pod(peer, restarts=1)
    haunted.world.watched.pods.put(msgspec.convert(haunted.world.client.pods[0], shapes.Pod))
    await haunted.after(90)
    assert list(routing.lists) == [STAYS, GONE]
    await haunted.after(90)
    assert list(routing.lists) == [STAYS]


async def test_a_picker_keeps_no_list_and_is_not_asked(haunted: Haunted) -> None:
    peer = await haunted.router(Routing({}), router=RouterName.LLM_D, image="gpustack/llm-router:v0.1.0")
    await haunted.after(0)
    assert peer.asked == []
