"""`kubectl md status` and `why` on a real cluster: what waits, what serves, what is watched, and wrong use."""

import asyncio
import json
import signal

import pytest
from e2e_board import PATIENCE
from e2e_people import ask, begin
from e2e_routed import pair as routed
from e2e_routed import served
from e2e_sets import create, pair, queued, reserved, workloads
from e2e_worlds import MakeWorld, Said, World
from modeldeployment.api import kueue

pytestmark = pytest.mark.lab


async def test_of_a_pair_that_does_not_fit_the_chain_leads_from_a_held_replica_to_the_cards_that_are_missing(
    make_world: MakeWorld,
) -> None:
    world = await make_world(nodes=1, admission_checks=(kueue.JOINT_CHECK,))
    await create(world, pair(world, "chat", 4, 5))
    await queued(world, "chat", 9)
    assert sum(map(reserved, workloads(world, "chat"))) == 8
    async for _ in world.asking():  # a queue counts a moment after it gave
        said = await world.kubectl("get", "clusterqueue", world.provision.cluster_queue, "-o", "json")
        if json.loads(said.out)["status"].get("reservingWorkloads") == 8:
            break
    tree = await ask(world, "status", "chat", "-o", "json")
    assert (tree.code, tree.err) == (0, "")
    replicas = [
        (f"{role['name']}/{each['ordinal']}", each["why"][0])
        for role in json.loads(tree.out)["roles"]
        for each in role["replicas"]
    ]
    assert sorted(why["code"] for _, why in replicas) == ["Held"] * 8 + ["Unreserved"]
    (last,) = (name for name, why in replicas if why["code"] == "Unreserved")
    held = next(name for name, why in replicas if why["code"] == "Held")
    chain = await ask(world, "why", "chat", held)
    assert chain.code == 1
    first, second, third, helps = chain.out.splitlines()
    role = last.partition("/")[0]
    assert first == f"{held} holds quota and waits for its set: 8 of 9 replicas hold theirs; role {role} waits"
    assert second.startswith(f"  {last} has no quota: Workload gpustack-fnv64-")
    assert "couldn't assign flavors to pod set" in second
    assert third.startswith("  ClusterQueue ")
    assert third.endswith(f"has 0 of 8 cards free; {last} asks for 1 card")
    assert helps == "what helps: free quota in that queue, raise it, or declare fewer or smaller replicas"

    whole = await ask(world, "status", "chat")
    assert f"{last}: Gated" in whole.out
    assert "role decode (Decode): 0 of 5 ready" in whole.out
    await make_world(nodes=1, admission_checks=(kueue.JOINT_CHECK,))
    await world.settled("chat")
    assert await ask(world, "why", "chat") == Said(0, "chat serves: 9 of 9 replicas are ready\n", "")
    assert await ask(world, "why", "chat", last) == Said(0, f"{last} serves\n", "")
    tree = await ask(world, "status", "chat")
    assert "    decode/0-4: Ready, 5 replicas" in tree.out.splitlines()


async def test_a_routed_pair_that_serves_shows_its_router_and_holds_nothing(world: World) -> None:
    await create(world, routed(world, replicas=2))
    await served(world)
    tree = await ask(world, "status", "qwen")
    assert (tree.code, tree.err) == (0, "")
    lines = tree.out.splitlines()
    assert f"  endpoint http://qwen-router.{world.namespace}.svc:8081" in lines
    assert any(line.startswith("  router llm-d-router: Ready") for line in lines)
    assert (await ask(world, "why", "qwen")).code == 0


async def test_a_watch_shows_what_becomes_of_a_deployment_and_ends_with_nothing_wrong(world: World) -> None:
    await world.create("chat")
    process = await begin(world, "status", "chat", "--watch", "-o", "json")
    assert process.stdout is not None
    phases = []
    async with asyncio.timeout(PATIENCE):
        while "Ready" not in phases:
            phases.append(json.loads(await process.stdout.readline())["phase"])
        await world.scale("chat", 2)
        while len(json.loads(await process.stdout.readline())["roles"][0]["replicas"]) < 2:
            pass
    process.send_signal(signal.SIGINT)
    _, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert (process.returncode, err) == (0, b"")


async def test_wrong_use_is_told_what_there_is(world: World) -> None:
    await world.create("chat")
    for arguments, said in (
        (("status", "nope"), f"ModelDeployment 'nope' is not in namespace '{world.namespace}': there is chat"),
        (("why", "chat", "decode"), "chat has no role 'decode'; it has server"),
        (("why", "chat", "server/1"), "chat has no replica 'server/1'; of that role there is server/0"),
        (("why", "chat", "server/-1"), "chat has no replica 'server/-1'; of that role there is server/0"),
        (("why", "chat", "server/"), "chat has no replica 'server/'; of that role there is server/0"),
        (("why", "chat", "/0"), "chat has no role ''; it has server"),
    ):
        assert await ask(world, *arguments) == Said(2, "", f"kubectl md: {said}\n")
