import pytest
from modeldeployment.lab.flavors.instance_types import instance_type, instance_type_status
from modeldeployment.lab.flavors.names import fnv64a, local_queue_name
from modeldeployment.lab.flavors.pools import pool_of
from modeldeployment.lab.flavors.queues import cluster_queue, local_queue_manifest, resource_flavors, topology
from modeldeployment.lab.fleets.errors import PoolMismatch
from modeldeployment.lab.fleets.fleet import Fleet, Partition

A10G = Fleet(maker="nvidia", model="a10g", nodes=2, rdma=2)
ASCEND = Fleet(maker="ascend", model="910b", nodes=1)
GENERIC = Fleet(maker="generic", nodes=3, cpu=32)


@pytest.mark.parametrize(
    ("text", "digest"), [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8")]
)
def test_fnv64a_agrees_with_the_published_vectors(text: str, digest: str) -> None:
    assert fnv64a(text) == digest


def test_a_local_queue_is_named_by_the_hash_of_its_cluster_queue() -> None:
    name = local_queue_name("gpustack-nvidia-a10g-linux-amd64")
    assert name == "gpustack-fnv64-7bc37bef52624161"
    assert len(name) == 31
    assert local_queue_manifest("team-a", "gpustack-nvidia-a10g-linux-amd64") == {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {
            "name": name,
            "namespace": "team-a",
            "labels": {"lab/instance-type": "gpustack-nvidia-a10g-linux-amd64"},
            "annotations": {"schedule.gpustack.ai/queue": "gpustack-nvidia-a10g-linux-amd64"},
        },
        "spec": {"clusterQueue": "gpustack-nvidia-a10g-linux-amd64"},
    }


def test_the_topology_ends_with_the_host_name() -> None:
    assert topology()["spec"]["levels"] == [
        {"nodeLabel": "topology.kubernetes.io/region"},
        {"nodeLabel": "topology.kubernetes.io/zone"},
        {"nodeLabel": "lab/rack"},
        {"nodeLabel": "kubernetes.io/hostname"},
    ]


def test_an_accelerated_queue_covers_credits_alone() -> None:
    assert cluster_queue(pool_of([A10G]), ("gpustack-model-deployment-joint",)) == {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {
            "name": "gpustack-nvidia-a10g-linux-amd64",
            "labels": {"lab/instance-type": "gpustack-nvidia-a10g-linux-amd64"},
        },
        "spec": {
            "namespaceSelector": {},
            "queueingStrategy": "BestEffortFIFO",
            "resourceGroups": [
                {
                    "coveredResources": ["credits.gpustack.ai/nvidia"],
                    "flavors": [
                        {
                            "name": "gpustack-nvidia-a10g-linux-amd64-8d",
                            "resources": [
                                {"name": "credits.gpustack.ai/nvidia", "nominalQuota": "25600k"},
                            ],
                        }
                    ],
                }
            ],
            "admissionChecksStrategy": {"admissionChecks": [{"name": "gpustack-model-deployment-joint"}]},
        },
    }


def test_a_queue_without_accelerators_covers_processors_alone() -> None:
    (group,) = cluster_queue(pool_of([GENERIC]))["spec"]["resourceGroups"]
    assert group == {
        "coveredResources": ["cpu"],
        "flavors": [{"name": "gpustack-generic-linux-amd64-32c", "resources": [{"name": "cpu", "nominalQuota": "96"}]}],
    }


def test_a_flavor_selects_the_nodes_of_its_type_and_shape() -> None:
    (flavor,) = resource_flavors(pool_of([ASCEND]))
    assert flavor["metadata"]["name"] == "gpustack-ascend-910b-linux-amd64-8d"
    assert flavor["spec"]["nodeLabels"] == {
        "lab/instance-type": "gpustack-ascend-910b-linux-amd64",
        "lab/shape": "8d",
    }
    assert flavor["spec"]["topologyName"] == topology()["metadata"]["name"]


def test_fleets_of_one_type_add_up_to_one_quota_with_a_flavor_for_each_shape() -> None:
    more = Fleet(maker="nvidia", model="a10g", nodes=1, name="more")
    small = Fleet(maker="nvidia", model="a10g", nodes=4, cards=2, name="small")
    (group,) = cluster_queue(pool_of([small, A10G, more]))["spec"]["resourceGroups"]
    quota = {flavor["name"]: flavor["resources"][0]["nominalQuota"] for flavor in group["flavors"]}
    assert quota == {
        "gpustack-nvidia-a10g-linux-amd64-2d": "12800k",
        "gpustack-nvidia-a10g-linux-amd64-8d": "38400k",
    }


def test_fleets_that_disagree_on_their_type_are_refused() -> None:
    other = Fleet(maker="nvidia", model="h20", nodes=1, instance_type="gpustack-nvidia-a10g-linux-amd64")
    with pytest.raises(PoolMismatch) as refused:
        pool_of([A10G, other])
    assert str(refused.value) == (
        "model of fleet 'nvidia-h20' is 'h20', but 'nvidia-a10g' made InstanceType "
        "'gpustack-nvidia-a10g-linux-amd64' with 'a10g'; give one of them another instance type"
    )


def test_the_instance_type_of_an_accelerated_pool_says_what_its_nodes_are() -> None:
    pool = pool_of([ASCEND])
    assert instance_type(pool)["spec"] == {
        "displayName": "ascend-910b",
        "acceleratorGroup": "ascend-910b",
        "generalGroup": "generic",
        "acceleratable": True,
        "os": "linux",
        "arch": "amd64",
        "unitResources": {"cpu": "4", "ram": "16Gi"},
        "localStorage": "100Gi",
    }
    status = instance_type_status(pool)["status"]
    assert status["entrance"] == local_queue_name("gpustack-ascend-910b-linux-amd64")
    assert status["detail"] == {
        "manufacturer": "ascend",
        "product": "Ascend 910B3",
        "family": "910B",
        "memory": "65535Mi",
        "runtimeVersions": ["9.0"],
    }
    assert status["accelerator"] == {"onceMaxRequest": "8", "remaining": "8", "capacity": "8"}


def test_what_a_card_can_be_cut_into_is_part_of_the_observed_hardware() -> None:
    fleet = Fleet(maker="nvidia", nodes=1, slices=4, partitions=(Partition("3g.40gb", 2, 40960),))
    assert instance_type_status(pool_of([fleet]))["status"]["detail"]["slicedDetail"] == {
        "logical": {"count": 4},
        "physical": {"count": 2, "profiles": [{"name": "3g.40gb", "count": 2, "memoryMib": 40960}]},
    }


def test_a_pool_in_the_middle_of_a_driver_rollout_reports_every_version() -> None:
    newer = Fleet(maker="nvidia", model="a10g", nodes=1, name="newer", runtime_versions=("13.0",))
    detail = instance_type_status(pool_of([newer, A10G]))["status"]["detail"]
    assert detail["runtimeVersions"] == ["12.9", "13.0"]


def test_the_instance_type_of_a_generic_pool_is_not_acceleratable() -> None:
    pool = pool_of([GENERIC])
    assert instance_type(pool)["spec"]["acceleratable"] is False
    assert "acceleratorGroup" not in instance_type(pool)["spec"]
    assert instance_type_status(pool)["status"]["cpu"] == {"onceMaxRequest": "32", "remaining": "96", "capacity": "96"}
    assert "accelerator" not in instance_type_status(pool)["status"]
