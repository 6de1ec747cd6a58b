"""Table G of facts admission §9: a pair on one accelerator."""

from typing import Any, Final

from admission_case import Case, Refused
from modeldeployment.admission.examples import GONE

_MEMORY: Final[dict[str, Any]] = {"acceleratorSlicedMemoryPercentage": 50}
_CORES: Final[dict[str, Any]] = {"acceleratorSlicedCoresPercentage": 50}
_PROFILE: Final[dict[str, Any]] = {"acceleratorPartitionedProfile": "1g.10gb"}
_SLICING: Final = {"status.detail.slicedDetail": {"logical": {"count": 16}}}
_H20_SLICED: Final = {"h20-8x": _SLICING, "h20-other": _SLICING}


def _role(name: str, kind: str, instance_type: str = "l40s-slices", **resources: Any) -> dict[str, Any]:
    return {
        "name": name,
        "kind": kind,
        "instanceType": instance_type,
        "resources": {"accelerator": 1, **resources},
    }


def _shared(*names: str, spares: tuple[str, ...] = ()) -> Refused:
    return Refused("MD037", "spec.roles", ("logical slice", *names), spares=spares)


TABLE: Final = (
    Case(
        "G1",
        {"spec.roles": [_role("p", "Prefill", **_MEMORY), _role("d", "Decode", **_MEMORY)]},
        refused=(_shared('"p"', '"d"', "acceleratorSlicedMemoryPercentage", "nvidia-l40s", '"l40s-slices"'),),
    ),
    Case(
        "G2",
        {"spec.roles": [_role("p", "Prefill", **_CORES), _role("d", "Decode", **_CORES)]},
        refused=(_shared('"p"', '"d"', "acceleratorSlicedCoresPercentage"),),
    ),
    Case(
        "G3",
        {"spec.roles": [_role("p", "Prefill", "h20-8x", **_MEMORY), _role("d", "Decode", "h20-other", **_MEMORY)]},
        known=_H20_SLICED,
        refused=(_shared('"h20-8x"', '"h20-other"', "nvidia-h20"),),
    ),
    Case(
        "G4",
        {"spec.roles": [_role("p", "Prefill", **_MEMORY), _role("d", "Decode", "h20-8x", **_MEMORY)]},
        known=_H20_SLICED,
    ),
    Case("G5-whole", {"spec.roles": [_role("p", "Prefill", "h20-8x"), _role("d", "Decode", "h20-8x")]}),
    Case(
        "G5-partitions",
        {"spec.roles": [_role("p", "Prefill", "a100-mig", **_PROFILE), _role("d", "Decode", "a100-mig", **_PROFILE)]},
    ),
    Case("G5-only-prefill", {"spec.roles": [_role("p", "Prefill", **_MEMORY), _role("d", "Decode")]}),
    Case("G5-single", {"spec.roles": [_role("s", "Server", **_MEMORY)]}),
    Case(
        "G6",
        {"spec.roles": [_role("p", "Prefill", **_MEMORY), _role("d", "Decode", **_MEMORY)]},
        known={"l40s-slices": {"spec.acceleratorGroup": GONE}},
    ),
    Case(
        "G7",
        {
            "spec.roles": [
                _role("away", "Prefill", "h20-8x", **_MEMORY),
                _role("near", "Prefill", **_MEMORY),
                _role("d", "Decode", **_MEMORY),
            ]
        },
        known=_H20_SLICED,
        refused=(
            _shared('"near"', '"d"', spares=("away", "h20")),
            Refused("MD007", "spec.roles[1].kind", ('already declared by role "away"',)),
        ),
    ),
)
