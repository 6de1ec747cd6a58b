"""An admission check of somebody else beside ours: replicas wait for it, and what it takes back costs one replica."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest
from e2e_board import uids
from e2e_standing import Standing, crowded, standing, stayed
from e2e_worlds import MakeWorld, World
from modeldeployment.api import kueue
from modeldeployment.kube import Client, PatchType
from modeldeployment.kube.kinds import ADMISSION_CHECKS, PODS, WORKLOADS
from modeldeployment.kube.shapes import AdmissionCheckState, Pod

pytestmark = pytest.mark.lab

STAMP: Final = "2030-01-01T00:00:00Z"
WHILE: Final = 3.0
"""Seconds for which something is watched not to happen."""


@contextlib.asynccontextmanager
async def checked(client: Client, namespace: str) -> AsyncIterator[str]:
    """While open, there is an active check of another controller; gives its name."""
    name = f"{namespace}-check"
    body = {
        "apiVersion": kueue.API_VERSION,
        "kind": "AdmissionCheck",
        "metadata": {"name": name},
        "spec": {"controllerName": "lab.example/other"},
    }
    active = {"type": "Active", "status": "True", "reason": "Lab", "message": "", "lastTransitionTime": STAMP}
    await client.create(ADMISSION_CHECKS, body)
    await client.patch(ADMISSION_CHECKS, name, {"status": {"conditions": [active]}}, subresource="status")
    try:
        yield name
    finally:
        await client.delete(ADMISSION_CHECKS, name)  # Kueue keeps it until the queue that asks it is gone


async def test_replicas_stay_gated_until_a_check_of_somebody_else_is_ready(
    make_world: MakeWorld, kube_client: Client, namespace: str
) -> None:
    async with checked(kube_client, namespace) as check:
        world = await make_world(admission_checks=(check,))
        await world.create("chat", replicas=2)
        await world.board.until(
            lambda: world.board.says("chat", "QuotaReserved", "True", "Reserved"), what="quota is held"
        )
        first = standing(world.board, "chat")
        await asyncio.sleep(WHILE)
        assert all(pod.spec.scheduling_gates for pod in world.board.all_pods("chat"))
        assert world.board.status("chat")["phase"] == "Starting"
        for [pod] in world.board.replicas("chat").values():
            await _answer(world, check, pod, "Ready")
        await world.settled("chat")
        assert standing(world.board, "chat") == first
        assert len(world.board.came(PODS)) == 2
        await world.clear()


async def test_a_retry_before_admission_costs_a_replica_its_turn_and_not_its_pod(
    make_world: MakeWorld, kube_client: Client, namespace: str
) -> None:
    async with checked(kube_client, namespace) as check:
        world = await make_world(admission_checks=(check,))
        await world.create("chat", replicas=1)
        await world.board.until(
            lambda: world.board.says("chat", "QuotaReserved", "True", "Reserved"), what="quota is held"
        )
        (pod,) = world.board.replicas("chat")[0]
        await _answer(world, check, pod, "Retry")
        await world.board.until(
            lambda: (found := _entry(world, check, pod)) and found.retry_count, what="it is retried"
        )
        await _answer(world, check, pod, "Ready")
        await world.settled("chat")
        assert uids(world.board.came(PODS)) == uids(world.board.all_pods("chat")) == [pod.metadata.uid]
        await world.clear()


@pytest.mark.parametrize("state", ["Retry", "Rejected"])
async def test_a_check_that_takes_its_word_back_costs_that_replica_and_no_sibling(
    make_world: MakeWorld, kube_client: Client, namespace: str, state: str
) -> None:
    async with checked(kube_client, namespace) as check:
        world = await make_world(admission_checks=(check,))
        before = await _settled(world, check)
        crowd = world.board.follow(lambda: crowded(world.board, "chat"))
        (lost,) = world.board.replicas("chat")[0]
        await _answer(world, check, lost, state)
        await world.board.until(
            lambda: (found := world.board.replicas("chat").get(0)) and uids(found) != [lost.metadata.uid],
            what="another waits in its place",
        )
        (waiting,) = world.board.replicas("chat")[0]
        await _answer(world, check, waiting, "Ready")
        await world.settled("chat")
        assert uids(world.board.replicas("chat")[0]) == [waiting.metadata.uid]
        assert stayed(before, standing(world.board, "chat")) == {("server", 1, 0)}
        assert uids(world.board.deleted(PODS)) == [lost.metadata.uid]
        assert (len(world.board.came(PODS)), max(crowd)) == (3, 1)
        await world.clear()


async def test_a_check_that_asks_again_after_admission_and_is_ready_again_costs_nobody(
    make_world: MakeWorld, kube_client: Client, namespace: str
) -> None:
    async with checked(kube_client, namespace) as check:
        world = await make_world(admission_checks=(check,))
        before = await _settled(world, check)
        (pod,) = world.board.replicas("chat")[0]
        for _ in range(3):
            for state in ("Pending", "Ready"):
                await _answer(world, check, pod, state)
                await world.board.until(lambda state=state: _state(world, check, pod) == state, what=state)  # type: ignore[misc]
        await asyncio.sleep(WHILE)
        assert world.board.settled("chat")
        assert stayed(before, standing(world.board, "chat")) == before.keys()
        assert len(world.board.came(PODS)) == 2
        await world.clear()


async def _settled(world: World, check: str) -> Standing:
    """Create two replicas, let the check have them, and return who stands where."""
    await world.create("chat", replicas=2)
    await world.board.until(lambda: world.board.says("chat", "QuotaReserved", "True", "Reserved"), what="quota is held")
    for [pod] in world.board.replicas("chat").values():
        await _answer(world, check, pod, "Ready")
    await world.settled("chat")
    return standing(world.board, "chat")


def _entry(world: World, check: str, pod: Pod) -> AdmissionCheckState | None:
    workload = world.board.workload_of(pod)
    entries = workload.status.admission_checks if workload is not None else ()
    return next((each for each in entries if each.name == check), None)


def _state(world: World, check: str, pod: Pod) -> str:
    entry = _entry(world, check, pod)
    return entry.state if entry is not None else ""


def _asked(world: World, check: str, pod: Pod) -> bool:
    """Whether an answer is taken: the Workload holds quota and is not just losing it."""
    workload = world.board.workload_of(pod)
    if workload is None or workload.status.admission is None:
        return False
    evicted = any(each.type == "Evicted" and each.status == "True" for each in workload.status.conditions)
    return not evicted and _state(world, check, pod) in ("Pending", "Ready")


async def _answer(world: World, check: str, pod: Pod, state: str) -> None:
    """Answer for one replica as the check's controller would: its entry alone, while its Workload holds quota."""
    await world.board.until(lambda: _asked(world, check, pod), what="Kueue asks")
    workload = world.board.workload_of(pod)
    assert workload is not None
    entry = {"name": check, "state": state, "message": "", "lastTransitionTime": STAMP}
    body: dict[str, Any] = {
        "apiVersion": kueue.API_VERSION,
        "kind": "Workload",
        "metadata": {"name": workload.metadata.name},
        "status": {"admissionChecks": [entry]},
    }
    await world.client.patch(
        WORKLOADS, workload.metadata.name, body, world.namespace, how=PatchType.APPLY, subresource="status", force=True
    )
