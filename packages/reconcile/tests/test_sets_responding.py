"""What becomes of moves that the API server refuses: the others are tried, and the pass is taken again."""

import json
from typing import Any, cast

import pytest
from modeldeployment.api import kueue
from modeldeployment.kube import Client, Conflict, KubeError, ServerFailure
from modeldeployment.kube.access import Access
from modeldeployment.kube.errors import Details
from modeldeployment.kube.requests import Request
from modeldeployment.reconcile import responding
from modeldeployment.reconcile.sets.verdicts import Activate, Answer, Shelve, entries_saying
from sets_worlds import NOW, reserved

READY = kueue.CheckState.READY


class Refusing(Client):
    """Refuses what ends in one of these paths, and takes everything else."""

    def __init__(self, **refused: KubeError) -> None:
        super().__init__(cast("Access", None))
        self.asked: list[str] = []
        self._refused = refused

    async def raw(self, request: Request) -> bytes:
        path = request.target.partition("?")[0].rpartition("/workloads/")[2]
        self.asked.append(path)
        if path.replace("/", "_") in self._refused:
            raise self._refused[path.replace("/", "_")]
        return json.dumps({"metadata": {"name": path, "resourceVersion": "9"}}).encode()


def answer(name: str) -> Answer:
    workload = reserved(name)
    return Answer(workload, entries_saying(workload, READY, "go", NOW))


async def carried_out(client: Refusing, *moves: Any) -> bool:
    return await responding.carry_out(client, "team", moves, lambda _uid, _version: None, lambda _move: None)


CONFLICT = Conflict(409, "Conflict", "moved on", Details())


async def test_a_failure_is_raised_once_everything_else_was_tried() -> None:
    client = Refusing(p0_status=ServerFailure(500, "InternalError", "broken", Details()))
    with pytest.raises(ServerFailure):
        await carried_out(client, answer("p0"), answer("d0"))
    assert sorted(client.asked) == ["d0/status", "p0/status"]


async def test_a_workload_that_moved_on_before_it_is_answered_is_decided_again() -> None:
    assert await carried_out(Refusing(p0_status=CONFLICT), answer("p0"), answer("d0"))
    assert not await carried_out(Refusing(), answer("p0"))


async def test_a_workload_that_moved_on_before_it_is_activated_is_decided_again() -> None:
    assert await carried_out(Refusing(p0=CONFLICT), Activate(reserved("p0", active=False)))


async def test_one_that_could_not_be_told_why_is_not_deactivated() -> None:
    client = Refusing(p0_status=CONFLICT)
    workload = reserved("p0")
    shelve = Shelve(workload, entries_saying(workload, kueue.CheckState.PENDING, "because", NOW), parked=True)
    assert await carried_out(client, shelve)
    assert client.asked == ["p0/status"]
