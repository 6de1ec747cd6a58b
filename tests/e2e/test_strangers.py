import json
from typing import Any

import pytest
from e2e_board import ready, restarts, uids
from e2e_worlds import WHOLE_PODS, WHOLE_SERVICES, World
from modeldeployment.api import keys
from modeldeployment.kube import PatchType
from modeldeployment.kube.kinds import PODS, SERVICES

pytestmark = pytest.mark.lab


@pytest.mark.usefixtures("serving")
async def test_a_double_and_an_orphan_leave_and_the_replica_stays(world: World) -> None:
    await world.create("chat", replicas=1)
    await world.settled("chat")
    (pod,) = world.board.replicas("chat")[0]
    whole = await world.whole(WHOLE_PODS, pod.metadata.name)
    double = _copy(whole, "double", without=(keys.QUEUE_NAME, keys.GROUP_NAME))
    double["metadata"]["annotations"][keys.FINGERPRINT] = "0" * 64
    orphan = _copy(whole, "orphan", without=(keys.QUEUE_NAME, keys.GROUP_NAME, keys.ORDINAL))
    for body in (double, orphan):
        await world.client.create(PODS, json.dumps(body).encode(), world.namespace)

    await world.board.until(
        lambda: {each.metadata.name for each in world.board.deleted(PODS)} == {"double", "orphan"}, what="both leave"
    )
    await world.settled("chat")
    (survivor,) = world.board.replicas("chat")[0]
    assert (survivor.metadata.uid, restarts(survivor)) == (pod.metadata.uid, 0)
    assert len(world.board.came(PODS)) == 3


@pytest.mark.usefixtures("serving")
async def test_a_pod_with_our_labels_and_another_owner_is_left_alone(world: World) -> None:
    await world.create("chat", replicas=1)
    await world.settled("chat")
    (pod,) = world.board.replicas("chat")[0]
    foreign = _copy(await world.whole(WHOLE_PODS, pod.metadata.name), "foreign", without=(keys.QUEUE_NAME,))
    foreign["metadata"]["ownerReferences"] = []
    foreign["metadata"]["labels"][keys.ORDINAL] = "1"
    await world.client.create(PODS, json.dumps(foreign).encode(), world.namespace)
    await world.board.until(lambda: world.board.pods.get(world.namespace, "foreign"), what="it is there")

    await world.scale("chat", 2)
    await world.board.until(lambda: world.board.says("chat", "ReplicasUpToDate", "True", "UpToDate"), what="settled")
    await world.scale("chat", 1)
    await world.board.until(lambda: world.board.says("chat", "ReplicasUpToDate", "True", "UpToDate"), what="settled")
    assert world.board.status("chat")["roles"][0]["ready"] == 1

    await world.delete("chat")
    await world.board.until(lambda: not world.board.deployments.get(world.namespace, "chat"), what="chat is gone")
    left = world.board.pods.get(world.namespace, "foreign")
    assert left is not None
    assert left.metadata.deletion_timestamp is None
    assert "foreign" not in {each.metadata.name for each in world.board.deleted(PODS)}


async def test_a_service_name_somebody_else_holds_is_not_taken_over(world: World) -> None:
    theirs = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "chat"},
        "spec": {"selector": {"app": "theirs"}, "ports": [{"port": 80}]},
    }
    made = await world.client.create(SERVICES, theirs, world.namespace)
    await world.create("chat", replicas=1)
    await world.settled("chat")

    note = (
        "Service chat exists and belongs to something else, so it is left alone and this deployment has no address "
        "there; delete or rename that Service, or create the deployment under another name"
    )
    await world.board.until(lambda: world.board.notes("NameTaken") == [note], what="it is said")
    held = world.board.services.get(world.namespace, "chat")
    assert held is not None
    assert held.metadata.resource_version == made.metadata.resource_version
    assert world.board.services.get(world.namespace, "chat-server") is not None

    await world.client.delete(SERVICES, "chat", world.namespace)
    await world.scale("chat", 2)
    await world.board.until(lambda: world.board.services.get(world.namespace, "chat"), what="the name is ours now")


async def test_a_service_that_drifts_is_put_right_and_keeps_its_address(world: World) -> None:
    await world.create("chat", replicas=1)
    await world.settled("chat")
    before = world.board.services.get(world.namespace, "chat")
    assert before is not None
    drifted = {
        "metadata": {"labels": {"app.kubernetes.io/component": "other", "team": "theirs"}},
        "spec": {"selector": {"app": "theirs"}, "ports": [{"port": 9999, "name": "odd"}]},
    }
    made = await world.client.patch(SERVICES, "chat", drifted, world.namespace, how=PatchType.MERGE)
    await world.board.until(
        lambda: (
            (now := world.board.services.get(world.namespace, "chat"))
            and int(now.metadata.resource_version) > int(made.metadata.resource_version)
            and now.spec == before.spec
            and now.metadata.labels == {**before.metadata.labels, "team": "theirs"}
        ),
        what="the Service is as rendered again",
    )

    await world.client.delete(SERVICES, "chat-server", world.namespace)
    await world.board.until(
        lambda: (
            len([each for each in world.board.came(SERVICES) if each.metadata.name == "chat-server"]) == 2
            and world.board.services.get(world.namespace, "chat-server")
        ),
        what="the deleted Service is back",
    )
    service = await world.whole(WHOLE_SERVICES, "chat-server")
    assert service["metadata"]["ownerReferences"][0]["name"] == "chat"


async def test_the_eligibility_label_is_put_back_and_taken_from_followers(world: World) -> None:
    await world.create("wide", replicas=1, size=2)
    await world.settled("wide")
    leader, follower = world.board.replicas("wide")[0]
    for pod, label in ((leader, None), (follower, "true")):
        body = {"metadata": {"labels": {keys.ELIGIBLE: label}}}
        await world.client.patch(PODS, pod.metadata.name, body, world.namespace, how=PatchType.MERGE)
    await world.board.until(
        lambda: (
            [pod.metadata.labels.get(keys.ELIGIBLE) for pod in world.board.replicas("wide")[0]] == ["true", None]
            and all(
                int(pod.metadata.resource_version) > int(old.metadata.resource_version)
                for pod, old in zip(world.board.replicas("wide")[0], (leader, follower), strict=True)
            )
        ),
        what="only the leader is eligible",
    )
    assert uids(world.board.replicas("wide")[0]) == uids((leader, follower))
    assert all(ready(pod) for pod in world.board.replicas("wide")[0])


def _copy(whole: dict[str, Any], name: str, *, without: tuple[str, ...]) -> dict[str, Any]:
    """A Pod like another, under a name of its own, lacking some labels."""
    metadata = whole["metadata"]
    dropped = ("nodeName", "schedulingGates", "nodeSelector", "hostname", "subdomain")
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {
                key: value
                for key, value in metadata["labels"].items()
                if key not in without and not (key.startswith("kueue.x-k8s.io/") and keys.QUEUE_NAME in without)
            },
            "annotations": {
                key: value for key, value in metadata["annotations"].items() if not key.startswith("kueue.x-k8s.io/")
            },
            "ownerReferences": metadata["ownerReferences"],
        },
        "spec": {key: value for key, value in whole["spec"].items() if key not in dropped},
    }
