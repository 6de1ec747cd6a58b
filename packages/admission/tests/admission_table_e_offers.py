"""Table E of facts admission §9: what a role asks for, against what its InstanceType offers."""

from typing import Any, Final

from admission_case import Case, Refused
from modeldeployment.admission.examples import GONE

_RESOURCES: Final = "spec.roles[0].resources"
_MEMORY: Final = {"acceleratorSlicedMemoryPercentage": 50}
_GONE: Final = {"h20-8x": None}
_DELETED: Final = "2026-01-02T03:04:05Z"


def _on(name: str, accelerator: int, **resources: Any) -> dict[str, Any]:
    return {"spec.roles[0].instanceType": name, _RESOURCES: {"accelerator": accelerator, **resources}}


def _unsliced(name: str) -> Refused:
    return Refused(
        "MD035",
        f"{_RESOURCES}.acceleratorSlicedMemoryPercentage",
        (name, "does not offer logical slicing"),
    )


def _exactly_one(what: str, name: str) -> Refused:
    return Refused("MD035", f"{_RESOURCES}.accelerator", ("exactly 1", what), spares=(name,))


def _profile(*names: str) -> Refused:
    return Refused("MD035", f"{_RESOURCES}.acceleratorPartitionedProfile", names)


_NO_TYPE: Final = Refused("MD049", "spec.roles[0].instanceType", ("h20-8x", "no InstanceType"))

TABLE: Final = (
    Case("E1", _on("h20-8x", 8)),
    Case(
        "E2",
        _on("h20-8x", 9),
        refused=(Refused("MD035", f"{_RESOURCES}.accelerator", ("8 whole accelerators", '"h20-8x"', "9")),),
    ),
    Case("E3", _on("l40s-slices", 1, **_MEMORY)),
    Case("E4", _on("h20-8x", 1, **_MEMORY), refused=(_unsliced("h20-8x"),)),
    Case("E5", _on("h20-8x", 1, acceleratorSlicedCoresPercentage=50), refused=(_unsliced("h20-8x"),)),
    Case(
        "E6",
        _on("h20-8x", 1, acceleratorPartitionedProfile="1g.10gb"),
        refused=(_profile("h20-8x", "does not offer hardware partitioning", "1g.10gb"),),
    ),
    Case("E7", _on("a100-mig", 1, acceleratorPartitionedProfile="2g.20gb")),
    Case(
        "E8",
        _on("a100-mig", 1, acceleratorPartitionedProfile="7g.80gb"),
        refused=(
            _profile("7g.80gb", "a100-mig", "does not offer this partition profile", "1g.10gb, 2g.20gb, 3g.40gb"),
        ),
    ),
    Case("E9", _on("l40s-slices", 9, **_MEMORY), refused=(_exactly_one("sliced", "l40s-slices"),)),
    Case(
        "E10",
        _on("a100-mig", 2, acceleratorPartitionedProfile="1g.10gb"),
        refused=(_exactly_one("partitioned", "a100-mig"),),
    ),
    Case(
        "E11",
        _on("a100-mig", 1, acceleratorPartitionedProfile="1g.10gb"),
        known={"a100-mig": {"status.accelerator.capacity": "0"}},
    ),
    Case("E12-four", _on("h20-8x", 4, **_MEMORY), refused=(_unsliced("h20-8x"), _exactly_one("sliced", "h20-8x"))),
    Case("E12-nine", _on("h20-8x", 9, **_MEMORY), refused=(_unsliced("h20-8x"), _exactly_one("sliced", "h20-8x"))),
    Case("E13", _on("unobserved", 1, **_MEMORY), unready=("unobserved", "not ready", "retry")),
    Case(
        "E14",
        {"metadata.deletionTimestamp": _DELETED, "metadata.finalizers": GONE},
        old={"metadata.deletionTimestamp": _DELETED, "metadata.finalizers": ["gpustack.ai/controlled"]},
        known=_GONE,
    ),
    Case("E15", known=_GONE, refused=(_NO_TYPE,)),
    Case(
        "E16",
        {"spec.engine.name": ""},
        known=_GONE,
        refused=(Refused("MD905", "spec.engine.name"), _NO_TYPE),
    ),
)
