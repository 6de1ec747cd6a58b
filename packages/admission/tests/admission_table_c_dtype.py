"""Facts admission §9, table C: the cache's dtype and the reference to its pool."""

from typing import Any, Final

from admission_case import Case, Refused
from admission_table_b_owned import ARGUMENTS, COMMAND, SGLANG
from modeldeployment.admission.examples import GONE
from modeldeployment.admission.facts import Policy

_LONG: Final[dict[str, Any]] = {ARGUMENTS: ["--max-model-len=4096", "--kv-cache-dtype", "fp8"]}
_OFF: Final = Policy(kv_cache_dtype_owned=False)
_ON: Final = Policy(kv_cache_dtype_owned=True)


def _dtype(index: int = 0, spelling: str = "--kv-cache-dtype") -> Refused:
    names = ("--kv-cache-dtype", spelling, "the Binding's dtype", "another Binding", COMMAND)
    return Refused("MD032", f"{ARGUMENTS}[{index}]", names)


TABLE: Final[tuple[Case, ...]] = (
    Case("C1", _LONG, refused=(_dtype(1),)),
    Case("C2", {ARGUMENTS: ["--kv_cache_dtype=fp8"]}, refused=(_dtype(spelling="--kv_cache_dtype"),)),
    Case("C3", {ARGUMENTS: ["--kv-cache-dt=fp8"]}, refused=(_dtype(spelling="--kv-cache-dt"),)),
    Case("C4", SGLANG | {ARGUMENTS: ["--kv-cache-dtype=fp8_e4m3"]}, refused=(_dtype(),)),
    Case("C5", {ARGUMENTS: ["--kv-cache-dtype-skip-layers", "0"]}),
    Case("C6", _LONG | {"spec.kvCache": GONE}),
    Case("C7", {COMMAND: ["vllm", "serve", "/m", "--kv-cache-dtype", "fp8"], ARGUMENTS: ["--kv-cache-dtype", "fp8"]}),
    Case(
        "C8",
        _LONG | {"metadata.deletionTimestamp": "2026-01-01T00:00:00Z"},
        old=_LONG
        | {"metadata.deletionTimestamp": "2026-01-01T00:00:00Z", "metadata.finalizers": ["gpustack.ai/controlled"]},
    ),
    Case("C9-create", _LONG, policy=_OFF),
    Case("C9-update", _LONG, old=_LONG, policy=_OFF),
    Case("C10-create-unset", _LONG, refused=(_dtype(1),)),
    Case("C10-create-on", _LONG, policy=_ON, refused=(_dtype(1),)),
    Case("C10-update-unset", _LONG, old=_LONG, refused=(_dtype(1),)),
    Case("C10-update-on", _LONG, old=_LONG, policy=_ON, refused=(_dtype(1),)),
    Case(
        "C11",
        {"spec.kvCache.poolRef.name": ""},
        refused=(Refused("MD011", "spec.kvCache.poolRef.name", ("KVCachePoolBinding", "empty", "names none")),),
    ),
    Case(
        "C12",
        {"spec.kvCache": GONE, "spec.router.name": "llm-d-router", ARGUMENTS: ["--enable-scale-out"]},
    ),
)
