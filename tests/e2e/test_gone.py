import pytest
from e2e_board import admitted, uids
from e2e_worlds import MakeWorld, World
from modeldeployment.kube.kinds import ENDPOINT_SLICES, LOCAL_QUEUES, PODS, WORKLOADS
from modeldeployment.reconcile import INSTANCE_TYPES

pytestmark = pytest.mark.lab


async def test_a_deleted_deployment_leaves_nothing(world: World) -> None:
    await world.create("chat", replicas=2)
    await world.create("wide", replicas=1, size=2)
    await world.settled("chat")
    await world.settled("wide")
    phases = world.board.follow(lambda: world.board.status("chat").get("phase"))

    said = await world.kubectl("delete", "md", "chat", "wide", "--timeout=60s")
    assert (said.code, said.err) == (0, "")
    await world.gone("chat")
    await world.gone("wide")
    await world.board.until(
        lambda: not list(world.board.workloads.items()) and not list(world.board.services.items()),
        what="Workloads and Services are gone",
    )
    async for _ in world.asking():
        if not (await world.client.list(ENDPOINT_SLICES, world.namespace)).items:
            break
    assert (await world.client.list(PODS, world.namespace)).items == ()
    assert "Deleting" in phases
    assert len(world.board.came(PODS)) == 4


async def test_a_deployment_that_waits_for_quota_goes_as_well(make_world: MakeWorld) -> None:
    world = await make_world(nodes=1)
    await world.create("chat", replicas=2, resources={"accelerator": 8})
    await world.board.until(lambda: world.board.says("chat", "QuotaReserved", "False", "Pending"), what="one waits")
    await world.delete("chat")
    await world.gone("chat")
    await world.board.until(lambda: not list(world.board.workloads.items()), what="Workloads are gone")


async def test_a_deployment_goes_without_its_instance_type(world: World) -> None:
    await world.create("chat", replicas=1)
    await world.settled("chat")
    await world.client.delete(INSTANCE_TYPES, world.instance_type)
    await world.client.delete(LOCAL_QUEUES, world.provision.local_queue, world.namespace)
    await world.board.until(
        lambda: world.board.says("chat", "Rendered", "False", "InstanceTypeNotFound"), what="its type is missed"
    )
    assert world.board.deleted(PODS) == []
    await world.delete("chat")
    await world.gone("chat")
    await world.board.until(lambda: not list(world.board.workloads.items()), what="Workloads are gone")


async def test_a_deployment_created_again_under_its_name_is_another(world: World) -> None:
    await world.create("chat", replicas=2)
    await world.settled("chat")
    first = uids(world.board.all_pods("chat"))
    await world.delete("chat")
    await world.board.until(lambda: not world.board.deployments.get(world.namespace, "chat"), what="chat is gone")
    await world.create("chat", replicas=1)
    await world.settled("chat")
    await world.board.until(lambda: len(world.board.all_pods("chat")) == 1, what="one Pod is left")
    assert not set(uids(world.board.all_pods("chat"))) & set(first)
    assert (len(world.board.came(PODS)), len(world.board.came(WORKLOADS))) == (3, 3)
    (workload,) = world.board.workloads.items()
    assert admitted(workload)
