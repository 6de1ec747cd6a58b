import dataclasses

import pytest
from modeldeployment.lab.fleets.errors import FleetRefused
from modeldeployment.lab.fleets.fleet import Fleet, Partition, decode, encode
from modeldeployment.lab.fleets.nodes import node_labels, node_manifests, node_names, node_resources


def test_a_fleet_of_a10g_serves_the_instance_type_of_the_minimal_deployment() -> None:
    fleet = Fleet(maker="nvidia", model="a10g", nodes=2)
    assert fleet.instance_type == "gpustack-nvidia-a10g-linux-amd64"
    assert fleet.name == "nvidia-a10g"


def test_a_fleet_without_accelerators_serves_the_generic_type_and_has_no_cards() -> None:
    fleet = Fleet(maker="generic", nodes=2)
    assert (fleet.instance_type, fleet.name, fleet.cards, fleet.shape) == (
        "gpustack-generic-linux-amd64",
        "generic",
        0,
        "64c",
    )
    assert (fleet.unit_cpu, fleet.unit_ram) == ("1", "2Gi")


def test_a_node_is_a_whole_object_a_person_can_read() -> None:
    fleet = Fleet(
        maker="nvidia", model="h20", nodes=1, name="east", rdma=2, zones=("z1", "z2"), labels=(("team", "serving"),)
    )
    (node,) = node_manifests(fleet)
    shape = node["metadata"]["annotations"].pop("lab/fleet-shape")
    assert decode(shape, nodes=1) == fleet
    resources = {
        "cpu": "64",
        "memory": "512Gi",
        "ephemeral-storage": "4Ti",
        "pods": "110",
        "nvidia.com/gpu": "8",
        "device.gpustack.ai/rdma": "2",
        "device.gpustack.ai/rdma.shared": "128",
    }
    assert node == {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": "east-0000",
            "labels": {
                "team": "serving",
                "lab/fleet": "east",
                "lab/instance-type": "gpustack-nvidia-h20-linux-amd64",
                "lab/shape": "8d",
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "topology.kubernetes.io/region": "lab",
                "topology.kubernetes.io/zone": "z1",
                "lab/rack": "east-r000",
                "kubernetes.io/hostname": "east-0000",
            },
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
        "status": {"capacity": resources, "allocatable": resources},
    }


@pytest.mark.parametrize(
    ("maker", "key"),
    [
        ("amd", "amd.com/gpu"),
        ("ascend", "huawei.com/npu"),
        ("cambricon", "cambricon.com/mlu"),
        ("hygon", "hygon.com/dcu"),
        ("iluvatar", "iluvatar.com/gpu"),
        ("metax", "metax-tech.com/gpu"),
        ("mthreads", "mthreads.com/gpu"),
        ("nvidia", "nvidia.com/gpu"),
        ("thead", "alibabacloud.com/ppu"),
    ],
)
def test_every_maker_offers_its_cards_under_its_own_key(maker: str, key: str) -> None:
    assert node_resources(Fleet(maker=maker, nodes=1, cards=4))[key] == "4"


def test_efa_interfaces_have_their_own_key() -> None:
    assert node_resources(Fleet(maker="nvidia", nodes=1, efa=4))["vpc.amazonaws.com/efa"] == "4"


def test_slices_and_partitions_are_offered_beside_whole_cards() -> None:
    fleet = Fleet(maker="nvidia", nodes=1, cards=2, slices=4, partitions=(Partition("3g.40gb", 2, 40960),))
    offered = {key: amount for key, amount in node_resources(fleet).items() if key.startswith("nvidia.com/")}
    assert offered == {
        "nvidia.com/gpu": "2",
        "nvidia.com/gpu.sliced": "8",
        "nvidia.com/gpu.sliced.memory-percentage": "200",
        "nvidia.com/gpu.sliced.cores-percentage": "200",
        "nvidia.com/gpu.partitioned": "4",
        "nvidia.com/gpu.partitioned.mig-3g.40gb": "4",
    }
    assert decode(encode(fleet), nodes=1) == fleet


def test_names_are_the_same_every_time_and_two_fleets_share_none() -> None:
    east = Fleet(maker="nvidia", nodes=2, name="east")
    west = Fleet(maker="nvidia", nodes=2, name="west")
    assert node_names(east) == node_names(dataclasses.replace(east)) == ("east-0000", "east-0001")
    assert not set(node_names(east)) & set(node_names(west))


def test_racks_go_round_the_zones_and_growing_moves_no_node() -> None:
    small = Fleet(maker="nvidia", nodes=4, nodes_per_rack=2, zones=("z1", "z2"))
    placed = [
        (node_labels(small, index)["topology.kubernetes.io/zone"], node_labels(small, index)["lab/rack"])
        for index in range(4)
    ]
    assert placed == [
        ("z1", "nvidia-a10g-r000"),
        ("z1", "nvidia-a10g-r000"),
        ("z2", "nvidia-a10g-r001"),
        ("z2", "nvidia-a10g-r001"),
    ]
    large = dataclasses.replace(small, nodes=8)
    assert [node_labels(large, index) for index in range(4)] == [node_labels(small, index) for index in range(4)]
    assert encode(large) == encode(small)


def test_a_field_of_a_later_release_is_ignored_when_a_fleet_is_read_back() -> None:
    fleet = Fleet(maker="ascend", nodes=3)
    text = encode(fleet).replace("{", '{"later":1,', 1)
    assert decode(text, nodes=3) == fleet


UNKNOWN_MAKER = (
    "maker 'nvida' is unknown; the makers are amd, ascend, cambricon, hygon, iluvatar, metax, mthreads, "
    "nvidia, thead, and generic has no cards"
)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"maker": "nvida"}, UNKNOWN_MAKER),
        (
            {"maker": "ascend", "partitions": (Partition("a", 1, 1),)},
            "cards of ascend cannot be partitioned; those of hygon, nvidia, thead can",
        ),
        ({"nodes": 0}, "nodes is 0; a fleet takes 1 to 5000"),
        ({"cards": 17}, "cards is 17; a fleet takes 1 to 16"),
        ({"rdma": -1}, "rdma is -1; a fleet takes 0 to 64"),
        ({"nodes_per_rack": 0}, "nodes-per-rack is 0; a fleet takes 1 to 1000"),
        ({"model": "A10G"}, "model 'A10G' cannot be part of a name; use up to 20 of a-z, 0-9 and '-'"),
        ({"name": "East"}, "name 'East' cannot begin a Node's name; use up to 50 of a-z, 0-9 and '-'"),
        ({"zones": ()}, "zones '' need at least one name made of a-z, 0-9 and '-'"),
    ],
)
def test_a_value_that_cannot_make_a_fleet_is_refused_with_the_way_out(fields: dict[str, object], message: str) -> None:
    with pytest.raises(FleetRefused) as refused:
        Fleet(**{"maker": "nvidia", "model": "a10g", "nodes": 1, **fields})  # type: ignore[arg-type]
    assert str(refused.value) == message
