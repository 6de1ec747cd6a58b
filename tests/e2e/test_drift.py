"""Marks of replicas and of objects that somebody changed by hand: what can be put back is, and no sibling pays."""

import asyncio
import json
from typing import Any, Final

import pytest
from e2e_board import restarts, uids
from e2e_operators import Start
from e2e_worlds import MakeWorld, World, mutated
from modeldeployment.api import keys, kueue
from modeldeployment.kube.kinds import PODS
from modeldeployment.kube.shapes import Object, Pod
from modeldeployment.reconcile import DEPLOYMENTS

pytestmark = pytest.mark.lab

WHILE: Final = 4.0
"""Seconds for which something is watched not to happen."""

IDLE: Final[dict[str, dict[str, Any]]] = {
    "managed": {"labels": {kueue.MANAGED: None}},
    "total": {"annotations": {keys.GROUP_TOTAL: "2"}},
    "serving": {"annotations": {keys.GROUP_SERVING: None}},
    "finalizer": {"finalizers": None},
    "eligible": {"labels": {keys.ELIGIBLE: None}},
    "foreign": {"labels": {"team": "blue"}, "annotations": {"team": "blue"}},
}
"""Changes of a Pod's metadata that cost nobody anything."""

DECISIVE: Final[dict[str, dict[str, Any]]] = {
    "print": {"annotations": {keys.FINGERPRINT: "0" * 64}},
    "blank": {"annotations": {keys.FINGERPRINT: None}},
}
"""Changes after which a Pod is no longer what its seat wants: it turns over, once."""

REFUSED: Final[dict[str, dict[str, Any]]] = {
    "queue": {"labels": {keys.QUEUE_NAME: "other"}},
    "group": {"labels": {keys.GROUP_NAME: "other"}},
    "groupless": {"labels": {keys.GROUP_NAME: None}},
    "uncounted": {"annotations": {keys.GROUP_TOTAL: None}},
}
"""Changes that Kueue's webhook does not let in."""

GIVEN: Final[dict[str, dict[str, Any]]] = {
    "nameless": {"labels": {keys.NAME: None}},
    "renamed": {"labels": {keys.NAME: "other"}},
    "instance": {"labels": {keys.INSTANCE: "other"}},
    "part": {"labels": {keys.PART_OF: "others"}},
    "type": {"labels": {keys.RESOURCE_TYPE: None}},
    "kind": {"labels": {keys.ROLE_KIND: "decode"}},
    "role": {"labels": {keys.COMPONENT: "other"}},
    "roleless": {"labels": {keys.COMPONENT: None}},
    "orphan": {"labels": {keys.ORDINAL: None}},
    "beyond": {"labels": {keys.ORDINAL: "7"}},
    "member": {"labels": {keys.MEMBER_INDEX: "3"}},
}
"""Labels that say whose a Pod is and which seat it holds: they are put back, and the Pod stays."""


async def test_a_mark_that_decides_nothing_may_change_and_nobody_leaves(make_world: MakeWorld) -> None:
    world = await make_world(nodes=4)
    pods = await _drifted(world, IDLE)
    await world.board.until(
        lambda: keys.ELIGIBLE in _now(world, pods["eligible"][1]).metadata.labels, what="the eligible label is back"
    )
    await asyncio.sleep(WHILE)
    assert {name: _same(world, both) for name, both in pods.items()} == {name: [True, True] for name in IDLE}
    assert len(world.board.came(PODS)) == 2 * len(IDLE)
    assert [name for name in IDLE if world.board.status(name)["phase"] != "Ready"] == []


async def test_a_mark_that_decides_costs_its_replica_one_turn_and_no_sibling(make_world: MakeWorld) -> None:
    world = await make_world(nodes=4)
    pods = await _drifted(world, DECISIVE)
    for name in DECISIVE:
        await world.board.until(lambda name=name: len(_born(world, name)) == 3, what=f"{name} has turned over")  # type: ignore[misc]
        await world.settled(name)
    await asyncio.sleep(WHILE)
    assert {name: _same(world, both) for name, both in pods.items()} == {name: [True, False] for name in DECISIVE}
    assert {name: len(_born(world, name)) for name in DECISIVE} == dict.fromkeys(DECISIVE, 3)
    for name, (_, lost) in pods.items():
        notes = [note for note in world.board.notes("ReplicaLeaving") if f"Pod {lost.metadata.name} is" in note]
        assert len(notes) <= 1, name  # a Pod may be gone before a pass sees it leave


async def test_a_mark_that_makes_a_group_cannot_be_changed(world: World) -> None:
    await world.create("chat", replicas=1)
    await world.settled("chat")
    (pod,) = world.board.replicas("chat")[0]
    for change in REFUSED.values():
        said = await _patch(world, "pod", pod.metadata.name, change)
        assert "vpod.kb.io" in said


async def test_labels_that_selectors_need_are_put_back(make_world: MakeWorld) -> None:
    world = await make_world(nodes=4)
    pods = await _drifted(world, GIVEN)
    for both in pods.values():
        await _put_back(world, both[1])
    await asyncio.sleep(WHILE)
    assert [name for name in GIVEN if not world.board.settled(name)] == []
    assert len(world.board.came(PODS)) == 2 * len(GIVEN)
    assert {name: _same(world, both) for name, both in pods.items()} == {name: [True, True] for name in GIVEN}


async def test_a_pod_that_lost_its_owner_is_named_once_and_serves_on_when_it_gets_it_back(world: World) -> None:
    pods = await _drifted(world, {"chat": {"ownerReferences": None}})
    await world.scale("chat", 3)
    await asyncio.sleep(WHILE)
    assert len(_born(world, "chat")) == 3
    await world.board.until(lambda: world.board.notes("NameTaken"), what="it is named")
    (note,) = world.board.notes("NameTaken")
    name, owner = pods["chat"][1].metadata.name, pods["chat"][1].metadata.owner_references[0]
    assert note.startswith(f"replica server/1 is not created: Pod {name}, which this deployment does not own, ")
    assert f"ModelDeployment chat with uid {owner.uid}" in note
    reference = {
        "apiVersion": owner.api_version,
        "kind": owner.kind,
        "name": owner.name,
        "uid": owner.uid,
        "controller": True,
    }
    assert await _patch(world, "pod", name, {"ownerReferences": [reference]}) == ""
    await world.settled("chat")
    assert _same(world, pods["chat"]) == [True, True]
    assert len(_born(world, "chat")) == 3


async def test_an_ordinal_that_two_running_replicas_claim_is_put_back_and_both_stay(world: World) -> None:
    await world.create("chat", replicas=2)
    await world.settled("chat")
    (kept,), (second,) = world.board.replicas("chat")[0], world.board.replicas("chat")[1]
    assert await _patch(world, "pod", second.metadata.name, {"labels": {keys.ORDINAL: "0"}}) == ""
    await _put_back(world, second)
    await asyncio.sleep(WHILE)
    assert world.board.settled("chat")
    assert _same(world, [kept, second]) == [True, True]
    assert len(_born(world, "chat")) == 2


async def test_a_member_that_is_lost_from_sight_comes_back_and_costs_its_replica_nothing(world: World) -> None:
    await world.create("wide", replicas=2, size=2)
    await world.settled("wide")
    both = [pod for members in world.board.replicas("wide").values() for pod in members]
    assert await _patch(world, "pod", both[3].metadata.name, {"labels": {keys.NAME: None}}) == ""
    await _put_back(world, both[3])
    assert await _patch(world, "pod", both[2].metadata.name, {"labels": {keys.MEMBER_INDEX: "1"}}) == ""
    await _put_back(world, both[2])
    await asyncio.sleep(WHILE)
    assert world.board.settled("wide")
    assert _same(world, both) == [True] * 4
    assert len(world.board.came(PODS)) == 4


async def test_labels_that_a_policy_takes_off_again_are_written_a_few_times_and_it_is_said(
    breakable: World, start_operator: Start
) -> None:
    operator = start_operator()
    await breakable.create("chat", replicas=1)
    await breakable.settled("chat")
    (pod,) = breakable.board.replicas("chat")[0]
    name = pod.metadata.name
    async with mutated(
        breakable,
        {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE", "UPDATE"]},
        f"object.metadata.name in ['{name}', 'probe']",
        f"Object{{metadata: Object.metadata{{labels: {{'{keys.PART_OF}': 'others'}}}}}}",
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "probe"},
            "spec": {"containers": [{"name": "main", "image": "lab/none"}]},
        },
        lambda made: keys.PART_OF in made["metadata"].get("labels", {}),
    ):
        assert await _patch(breakable, "pod", name, {"labels": {"team": "blue"}}) == ""
        await breakable.board.until(lambda: breakable.board.notes("ObjectRefused"), what="it is said")
        assert 3 <= sum(count for step, count in operator.writes().items() if "Reclaim" in step) <= 4
    (note,) = breakable.board.notes("ObjectRefused")
    assert note.startswith(f"labels {keys.PART_OF} of Pod {name} were put back ")
    assert _same(breakable, [pod]) == [True]


async def test_services_get_their_labels_back_and_one_without_owner_is_left_alone_and_named(world: World) -> None:
    await world.create("chat", replicas=1)
    await world.settled("chat")
    before = {each.metadata.name: each.metadata for each in world.board.services.items()}
    for label in (keys.NAME, keys.INSTANCE, keys.RESOURCE_TYPE, keys.COMPONENT):
        for value in ("other", None):
            assert await _patch(world, "service", "chat-server", {"labels": {label: value}}) == ""
            await world.board.until(
                lambda: (
                    (service := world.board.services.get(world.namespace, "chat-server"))
                    and service.metadata.labels == before["chat-server"].labels
                ),
                what=f"{label} is back after {value}",
            )
    assert await _patch(world, "service", "chat", {"ownerReferences": None}) == ""
    await world.edit("chat", "/metadata/labels", {"team": "blue"})
    await world.scale("chat", 2)
    await world.settled("chat")
    await world.board.until(lambda: world.board.notes("NameTaken"), what="it is named")
    (note,) = world.board.notes("NameTaken")
    assert note.startswith("Service chat exists and belongs to something else, so it is left alone ")
    assert {each.metadata.name: each.metadata.uid for each in world.board.services.items()} == {
        name: meta.uid for name, meta in before.items()
    }
    assert len(world.board.came(PODS)) == 2


async def test_the_deployments_own_finalizer_is_put_back(world: World) -> None:
    await world.create("chat", replicas=1)
    await world.settled("chat")
    assert await _patch(world, "modeldeployment", "chat", {"finalizers": None}) == ""
    await world.board.until(
        lambda: [
            change
            for change in world.board.story
            if change.kind == str(DEPLOYMENTS) and change.old and change.new and _let_go(change.old, change.new)
        ],
        what="it is off",
    )
    await world.board.until(
        lambda: (
            (found := world.board.deployments.get(world.namespace, "chat"))
            and found.metadata.finalizers == (keys.FINALIZER,)
        ),
        what="it is back",
    )
    assert len(world.board.came(PODS)) == 1
    assert len(world.board.came(DEPLOYMENTS)) == 1


async def _drifted(world: World, changes: dict[str, dict[str, Any]]) -> dict[str, tuple[Pod, Pod]]:
    """Make a deployment of two for each change, and change its second; returns both as they were."""
    for name in changes:
        await world.create(name, replicas=2)
    pods = {}
    for name in changes:
        await world.settled(name)
        replicas = world.board.replicas(name)
        pods[name] = replicas[0][0], replicas[1][0]
    for name, change in changes.items():
        assert await _patch(world, "pod", pods[name][1].metadata.name, change) == "", name
    return pods


async def _patch(world: World, kind: str, name: str, change: dict[str, Any]) -> str:
    """Change an object's metadata as a user would; what kubectl has against it."""
    said = await world.kubectl("patch", kind, name, "--type=merge", "-p", json.dumps({"metadata": change}))
    return said.err


async def _put_back(world: World, pod: Pod) -> None:
    """Wait until the labels of a Pod have changed, and are as they were again."""
    labels = pod.metadata.labels

    def back() -> bool:
        told = [each.new for each in world.board.story if each.new and each.new.metadata.uid == pod.metadata.uid]
        return any(each.metadata.labels != labels for each in told) and _now(world, pod).metadata.labels == labels

    await world.board.until(back, what=f"the labels of {pod.metadata.name} are as rendered")


def _let_go(old: Object, new: Object) -> bool:
    return keys.FINALIZER in old.metadata.finalizers and keys.FINALIZER not in new.metadata.finalizers


def _now(world: World, pod: Pod) -> Pod:
    return world.board.pods.get(world.namespace, pod.metadata.name) or pod


def _same(world: World, pods: tuple[Pod, ...] | list[Pod]) -> list[bool]:
    """Whether each Pod is still there, stays, and never restarted."""
    found = [world.board.pods.get(world.namespace, pod.metadata.name) for pod in pods]
    return [each is not None and each.metadata.deletion_timestamp is None and not restarts(each) for each in found]


def _born(world: World, name: str) -> list[str]:
    """The UIDs of every Pod that ever came for a deployment."""
    return uids(pod for pod in world.board.came(PODS) if pod.metadata.name.startswith(f"{name}-server-"))
