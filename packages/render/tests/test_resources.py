from typing import Any

import pytest
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.api.instancetype import InstanceType
from modeldeployment.api.quantity import Quantity
from modeldeployment.render import Policy, RenderRefusal, Seat, render
from modeldeployment.render.resources import Amounts, overcommitted
from pydantic import ValidationError
from render_worlds import deployment, facts, instance_type, main, role

EXACT = Policy(general_resources_overcommit=False)


def asked(
    resources: dict[str, Any] | None, known: InstanceType | None = None, policy: Policy | None = None
) -> dict[str, dict[str, str]]:
    world = facts(known or instance_type(), policy=policy)
    found: dict[str, dict[str, str]] = main(
        render(deployment(role(resources=resources)), world).roles[0].template.pod(Seat(0, 0))
    )["resources"]
    return found


def cpu_memory(resources: dict[str, Any] | None, known: InstanceType | None = None) -> tuple[str, str]:
    limits = asked(resources, known)["limits"]
    return limits["cpu"], limits["memory"]


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        pytest.param({"accelerator": 4}, ("64", "256Gi"), id="H1"),
        pytest.param(None, ("16", "64Gi"), id="H2"),
        pytest.param({"accelerator": 0}, ("16", "64Gi"), id="H2-zero"),
        pytest.param({"accelerator": 1, "acceleratorSlicedMemoryPercentage": 50}, ("8", "32Gi"), id="H3"),
        pytest.param({"accelerator": 1, "acceleratorSlicedCoresPercentage": 25}, ("4", "16Gi"), id="H4"),
        pytest.param({"accelerator": 1, "acceleratorPartitionedProfile": "3g.40gb"}, ("8", "32Gi"), id="H5"),
        pytest.param({"accelerator": 2}, ("32", "128Gi"), id="H10"),
        pytest.param({"accelerator": 2, "acceleratorSlicedMemoryPercentage": 100}, ("16", "64Gi"), id="whole-slice"),
        pytest.param({"acceleratorSlicedMemoryPercentage": 33}, ("5280m", "21626Mi"), id="odd-share"),
    ],
)
def test_cpu_and_memory_follow_the_accelerators(resources: dict[str, Any] | None, expected: tuple[str, str]) -> None:
    assert cpu_memory(resources) == expected


def test_a_unit_in_thousands_keeps_its_spelling() -> None:
    known = instance_type(unitResources={"cpu": "7500m", "ram": "60G"})
    assert cpu_memory({"accelerator": 2}, known) == ("15", "120G")
    assert cpu_memory({"acceleratorSlicedMemoryPercentage": 50}, known) == ("3750m", "30G")


def test_h1_storage_is_fifteen_gibibytes() -> None:
    assert asked({"accelerator": 4})["limits"]["ephemeral-storage"] == "15Gi"


@pytest.mark.parametrize(
    ("local", "expected"), [pytest.param("8Gi", "8Gi", id="H9"), pytest.param(None, "15Gi", id="H9-empty")]
)
def test_h9_storage_is_capped_by_what_the_type_has(local: str | None, expected: str) -> None:
    assert asked(None, instance_type(localStorage=local))["limits"]["ephemeral-storage"] == expected


def test_h6_a_slice_waits_for_the_hardware_to_be_observed() -> None:
    with pytest.raises(RenderRefusal, match="not ready yet") as refusal:
        asked({"acceleratorSlicedMemoryPercentage": 50}, instance_type(status={"manufacturer": ""}))
    assert (refusal.value.reason, refusal.value.retryable) == (RefusalReason.RESOURCES_NOT_READY, True)


@pytest.mark.parametrize(
    "status",
    [
        {"slicedDetail": {"physical": {"profiles": [{"name": "3g.40gb", "memoryMib": 0}]}}},
        {"slicedDetail": {}},
        {"memory": None},
    ],
)
def test_h7_a_partition_of_unknown_size_waits_for_it(status: dict[str, Any]) -> None:
    with pytest.raises(RenderRefusal, match="cannot be sized") as refusal:
        asked({"acceleratorPartitionedProfile": "3g.40gb"}, instance_type(status=status))
    assert (refusal.value.reason, refusal.value.retryable) == (RefusalReason.RESOURCES_NOT_READY, True)


def test_h8_a_unit_that_is_no_quantity_never_becomes_an_instance_type() -> None:
    with pytest.raises(ValidationError, match="not a quantity"):
        instance_type(unitResources={"cpu": "many", "ram": "64Gi"})


@pytest.mark.parametrize(
    ("limits", "acceleratable", "expected"),
    [
        pytest.param(("16", "64Gi", "128Gi"), True, ("1600m", "8Gi", "16Gi"), id="H11"),
        pytest.param(("4", "16Gi", "32Gi"), False, ("3200m", "2Gi", "4Gi"), id="H12"),
        pytest.param(("8", "32Gi", "64Gi"), True, ("800m", "4Gi", "8Gi"), id="H14"),
    ],
)
def test_overcommitted_requests_are_a_part_of_the_limits(
    limits: tuple[str, str, str], acceleratable: bool, expected: tuple[str, str, str]
) -> None:
    requests = overcommitted(Amounts(*map(Quantity.parse, limits)), acceleratable)
    assert (str(requests.cpu), str(requests.memory), str(requests.storage)) == expected


def test_requests_equal_limits_when_nothing_is_overcommitted() -> None:
    found = asked({"accelerator": 2}, policy=EXACT)
    assert found["requests"] == found["limits"]
    assert found["limits"] == {"cpu": "32", "memory": "128Gi", "ephemeral-storage": "15Gi", "nvidia.com/gpu": "2"}


def test_h14_accelerators_are_never_overcommitted() -> None:
    found = asked({"accelerator": 4})
    assert found["requests"] == {
        "cpu": "6400m",
        "memory": "32Gi",
        "ephemeral-storage": "1920Mi",
        "nvidia.com/gpu": "4",
    }
    assert found["limits"]["nvidia.com/gpu"] == "4"


def test_h13_a_slice_names_its_card_and_both_shares() -> None:
    found = asked(
        {"accelerator": 1, "acceleratorSlicedMemoryPercentage": 20, "acceleratorSlicedCoresPercentage": 20},
        policy=EXACT,
    )
    keys = {
        "nvidia.com/gpu.sliced": "1",
        "nvidia.com/gpu.sliced.memory-percentage": "20",
        "nvidia.com/gpu.sliced.cores-percentage": "20",
    }
    assert keys.items() <= found["limits"].items()
    assert keys.items() <= found["requests"].items()
    assert "nvidia.com/gpu" not in found["limits"]


def test_a_lone_percentage_is_copied_to_the_other() -> None:
    limits = asked({"acceleratorSlicedCoresPercentage": 25})["limits"]
    assert limits["nvidia.com/gpu.sliced.memory-percentage"] == "25"


def test_a_partition_names_its_profile() -> None:
    limits = asked({"acceleratorPartitionedProfile": "3g.40gb"})["limits"]
    assert limits["nvidia.com/gpu.partitioned"] == "1"
    assert limits["nvidia.com/gpu.partitioned.mig-3g.40gb"] == "1"


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
def test_every_maker_has_its_own_key(maker: str, key: str) -> None:
    assert asked({"accelerator": 3}, instance_type(status={"manufacturer": maker}))["limits"][key] == "3"


def test_an_administrator_may_rename_a_makers_key() -> None:
    policy = Policy(resource_keys={"nvidia": "nvidia.com/pgpu"})
    assert asked({"accelerator": 1}, policy=policy)["limits"]["nvidia.com/pgpu"] == "1"


def test_a_type_without_accelerators_gives_one_unit() -> None:
    plain = instance_type(acceleratable=False, unitResources={"cpu": "4", "ram": "16Gi"}, localStorage="8Gi")
    assert asked(None, plain) == {
        "limits": {"cpu": "4", "memory": "16Gi", "ephemeral-storage": "8Gi"},
        "requests": {"cpu": "3200m", "memory": "2Gi", "ephemeral-storage": "1Gi"},
    }


@pytest.mark.parametrize(
    ("resources", "known", "says"),
    [
        ({"accelerator": "1500m"}, {}, "resources.accelerator is 1500m: accelerators are whole cards"),
        ({"accelerator": -1}, {}, "accelerators are whole cards"),
        ({"accelerator": 1}, {"acceleratable": False}, "'h20-8x' has no accelerators"),
        (
            {"acceleratorPartitionedProfile": "p", "acceleratorSlicedCoresPercentage": 5},
            {},
            "cannot serve a slice and a partition",
        ),
        ({"interface": 1}, {}, "no effective RDMA or EFA transfer leg uses the requested interfaces"),
        ({"accelerator": 1}, {"status": {"manufacturer": "acme"}}, "manufacturer 'acme' is none of amd, ascend"),
        (
            {"acceleratorPartitionedProfile": "p"},
            {"status": {"manufacturer": "metax"}},
            "metax accelerators cannot be partitioned",
        ),
    ],
)
def test_what_a_type_does_not_offer_is_refused(resources: dict[str, Any], known: dict[str, Any], says: str) -> None:
    with pytest.raises(RenderRefusal) as refusal:
        asked(resources, instance_type(**known))
    assert says in refusal.value.message
    assert refusal.value.message.startswith("spec.roles[server].resources.")
    assert (refusal.value.reason, refusal.value.retryable) == (RefusalReason.RESOURCES_NOT_OFFERED, False)


@pytest.mark.parametrize(
    ("resources", "classes", "expected"),
    [
        ({"accelerator": 1}, {"nvidia"}, "nvidia"),
        ({"accelerator": 1}, {"amd"}, None),
        ({"accelerator": 0}, {"nvidia"}, None),
    ],
)
def test_the_runtime_class_is_named_where_the_cluster_has_it(
    resources: dict[str, Any] | None, classes: set[str], expected: str | None
) -> None:
    world = facts(instance_type(), runtime_classes=frozenset(classes))
    pod = render(deployment(role(resources=resources)), world).roles[0].template.pod(Seat(0, 0))
    assert pod["spec"].get("runtimeClassName") == expected


def test_an_unset_count_is_one_card_and_an_explicit_zero_is_none() -> None:
    assert asked(None)["limits"]["nvidia.com/gpu"] == "1"
    assert asked({})["limits"]["nvidia.com/gpu"] == "1"
    assert "nvidia.com/gpu" not in asked({"accelerator": 0})["limits"]
