"""Our own rows: what a deployment with an Encode role must look like (facts encode §6)."""

from typing import Any, Final

from admission_case import Case, Refused
from admission_table_b_owned import SGLANG
from admission_table_k_router import role
from modeldeployment.admission.examples import GONE

_KINDS: Final = ("Encode", "Prefill", "Decode")


def _staged(
    router: str | None = "llm-d-router", *, kinds: tuple[str, ...] = _KINDS, **fields: dict[str, Any]
) -> dict[str, Any]:
    return {
        "spec.roles": [role(kind.lower(), kind) | fields.get(kind.lower(), {}) for kind in kinds],
        **({"spec.router.name": router} if router else {}),
    }


def _ascend(*roles: str) -> dict[str, Any]:
    moved = {name: {"instanceType": "ascend-910b"} for name in roles}
    return _staged(encode=moved.get("encode", {}), prefill=moved.get("prefill", {}), decode=moved.get("decode", {}))


def _unpaired(index: int, *names: str) -> Refused:
    return Refused("MD044", f"spec.roles[{index}].kind", ("role encode", *names))


def _on_ascend(index: int, kind: str) -> Refused:
    return Refused("MD045", f"spec.roles[{index}].instanceType", ("ascend-910b", "vLLM", kind))


def _several(index: int, kind: str) -> Refused:
    return Refused("MD046", f"spec.roles[{index}].size", (kind, "one node", "replicas"))


def _data_parallel(index: int, kind: str, degree: int) -> Refused:
    return Refused("MD047", f"spec.roles[{index}].extraArgs", (kind, f"data parallelism {degree}", "replicas"))


_TWO_CARDS: Final = {"resources": {"accelerator": 2}}
_DP: Final = _TWO_CARDS | {"extraArgs": ["--data-parallel-size=2"]}
_VARIABLE: Final = {"env": [{"name": "TZ", "value": "UTC"}, {"name": "VLLM_DP_SIZE", "value": "2"}]}
_SIDE_CHANNEL: Final = {"env": [{"name": "VLLM_EC_SIDE_CHANNEL_HOST", "value": "10.0.0.9"}]}
_UNCACHED: Final[dict[str, Any]] = {"spec.kvCache": GONE}
_OWN: Final = {"command": ["vllm", "serve", "/m"]}
_TWO_CONNECTORS: Final = Refused(
    "MD056",
    "spec.router.name",
    ("NixlConnector", "MooncakeStoreConnector", "shared-kv", "use llm-d-router"),
)

TABLE: Final[tuple[Case, ...]] = (
    Case("N-epd-llm-d", _staged()),
    Case("N-epd-vllm-router", _UNCACHED | _staged("vllm-router")),
    Case("N-epd-sglang-gateway", SGLANG | _staged("sglang-gateway")),
    Case("N-epd-sglang-llm-d", SGLANG | _staged()),
    Case(
        "N-epd-no-router",
        _staged(None),
        refused=(Refused("MD043", "spec.router", ("role encode", "spec.roles[0]", "spec.router")),),
    ),
    Case(
        "N-epd-router-removed",
        _staged(None),
        old=_staged(),
        refused=(Refused("MD043", "spec.router", ("role encode",)),),
    ),
    Case("N-epd-no-decode", _staged(kinds=("Encode", "Prefill")), refused=(_unpaired(0, "no Decode"),)),
    Case("N-epd-no-prefill", _staged(kinds=("Decode", "Encode")), refused=(_unpaired(1, "no Prefill"),)),
    Case("N-epd-alone", _staged(kinds=("Encode",)), refused=(_unpaired(0, "no Prefill", "no Decode"),)),
    Case(
        "N-epd-server",
        _staged(kinds=("Server", "Encode")),
        refused=(
            Refused("MD006", "spec.roles[0].kind"),
            Refused("MD006", "spec.roles[1].kind"),
            _unpaired(1, "no Prefill", "no Decode"),
        ),
    ),
    Case("N-epd-gateway-vllm", _staged("sglang-gateway"), refused=(Refused("MD024", "spec.router.name"),)),
    Case(
        "N-epd-ascend-all",
        _UNCACHED | _ascend("encode", "prefill", "decode"),
        refused=(_on_ascend(0, "Encode"), _on_ascend(1, "Prefill"), _on_ascend(2, "Decode")),
    ),
    Case("N-epd-ascend-decode", _UNCACHED | _ascend("decode"), refused=(_on_ascend(2, "Decode"),)),
    Case("N-epd-ascend-sglang", _UNCACHED | SGLANG | _ascend("encode", "prefill", "decode")),
    Case(
        "N-epd-ascend-pair",
        _UNCACHED
        | {"spec.router.name": "llm-d-router"}
        | {
            "spec.roles": [role(kind.lower(), kind) | {"instanceType": "ascend-910b"} for kind in ("Prefill", "Decode")]
        },
    ),
    Case(
        "N-epd-unobserved",
        _staged(encode={"instanceType": "unobserved"}),
        unready=("spec.roles[0].instanceType", "unobserved", "not observed yet"),
    ),
    Case(
        "N-epd-unobserved-stored",
        _staged(encode={"instanceType": "unobserved"}),
        old=_staged(encode={"instanceType": "unobserved"}),
    ),
    Case("N-epd-unobserved-sglang", SGLANG | _staged(encode={"instanceType": "unobserved"})),
    Case(
        "N-epd-owned-variable",
        _staged(encode=_SIDE_CHANNEL),
        refused=(Refused("MD013", "spec.roles[0].env[0]", ("VLLM_EC_SIDE_CHANNEL_HOST", "vLLM")),),
    ),
    Case("N-epd-other-engines-variable", SGLANG | _staged(encode=_SIDE_CHANNEL)),
    Case("N-epd-variable-without-encode", _staged(kinds=("Prefill", "Decode"), prefill=_SIDE_CHANNEL)),
    Case("N-epd-encode-size", _UNCACHED | _staged("vllm-router", encode={"size": 2}), refused=(_several(0, "Encode"),)),
    Case(
        "N-epd-prefill-size", _UNCACHED | _staged("vllm-router", prefill={"size": 2}), refused=(_several(1, "Prefill"),)
    ),
    Case("N-epd-decode-size", _staged(decode={"size": 2}), refused=(_several(2, "Decode"),)),
    Case("N-epd-decode-size-vllm-router", _UNCACHED | _staged("vllm-router", decode={"size": 2})),
    Case("N-epd-sglang-encode-size", SGLANG | _staged(encode={"size": 2}), refused=(_several(0, "Encode"),)),
    Case("N-epd-sglang-size", SGLANG | _staged(prefill={"size": 2}, decode={"size": 2})),
    Case("N-epd-data-parallel", _staged(encode=_DP), refused=(_data_parallel(0, "Encode", 2),)),
    Case(
        "N-epd-data-parallel-variable",
        _staged(decode=_TWO_CARDS | _VARIABLE | {"extraArgs": ["-dp", "1"]}),
        refused=(Refused("MD047", "spec.roles[2].env[1]", ("Decode", "data parallelism 2", "VLLM_DP_SIZE")),),
    ),
    Case(
        "N-epd-data-parallel-over-the-variable",
        _staged(prefill=_DP | _VARIABLE),
        refused=(_data_parallel(1, "Prefill", 2),),
    ),
    Case("N-epd-data-parallel-sglang", SGLANG | _staged(prefill=_DP)),
    Case(
        "N-epd-data-parallel-take-over",
        _staged(prefill=_TWO_CARDS | {"command": ["vllm", "serve", "/m", "-dp", "2"]}),
    ),
    Case(
        "N-epd-tensor-parallel",
        _staged(encode=_TWO_CARDS | {"extraArgs": ["-tp", "2"]}, prefill=_TWO_CARDS | {"extraArgs": ["-tp", "2"]}),
    ),
    # A store's connector beside the one that joins by address was run by nobody (facts encode §7).
    Case("N-epd-cache", _staged("vllm-router"), refused=(_TWO_CONNECTORS,)),
    Case("N-epd-cache-one-take-over", _staged("vllm-router", prefill=_OWN), refused=(_TWO_CONNECTORS,)),
    Case("N-epd-cache-take-over", _staged("vllm-router", prefill=_OWN, decode=_OWN)),
    Case("N-epd-cache-router-added", _staged("vllm-router"), old=_staged(None), refused=(_TWO_CONNECTORS,)),
    Case("N-epd-cache-sglang", SGLANG | _staged("sglang-gateway")),
    Case(
        "N-epd-cache-deleting",
        _staged("vllm-router") | {"metadata.deletionTimestamp": "2026-01-01T00:00:00Z"},
        old=_staged("vllm-router")
        | {
            "metadata.deletionTimestamp": "2026-01-01T00:00:00Z",
            "metadata.finalizers": ["gpustack.ai/controlled"],
        },
    ),
    Case(
        "N-epd-deleting",
        _staged(None, kinds=("Encode",), encode={"size": 2}) | {"metadata.deletionTimestamp": "2026-01-01T00:00:00Z"},
        old=_staged(None, kinds=("Encode",), encode={"size": 2})
        | {
            "metadata.deletionTimestamp": "2026-01-01T00:00:00Z",
            "metadata.finalizers": ["gpustack.ai/controlled"],
        },
    ),
)
