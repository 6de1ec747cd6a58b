import pytest
from lab_pods import admitted, condition, member, raw, running, until
from modeldeployment.api.instancetype import InstanceType
from modeldeployment.api.quantity import Quantity
from modeldeployment.kube import Client, Verb, custom, request_for
from modeldeployment.kube.kinds import LOCAL_QUEUES, NODES, PODS, WORKLOADS
from modeldeployment.lab.flavors.installing import INSTANCE_TYPES
from modeldeployment.lab.flavors.providing import Provision, provide
from modeldeployment.lab.fleets import keys as lab_keys
from modeldeployment.lab.fleets.applying import Put, put_fleet
from modeldeployment.lab.pytest_plugin import ProvideFleet

pytestmark = pytest.mark.lab

# Read whole: the slim kinds leave out what was charged and what a Pod selects.
WHOLE_PODS = custom("", "v1", "pods", "Pod")
CHARGED = custom("kueue.x-k8s.io", "v1beta2", "workloads", "Workload")
NODE_STATUS = custom("", "v1", "nodes", "Node", namespaced=False)
CLUSTER_QUEUE_SPEC = custom("kueue.x-k8s.io", "v1beta2", "clusterqueues", "ClusterQueue", namespaced=False)


async def charged(client: Client, namespace: str, group: str) -> dict[str, Quantity]:
    await admitted(client, namespace, group)
    workload = await client.get(CHARGED, group, namespace)
    (assignment,) = raw(workload.status)["admission"]["podSetAssignments"]
    return {name: Quantity.parse(amount) for name, amount in assignment["resourceUsage"].items()}


@pytest.mark.parametrize(
    ("maker", "model", "device", "credits_key"),
    [
        ("nvidia", "a10g", "nvidia.com/gpu", "credits.gpustack.ai/nvidia"),
        ("ascend", "910b", "huawei.com/npu", "credits.gpustack.ai/ascend"),
    ],
)
async def test_a_group_of_one_is_charged_in_credits_and_runs_on_a_node_with_the_device(
    kube_client: Client,
    namespace: str,
    provide_fleet: ProvideFleet,
    maker: str,
    model: str,
    device: str,
    credits_key: str,
) -> None:
    provision = await provide_fleet(maker=maker, model=model, nodes=1, cards=4)
    pod = member("server-0", queue=provision.local_queue, group="server", requests={device: 2})
    await kube_client.create(PODS, pod, namespace)
    assert await charged(kube_client, namespace, "server") == {credits_key: Quantity.parse("3200000")}
    bound = await running(kube_client, namespace, "server-0")
    node = await kube_client.get(NODE_STATUS, bound.spec.node_name)
    assert node.metadata.labels[lab_keys.FLEET] == provision.fleet.name
    assert raw(node.status)["allocatable"][device] == "4"


async def test_a_request_over_quota_stays_pending_and_gated(
    kube_client: Client, namespace: str, provide_fleet: ProvideFleet
) -> None:
    provision = await provide_fleet(maker="nvidia", nodes=1, cards=4)
    for name, cards in (("first", 3), ("second", 2)):
        pod = member(f"{name}-0", queue=provision.local_queue, group=name, requests={"nvidia.com/gpu": cards})
        await kube_client.create(PODS, pod, namespace)
        if name == "first":
            await admitted(kube_client, namespace, "first")
    refused = await until(
        lambda: kube_client.get(WORKLOADS, "second", namespace),
        lambda workload: condition(workload.status.conditions, "QuotaReserved").status == "False",
    )
    assert "insufficient" in condition(refused.status.conditions, "QuotaReserved").message
    pod_seen = await kube_client.get(PODS, "second-0", namespace)
    assert pod_seen.spec.node_name == ""
    assert "kueue.x-k8s.io/admission" in [gate.name for gate in pod_seen.spec.scheduling_gates]


async def test_a_type_without_accelerators_charges_processors(
    kube_client: Client, namespace: str, provide_fleet: ProvideFleet
) -> None:
    provision = await provide_fleet(maker="generic", nodes=1, cpu=8)
    await kube_client.create(
        PODS, member("router-0", queue=provision.local_queue, group="router", requests={}), namespace
    )
    assert await charged(kube_client, namespace, "router") == {"cpu": Quantity.parse("1")}
    await running(kube_client, namespace, "router-0")


async def test_half_a_card_costs_half_a_cards_credits(
    kube_client: Client, namespace: str, provide_fleet: ProvideFleet
) -> None:
    provision = await provide_fleet(maker="nvidia", nodes=1, slices=4)
    requests = {
        "nvidia.com/gpu.sliced": 1,
        "nvidia.com/gpu.sliced.memory-percentage": 50,
        "nvidia.com/gpu.sliced.cores-percentage": 50,
    }
    await kube_client.create(PODS, member("s-0", queue=provision.local_queue, group="s", requests=requests), namespace)
    assert await charged(kube_client, namespace, "s") == {"credits.gpustack.ai/nvidia": Quantity.parse("800000")}
    await running(kube_client, namespace, "s-0")


async def test_fabric_interfaces_cost_nothing_and_are_scheduled(
    kube_client: Client, namespace: str, provide_fleet: ProvideFleet
) -> None:
    provision = await provide_fleet(maker="nvidia", nodes=1, rdma=2)
    requests = {"nvidia.com/gpu": 1, lab_keys.RDMA: 2}
    await kube_client.create(PODS, member("p-0", queue=provision.local_queue, group="p", requests=requests), namespace)
    assert await charged(kube_client, namespace, "p") == {"credits.gpustack.ai/nvidia": Quantity.parse("1600000")}
    await running(kube_client, namespace, "p-0")


async def test_a_group_that_requires_a_rack_is_placed_in_one(
    kube_client: Client, namespace: str, provide_fleet: ProvideFleet
) -> None:
    provision = await provide_fleet(maker="nvidia", nodes=4, nodes_per_rack=2, zones=("z1", "z2"))
    for index in range(2):
        pod = member(
            f"wide-{index}",
            queue=provision.local_queue,
            group="wide",
            requests={"nvidia.com/gpu": 8},
            total=2,
            level=lab_keys.RACK,
        )
        await kube_client.create(PODS, pod, namespace)
    nodes = [(await running(kube_client, namespace, f"wide-{index}")).spec.node_name for index in range(2)]
    racks = {(await kube_client.get(NODES, node)).metadata.labels[lab_keys.RACK] for node in nodes}
    assert len(set(nodes)) == 2
    assert len(racks) == 1


async def test_the_instance_type_says_where_to_enter_and_what_the_hardware_is(
    kube_client: Client, namespace: str, queues: Provision
) -> None:
    answer = await kube_client.raw(request_for(Verb.GET, INSTANCE_TYPES, name=queues.instance_type))
    instance_type = InstanceType.model_validate_json(answer)
    assert instance_type.entrance == queues.local_queue
    assert instance_type.acceleratable
    assert instance_type.observed
    assert instance_type.status.detail.runtime_versions == ("12.9",)
    entrance = await kube_client.get(LOCAL_QUEUES, instance_type.entrance, namespace)
    assert entrance.spec.cluster_queue == queues.cluster_queue


async def test_providing_twice_changes_nothing(kube_client: Client, namespace: str, queues: Provision) -> None:
    before = await kube_client.get(CLUSTER_QUEUE_SPEC, queues.cluster_queue)
    await provide(kube_client, queues.fleet, namespaces=(namespace,))
    after = await kube_client.get(CLUSTER_QUEUE_SPEC, queues.cluster_queue)
    assert after.metadata.generation == before.metadata.generation
    assert await put_fleet(kube_client, queues.fleet) == Put(created=0, changed=0, removed=0, kept=2)


async def test_two_fleets_of_one_type_make_one_quota_and_part_again(
    kube_client: Client, provide_fleet: ProvideFleet
) -> None:
    await provide_fleet(maker="nvidia", nodes=1, cards=2)
    provision = await provide_fleet(maker="nvidia", nodes=1, cards=4)
    queue = await kube_client.get(CLUSTER_QUEUE_SPEC, provision.cluster_queue)
    (group,) = raw(queue.spec)["resourceGroups"]
    amounts = [Quantity.parse(flavor["resources"][0]["nominalQuota"]) for flavor in group["flavors"]]
    assert amounts == [Quantity.parse("3200000"), Quantity.parse("6400000")]


async def test_a_pod_no_queue_holds_goes_to_its_own_namespaces_nodes_and_to_no_others(
    kube_client: Client, namespace: str, provide_fleet: ProvideFleet
) -> None:
    bare = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "router"},
        "spec": {"containers": [{"name": "main", "image": "lab/none"}]},
    }
    made = await kube_client.create(WHOLE_PODS, bare, namespace)
    assert raw(made.spec)["nodeSelector"] == {"lab/namespace": namespace}
    provision = await provide_fleet(maker="generic", nodes=1, labels=(("rack", "left"),))
    bound = await running(kube_client, namespace, "router")
    node = await kube_client.get(NODES, bound.spec.node_name)
    assert node.metadata.labels[lab_keys.FLEET] == provision.fleet.name
    assert node.metadata.labels["rack"] == "left"
