"""Quota that others take: a replica leaves for a higher priority, its siblings serve on, and it returns by itself."""

import pytest
from e2e_board import ready, uids
from e2e_queued import intruder, leaves, lending, outranking, serves
from e2e_standing import standing, stayed
from e2e_worlds import JSON, MakeWorld, World
from modeldeployment.api import keys
from modeldeployment.kube.kinds import PODS, WORKLOADS
from modeldeployment.kube.shapes import Pod

pytestmark = pytest.mark.lab


async def test_one_replica_of_four_that_is_preempted_is_told_of_and_its_siblings_serve_on(
    make_world: MakeWorld,
) -> None:
    world = await make_world(nodes=1)
    await world.create("chat", replicas=4, resources={"accelerator": 2})
    await world.settled("chat")
    before, told = standing(world.board, "chat"), _told(world, "chat")
    serving = world.board.follow(lambda: sum(map(ready, world.board.all_pods("chat"))))
    async with outranking(world) as priority:
        await intruder(world, _any(world, "chat").metadata.name, priority=priority)
        await serves(world)
        await _waits(world, "chat", "1 of 4 replicas wait for quota")
        assert world.board.status("chat")["phase"] == "Degraded"
        assert world.board.status("chat")["roles"][0]["ready"] == 3
        assert len(stayed(before, standing(world.board, "chat"))) == 3
        assert [said for reason, said in told if reason == "PreemptedInPart"][-1] == (
            "quota of 1 replica was reclaimed by a workload of higher priority while 3 stay admitted; "
            "it comes back by itself when capacity does"
        )
        await leaves(world)
        await world.settled("chat")
    assert len(stayed(before, standing(world.board, "chat"))) == 3
    assert min(serving) == 3
    assert (len(_ours(world.board.came(PODS))), len(_ours(world.board.deleted(PODS)))) == (5, 1)


async def test_an_only_replica_that_is_preempted_waits_and_comes_back_once(make_world: MakeWorld) -> None:
    world = await make_world(nodes=1)
    await world.create("chat", replicas=1, resources={"accelerator": 8})
    await world.settled("chat")
    (first,) = uids(world.board.all_pods("chat"))
    async with outranking(world) as priority:
        await intruder(world, _any(world, "chat").metadata.name, priority=priority)
        await serves(world)
        await _waits(world, "chat", "1 of 1 replica waits for quota")
        assert world.board.status("chat")["phase"] == "Starting"
        assert world.board.says("chat", "RoleKindsReady", "False", "KindsNotReady")
        (waiting,) = uids(world.board.all_pods("chat"))
        await leaves(world)
        await world.settled("chat")
    assert uids(world.board.all_pods("chat")) == [waiting]
    assert uids(_ours(world.board.came(PODS))) == [first, waiting]
    assert uids(_ours(world.board.deleted(PODS))) == [first]


async def test_the_only_prefill_of_a_pair_that_is_preempted_is_named_by_its_kind_and_decode_stays(
    make_world: MakeWorld,
) -> None:
    world = await make_world(nodes=1)
    roles: list[JSON] = [
        world.role("prefill", kind="Prefill", resources={"accelerator": 6}),
        world.role("decode", kind="Decode", resources={"accelerator": 2}),
    ]
    await world.create("pair", roles=roles)
    await world.settled("pair")
    before, told = standing(world.board, "pair"), _told(world, "pair")
    (prefill,) = world.board.replicas("pair", "prefill")[0]
    async with outranking(world) as priority:
        await intruder(world, prefill.metadata.name, priority=priority)
        await serves(world)
        await _waits(world, "pair", "1 of 2 replicas wait for quota")
        part = [said for reason, said in told if reason == "PreemptedInPart"][-1]
        assert "while 1 stays admitted; no admitted replica is left of kind Prefill;" in part
        await leaves(world)
        await world.settled("pair")
    assert stayed(before, standing(world.board, "pair")) == {("decode", 0, 0)}
    assert uids(_ours(world.board.deleted(PODS), "pair")) == [prefill.metadata.uid]


async def test_a_replica_of_two_members_is_preempted_and_comes_back_whole(make_world: MakeWorld) -> None:
    world = await make_world(nodes=1)
    await world.create("wide", replicas=2, size=2, resources={"accelerator": 2})
    await world.settled("wide")
    before = standing(world.board, "wide")
    async with outranking(world) as priority:
        await intruder(world, "wide-server-r0-m0", priority=priority)
        await serves(world)
        await _waits(world, "wide", "1 of 2 replicas wait for quota")
        kept = stayed(before, standing(world.board, "wide"))
        assert kept in ({("server", 0, 0), ("server", 0, 1)}, {("server", 1, 0), ("server", 1, 1)})
        await leaves(world)
        await world.settled("wide")
    assert stayed(before, standing(world.board, "wide")) == kept
    assert len(_ours(world.board.came(PODS), "wide")) == 6
    assert len([each for each in world.board.came(WORKLOADS) if each.metadata.name.startswith("gpustack-")]) == 3


async def test_a_replica_on_borrowed_quota_goes_when_the_lender_wants_it_back_and_returns(
    make_world: MakeWorld,
) -> None:
    world = await make_world(nodes=1)
    async with lending(world) as lender:
        await world.create("chat", replicas=2, resources={"accelerator": 4})
        await world.settled("chat")
        before, told = standing(world.board, "chat"), _told(world, "chat")
        await intruder(world, _any(world, "chat").metadata.name, queue=lender)
        await serves(world)
        await _waits(world, "chat", "1 of 2 replicas wait for quota")
        assert len(stayed(before, standing(world.board, "chat"))) == 1
        assert "PreemptedInPart" in {reason for reason, _ in told}
        await leaves(world)
        await world.settled("chat")
        assert len(stayed(before, standing(world.board, "chat"))) == 1
        assert len(_ours(world.board.came(PODS))) == 3
        await world.clear()


def _any(world: World, name: str) -> Pod:
    return world.board.all_pods(name)[0]


def _ours(pods: list[Pod], name: str = "chat") -> list[Pod]:
    return [pod for pod in pods if pod.metadata.labels.get(keys.INSTANCE) == name]


def _told(world: World, name: str) -> list[tuple[str, str]]:
    """What `QuotaReserved` gives as reason and message from now on."""

    def now() -> tuple[str, str]:
        said = world.board.condition(name, "QuotaReserved")
        return said.get("reason", ""), said.get("message", "")

    return world.board.follow(now)


async def _waits(world: World, name: str, part: str) -> None:
    """Wait until the replacement stands in the queue and status says so."""
    await world.board.until(
        lambda: (
            world.board.says(name, "QuotaReserved", "False", "Pending")
            and part in world.board.condition(name, "QuotaReserved")["message"]
        ),
        what="the replacement waits for quota",
    )
