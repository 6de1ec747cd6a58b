"""A deployment and its shared cache: attached, held while it is away, and moved one replica at a time."""

import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest
from e2e_board import ordinal, ready, uids
from e2e_cached import Cache, cache
from e2e_routed import create
from e2e_worlds import JSON, WHOLE_PODS, World
from modeldeployment.api import keys
from modeldeployment.api.choices import EngineName
from modeldeployment.kube import PatchType
from modeldeployment.kube.kinds import PODS
from modeldeployment.lab.engines import EngineServer

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


def user(name: str) -> JSON:
    return {"kind": "ModelDeployment", "namespace": "", "name": name}


async def claimed_by(world: World, shared: Cache, *names: str) -> None:
    """Wait until these deployments and no other claim the binding, in this order."""
    async for _ in world.asking():
        if await shared.users() == [user(name) for name in names]:
            return
    assert await shared.users() == [user(name) for name in names]


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
    await world.board.until(lambda: held(world), what="the rollout is held")
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


async def test_a_binding_is_claimed_while_it_is_attached_and_until_the_last_pod_has_left(
    world: World, shared: Cache
) -> None:
    await create(world, shared.attached(world.manifest("chat", replicas=2)))
    await claimed_by(world, shared, "chat")
    await shared.answer(STORE)
    await shared.grant()
    await world.settled("chat")
    assert await shared.users() == [user("chat")]

    last = world.board.replicas("chat")[0][0].metadata.name
    await hold(world, last, ["example.com/held"])
    await world.delete("chat")
    await world.board.until(
        lambda: [pod.metadata.name for pod in world.board.all_pods("chat")] == [last], what="one Pod is left"
    )
    assert await shared.users() == [user("chat")]
    await hold(world, last, None)
    await world.gone("chat")
    await claimed_by(world, shared)


async def hold(world: World, pod: str, finalizers: list[str] | None) -> None:
    """Keep a Pod from going away, or let it go."""
    change = {"metadata": {"finalizers": finalizers}}
    await world.client.patch(PODS, pod, change, world.namespace, how=PatchType.MERGE)


async def test_two_deployments_claim_one_binding_and_each_gives_back_its_own_claim(world: World, shared: Cache) -> None:
    await shared.answer(STORE)
    await shared.grant()
    for name in ("story", "chat"):
        await create(world, shared.attached(world.manifest(name, replicas=1)))
    for name in ("story", "chat"):
        await world.settled(name)
    await claimed_by(world, shared, "chat", "story")
    await world.delete("chat")
    await world.gone("chat")
    await claimed_by(world, shared, "story")
    assert world.board.settled("story")


async def test_a_deployment_goes_although_its_binding_is_gone(world: World, shared: Cache) -> None:
    await shared.answer(STORE)
    await shared.grant()
    await create(world, shared.attached(world.manifest("chat", replicas=2)))
    await world.settled("chat")
    await shared.unbind()
    await world.delete("chat")
    await world.gone("chat")


def served(world: World, role: str) -> int:
    """How many replicas of one Pod are ready."""
    return sum(ready(pod) for [pod] in world.board.replicas("chat", role).values())


async def test_a_store_that_moves_turns_over_one_replica_of_each_role_at_a_time(world: World, shared: Cache) -> None:
    await shared.answer(STORE)
    await shared.grant()
    roles = [world.role(name, replicas=2) for name in ("large", "small")]
    await create(world, shared.attached(world.manifest("chat", roles=roles)))
    await world.settled("chat")
    serving = {name: world.board.follow(partial(served, world, name)) for name in ("large", "small")}
    await shared.answer("moved.example:50051")
    await world.board.until(lambda: len(world.board.deleted(PODS)) == 4, what="every replica turned over")
    await world.settled("chat")
    for name, counts in serving.items():
        gone = [pod for pod in world.board.deleted(PODS) if pod.metadata.labels[keys.COMPONENT] == name]
        assert [ordinal(pod) for pod in gone] == [1, 0]
        assert min(counts) == 1


async def test_a_binding_deleted_under_an_attached_deployment_holds_what_differs_and_restarts_nothing(
    world: World, shared: Cache
) -> None:
    await shared.answer(STORE)
    await shared.grant()
    await create(world, shared.attached(world.manifest("chat", replicas=2)))
    await world.settled("chat")
    before = uids(world.board.all_pods("chat"))
    await shared.unbind()
    await world.board.until(lambda: held(world), what="the rollout is held")
    await world.edit("chat", "/spec/roles/0/image", "lab/next")
    await world.board.until(lambda: held(world), what="the next rollout is held too")
    assert world.board.says("chat", "DomainRegistered", "False", "BindingNotFound")
    assert world.board.deleted(PODS) == []
    assert uids(world.board.all_pods("chat")) == before


async def test_a_cache_is_attached_once_a_replica_says_that_it_found_blocks_there(world: World, shared: Cache) -> None:
    await shared.answer(STORE)
    await shared.grant()
    await create(world, shared.attached(world.manifest("chat", replicas=1)))
    await world.settled("chat")
    await world.board.until(
        lambda: world.board.says("chat", "CacheAttached", "Unknown", "NoObservationAvailable"),
        what="nobody says a word",
    )
    async with EngineServer() as engines:
        address = world.board.replicas("chat")[0][0].status.pod_ip
        engine = await engines.open(EngineName.VLLM, address=address)
        engine.model.external_hits = 64
        await world.board.until(
            lambda: world.board.says("chat", "CacheAttached", "True", "CacheActive"),
            what="the replica gives an account",
        )
