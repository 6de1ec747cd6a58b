"""Sets that wait for each other are parted without ping-pong; a set that never fits parks and says what clears it."""

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from e2e_board import PATIENCE
from e2e_sets import create, pair, reserved, started, stranger, unequal, workloads
from e2e_worlds import MakeWorld, World
from modeldeployment.api import kueue
from modeldeployment.kube import Invalid, PatchType
from modeldeployment.kube.kinds import PODS, WORKLOADS
from modeldeployment.kube.shapes import Workload

pytestmark = pytest.mark.lab

CHECKED = (kueue.JOINT_CHECK,)


async def test_of_three_sets_that_wait_for_each_other_each_runs_in_its_turn(make_world: MakeWorld) -> None:
    world = await make_world(nodes=1, admission_checks=CHECKED)
    # Each holds one card of the five that a stranger leaves, and waits for six; any one of them alone fits.
    await stranger(world, cards=3)
    for name in ("first", "second", "third"):
        await create(world, unequal(world, name, 1, 6))
        await world.board.until(partial(_holds, world, name), what=f"{name} holds one card")
        await asyncio.sleep(1.1)  # ages have whole seconds
    await world.client.delete(PODS, "stranger", world.namespace)

    for name, waiting in (("first", ("second", "third")), ("second", ("third",)), ("third", ())):
        await world.settled(name)
        assert [each for other in waiting for each in started(world, other)] == []
        await world.delete(name)
    # Each set gave way at most once for each set that was older.
    assert _times_stopped(world, "first") == 0
    assert _times_stopped(world, "second") <= 1
    assert _times_stopped(world, "third") <= 2


async def test_a_set_larger_than_its_queue_parks_and_runs_once_somebody_clears_it(make_world: MakeWorld) -> None:
    world = await make_world(nodes=1, admission_checks=CHECKED)
    await create(world, pair(world, "large", 4, 5))
    await world.board.until(
        lambda: sum(map(reserved, workloads(world, "large"))) == 8, what="eight of nine replicas hold quota"
    )
    await _all_held_for(world, "large", timedelta(minutes=31))
    await world.board.until(
        lambda: world.board.says("large", "QuotaReserved", "False", "Parked"), what="the set is parked"
    )
    message = world.board.condition("large", "QuotaReserved")["message"]
    assert "spec.active" in message
    assert "delete" in message
    await world.board.until(lambda: not any(map(reserved, workloads(world, "large"))), what="its quota is given back")
    assert started(world, "large") == []

    same = await world.apply(pair(world, "large", 4, 5))
    assert same.code == 0
    await asyncio.sleep(3)
    assert world.board.says("large", "QuotaReserved", "False", "Parked")

    await make_world(nodes=1, admission_checks=CHECKED)
    for each in workloads(world, "large"):
        await world.client.patch(
            WORKLOADS, each.metadata.name, {"spec": {"active": True}}, world.namespace, how=PatchType.MERGE
        )
    await world.settled("large")


def _holds(world: World, name: str) -> bool:
    return any(reserved(each) for each in workloads(world, name))


async def _all_held_for(world: World, name: str, how_long: timedelta) -> None:
    """Set back the clocks of a set until none of it is in a queue; Kueue may write a status that it read before."""
    async with asyncio.timeout(PATIENCE):
        while waiting := [each for each in workloads(world, name) if each.spec.active is not False]:
            for each in waiting:
                await _held_for(world, each, how_long)
            await asyncio.sleep(2)


async def _held_for(world: World, workload: Workload, how_long: timedelta) -> None:
    """Set back the clock that stands on a Workload."""
    then = (datetime.now(UTC) - how_long).strftime("%Y-%m-%dT%H:%M:%SZ")
    for _ in range(20):
        found = await world.client.get(WORKLOADS, workload.metadata.name, world.namespace)
        quota = next(i for i, each in enumerate(found.status.conditions) if each.type == "QuotaReserved")
        back = [
            {"op": "test", "path": f"/status/conditions/{quota}/type", "value": "QuotaReserved"},
            {"op": "replace", "path": f"/status/conditions/{quota}/lastTransitionTime", "value": then},
            {"op": "replace", "path": "/status/admissionChecks/0/lastTransitionTime", "value": then},
        ]
        try:
            changed = await world.client.patch(
                WORKLOADS, found.metadata.name, back, world.namespace, how=PatchType.JSON, subresource="status"
            )
        except Invalid:  # Kueue has written meanwhile, and something stands elsewhere or not at all
            await asyncio.sleep(0.2)
            continue
        if changed.status.admission_checks[0].last_transition_time == then:
            return
    raise AssertionError(f"the clock of {workload.metadata.name} cannot be set back")


def _times_stopped(world: World, name: str) -> int:
    """How often one Workload of a deployment was taken out of its queue, at most."""
    stops: dict[str, int] = {}
    owned = {pod.metadata.uid for pod in world.board.came(PODS) if pod.metadata.name.startswith(f"{name}-")}
    for change in world.board.story:
        match change.old, change.new:
            case Workload() as old, Workload() as new if old.spec.active is not False and new.spec.active is False:
                if {each.uid for each in new.metadata.owner_references} & owned:
                    stops[new.metadata.name] = stops.get(new.metadata.name, 0) + 1
    return max(stops.values(), default=0)
