import pytest
from e2e_worlds import MakeWorld, World
from modeldeployment.kube import PatchType
from modeldeployment.kube.kinds import PODS, SERVICES
from modeldeployment.reconcile import INSTANCE_TYPES

pytestmark = pytest.mark.lab


async def test_a_deployment_waits_for_its_instance_type_and_heals_when_it_appears(world: World) -> None:
    missing = f"{world.namespace}-later"
    await world.create("chat", instanceType=missing)
    await world.board.until(
        lambda: world.board.says("chat", "Rendered", "False", "InstanceTypeNotFound"), what="the type is missed"
    )
    message = world.board.condition("chat", "Rendered")["message"]
    assert missing in message
    assert "server" in message
    await world.board.until(lambda: world.board.notes("RenderFailed") == [message], what="it is said once")
    assert world.board.came(PODS) == []
    assert world.board.came(SERVICES) == []

    there = await world.kubectl("get", "instancetype", world.instance_type, "-o", "yaml")
    made = await world.kubectl("create", "-f", "-", stdin=there.out.replace(world.instance_type, missing))
    assert made.code == 0, made.err
    try:
        await world.board.until(
            lambda: world.board.says("chat", "Rendered", "False", "InstanceTypeNotReady"),
            what="a type without status has no entrance",
        )
        entrance = {"status": {"entrance": world.provision.local_queue, "detail": NVIDIA}}
        await world.client.patch(INSTANCE_TYPES, missing, entrance, how=PatchType.MERGE, subresource="status")
        await world.settled("chat")
    finally:
        await world.client.delete(INSTANCE_TYPES, missing)


NVIDIA = {"manufacturer": "nvidia", "family": "ampere", "runtimeVersions": ["12.9"]}


async def test_too_small_a_quota_is_said_with_the_reason_and_heals_when_it_grows(make_world: MakeWorld) -> None:
    world = await make_world(nodes=1)
    await world.create("chat", replicas=2, resources={"accelerator": 8})
    await world.board.until(lambda: world.board.says("chat", "QuotaReserved", "False", "Pending"), what="one waits")
    await world.board.until(lambda: world.board.status("chat")["phase"] == "Degraded", what="the other one serves")
    await world.board.until(
        lambda: "insufficient" in world.board.condition("chat", "QuotaReserved")["message"], what="Kueue says why"
    )
    message = world.board.condition("chat", "QuotaReserved")["message"]
    assert message.startswith('1 of 2 replicas wait for quota, role "server" first, in queue '), message
    assert "insufficient unused quota for credits.gpustack.ai/nvidia in flavor" in message

    await make_world(nodes=1)
    await world.settled("chat")
    assert len(world.board.came(PODS)) == 2


async def test_a_pool_of_several_runtime_versions_is_told_and_the_lowest_is_taken(make_world: MakeWorld) -> None:
    world = await make_world(nodes=1, runtime_versions=("12.10", "12.9"))
    await world.create("chat", replicas=1)
    await world.settled("chat")
    note = (
        'role "server": the pool reports several runtime versions; the image takes the lowest, 12.9, and skips 12.10; '
        "upgrade the nodes that hold the pool back, or name an image on the role"
    )
    await world.board.until(lambda: world.board.notes("RuntimeVersionSkew") == [note], what="it is said once")
    (pod,) = world.board.replicas("chat")[0]
    image = await world.kubectl("get", "pod", pod.metadata.name, "-o", "jsonpath={.spec.containers[0].image}")
    assert image.out == "gpustack/runner:cuda12.9-vllm0.29.0"


async def test_a_shared_cache_that_is_not_there_is_named_and_replicas_run_without_it(world: World) -> None:
    manifest = world.manifest("chat")
    manifest["spec"]["kvCache"] = {"poolRef": {"name": "team-a-dram"}}
    await world.apply(manifest)
    await world.settled("chat")
    said = world.board.condition("chat", "DomainRegistered")
    assert (said["status"], said["reason"]) == ("False", "BindingNotFound")
    assert "team-a-dram" in said["message"]
