"""Table J of facts admission §9: elastic expert parallelism, which this release refuses whole (decisions D24).

What the table accepts is refused with that one code; what it refuses keeps whatever other rows say of it.
"""

from typing import Any, Final

from admission_case import Case, Refused
from modeldeployment.admission.examples import GONE

_ROLE: Final = "spec.roles[0]"
_BASE: Final[dict[str, Any]] = {
    f"{_ROLE}.replicas": 1,
    f"{_ROLE}.elasticEp": {"width": 2, "headInstanceType": "cpu"},
    # All eight cards, so that no declared width is refused for itself.
    f"{_ROLE}.resources.accelerator": 8,
}
_UNSUPPORTED: Final = Refused("MD042", f"{_ROLE}.elasticEp", ("this release does not support", "leave elasticEp out"))


def _refused(row: str, *, old: dict[str, Any] | None = None, **new: Any) -> Case:
    changes = {f"{_ROLE}.{field.replace('__', '.')}": value for field, value in new.items()}
    return Case(row, {**_BASE, **changes}, old=old, refused=(_UNSUPPORTED,))


def _width(width: int) -> dict[str, Any]:
    return {"width": width, "headInstanceType": "cpu"}


def _out_of_bounds(row: str, width: int) -> Case:
    return Case(
        row,
        {**_BASE, f"{_ROLE}.elasticEp": _width(width)},
        refused=(Refused("MD904", f"{_ROLE}.elasticEp.width", (str(width),)),),
    )


def _env(name: str) -> list[dict[str, str]]:
    return [{"name": name, "value": "4"}]


_MIG: Final = {"accelerator": 1, "acceleratorPartitionedProfile": "1g.10gb"}
_SLICE: Final = {"accelerator": 1, "acceleratorSlicedMemoryPercentage": 50}
_PLAIN: Final = {"name": "second", "instanceType": "mi300x"}

TABLE: Final = (
    _refused("J1"),
    _refused("J2", elasticEp=_width(64)),
    _refused("J3", elasticEp=_width(4), old=_BASE),
    _refused("J4", replicas=1, old=_BASE),
    _refused("J5", env=_env("RAY_DEDUP_LOGS")),
    _out_of_bounds("J6-narrow", 1),
    _out_of_bounds("J6-wide", 65),
    _refused("J7", elasticEp=_width(2), old={**_BASE, f"{_ROLE}.elasticEp": _width(4)}),
    # The only way out for a stored object that has the block.
    Case("J8", {**_BASE, f"{_ROLE}.elasticEp": GONE}, old=_BASE),
    _refused("J9", elasticEp={"width": 2, "headInstanceType": "cpu-2"}, old=_BASE),
    Case(
        "J10",
        {**_BASE, "spec.roles[1]": {**_PLAIN, "elasticEp": _width(2)}},
        refused=(_UNSUPPORTED, Refused("MD042", "spec.roles[1].elasticEp")),
    ),
    Case("J11", {**_BASE, "spec.roles[1]": _PLAIN}, refused=(_UNSUPPORTED,)),
    _refused("J12", replicas=2),
    _refused("J13", size=2),
    _refused("J14", kind="Prefill"),
    Case("J15", {**_BASE, "spec.engine.name": "SGLang"}, refused=(_UNSUPPORTED,)),
    _refused("J16", command=["vllm", "serve", "/models/qwen"]),
    _refused("J17", resources__accelerator=2),
    _refused("J18", instanceType="l40s-slices", resources=_SLICE),
    _refused("J19", instanceType="a100-mig", resources=_MIG),
    _refused("J20", resources__interface=1),
    _refused("J21", extraArgs=["--data-parallel-size=4"]),
    _refused("J22", env=_env("VLLM_DP_SIZE")),
    _refused("J23-uid", env=_env("GPUSTACK_ELASTIC_POD_UID")),
    _refused("J23-ip", env=_env("GPUSTACK_ELASTIC_POD_IP")),
    _refused("J23-labels", env=_env("RAY_OVERRIDE_LABELS")),
    _refused("J23-strategy", env=_env("VLLM_RAY_DP_PACK_STRATEGY")),
    _refused("J24-backend", extraArgs=["--data-parallel-backend", "mp"]),
    _refused("J24-address", extraArgs=["--data-parallel-address", "10.0.0.1"]),
    _refused("J24-expert", extraArgs=["--enable-expert-parallel"]),
    _refused("J24-dp", extraArgs=["-dp=8"]),
    _refused("J24-dpl", extraArgs=["-dpl=0"]),
    _refused("J24-dpb", extraArgs=["-dpb=mp"]),
    _refused("J24-dpa", extraArgs=["-dpa=10.0.0.1"]),
    _refused("J25", elasticEp={"width": 2, "headInstanceType": "gone"}),
    _refused("J26", elasticEp={"width": 2, "headInstanceType": "h20-8x"}),
)
