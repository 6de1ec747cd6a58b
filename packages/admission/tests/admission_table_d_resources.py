"""Table D of facts admission §9: what a role asks for, whatever its InstanceType."""

from typing import Any, Final

from admission_case import Case, Refused

_SLICE: Final = {"acceleratorSlicedMemoryPercentage": 50, "acceleratorSlicedCoresPercentage": 50}
_PROFILE: Final = {"acceleratorPartitionedProfile": "3g.40gb"}


def _on(name: str, **resources: Any) -> dict[str, Any]:
    return {"spec.roles[0].instanceType": name, "spec.roles[0].resources": {"accelerator": 1, **resources}}


def _both(field: str) -> Refused:
    return Refused(
        "MD017",
        "spec.roles[0].resources.acceleratorPartitionedProfile",
        ("cannot both apply to one accelerator", field, "3g.40gb", "SlicedMemoryPercentage", "SlicedCoresPercentage"),
    )


TABLE: Final = (
    Case("D1-one-card", _on("h20-8x")),
    Case("D1-slice", _on("l40s-slices", **_SLICE)),
    Case("D1-profile", _on("a100-mig", **_PROFILE)),
    Case("D1-no-resources", {"spec.roles[0].resources": None}),
    Case(
        "D2",
        _on("a100-mig", **_PROFILE, acceleratorSlicedMemoryPercentage=50),
        refused=(_both("acceleratorSlicedMemoryPercentage 50"),),
    ),
    Case(
        "D3",
        _on("a100-mig", **_PROFILE, acceleratorSlicedCoresPercentage=25),
        refused=(_both("acceleratorSlicedCoresPercentage 25"),),
    ),
)
