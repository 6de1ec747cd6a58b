"""What a pass sends to put marks back on Pods, and what it does where that is refused or undone."""

from datetime import timedelta

import msgspec
from modeldeployment.api import keys
from modeldeployment.kube.errors import Forbidden, NotFound
from modeldeployment.kube.requests import Request
from modeldeployment.render import Seat
from reconcile_rim import Rim, Scripted, refusal
from reconcile_rim import pod as stored_pod
from reconcile_worlds import deployment, rendered_role, rendering

TEMPLATE = rendered_role(rendering(deployment())).template
PODS = "/api/v1/namespaces/team/pods"


class Stubborn(Scripted):
    """An API server with a webhook that lets no label of a Pod be changed."""

    async def raw(self, request: Request) -> bytes:
        """Answer one request, a patch of a Pod with the Pod as it was."""
        answer = await super().raw(request)
        if request.method != "PATCH" or "/pods/" not in request.target:
            return answer
        body = msgspec.json.decode(answer)
        body["metadata"]["labels"] = {}
        return msgspec.json.encode(body)


def put(rim: Rim, seat: int, **changes: str | None) -> None:
    """Put a replica's Pod into the store, its labels changed."""
    body = TEMPLATE.pod(Seat(seat, 0))
    labels = {**body["metadata"]["labels"], **{MARK[name]: value for name, value in changes.items()}}
    owner = {"apiVersion": keys.API_VERSION, "kind": "ModelDeployment", "name": "chat", "uid": "uid-chat"}
    body["metadata"] |= {
        "name": f"p{seat}",
        "uid": f"p{seat}",
        "labels": {name: value for name, value in labels.items() if value is not None},
        "ownerReferences": [{**owner, "controller": True}],
    }
    rim.watched.pods.put(stored_pod(body, ready=True))


MARK = {"instance": keys.INSTANCE, "role": keys.COMPONENT, "ordinal": keys.ORDINAL}


async def settled(client: Scripted) -> Rim:
    """A deployment of two that has nothing to do."""
    rim = Rim(client)
    rim.store((keys.FINALIZER,))
    put(rim, 0)
    put(rim, 1)
    await rim.run()
    assert await rim.run(later=timedelta(minutes=1)) is None
    rim.client.sent.clear()
    return rim


async def test_marks_are_put_back_with_one_patch_of_one_pod() -> None:
    rim = await settled(Scripted())
    put(rim, 1, instance="other", role=None)
    assert await rim.run() == 2.0
    [patch] = rim.client.sent
    assert (patch.method, patch.target.partition("?")[0]) == ("PATCH", f"{PODS}/p1")
    wanted = {keys.INSTANCE: "chat", keys.COMPONENT: "server"}
    assert msgspec.json.decode(patch.body or b"") == {"metadata": {"uid": "p1", "labels": wanted}}
    put(rim, 1)
    rim.client.sent.clear()
    assert await rim.run(later=timedelta(seconds=2)) is None
    assert rim.client.sent == []


async def test_a_pod_that_went_meanwhile_is_no_error() -> None:
    rim = await settled(Scripted())
    rim.client.refuse = lambda request: refusal(NotFound, 404) if request.method == "PATCH" else None
    put(rim, 1, ordinal=None)
    assert await rim.run() == 2.0


async def test_a_webhook_that_undoes_it_is_written_to_less_and_less_and_told_of_once() -> None:
    rim = await settled(Stubborn())
    put(rim, 1, ordinal=None)
    writes, waits = [], []
    for _ in range(12):
        rim.client.sent.clear()
        seconds = await rim.run()
        assert seconds is not None
        writes.append(sum("/pods/" in each.target for each in rim.client.sent))
        waits.append(seconds)
        rim.now += timedelta(seconds=seconds)
    assert writes == [1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]
    assert waits[-2:] == [598.0, 2.0]
    assert rim.controller.tally.events == 1


async def test_a_refusal_stops_nothing_else_of_the_pass_and_is_not_sent_again_at_once() -> None:
    rim = await settled(Scripted())
    rim.client.refuse = lambda request: refusal(Forbidden, 403) if request.target.startswith(f"{PODS}/") else None
    put(rim, 1, ordinal="7")
    services = f"{PODS.removesuffix('pods')}services"
    for each in list(rim.watched.owned.values()):
        for held in list(each.items()):
            each.remove(held)
    assert await rim.run() == 2.0
    assert f"PATCH {PODS}/p1" in rim.client.writes()
    assert f"POST {services}" in rim.client.writes()
    rim.client.sent.clear()
    await rim.run(later=timedelta(seconds=1))
    assert rim.client.writes() == []
