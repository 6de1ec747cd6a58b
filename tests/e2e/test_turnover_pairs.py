"""Turnover of more than one role, of edits upon edits, and of pairs whose router comes and goes."""

import asyncio
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from e2e_board import admitted, ordinal, ready, uids
from e2e_people import foretold
from e2e_queued import strict
from e2e_routed import create, pair, served, unrouted
from e2e_standing import crowded, seat, standing, stayed
from e2e_worlds import JSON, WHOLE_PODS, MakeWorld, World, annotated_pods
from modeldeployment.api import keys
from modeldeployment.kube import PatchType
from modeldeployment.kube.kinds import PODS
from modeldeployment.kube.shapes import Pod
from modeldeployment.reconcile import DEPLOYMENTS

pytestmark = pytest.mark.lab

IMAGE = "/spec/roles/0/image"
HALVES = ("prefill", "decode")
RDMA = {"protocol": "RDMA"}


async def test_two_roles_edited_at_once_turn_over_side_by_side_one_replica_each(world: World) -> None:
    await world.create("two", roles=[world.role("small", replicas=3), world.role("large", replicas=2)])
    await world.settled("two")
    serving = {role: world.board.follow(_counter(world, "two", role)) for role in ("small", "large")}
    await _edit(world, "two", *((f"/spec/roles/{place}/image", "lab/next") for place in (0, 1)))
    await world.settled("two")

    gone = [seat(pod)[:2] for pod in world.board.deleted(PODS)]
    assert set(gone[:2]) == {("small", 2), ("large", 1)}
    assert [number for role, number in gone if role == "small"] == [2, 1, 0]
    assert [number for role, number in gone if role == "large"] == [1, 0]
    assert {role: min(counts) for role, counts in serving.items()} == {"small": 2, "large": 1}


async def test_a_slot_that_somebody_else_takes_during_a_rollout_on_a_full_pool_holds_the_rest(
    make_world: MakeWorld,
) -> None:
    world = await make_world(nodes=1)
    await strict(world)
    await world.create("chat", replicas=2, resources={"accelerator": 4})
    await world.settled("chat")
    (spared,) = world.board.replicas("chat")[0]
    await world.create("late", replicas=1, resources={"accelerator": 4})
    await world.board.until(lambda: world.board.says("late", "QuotaReserved", "False", "Pending"), what="late waits")
    await asyncio.sleep(1.1)  # ages have whole seconds

    await world.edit("chat", IMAGE, "lab/next")
    await world.settled("late")
    held = "1 of 2 replicas differs from the spec; the next leaves once every declared replica of its role is admitted"
    await world.board.until(
        lambda: world.board.condition("chat", "ReplicasUpToDate").get("message") == held, what="the rollout waits"
    )
    assert uids(world.board.replicas("chat")[0]) == [spared.metadata.uid]
    assert [ordinal(pod) for pod in _of(world, "chat")] == [1]

    await world.delete("late")
    await world.settled("chat")
    assert [ordinal(pod) for pod in _of(world, "chat")] == [1, 0]
    assert all(admitted(world.board.workload_of(pod)) for pod in world.board.all_pods("chat"))


async def test_an_edit_during_a_rollout_goes_on_with_the_newest_spec_and_spares_who_was_not_reached(
    world: World,
) -> None:
    await world.create("chat", replicas=3)
    await world.settled("chat")
    serving = world.board.follow(_counter(world, "chat", "server"))
    async with annotated_pods(world, "lab/next", {"lab/never-ready": "true"}):  # so that the edit is never too late
        await world.edit("chat", IMAGE, "lab/next")
        await world.board.until(lambda: len(world.board.came(PODS)) == 4, what="the first has turned over")
        await world.edit("chat", IMAGE, "lab/last")
        await world.settled("chat")
    gone = [ordinal(pod) for pod in world.board.deleted(PODS)]
    assert gone == [2, 2, 1, 0]
    assert min(serving) == 2
    for [pod] in world.board.replicas("chat").values():
        found = await world.whole(WHOLE_PODS, pod.metadata.name)
        assert found["spec"]["containers"][0]["image"] == "lab/last"


async def test_another_transport_turns_both_halves_of_a_pair_over_one_by_one_as_foretold(
    world: World, tmp_path: Path
) -> None:
    await create(world, pair(world, replicas=2))
    await served(world)
    serving = {role: world.board.follow(_counter(world, "qwen", role)) for role in HALVES}
    manifest = pair(world, replicas=2)
    manifest["spec"]["kvTransfer"] = RDMA
    assert await foretold(world, tmp_path, manifest) == {"prefill": 2, "decode": 2}

    await world.edit("qwen", "/spec/kvTransfer", RDMA)
    await served(world)
    gone = [seat(pod)[:2] for pod in world.board.deleted(PODS) if keys.ROUTER not in pod.metadata.labels]
    for role in HALVES:
        assert [number for name, number in gone if name == role] == [1, 0]
        assert min(serving[role]) == 1


async def test_a_transport_that_is_taken_back_half_way_spares_who_never_turned(world: World) -> None:
    await create(world, pair(world, replicas=2, image="lab/pair"))
    await served(world)
    before, crowd = standing(world.board, "qwen"), world.board.follow(lambda: crowded(world.board, "qwen"))
    held = "2 of 4 replicas differ from the spec; the next leaves once the replicas that match are ready"
    async with annotated_pods(world, "lab/pair", {"lab/never-ready": "true"}):
        await world.edit("qwen", "/spec/kvTransfer", RDMA)
        await world.board.until(
            lambda: world.board.condition("qwen", "ReplicasUpToDate").get("message") == held, what="it is held"
        )
    await world.edit("qwen", "/spec/kvTransfer", {"protocol": "TCP"})
    await served(world)
    assert stayed(before, standing(world.board, "qwen")) == {("prefill", 0, 0), ("decode", 0, 0)}
    assert max(crowd) == 1


@pytest.mark.parametrize(
    ("router", "kinds"),
    [("llm-d-router", ("Prefill", "Decode")), ("vllm-router", ("Prefill", "Decode")), ("vllm-router", ("Server",))],
)
async def test_a_router_that_comes_and_goes_turns_over_what_is_foretold_and_nobody_else(
    world: World, tmp_path: Path, router: str, kinds: tuple[str, ...]
) -> None:
    roles = [world.role(kind.lower(), kind=kind, replicas=2, image="lab/engine") for kind in kinds]
    bare = world.manifest("qwen", roles=roles)
    routed = deepcopy(bare)
    routed["spec"]["router"] = {"name": router}
    await create(world, bare)
    await world.settled("qwen")
    serving = {role["name"]: world.board.follow(_counter(world, "qwen", role["name"])) for role in roles}

    told = await foretold(world, tmp_path, routed)
    before = standing(world.board, "qwen")
    await world.edit("qwen", "/spec/router", routed["spec"]["router"])
    await served(world)
    assert _turned(world, before) == told

    told = await foretold(world, tmp_path, bare)
    before = standing(world.board, "qwen")
    await unrouted(world)
    await world.settled("qwen")
    assert _turned(world, before) == told
    assert {name: min(counts) for name, counts in serving.items()} == {name: 1 if told[name] else 2 for name in told}


def _counter(world: World, name: str, role: str) -> Any:
    return lambda: sum(ready(pod) for pod in world.board.all_pods(name) if seat(pod)[0] == role)


def _turned(world: World, before: dict[Any, Any]) -> dict[str, int]:
    """How many Pods of each role are no longer those of before."""
    kept = stayed(before, standing(world.board, "qwen"))
    return {role: sum(each[0] == role and each not in kept for each in before) for role, *_ in before}


def _of(world: World, name: str) -> list[Pod]:
    """A deployment's deleted Pods, in order."""
    return [pod for pod in world.board.deleted(PODS) if pod.metadata.labels[keys.INSTANCE] == name]


async def _edit(world: World, name: str, *values: tuple[str, Any]) -> None:
    """Make several changes in one edit."""
    change: list[JSON] = [{"op": "add", "path": path, "value": value} for path, value in values]
    made = await world.client.patch(DEPLOYMENTS, name, json.dumps(change).encode(), world.namespace, how=PatchType.JSON)
    version = int(made.metadata.resource_version)
    await world.board.until(lambda: world.board.deployments.revision >= version, what="the board saw the edit")
