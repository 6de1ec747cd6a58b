"""Every router process is looked at: status is told what it lists, and ghosts alone are taken out (facts status §6)."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from modeldeployment.api import RouterName, keys
from modeldeployment.kube import fetching, shapes
from modeldeployment.reconcile.looking import Looking
from modeldeployment.reconcile.sources import Sources
from modeldeployment.reconcile.viewing import Viewing
from modeldeployment.reconcile.watching import Key
from reconcile_stored import CHAT
from reconcile_witness import Peer, Routing, World, router_pod

STAYS, GONE, LEAVES = (f"http://10.0.0.{last}:8000" for last in (2, 3, 4))


@dataclass
class Looked:
    """A world whose time a test moves, and who looks at routers in it; `changed` are the deployments that were told."""

    world: World
    looking: Looking
    viewing: Viewing
    sources: Sources
    now: datetime = datetime(2030, 1, 1, tzinfo=UTC)
    inquired: frozenset[str] = frozenset()
    changed: list[Key] = field(default_factory=list)

    async def router(self, routing: Routing, **said: Any) -> Peer:
        """A router process that the API server lists and the store holds."""
        peer = await self.world.router(routing, **said)
        self.world.watched.pods.put(msgspec.convert(self.world.client.pods[-1], shapes.Pod))
        return peer

    async def after(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        await self.looking.round()


@pytest.fixture
async def looked() -> AsyncIterator[Looked]:
    async with AsyncExitStack() as stack:
        world = World(stack)
        world.stays()
        http = await stack.enter_async_context(fetching.session(8))
        sources = Sources(world.client, world.watched, http, lambda: one.now, 8)
        viewing = Viewing(sources, lambda key: one.changed.append(key))
        one = Looked(world, Looking(sources, lambda _: one.inquired, viewing), viewing, sources)
        yield one


async def test_a_worker_whose_pod_is_gone_is_taken_out_after_ninety_seconds(looked: Looked) -> None:
    routing = Routing({STAYS: "regular", GONE: "regular"})
    await looked.router(routing)
    await looked.after(0)
    await looked.after(60)
    assert list(routing.lists) == [STAYS, GONE]
    await looked.after(30)
    assert list(routing.lists) == [STAYS]


async def test_a_member_that_is_on_its_way_out_is_no_ghost(looked: Looked) -> None:
    looked.world.member("10.0.0.4", "leaves")
    looked.inquired = frozenset({"leaves"})
    routing = Routing({STAYS: "regular", LEAVES: "regular"})
    await looked.router(routing)
    for _ in range(3):
        await looked.after(60)
    assert list(routing.lists) == [STAYS, LEAVES]


async def test_a_gateway_with_a_key_is_asked_with_it(looked: Looked) -> None:
    routing = Routing({STAYS: "regular", GONE: "regular"}, by_id=True, key="secret")
    await looked.router(routing, router=RouterName.SGLANG, args=["--api-key=secret"])
    await looked.after(0)
    await looked.after(90)
    assert list(routing.lists) == [STAYS]


async def test_a_router_that_was_not_measured_or_is_not_ours_is_told_nothing(looked: Looked) -> None:
    strange = Routing({GONE: "regular"})
    await looked.router(strange, name="chat-router-5d-a", image="x/y:1")
    foreign = await looked.world.peer(other := Routing({GONE: "regular"}), 8081, 9090)
    looked.world.watched.pods.put(msgspec.convert(router_pod(foreign, "foreign"), shapes.Pod))
    for _ in range(3):
        await looked.after(60)
    assert (list(strange.lists), list(other.lists)) == ([GONE], [GONE])


async def test_a_process_that_began_anew_has_its_time_anew(looked: Looked) -> None:
    routing = Routing({STAYS: "regular", GONE: "regular"})
    peer = await looked.router(routing)
    await looked.after(0)
    looked.world.client.pods[0] = router_pod(peer, restarts=1)
    looked.world.watched.pods.put(msgspec.convert(looked.world.client.pods[0], shapes.Pod))
    await looked.after(90)
    assert list(routing.lists) == [STAYS, GONE]
    await looked.after(90)
    assert list(routing.lists) == [STAYS]


async def test_a_picker_keeps_no_list_and_is_asked_for_its_numbers_alone(looked: Looked) -> None:
    peer = await looked.router(Routing({}), router=RouterName.LLM_D, image="gpustack/llm-router:v0.1.0")
    await looked.after(0)
    assert peer.asked == [("GET", "/metrics", None)]


def told(looked: Looked) -> list[set[str] | None]:
    """The endpoints of role server that each process is seen to send requests to."""
    views = looked.viewing.of(CHAT)
    assert views is not None
    assert all(each.role == "server" for view in views.lists for each in view or ())
    return [None if view is None else {each.name for each in view} for view in views.lists]


async def test_a_view_is_what_a_process_lists_of_our_own_pods(looked: Looked) -> None:
    assert looked.viewing.of(CHAT) is None
    await looked.router(Routing({STAYS: "regular", GONE: "regular"}))
    await looked.after(0)
    assert told(looked) == [{STAYS}]
    assert looked.changed == [CHAT]


async def test_a_view_that_nobody_renews_is_believed_for_fifteen_seconds(looked: Looked) -> None:
    routing = Routing({STAYS: "regular"})
    await looked.router(routing)
    await looked.after(0)
    routing.status = 500
    await looked.after(15)
    assert told(looked) == [{STAYS}]
    await looked.after(1)
    assert told(looked) == [None]
    routing.status = 200
    await looked.after(10)
    assert told(looked) == [{STAYS}]
    assert looked.changed == [CHAT] * 3


async def test_a_process_that_is_not_known_to_route_has_no_view_and_one_of_somebody_else_is_not_missed(
    looked: Looked,
) -> None:
    await looked.router(Routing({STAYS: "regular"}), name="chat-router-5d-a")
    await looked.router(Routing({STAYS: "regular"}, status=503), name="chat-router-5d-b")
    foreign = await looked.world.peer(Routing({}), 8081, 9090)
    looked.world.watched.pods.put(msgspec.convert(router_pod(foreign, "foreign", owner="theirs-1"), shapes.Pod))
    await looked.router(Routing({}), name="chat-router-5d-c", deleted="2030-01-01T00:00:00Z")
    await looked.after(0)
    assert sorted(map(str, told(looked))) == ["None", str({STAYS})]


async def test_a_process_that_began_anew_is_not_answered_for_by_its_last_life(looked: Looked) -> None:
    routing = Routing({STAYS: "regular"})
    peer = await looked.router(routing)
    await looked.after(0)
    looked.world.watched.pods.put(msgspec.convert(router_pod(peer, restarts=1), shapes.Pod))
    routing.status = 503
    await looked.after(5)
    assert told(looked) == [None]


async def test_a_gateway_with_a_key_is_looked_at_and_found_but_once(looked: Looked) -> None:
    await looked.router(
        Routing({STAYS: "regular"}, by_id=True, key="secret"), router=RouterName.SGLANG, args=["--api-key=secret"]
    )
    for _ in range(3):
        await looked.after(10)
    assert told(looked) == [{STAYS}]
    assert looked.world.client.listed == ["pods"]


async def test_of_a_deployment_whose_routers_went_nothing_is_known_and_it_is_told(looked: Looked) -> None:
    await looked.router(Routing({STAYS: "regular"}))
    await looked.after(0)
    (pod,) = (each for each in looked.world.watched.pods.items() if keys.ROUTER in each.metadata.labels)
    looked.world.watched.pods.remove(pod)
    await looked.after(10)
    assert told(looked) == []
    assert looked.changed == [CHAT, CHAT]


SLOW = "http://10.0.0.5:8000"


async def announced(looked: Looked, *seconds: float) -> list[Any]:
    """What is written to Pods in so many seconds, over and over."""
    for each in seconds:
        await looked.after(each)
    return looked.world.client.patched


async def test_a_pod_that_vllm_router_gave_up_on_is_shown_to_it_anew(looked: Looked) -> None:
    looked.world.member("10.0.0.5", "slow", labels={keys.ELIGIBLE: keys.TRUE})
    routing = Routing({STAYS: "regular"})
    await looked.router(routing)
    assert await announced(looked, 0, 20) == []
    stamp = {keys.ANNOUNCED: "2030-01-01T00:00:30Z"}
    expected = [("pod-slow", {"metadata": {"uid": "slow", "annotations": stamp}})]
    assert await announced(looked, 10, 10) == expected
    routing.lists[SLOW] = "regular"
    assert await announced(looked, 60, 60) == expected


@pytest.mark.parametrize("why", ["not eligible", "leaves", "inquired", "not vllm-router", "not ours"])
async def test_a_pod_that_the_router_is_not_to_list_is_not_shown(looked: Looked, why: str) -> None:
    said: dict[str, Any] = {"labels": {} if why == "not eligible" else {keys.ELIGIBLE: keys.TRUE}}
    pod = looked.world.member("10.0.0.5", "slow", **said)
    if why == "leaves":
        meta = msgspec.structs.replace(pod.metadata, deletion_timestamp="2030-01-01T00:00:00Z", resource_version="999")
        looked.world.watched.pods.put(msgspec.structs.replace(pod, metadata=meta))
    if why == "inquired":
        looked.inquired = frozenset({"slow"})
    owner = {"owner": "theirs-1"} if why == "not ours" else {}
    router = RouterName.SGLANG if why == "not vllm-router" else RouterName.VLLM
    await looked.router(Routing({STAYS: "regular"}, by_id=router is RouterName.SGLANG), router=router, **owner)
    assert await announced(looked, 0, 40, 40) == []


async def test_a_round_that_breaks_is_told_and_the_next_one_follows(
    looked: Looked, caplog: pytest.LogCaptureFixture
) -> None:
    routing = Routing({STAYS: "regular"})
    await looked.router(routing)
    rounds = 0

    def inquired(_: Key) -> frozenset[str]:
        nonlocal rounds
        rounds += 1
        if rounds == 1:
            raise RuntimeError("the first round breaks")
        again.set()
        return frozenset()

    again = asyncio.Event()
    looking = Looking(looked.sources, inquired, looked.viewing)
    with caplog.at_level(logging.ERROR, logger="modeldeployment.reconcile.looking"):
        async with asyncio.TaskGroup() as group:
            task = group.create_task(looking.run(every=0.0))
            await asyncio.wait_for(again.wait(), 30)
            task.cancel()
    assert [each.message for each in caplog.records] == ["routers not looked at"]
