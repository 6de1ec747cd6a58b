"""Rows of our own: amounts, what types offer, types that are missing or not observed."""

from typing import Any, Final

from admission_case import Case, Refused
from modeldeployment.admission.examples import GONE

_RESOURCES: Final = "spec.roles[0].resources"
_TYPE: Final = "spec.roles[0].instanceType"
_SLICE: Final = {"accelerator": 1, "acceleratorSlicedMemoryPercentage": 50}
_PROFILE: Final = {"accelerator": 1, "acceleratorPartitionedProfile": "1g.10gb"}
_OFFERED: Final = {"count": 7, "profiles": [{"name": "1g.10gb"}]}
_DELETED: Final = {"metadata.deletionTimestamp": "2026-01-02T03:04:05Z"}
_GONE: Final = {"h20-8x": None}
_UNKNOWN_CAPACITY: Final = {"h20-8x": {"status.accelerator": GONE}}


def _whole(field: str, written: str) -> tuple[Refused, ...]:
    return (Refused("MD016", f"{_RESOURCES}.{field}", (written, "whole number", "not negative")),)


def _zero(name: str) -> dict[str, Any]:
    return {"name": name, "instanceType": "h20-8x", "resources": {"accelerator": 0}}


def _half(name: str, kind: str) -> dict[str, Any]:
    slices = {"accelerator": 1, "acceleratorSlicedMemoryPercentage": 50}
    return {"name": name, "kind": kind, "instanceType": "l40s-slices", "resources": slices}


TABLE: Final = (
    Case("N-amount-negative-interface", {f"{_RESOURCES}.interface": -1}, refused=_whole("interface", "-1")),
    Case("N-amount-half-an-interface", {f"{_RESOURCES}.interface": "500m"}, refused=_whole("interface", "500m")),
    Case("N-amount-half-a-card", {f"{_RESOURCES}.accelerator": "1500m"}, refused=_whole("accelerator", "1500m")),
    Case("N-amount-no-interface", {f"{_RESOURCES}.interface": 0}),
    Case(
        "N-amount-while-deleting",
        {f"{_RESOURCES}.interface": -1, **_DELETED},
        old={f"{_RESOURCES}.interface": -1, **_DELETED},
        refused=_whole("interface", "-1"),
    ),
    Case(
        "N-offer-partition-not-observed",
        {_TYPE: "unobserved", _RESOURCES: _PROFILE},
        unready=("unobserved", "not ready", "partitions", "retry"),
    ),
    Case("N-offer-whole-cards-not-observed", {_TYPE: "unobserved"}),
    Case("N-offer-capacity-not-published", {f"{_RESOURCES}.accelerator": 64}, known=_UNKNOWN_CAPACITY),
    Case(
        "N-offer-none-in-the-pool",
        {_TYPE: "a100-mig"},
        known={"a100-mig": {"status.accelerator.capacity": "0"}},
        refused=(Refused("MD035", f"{_RESOURCES}.accelerator", ("0 whole accelerators", "a100-mig")),),
    ),
    Case(
        "N-offer-no-card-for-a-slice",
        {_TYPE: "l40s-slices", _RESOURCES: {**_SLICE, "accelerator": 0}},
        refused=(Refused("MD035", f"{_RESOURCES}.accelerator", ("exactly 1", "sliced")),),
    ),
    Case(
        "N-offer-two-partitions-not-offered",
        {_RESOURCES: {**_PROFILE, "accelerator": 2}},
        refused=(
            Refused("MD035", f"{_RESOURCES}.acceleratorPartitionedProfile", ("h20-8x",)),
            Refused("MD035", f"{_RESOURCES}.accelerator", ("exactly 1", "partitioned"), spares=("h20-8x",)),
        ),
    ),
    # facts admission §4.2 passes these over; nothing could be rendered for them (facts rendering §12).
    Case(
        "N-offer-slice-on-a-cpu-type",
        {_TYPE: "cpu", _RESOURCES: _SLICE},
        refused=(Refused("MD059", f"{_RESOURCES}.acceleratorSlicedMemoryPercentage", ("cpu", "no accelerators")),),
    ),
    Case(
        "N-offer-cores-on-a-cpu-type",
        {_TYPE: "cpu", _RESOURCES: {"acceleratorSlicedCoresPercentage": 50}},
        refused=(Refused("MD059", f"{_RESOURCES}.acceleratorSlicedCoresPercentage", ("cpu", "no accelerators")),),
    ),
    Case(
        "N-offer-partition-on-a-cpu-type",
        {_TYPE: "cpu", _RESOURCES: _PROFILE},
        refused=(Refused("MD059", f"{_RESOURCES}.acceleratorPartitionedProfile", ("cpu", "no accelerators")),),
    ),
    Case(
        "N-offer-whole-cards-on-a-cpu-type",
        {_TYPE: "cpu"},
        refused=(Refused("MD059", f"{_RESOURCES}.accelerator", ("cpu", "leave it out", "name a type")),),
    ),
    Case("N-offer-whole-cards-on-a-cpu-type-stored", {_TYPE: "cpu", "spec.roles[0].replicas": 5}, old={_TYPE: "cpu"}),
    Case(
        "N-offer-unknown-maker",
        {_TYPE: "mi300x"},
        known={"mi300x": {"status.detail.manufacturer": "acme"}},
        refused=(Refused("MD059", f"{_RESOURCES}.accelerator", ("mi300x", "acme", "nvidia")),),
    ),
    Case(
        "N-offer-no-cards-of-an-unknown-maker",
        {_TYPE: "mi300x", f"{_RESOURCES}.accelerator": 0},
        known={"mi300x": {"status.detail.manufacturer": "acme"}},
    ),
    Case(
        "N-offer-partition-of-a-maker-without",
        {_TYPE: "mi300x", _RESOURCES: _PROFILE},
        known={"mi300x": {"status.detail.slicedDetail.physical": _OFFERED}},
        refused=(Refused("MD059", f"{_RESOURCES}.acceleratorPartitionedProfile", ("mi300x", "amd", "partition")),),
    ),
    Case(
        "N-offer-shrunk-pool",
        {f"{_RESOURCES}.accelerator": 8, "spec.roles[0].replicas": 5},
        old={f"{_RESOURCES}.accelerator": 8},
        known={"h20-8x": {"status.accelerator.capacity": "4"}},
        refused=(Refused("MD035", f"{_RESOURCES}.accelerator", ("4 whole accelerators",)),),
    ),
    Case(
        "N-offer-while-deleting",
        {f"{_RESOURCES}.accelerator": 9, **_DELETED},
        old=_DELETED,
        refused=(Refused("MD033", _RESOURCES),),
    ),
    Case(
        "N-zero-while-deleting",
        {"spec.roles": [_zero("a"), _zero("b")], **_DELETED},
        old={"spec.roles": [_zero("a"), _zero("b")], **_DELETED},
    ),
    Case(
        "N-pair-while-deleting",
        {"spec.roles": [_half("p", "Prefill"), _half("d", "Decode")], **_DELETED},
        old={"spec.roles": [_half("p", "Prefill"), _half("d", "Decode")], **_DELETED},
    ),
    Case(
        "N-type-missing-among-others",
        {
            _RESOURCES: GONE,
            "spec.kvCache.poolRef.name": "",
            "spec.roles[1]": {"name": "second", "instanceType": "mi300x", "resources": {"interface": -1}},
        },
        known=_GONE,
        refused=(
            Refused("MD011", "spec.kvCache.poolRef.name"),
            Refused("MD049", "spec.roles[0].instanceType", ("h20-8x",)),
            Refused("MD016", "spec.roles[1].resources.interface"),
        ),
    ),
    Case(
        "N-type-missing-twice",
        {"spec.roles[1]": {"name": "second", "instanceType": "h20-8x"}},
        known=_GONE,
        refused=(
            Refused("MD049", "spec.roles[0].instanceType"),
            Refused("MD049", "spec.roles[1].instanceType"),
        ),
    ),
    Case(
        "N-type-missing-on-update",
        {"spec.roles[0].replicas": 5},
        old={},
        known=_GONE,
        refused=(Refused("MD049", "spec.roles[0].instanceType", ("create this one first",)),),
    ),
)
