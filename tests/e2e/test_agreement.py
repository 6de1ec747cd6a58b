"""The fake world against the real one: a scenario is played on both, and what a person sees of it is the same."""

import asyncio
from typing import Any

import pytest
from e2e_imagined import imagined
from e2e_lived import lived
from e2e_routed import LLM_D, pair
from e2e_scenes import (
    Action,
    Activate,
    Age,
    Came,
    Create,
    Delete,
    DeletePod,
    DeleteWorkload,
    Drain,
    Edit,
    Enter,
    Leave,
    Lend,
    Look,
    LoseNode,
    Outrank,
    Queued,
    Quota,
    Remove,
    Scene,
    SilenceNode,
    Stopped,
    Until,
    degraded,
    gone,
    held,
    parked,
    settled,
    waits,
)
from e2e_sets import unequal
from e2e_worlds import JSON, MakeWorld, World
from modeldeployment.api import kueue

pytestmark = pytest.mark.lab

_UP = (Create(), Until(settled))
_REPLICAS = "/spec/roles/0/replicas"
_CHECKED = (kueue.JOINT_CHECK,)


def _chat(world: World, **role: Any) -> JSON:
    return world.manifest("chat", **role)


def _sized(world: World, **cards: int) -> tuple[JSON, ...]:
    """Deployments of one replica with so many cards, by their names."""
    return tuple(world.manifest(name, resources={"accelerator": each}) for name, each in cards.items())


async def _agree(world: World, manifest: JSON, *actions: Action, checks: tuple[str, ...] = ()) -> None:
    await _all_agree(world, Scene((manifest,), checks), *actions)


async def _all_agree(world: World, scene: Scene, *actions: Action) -> None:
    real = await lived(world, scene, actions)
    assert await asyncio.to_thread(imagined, world, scene, actions) == real


async def test_both_worlds_create_a_role_alike(world: World) -> None:
    await _agree(world, _chat(world, replicas=2), *_UP)


async def test_both_worlds_create_a_pair_behind_a_router_alike(world: World) -> None:
    manifest = pair(world, replicas=2)
    await _agree(world, manifest, *_UP)


async def test_both_worlds_create_replicas_of_two_members_alike(world: World) -> None:
    await _agree(world, _chat(world, replicas=2, size=2), *_UP)


@pytest.mark.usefixtures("serving")
async def test_both_worlds_scale_up_and_down_alike(world: World) -> None:
    actions = (Edit(_REPLICAS, 4), Until(settled), Edit(_REPLICAS, 1), Until(settled))
    await _agree(world, _chat(world, replicas=2), *_UP, *actions)


async def test_both_worlds_roll_a_role_out_alike(world: World) -> None:
    manifest = _chat(world, replicas=3)
    await _agree(world, manifest, *_UP, Edit("/spec/roles/0/image", "lab/two"), Until(settled))


async def test_both_worlds_replace_a_deleted_pod_alike(world: World) -> None:
    actions = (DeletePod("server", 1, 1), Came(6), Until(settled))
    await _agree(world, _chat(world, replicas=2, size=2), *_UP, *actions)


async def test_both_worlds_replace_a_replica_whose_workload_was_deleted_alike(world: World) -> None:
    actions = (DeleteWorkload("server", 0), Came(3), Until(settled))
    await _agree(world, _chat(world, replicas=2), *_UP, *actions)


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
    actions = (Drain("server", 1), Came(3), Until(settled))
    await _agree(world, _chat(world, replicas=2), *_UP, *actions)


async def test_both_worlds_hold_a_pair_short_of_quota_and_open_it_when_capacity_arrives(make_world: MakeWorld) -> None:
    world = await make_world(admission_checks=_CHECKED)
    actions = (Quota(1), Create(), Until(held), Quota(2), Until(settled))
    await _agree(world, pair(world), *actions, checks=_CHECKED)


async def test_both_worlds_replace_a_replica_whose_node_was_deleted_alike(make_world: MakeWorld) -> None:
    world = await make_world(nodes=3, cards=1)
    actions = (LoseNode("server", 1), Came(3), Until(settled))
    await _agree(world, _chat(world, replicas=2), *_UP, *actions)


async def test_both_worlds_keep_a_replica_on_a_silent_node_and_send_new_ones_elsewhere_alike(
    make_world: MakeWorld,
) -> None:
    world = await make_world(nodes=3, cards=1)
    actions = (SilenceNode("server", 1), Until(degraded(1)), Look(), Edit(_REPLICAS, 3), Came(3), Until(degraded(2)))
    await _agree(world, _chat(world, replicas=2), *_UP, *actions)


async def test_both_worlds_let_a_higher_priority_take_the_newest_replica_and_bring_it_back_alike(
    make_world: MakeWorld,
) -> None:
    world = await make_world(nodes=1, cards=4)
    # The newest goes first, so there must be a newest: ages have whole seconds.
    grown = (*_UP, Look(), Edit(_REPLICAS, 2), Until(settled))
    taken = (Outrank(), Enter(2, outranks=True), Came(3), Until(waits(1)), Look())
    await _agree(world, _chat(world, resources={"accelerator": 2}), *grown, *taken, Leave(), Until(settled))


async def test_both_worlds_spare_a_newer_one_whose_quota_a_higher_priority_has_no_use_for(
    make_world: MakeWorld,
) -> None:
    world = await make_world(nodes=1)
    scene = Scene(_sized(world, large=6, small=2))
    grown = (Create("large"), Until(settled, "large"), Look(), Create("small"), Until(settled, "small"))
    taken = (Outrank(), Enter(6, outranks=True), Came(3), Until(waits(0), "large"), Look())
    await _all_agree(world, scene, *grown, *taken, Leave(), Until(settled, "large"))


async def test_both_worlds_take_from_whoever_got_its_quota_last_whatever_its_age(make_world: MakeWorld) -> None:
    world = await make_world(nodes=1)
    scene = Scene(_sized(world, early=4, late=2))
    waiting = (Quota(2), Create("early"), Queued(1, "early"), Look(), Create("late"), Until(settled, "late"), Look())
    served = (Quota(6), Until(settled, "early"))
    taken = (Outrank(), Enter(2, outranks=True), Came(3), Until(waits(0), "early"), Look())
    await _all_agree(world, scene, *waiting, *served, *taken, Leave(), Until(settled, "early"))


async def test_both_worlds_lend_quota_in_a_cohort_and_take_it_back_alike(make_world: MakeWorld) -> None:
    world = await make_world(nodes=1)
    grown = (Lend(), *_UP, Look(), Edit(_REPLICAS, 2), Until(settled))
    taken = (Enter(4, lender=True), Came(3), Until(waits(1)), Look())
    await _agree(world, _chat(world, resources={"accelerator": 4}), *grown, *taken, Leave(), Until(settled))


async def test_both_worlds_part_two_sets_that_wait_for_each_other_alike(make_world: MakeWorld) -> None:
    world = await make_world(nodes=1, admission_checks=_CHECKED)
    scene = Scene((unequal(world, "elder", 4, 4), unequal(world, "younger", 2, 6)), _CHECKED)
    circle = (
        *(Enter(6), Create("elder"), Queued(2, "elder"), Look()),  # ages have whole seconds
        *(Create("younger"), Queued(2, "younger"), Leave()),
    )
    parted = (Stopped(2), Until(settled, "elder"), Queued(2, "younger"), Look())
    await _all_agree(world, scene, *circle, *parted, Delete("elder"), Until(settled, "younger"))


async def test_both_worlds_park_a_set_that_never_fits_and_let_it_queue_again_alike(make_world: MakeWorld) -> None:
    world = await make_world(nodes=1, admission_checks=_CHECKED)
    given_up = (Quota(6), Create(), Queued(2), Until(held), Age(31), Stopped(2), Until(parked), Look())
    again = (Quota(8), Activate(), Until(settled))
    await _agree(world, unequal(world, "chat", 4, 4), *given_up, *again, checks=_CHECKED)
