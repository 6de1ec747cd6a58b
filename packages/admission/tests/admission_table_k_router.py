"""Facts admission §9, table K: the router block and the roles behind it.

K4 and K5 need an engine without metrics, of which there is none: `test_admission_catalogues` holds them.
"""

from typing import Any, Final

from admission_case import Case, Refused
from admission_table_b_owned import SGLANG
from modeldeployment.admission.examples import GONE

_LLM_D: Final[dict[str, Any]] = {"spec.router.name": "llm-d-router"}
_VLLM: Final[dict[str, Any]] = {"spec.router.name": "vllm-router"}
_GATEWAY: Final[dict[str, Any]] = SGLANG | {"spec.router.name": "sglang-gateway"}
_UNCACHED: Final[dict[str, Any]] = {"spec.kvCache": GONE}
_PORTS: Final = "spec.roles[0].ports"
_ARGUMENTS: Final = "spec.router.extraArgs"
_THRESHOLD: Final = "spec.router.disaggregationThresholdTokens"


def role(name: str, kind: str = "Server", **fields: Any) -> dict[str, Any]:
    return {"name": name, "kind": kind, "instanceType": "h20-8x", "resources": {"accelerator": 1}, **fields}


def pair(prefill: dict[str, Any] | None = None, decode: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"spec.roles": [role("prefill", "Prefill", **prefill or {}), role("decode", "Decode", **decode or {})]}


def ports(*numbers: int) -> dict[str, Any]:
    return {"ports": [{"port": number} for number in numbers]}


def _flag(flag: str, router: str) -> tuple[Refused, ...]:
    return (Refused("MD022", f"{_ARGUMENTS}[0]", (flag, router)),)


def _mismatch(router: str, engine: str, accepted: str) -> tuple[Refused, ...]:
    return (Refused("MD024", "spec.router.name", (router, engine, accepted)),)


def _reserved(name: str, port: int, engine: str, router: str, reserved: str) -> tuple[Refused, ...]:
    return (Refused("MD021", "spec.router", (f"role {name}", f"port {port}", "reserved", engine, router, reserved)),)


def _threshold(router: str) -> tuple[Refused, ...]:
    return (Refused("MD023", _THRESHOLD, (router, "llm-d-router")),)


_PROXY: Final = (Refused("MD027", "spec.router", ("role decode", "8000", "port its Service publishes", "proxy")),)
_COMMAND: Final = ["vllm", "serve", "/models/qwen"]

TABLE: Final[tuple[Case, ...]] = (
    Case(
        "K1",
        _VLLM
        | {"spec.router.replicas": 2, "spec.router.image": "registry.example/team/r:1", _ARGUMENTS: ["--verbose"]},
    ),
    Case(
        "K2-selector",
        _LLM_D | {_ARGUMENTS: ["--endpoint-selector=a=b"]},
        refused=_flag("--endpoint-selector", "llm-d-router"),
    ),
    Case(
        "K2-secure", _LLM_D | {_ARGUMENTS: ["--secure-serving=true"]}, refused=_flag("--secure-serving", "llm-d-router")
    ),
    Case(
        "K2-metrics",
        _LLM_D | {_ARGUMENTS: ["--metrics-endpoint-auth=true"]},
        refused=_flag("--metrics-endpoint-auth", "llm-d-router"),
    ),
    Case("K3", _LLM_D | {_ARGUMENTS: ["--zap-log-level=debug"]}),
    Case(
        "K6",
        _LLM_D | {"spec.roles": [role("a", **ports(8000)), role("b", **ports(8100))]},
        refused=(Refused("MD026", "spec.router", ("same serving port", "8000", "8100")),),
    ),
    Case(
        "K7",
        _LLM_D | {_PORTS: [{"port": 8000, "protocol": "UDP"}]},
        refused=(Refused("MD026", "spec.router", ("TCP serving ports", "role server", "UDP")),),
    ),
    Case(
        "K8",
        _LLM_D | {"spec.roles[0].extraArgs": ["--ssl-keyfile=/tls/key.pem"]},
        refused=(Refused("MD026", "spec.router", ("plaintext endpoints only", "role server", "HTTPS")),),
    ),
    Case(
        "K9-serving",
        _LLM_D | {"spec.roles": [role("server", **ports(5557))]},
        refused=_reserved("server", 5557, "vLLM", "llm-d-router", "5557, 5558"),
    ),
    Case(
        "K9-extra",
        _LLM_D | {"spec.roles": [role("server", **ports(8000, 5558))]},
        refused=_reserved("server", 5558, "vLLM", "llm-d-router", "5557, 5558"),
    ),
    Case("K10", _LLM_D | {"spec.roles": [role("server", **ports(8998))]}),
    Case(
        "K11-sglang-decode",
        SGLANG | _LLM_D | pair(decode=ports(8000, 8998)),
    ),
    Case("K11-sglang-events", SGLANG | _LLM_D | {"spec.roles": [role("server", **ports(5557))]}),
    Case("K11-take-over", _LLM_D | {"spec.roles": [role("server", command=_COMMAND, **ports(5557))]}),
    Case(
        "K12-vllm-llm-d",
        _LLM_D | pair(prefill=ports(8000, 8998)),
        refused=_reserved("prefill", 8998, "vLLM", "llm-d-router", "5557, 5558, 8998"),
    ),
    Case(
        "K12-vllm-router",
        _VLLM | _UNCACHED | pair(prefill=ports(8000, 8998)),
        refused=_reserved("prefill", 8998, "vLLM", "vllm-router", "8998"),
    ),
    Case(
        "K12-sglang-router",
        _GATEWAY | _UNCACHED | pair(prefill=ports(8000, 8998)),
        refused=_reserved("prefill", 8998, "SGLang", "sglang-gateway", "8998"),
    ),
    Case(
        "K12-sglang-cache",
        SGLANG | pair(prefill=ports(8000, 8998)),
        refused=(Refused("MD021", "spec.roles[0].ports", ("role prefill", "port 8998", "reserved", "SGLang")),),
    ),
    Case("K12-sglang-neither", SGLANG | _UNCACHED | pair(prefill=ports(8000, 8998))),
    Case("K12-lone-prefill", _VLLM | {"spec.roles": [role("prefill", "Prefill", **ports(8000, 8998))]}),
    Case("K13-inline", _LLM_D | pair(decode={"extraArgs": ["--port=8000"]}), refused=_PROXY),
    Case("K13-split", _LLM_D | pair(decode={"extraArgs": ["--port", "8000"]}), refused=_PROXY),
    Case("K14-other-port", _LLM_D | pair(decode={"extraArgs": ["--port=8200"]})),
    Case("K14-take-over", _LLM_D | pair(decode={"command": [*_COMMAND, "--port=8000"]})),
    Case("K15", _LLM_D | {"spec.roles": [role("a"), role("b"), role("c")]}),
    Case("K16-llm-d-vllm", _LLM_D),
    Case("K16-llm-d-sglang", SGLANG | _LLM_D),
    Case("K16-vllm-router", _VLLM),
    Case("K16-gateway", _GATEWAY),
    Case("K17-vllm-router", SGLANG | _VLLM, refused=_mismatch("vllm-router", "SGLang", "accepts: vLLM")),
    Case(
        "K17-gateway",
        {"spec.router.name": "sglang-gateway"},
        refused=_mismatch("sglang-gateway", "vLLM", "accepts: SGLang"),
    ),
    Case("K18-host", _VLLM | {_ARGUMENTS: ["--host", "::"]}, refused=_flag("--host", "vllm-router")),
    Case(
        "K18-connector", _VLLM | {_ARGUMENTS: ["--kv-connector=nixl"]}, refused=_flag("--kv-connector", "vllm-router")
    ),
    Case("K18-host-llm-d", _LLM_D | {_ARGUMENTS: ["--host", "::"]}),
    Case("K18-unknown", _VLLM | {_ARGUMENTS: ["--no-such-flag"]}),
    Case(
        "K19", _GATEWAY | {_ARGUMENTS: ["--pd-disaggregation"]}, refused=_flag("--pd-disaggregation", "sglang-gateway")
    ),
    Case("K19-of-another", _GATEWAY | {_ARGUMENTS: ["--vllm-pd-disaggregation", "--kv-connector", "nixl"]}),
    Case("K20-eight", _LLM_D | {_THRESHOLD: 8}),
    Case("K20-zero", _LLM_D | {_THRESHOLD: 0}),
    Case("K20-vllm-router", _VLLM | {_THRESHOLD: 8}, refused=_threshold("vllm-router")),
    Case("K20-gateway", _GATEWAY | {_THRESHOLD: 8}, refused=_threshold("sglang-gateway")),
    Case("K20-absent", _VLLM),
)
