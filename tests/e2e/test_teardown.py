"""A deployment goes whatever it was in the middle of and whatever is missing, and the next of its name is another."""

import asyncio
import json
from typing import Final

import pytest
from e2e_board import admitted, uids
from e2e_cached import cache
from e2e_operators import Start
from e2e_routed import create, pair, present, served
from e2e_standing import standing
from e2e_worlds import JSON, MakeWorld, World, annotated_pods
from modeldeployment.api import keys
from modeldeployment.kube.kinds import LOCAL_QUEUES, PODS, SERVICES, WORKLOADS
from modeldeployment.reconcile import INSTANCE_TYPES

pytestmark = pytest.mark.lab

WHILE: Final = 3.0
"""Seconds for which something is watched not to happen."""


async def test_a_deployment_goes_that_could_never_be_rendered(world: World) -> None:
    await world.create("chat", instanceType="never-was")
    await world.board.until(
        lambda: world.board.says("chat", "Rendered", "False", "InstanceTypeNotFound"), what="its type is missed"
    )
    said = await world.kubectl("delete", "md", "chat", "--timeout=60s")
    assert (said.code, said.err) == (0, "")
    assert world.board.came(PODS) == []


async def test_a_routed_deployment_goes_without_its_instance_type_and_takes_its_router_along(world: World) -> None:
    await create(world, pair(world))
    await served(world)
    await world.client.delete(INSTANCE_TYPES, world.instance_type)
    await world.client.delete(LOCAL_QUEUES, world.provision.local_queue, world.namespace)
    await world.board.until(
        lambda: world.board.says("qwen", "Rendered", "False", "InstanceTypeNotFound"), what="its type is missed"
    )
    assert world.board.deleted(PODS) == []
    said = await world.kubectl("delete", "md", "qwen", "--timeout=60s")
    assert (said.code, said.err) == (0, "")
    assert await present(world) == set()
    await _nothing_left(world, "qwen")


async def test_an_attached_deployment_goes_without_its_binding(world: World) -> None:
    shared = await cache(world)
    try:
        await shared.answer("store.example:50051")
        await shared.grant()
        await create(world, shared.attached(world.manifest("chat", replicas=2)))
        await world.settled("chat")
        await shared.unbind()
        await world.board.until(
            lambda: world.board.says("chat", "DomainRegistered", "False", "BindingNotFound"), what="it is missed"
        )
        said = await world.kubectl("delete", "md", "chat", "--timeout=60s")
        assert (said.code, said.err) == (0, "")
        await _nothing_left(world, "chat")
    finally:
        await shared.clear()


async def test_a_deployment_goes_while_its_replicas_are_admitted_in_part(make_world: MakeWorld) -> None:
    world = await make_world(nodes=1)
    await world.create("wide", replicas=3, size=2, resources={"accelerator": 2})
    await world.board.until(lambda: world.board.says("wide", "QuotaReserved", "False", "Pending"), what="one waits")
    said = await world.kubectl("delete", "md", "wide", "--timeout=60s")
    assert (said.code, said.err) == (0, "")
    await _nothing_left(world, "wide")
    assert len(world.board.came(PODS)) == 6


async def test_a_deployment_goes_in_the_middle_of_a_rollout_and_creates_nobody_any_more(world: World) -> None:
    async with annotated_pods(world, "lab/next", {"lab/never-ready": "true"}):
        await world.create("chat", replicas=3)
        await world.settled("chat")
        await world.edit("chat", "/spec/roles/0/image", "lab/next")
        await world.board.until(lambda: len(world.board.came(PODS)) == 4, what="one has turned over")
        said = await world.kubectl("delete", "md", "chat", "--timeout=60s")
        assert (said.code, said.err) == (0, "")
    await _nothing_left(world, "chat")
    assert len(world.board.came(PODS)) == 4


async def test_a_deployment_waits_for_a_replica_that_drains_and_says_so(world: World) -> None:
    async with annotated_pods(world, "lab/slow", {"lab/terminate-after": "4s"}):
        await world.create("chat", replicas=1, image="lab/slow")
        await world.settled("chat")
        await world.delete("chat")
        await world.board.until(lambda: world.board.status("chat").get("phase") == "Deleting", what="it says so")
        (pod,) = world.board.all_pods("chat")
        await world.gone("chat")
    assert uids(world.board.deleted(PODS)) == [pod.metadata.uid]
    gone = [change.thing.metadata.name for change in world.board.story if change.new is None]
    assert gone.index(pod.metadata.name) < gone.index("chat")


async def test_a_deployment_deleted_and_created_at_once_has_pods_services_and_a_router_of_its_own(world: World) -> None:
    await create(world, pair(world))
    await served(world)
    first, services = standing(world.board, "qwen"), uids(world.board.services.items())
    workloads = uids(world.board.workloads.items())
    said = await world.kubectl("delete", "md", "qwen", "--timeout=60s")
    assert said.code == 0, said.err
    await create(world, pair(world))
    await served(world)

    (deployment,) = world.board.deployments.items()
    now = standing(world.board, "qwen")
    assert now.keys() == first.keys()
    assert not {uid for uid, _ in now.values()} & {uid for uid, _ in first.values()}
    assert not set(uids(world.board.services.items())) & set(services)
    assert not set(uids(world.board.workloads.items())) & set(workloads)
    owned = [pod for pod in world.board.all_pods("qwen") if keys.ROUTER not in pod.metadata.labels]
    assert {owner.uid for pod in owned for owner in pod.metadata.owner_references} == {deployment.metadata.uid}
    assert {owner.uid for each in world.board.services.items() for owner in each.metadata.owner_references} == {
        deployment.metadata.uid
    }


async def test_pods_that_a_forced_deletion_left_are_not_adopted_by_the_next_of_the_name(world: World) -> None:
    manifest: JSON = world.manifest("wide", replicas=1, size=2)
    await create(world, manifest)
    await world.settled("wide")
    first = uids(world.board.all_pods("wide"))
    await world.kubectl("delete", "md", "wide", "--wait=false")
    unheld = await world.kubectl("patch", "md", "wide", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    await create(world, manifest)
    await world.settled("wide")
    assert unheld.code in (0, 1)  # it may have been faster than us
    assert not set(uids(world.board.all_pods("wide"))) & set(first)
    assert all(admitted(world.board.workload_of(pod)) for pod in world.board.all_pods("wide"))
    await asyncio.sleep(WHILE)
    assert world.board.settled("wide")
    assert len(world.board.all_pods("wide")) == 2


async def test_pods_that_nobody_watched_any_more_go_before_the_deployment_with_their_workloads(
    breakable: World, start_operator: Start
) -> None:
    first = start_operator()
    await breakable.create("chat", replicas=2)
    await breakable.settled("chat")
    (pod,), (other,) = breakable.board.replicas("chat").values()
    first.kill()
    for each, labels in ((pod, (keys.NAME, keys.INSTANCE, keys.COMPONENT, keys.ORDINAL)), (other, (keys.INSTANCE,))):
        change = {"metadata": {"labels": dict.fromkeys(labels)}}
        said = await breakable.kubectl("patch", "pod", each.metadata.name, "--type=merge", "-p", json.dumps(change))
        assert said.err == ""
    await breakable.kubectl("delete", "md", "chat", "--wait=false")

    start_operator()
    await breakable.gone("chat")
    await _nothing_left(breakable, "chat")
    gone = [change.thing.metadata.name for change in breakable.board.story if change.new is None]
    assert gone.index("chat") > max(gone.index(pod.metadata.name), gone.index(other.metadata.name))


async def _nothing_left(world: World, name: str) -> None:
    """Wait until nothing is left of a deployment: no replica, Workload or Service.

    A router's Pods are its Deployment's, and go when the garbage collector comes by.
    """
    await world.board.until(
        lambda: (
            not world.board.deployments.get(world.namespace, name)
            and not standing(world.board, name)
            and not list(world.board.workloads.items())
        ),
        what="replicas and Workloads are gone",
    )
    routers = f"!{keys.ROUTER}"
    assert (await world.client.list(PODS, world.namespace, labels=routers)).items == ()
    assert (await world.client.list(WORKLOADS, world.namespace)).items == ()
    assert (await world.client.list(SERVICES, world.namespace)).items == ()
