from typing import Any

from modeldeployment.api import InstanceType, Quantity


def read(status: dict[str, Any] | None = None, **spec: Any) -> InstanceType:
    document: dict[str, Any] = {"metadata": {"name": "a10g"}, "spec": {"os": "linux", "arch": "amd64", **spec}}
    return InstanceType.model_validate({**document, **({"status": status} if status else {})})


def test_a_type_without_status_offers_no_entrance_and_is_not_observed() -> None:
    fresh = read(acceleratable=True, acceleratorGroup="nvidia-a10g")
    assert fresh.acceleratable
    assert fresh.entrance == ""
    assert not fresh.observed
    assert fresh.status.detail.sliced_detail.logical.count == 0


def test_what_was_observed_is_read() -> None:
    observed = read(
        status={
            "entrance": "gpustack-fnv64-1a5d79a1a1b0d1ce",
            "detail": {
                "manufacturer": "nvidia",
                "product": "A10G",
                "family": "ampere",
                "memory": "24Gi",
                "cores": 80,
                "computeCapability": "8.6",
                "runtimeVersions": ["12.8", "12.9"],
                "slicedDetail": {
                    "logical": {"count": 128, "coresPercentageOvercommit": 200},
                    "physical": {"count": 7, "profiles": [{"name": "1g.5gb", "count": 7, "memoryMib": 4864}]},
                },
                "cpu": {"manufacturer": "amd"},
            },
            "accelerator": {"onceMaxRequest": 4, "remaining": "3", "capacity": "16"},
            "acceleratorPartitioned": {"capacity": 7, "remainingProfiles": [{"name": "1g.5gb", "count": 2}]},
        }
    )
    detail = observed.status.detail
    assert observed.entrance == "gpustack-fnv64-1a5d79a1a1b0d1ce"
    assert observed.observed
    assert detail.runtime_versions == ("12.8", "12.9")
    assert detail.memory == Quantity.parse("24Gi")
    assert detail.sliced_detail.logical.count == 128
    assert [(profile.name, profile.memory_mib) for profile in detail.sliced_detail.physical.profiles] == [
        ("1g.5gb", 4864)
    ]
    assert observed.status.accelerator is not None
    assert observed.status.accelerator.capacity == Quantity.parse("16")
    assert observed.status.accelerator_partitioned is not None
    assert observed.status.accelerator_partitioned.remaining_profiles[0].count == 2


def test_a_type_that_states_no_unit_has_the_derived_one() -> None:
    plain, accelerated = read(), read(acceleratable=True, acceleratorGroup="nvidia-a10g")
    assert (str(plain.unit_cpu), str(plain.unit_ram), str(plain.local_storage)) == ("1", "2Gi", "100Gi")
    assert (str(accelerated.unit_cpu), str(accelerated.unit_ram)) == ("4", "16Gi")
    assert plain.spec.general_group == "generic"


def test_a_stated_unit_wins_field_by_field() -> None:
    stated = read(unitResources={"cpu": 16}, localStorage="512Gi")
    assert (str(stated.unit_cpu), str(stated.unit_ram), str(stated.local_storage)) == ("16", "2Gi", "512Gi")
