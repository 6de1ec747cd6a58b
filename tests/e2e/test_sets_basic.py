"""Set admission on a real Kueue: groups open together, strangers pass, circles are broken, and the check stays."""

import asyncio
import contextlib

import pytest
from e2e_operators import Start
from e2e_sets import create, entry, pair, queued, reserved, started, stranger, take_check_away, unequal, workloads
from e2e_worlds import JSON, MakeWorld, World
from modeldeployment.api import keys, kueue
from modeldeployment.kube import NotFound, PatchType
from modeldeployment.kube.kinds import ADMISSION_CHECKS, CLUSTER_QUEUES, PODS
from modeldeployment.kube.shapes import AdmissionCheck, Workload

pytestmark = pytest.mark.lab

CHECKED = (kueue.JOINT_CHECK,)


@pytest.fixture
async def checked(make_world: MakeWorld) -> World:
    """Return a world with one node of eight cards, behind a queue that asks for the check."""
    return await make_world(nodes=1, admission_checks=CHECKED)


async def test_a_pair_opens_together_with_one_write_a_workload(checked: World) -> None:
    verdicts = checked.board.follow(
        lambda: {
            each.metadata.name: entry(each) for each in checked.board.workloads.items() if each.status.admission_checks
        }
    )
    await create(checked, pair(checked, "chat", 2, 2))
    await checked.settled("chat")
    said = {(name, *each) for told in verdicts for name, each in told.items()}
    assert {state for _, state, _ in said} == {"Pending", "Ready"}
    assert {message for _, state, message in said if state == "Pending"} == {""}
    assert len([each for each in said if each[1] == "Ready"]) == 4


async def test_a_stranger_in_a_checked_queue_is_let_in_at_once(checked: World) -> None:
    await stranger(checked, cards=1)
    [one] = checked.board.workloads.items()
    assert entry(one) == ("Ready", "not part of a ModelDeployment; nothing is waited for")


async def test_a_pair_of_which_one_does_not_fit_starts_nothing_until_there_is_room(make_world: MakeWorld) -> None:
    world = await make_world(nodes=1, admission_checks=CHECKED)
    await create(world, pair(world, "chat", 4, 5))
    held = "8 of 9 replicas of the set hold quota; waiting for role {}, and all start together"
    expected = {("Pending", held.format(role)) for role in ("prefill", "decode")}
    await world.board.until(
        lambda: (told := {entry(each) for each in workloads(world, "chat") if entry(each)[1]}) and told <= expected,
        what="the set says what it waits for",
    )
    assert started(world, "chat") == []
    assert world.board.condition("chat", "QuotaReserved")["reason"] == "Pending"
    await make_world(nodes=1, admission_checks=CHECKED)
    await world.settled("chat")


async def test_two_sets_that_block_each_other_are_parted_and_run_one_after_the_other(checked: World) -> None:
    await stranger(checked, cards=6)
    await create(checked, unequal(checked, "elder", 4, 4))
    await queued(checked, "elder", 2)
    await asyncio.sleep(1.1)  # ages have whole seconds
    await create(checked, unequal(checked, "younger", 2, 6))
    await queued(checked, "younger", 2)
    await checked.board.until(
        lambda: any(reserved(each) for each in workloads(checked, "younger")), what="the younger took what was left"
    )
    await checked.client.delete(PODS, "stranger", checked.namespace)
    await checked.settled("elder")
    assert started(checked, "younger") == []
    said = {
        message
        for change in checked.board.story
        if isinstance(change.new, Workload)
        for state, message in [entry(change.new)]
        if "yielding to" in message
    }
    assert {message.partition(" (")[0] for message in said} == {f"yielding to {checked.namespace}/elder"}
    await checked.delete("elder")
    await checked.settled("younger")


async def test_the_check_is_there_and_active_again_after_somebody_deleted_it(
    breakable: World, start_operator: Start
) -> None:
    await start_operator().ready()
    before = await _installed(breakable, "")
    assert before.metadata.labels[keys.PART_OF] == keys.PART_OF_VALUE
    await take_check_away(breakable)
    await _installed(breakable, before.metadata.uid)
    await _ask(breakable, [{"name": kueue.JOINT_CHECK}])
    await create(breakable, pair(breakable, "chat", 1, 1))
    await breakable.settled("chat")


async def _installed(world: World, other: str) -> AdmissionCheck:
    """Wait until our check is there, active, and another object than one that was."""
    async for _ in world.asking():
        with contextlib.suppress(NotFound):
            found = await world.client.get(ADMISSION_CHECKS, kueue.JOINT_CHECK)
            if found.metadata.uid != other and _active(found):
                return found
    raise AssertionError("the check is not there")


async def test_a_check_of_another_name_that_names_our_controller_is_activated_and_answered(checked: World) -> None:
    mine = {"metadata": {"name": checked.namespace}, "spec": {"controllerName": kueue.JOINT_CONTROLLER}}
    await checked.client.create(ADMISSION_CHECKS, {"apiVersion": kueue.API_VERSION, "kind": "AdmissionCheck", **mine})
    await _ask(checked, [{"name": checked.namespace}])
    await create(checked, pair(checked, "chat", 1, 1))
    await checked.settled("chat")
    assert {each.name for one in workloads(checked, "chat") for each in one.status.admission_checks} == {
        checked.namespace
    }
    await _ask(checked, [])
    await checked.client.delete(ADMISSION_CHECKS, checked.namespace)


async def _ask(world: World, checks: list[JSON]) -> None:
    """Let the world's queue ask for other checks."""
    spec = {"spec": {"admissionChecksStrategy": {"admissionChecks": checks} if checks else None}}
    await world.client.patch(CLUSTER_QUEUES, world.provision.cluster_queue, spec, how=PatchType.MERGE)


def _active(check: AdmissionCheck) -> bool:
    return any((each.type, each.status, each.reason) == ("Active", "True", "Ready") for each in check.status.conditions)
