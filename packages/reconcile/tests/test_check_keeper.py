"""Our AdmissionCheck is installed where it is missing, activated where it is not active, and left alone else."""

import json
from typing import Any, cast

import msgspec
from modeldeployment.api import kueue
from modeldeployment.kube import Client, NotFound, WorkQueue, shapes
from modeldeployment.kube.access import Access
from modeldeployment.kube.errors import Details
from modeldeployment.kube.requests import Request
from modeldeployment.reconcile import CheckKeeper, Watched
from sets_worlds import NOW

CHECK: dict[str, Any] = {
    "metadata": {"name": kueue.JOINT_CHECK, "uid": "uid-check"},
    "spec": {"controllerName": kueue.JOINT_CONTROLLER},
}
ACTIVE = {"conditions": [{"type": "Active", "status": "True", "reason": "Ready"}]}


class Asked(Client):
    """Writes down what is asked; `installed` says whether the server knows the kind."""

    def __init__(self, *, installed: bool = True) -> None:
        super().__init__(cast("Access", None))
        self.asked: list[str] = []
        self._installed = installed

    async def raw(self, request: Request) -> bytes:
        self.asked.append(f"{request.method} {request.target.partition('?')[0].rpartition('/v1beta2/')[2]}")
        if not self._installed:
            raise NotFound(404, "NotFound", "no such kind", Details())
        return json.dumps(CHECK).encode()


def keeper(client: Client, check: dict[str, Any] | None) -> CheckKeeper:
    watched = Watched(lambda _: None)
    if check is not None:
        watched.queues.checks.put(msgspec.convert(check, shapes.AdmissionCheck))
    return CheckKeeper(client, watched, WorkQueue(), lambda: NOW)


async def test_a_missing_check_is_installed_and_activated() -> None:
    client = Asked()
    assert await keeper(client, None).reconcile(kueue.JOINT_CHECK) is None
    assert client.asked == ["POST admissionchecks", f"PATCH admissionchecks/{kueue.JOINT_CHECK}/status"]


async def test_an_active_check_is_not_written() -> None:
    client = Asked()
    assert await keeper(client, {**CHECK, "status": ACTIVE}).reconcile(kueue.JOINT_CHECK) is None
    assert client.asked == []


async def test_a_check_of_our_name_that_is_for_somebody_else_is_left_alone() -> None:
    client = Asked()
    theirs = {**CHECK, "spec": {"controllerName": "example.com/other"}}
    assert await keeper(client, theirs).reconcile(kueue.JOINT_CHECK) is None
    assert client.asked == []


async def test_where_kueue_is_not_installed_it_is_looked_for_again() -> None:
    client = Asked(installed=False)
    assert await keeper(client, None).reconcile(kueue.JOINT_CHECK) == 15.0
    assert client.asked == ["POST admissionchecks"]
