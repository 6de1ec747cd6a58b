"""A deployment and its shared cache: attached, held while it is away, and moved one replica at a time."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from e2e_board import ordinal, ready, uids
from e2e_cached import Cache, cache
from e2e_routed import create
from e2e_worlds import WHOLE_PODS, World
from modeldeployment.api import keys
from modeldeployment.kube.kinds import PODS

pytestmark = pytest.mark.lab

STORE = "store.example:50051"


@pytest.fixture
async def shared(world: World) -> AsyncIterator[Cache]:
    """Return a cache of the world, not ready yet."""
    made = await cache(world)
    yield made
    await made.clear()


async def configurations(world: World) -> list[dict[str, Any] | None]:
    """What each replica's Pod tells the store's client, by ordinal; None for a Pod without a connection."""
    found = []
    for [pod] in world.board.replicas("chat").values():
        annotations = (await world.whole(WHOLE_PODS, pod.metadata.name))["metadata"].get("annotations", {})
        text = annotations.get(keys.CLIENT_CONFIG)
        found.append(json.loads(text) if text else None)
    return found


def held(world: World) -> bool:
    return world.board.says("chat", "ReplicasUpToDate", "False", "RolloutHeldByCache")


async def test_an_attached_deployment_carries_the_clients_document_and_echoes_its_binding(
    world: World, shared: Cache
) -> None:
    await shared.answer(STORE)
    await shared.grant()
    await create(world, shared.attached(world.manifest("chat", replicas=2)))
    await world.settled("chat")
    first, second = await configurations(world)
    assert first == second
    assert first is not None
    assert (first["master_server_address"], first["tenant_id"], first["protocol"]) == (STORE, "team", "tcp")
    assert world.board.says("chat", "DomainRegistered", "True", "Registered")
    assert world.board.status("chat")["kvCache"] == {
        "binding": shared.name,
        "pool": shared.name,
        "domain": {"name": "team", "blockSize": 16, "dtype": "bfloat16"},
    }


async def test_a_cache_that_goes_away_replaces_nobody_a_new_ordinal_still_comes_and_all_ends_well(
    world: World, shared: Cache
) -> None:
    await shared.answer(STORE)
    await shared.grant()
    await create(world, shared.attached(world.manifest("chat", replicas=2)))
    await world.settled("chat")
    before = uids(world.board.all_pods("chat"))
    echo = world.board.status("chat")["kvCache"]

    await shared.grant(phase="Error")
    await world.board.until(lambda: held(world), what="the rollout is held")
    assert world.board.says("chat", "DomainRegistered", "False", "BindingNotReady")
    assert world.board.status("chat")["phase"] == "Ready"

    await world.scale("chat", 3)
    await world.board.until(
        lambda: len(world.board.replicas("chat")) == 3 and all(map(ready, world.board.all_pods("chat"))),
        what="a third replica comes",
    )
    await world.board.until(lambda: held(world), what="the rollout is still held")
    assert await configurations(world) == [(await configurations(world))[0]] * 2 + [None]
    assert world.board.deleted(PODS) == []

    await shared.unbind()
    await world.board.until(
        lambda: world.board.says("chat", "DomainRegistered", "False", "BindingNotFound"), what="the binding is gone"
    )
    assert world.board.status("chat")["kvCache"] == echo
    assert world.board.deleted(PODS) == []
    assert set(before) < set(uids(world.board.all_pods("chat")))


async def test_a_cache_that_comes_back_gives_the_new_ordinal_its_connection_and_leaves_the_others(
    world: World, shared: Cache
) -> None:
    await shared.answer(STORE)
    await shared.grant()
    await create(world, shared.attached(world.manifest("chat", replicas=1)))
    await world.settled("chat")
    (kept,) = uids(world.board.all_pods("chat"))

    await shared.grant(phase="Error")
    await world.scale("chat", 2)
    await world.board.until(
        lambda: len(world.board.replicas("chat")) == 2 and all(map(ready, world.board.all_pods("chat"))),
        what="a second replica comes",
    )
    await shared.grant()
    await world.settled("chat")
    assert [ordinal(pod) for pod in world.board.deleted(PODS)] == [1]
    assert uids(world.board.replicas("chat")[0]) == [kept]
    assert None not in await configurations(world)


async def test_a_store_that_moves_turns_replicas_over_one_by_one_and_its_heartbeats_nothing(
    world: World, shared: Cache
) -> None:
    await shared.answer(STORE)
    await shared.grant()
    await create(world, shared.attached(world.manifest("chat", replicas=3)))
    await world.settled("chat")
    serving = world.board.follow(lambda: sum(map(ready, world.board.all_pods("chat"))))

    for used in ("2Gi", "3Gi"):
        await shared.beat(used)
    await shared.answer("moved.example:50051")
    await world.board.until(lambda: len(world.board.deleted(PODS)) == 3, what="every replica turned over")
    await world.settled("chat")
    assert [ordinal(pod) for pod in world.board.deleted(PODS)] == [2, 1, 0]
    assert min(serving) == 2
    told = await configurations(world)
    assert {each["master_server_address"] for each in told if each} == {"moved.example:50051"}


async def test_a_deployment_whose_binding_never_came_runs_and_rolls_without_it(world: World) -> None:
    manifest = world.manifest("chat", replicas=2)
    manifest["spec"]["kvCache"] = {"poolRef": {"name": "absent"}}
    await create(world, manifest)
    await world.settled("chat")
    assert world.board.says("chat", "DomainRegistered", "False", "BindingNotFound")
    assert await configurations(world) == [None, None]
    assert "kvCache" not in world.board.status("chat")
    await world.edit("chat", "/spec/roles/0/image", "lab/next")
    await world.settled("chat")
    assert [ordinal(pod) for pod in world.board.deleted(PODS)] == [1, 0]
