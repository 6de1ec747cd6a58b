"""The fake world against the real one: a scenario is played on both, and what a person sees of it is the same."""

import asyncio
from typing import Any

import pytest
from e2e_agreeing import (
    Action,
    Create,
    Delete,
    DeletePod,
    DeleteWorkload,
    Drain,
    Edit,
    Quota,
    Remove,
    Until,
    gone,
    held,
    imagined,
    lived,
    settled,
    waits,
)
from e2e_routed import LLM_D, pair
from e2e_worlds import JSON, MakeWorld, World
from modeldeployment.api import kueue

pytestmark = pytest.mark.lab

_UP = (Create(), Until(settled))
_REPLICAS = "/spec/roles/0/replicas"


def _chat(world: World, **role: Any) -> JSON:
    return world.manifest("chat", **role)


async def _agree(world: World, manifest: JSON, *actions: Action, checks: tuple[str, ...] = ()) -> None:
    real = await lived(world, manifest, actions)
    assert await asyncio.to_thread(imagined, world, manifest, actions, checks) == real


async def test_both_worlds_create_a_role_alike(world: World) -> None:
    await _agree(world, _chat(world, replicas=2), *_UP)


async def test_both_worlds_create_a_pair_behind_a_router_alike(world: World) -> None:
    manifest = pair(world, replicas=2)
    await _agree(world, manifest, *_UP)


async def test_both_worlds_create_replicas_of_two_members_alike(world: World) -> None:
    await _agree(world, _chat(world, replicas=2, size=2), *_UP)


async def test_both_worlds_scale_up_and_down_alike(world: World) -> None:
    actions = (Edit(_REPLICAS, 4), Until(settled), Edit(_REPLICAS, 1), Until(settled))
    await _agree(world, _chat(world, replicas=2), *_UP, *actions)


async def test_both_worlds_roll_a_role_out_alike(world: World) -> None:
    manifest = _chat(world, replicas=3)
    await _agree(world, manifest, *_UP, Edit("/spec/roles/0/image", "lab/two"), Until(settled))


async def test_both_worlds_replace_a_deleted_pod_alike(world: World) -> None:
    def replaced(outcome: Any) -> bool:
        return settled(outcome) and len(outcome.seats) == 4

    manifest = _chat(world, replicas=2, size=2)
    left = Until(lambda outcome: any(seat.leaving for seat in outcome.seats) or len(outcome.seats) < 4)
    await _agree(world, manifest, *_UP, DeletePod("server", 1, 1), left, Until(replaced))


async def test_both_worlds_replace_a_replica_whose_workload_was_deleted_alike(world: World) -> None:
    left = Until(lambda outcome: not settled(outcome))
    await _agree(world, _chat(world, replicas=2), *_UP, DeleteWorkload("server", 0), left, Until(settled))


async def test_both_worlds_leave_one_replica_waiting_when_the_quota_is_short_by_one(world: World) -> None:
    actions = (Quota(2), Create(), Until(waits(2)), Quota(3), Until(settled))
    await _agree(world, _chat(world, replicas=3), *actions)


async def test_both_worlds_say_the_same_of_a_replica_that_waits(world: World) -> None:
    # One replica has no equal to change places with: which of several waits is anybody's guess.
    actions = (Quota(0), Create(), Until(waits(0)))
    await _agree(world, _chat(world, replicas=1), *actions)


async def test_both_worlds_delete_what_waits_alike(world: World) -> None:
    actions = (Quota(1), Create(), Until(waits(1)), Delete(), Until(gone))
    await _agree(world, _chat(world, replicas=2), *actions)


async def test_both_worlds_delete_what_serves_alike(world: World) -> None:
    await _agree(world, pair(world), *_UP, Delete(), Until(gone))


async def test_both_worlds_take_a_router_away_and_bring_it_back_alike(world: World) -> None:
    def routerless(outcome: Any) -> bool:
        return settled(outcome) and ("RouterReady", "True", "NotApplicable") in outcome.conditions

    def routed(outcome: Any) -> bool:
        return settled(outcome) and ("RouterReady", "True", "Ready") in outcome.conditions

    actions = (Remove("/spec/router"), Until(routerless), Edit("/spec/router", {"name": LLM_D}), Until(routed))
    await _agree(world, pair(world), Create(), Until(routed), *actions)


async def test_both_worlds_move_a_replica_off_a_drained_node_alike(make_world: MakeWorld) -> None:
    world = await make_world(nodes=3, cards=1)
    actions = (Drain("server", 1), Until(lambda outcome: not settled(outcome)), Until(settled))
    await _agree(world, _chat(world, replicas=2), *_UP, *actions)


async def test_both_worlds_hold_a_pair_short_of_quota_and_open_it_when_capacity_arrives(make_world: MakeWorld) -> None:
    checks = (kueue.JOINT_CHECK,)
    world = await make_world(admission_checks=checks)
    actions = (Quota(1), Create(), Until(held), Quota(2), Until(settled))
    await _agree(world, pair(world), *actions, checks=checks)
