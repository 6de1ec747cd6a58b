"""Counts edited faster than anything can follow: whoever is wanted all along is never touched."""

import json
import random
from typing import Final

import pytest
from e2e_board import ordinal, uids
from e2e_routed import create, pair, router_pods, served, whole
from e2e_standing import crowded, standing, stayed
from e2e_worlds import MakeWorld, World
from modeldeployment.api import keys
from modeldeployment.kube import PatchType
from modeldeployment.kube.kinds import PODS
from modeldeployment.reconcile import DEPLOYMENTS, OwnedKind

pytestmark = pytest.mark.lab

EDITS: Final = 20
COUNTS: Final = (2, 5)


async def burst(world: World, name: str, seed: int, *roles: int, rising: bool = False) -> dict[int, list[int]]:
    """Edit the counts of roles (by place) again and again, as fast as they are taken; returns what each was told.

    Nobody serves the Pods of some tests, so none of them could run empty: there counts only rise.
    """
    chance = random.Random(seed)
    told: dict[int, list[int]] = {role: [] for role in roles}
    for _ in range(EDITS):
        role, count = chance.choice(roles), chance.randint(*COUNTS)
        count = max([count, *told[role]]) if rising else count
        change = json.dumps([{"op": "replace", "path": f"/spec/roles/{role}/replicas", "value": count}]).encode()
        made = await world.client.patch(DEPLOYMENTS, name, change, world.namespace, how=PatchType.JSON)
        told[role].append(count)
    version = int(made.metadata.resource_version)
    await world.board.until(lambda: world.board.deployments.revision >= version, what="the board saw the last edit")
    return told


@pytest.mark.usefixtures("serving")
@pytest.mark.parametrize(("size", "seed"), [(1, 1), (1, 2), (2, 3)])
async def test_twenty_scales_at_once_touch_none_of_the_replicas_that_are_always_wanted(
    world: World, size: int, seed: int
) -> None:
    await world.create("chat", replicas=4, size=size)
    await world.settled("chat")
    before, crowd = standing(world.board, "chat"), world.board.follow(lambda: crowded(world.board, "chat"))

    told = (await burst(world, "chat", seed, 0))[0]
    await world.settled("chat")
    always = min(4, *told)
    assert stayed(before, standing(world.board, "chat")) >= {
        ("server", number, member) for number in range(always) for member in range(size)
    }
    assert list(world.board.replicas("chat")) == list(range(told[-1]))
    assert max(crowd) == 1
    kept = [uid for (_, number, _), (uid, _) in before.items() if number < always]
    assert not set(kept) & set(uids(world.board.deleted(PODS)))


async def test_a_burst_on_both_roles_of_a_pair_restarts_neither_half_nor_its_router(make_world: MakeWorld) -> None:
    world = await make_world(nodes=2)
    await create(world, pair(world, replicas=2))
    await served(world)
    before, crowd = standing(world.board, "qwen"), world.board.follow(lambda: crowded(world.board, "qwen"))
    routers, router = uids(router_pods(world)), await whole(world, OwnedKind.DEPLOYMENT)

    told = await burst(world, "qwen", 4, 0, 1, rising=True)
    await world.settled("qwen")
    assert stayed(before, standing(world.board, "qwen")) >= {
        (role, number, 0) for place, role in enumerate(("prefill", "decode")) for number in range(min(2, *told[place]))
    }
    for place, role in enumerate(("prefill", "decode")):
        assert list(world.board.replicas("qwen", role)) == list(range(told[place][-1]))
    assert max(crowd) == 1
    assert uids(router_pods(world)) == routers
    assert (await whole(world, OwnedKind.DEPLOYMENT))["metadata"]["generation"] == router["metadata"]["generation"]


async def test_a_burst_in_the_middle_of_a_rollout_brings_no_replica_of_the_old_spec(world: World) -> None:
    await world.create("chat", replicas=3)
    await world.settled("chat")
    first, seen = standing(world.board, "chat"), len(world.board.came(PODS))
    await world.edit("chat", "/spec/roles/0/image", "lab/next")
    await burst(world, "chat", 5, 0, rising=True)
    await world.scale("chat", 5)
    await world.settled("chat")
    assert stayed(first, standing(world.board, "chat")) == set()
    replicas = world.board.replicas("chat")
    wanted = {number: pod.metadata.annotations[keys.FINGERPRINT] for number, [pod] in replicas.items()}
    since = [pod for pod in world.board.came(PODS)[seen:] if ordinal(pod) in wanted]
    assert [pod.metadata.annotations[keys.FINGERPRINT] for pod in since] == [wanted[ordinal(pod)] for pod in since]
    assert sorted(number for number in map(ordinal, since) if number < min(COUNTS)) == [0, 1]
    assert set(map(ordinal, since)) == {0, 1, 2, 3, 4}
