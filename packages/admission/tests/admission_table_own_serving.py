"""Our own rows: ports, names and what stored objects keep (facts admission §7 and §8)."""

from typing import Any, Final

from admission_case import Case, Refused
from admission_table_b_owned import ARGUMENTS, COMMAND, SGLANG
from admission_table_k_router import pair, ports, role
from modeldeployment.admission.examples import GONE

_PORTS: Final = "spec.roles[0].ports"
_SERVE: Final = ["vllm", "serve", "/models/qwen"]
_LLM_D: Final[dict[str, Any]] = {"spec.router.name": "llm-d-router"}
_VLLM: Final[dict[str, Any]] = {"spec.router.name": "vllm-router"}
_MODEL: Final = "Qwen/Qwen2.5-72B-Instruct"


def _listening(port: int, *declared: int, **more: Any) -> dict[str, Any]:
    return {ARGUMENTS: ["--port", str(port)], _PORTS: [{"port": number} for number in declared]} | more


def _two(own: int, declared: int, field: str = ARGUMENTS) -> tuple[Refused, ...]:
    return (Refused("MD029", field, (str(own), str(declared), field, f"{_PORTS}[0]")),)


def _taken(port: int, where: str, field: str, *reserved: str) -> tuple[Refused, ...]:
    return (Refused("MD030", field, (f"port {port}", where, "reserved", *reserved)),)


_SEVERAL: Final = (Refused("MD026", "spec.router", ("same serving port", "8000", "9000")),)
_EVENTS: Final = _taken(5557, ARGUMENTS, "spec.router", "5557, 5558", "llm-d-router")
_DECLARED: Final = _LLM_D | pair(decode=ports(8000, 9100) | {"extraArgs": ["--port=9100"]})
_AT_A_DECLARED_PORT: Final = (
    Refused("MD055", "spec.roles[1].extraArgs", ("--port 9100", "spec.roles[1].ports[1]", "proxy", "remove --port")),
)
_COLLIDING: Final[dict[str, Any]] = {ARGUMENTS: ["--port=5557"]}
_BOOTSTRAP: Final = pair(prefill={"extraArgs": ["--port=8998"]}, decode={"extraArgs": ["--port=8998"]})
_NAMED: Final[dict[str, Any]] = {ARGUMENTS: ["--served-model-name", "other"]}
_NAME: Final = (Refused("MD031", ARGUMENTS, ("--served-model-name", _MODEL)),)

TABLE: Final[tuple[Case, ...]] = (
    Case("N-port-same", _listening(9000, 9000)),
    Case("N-port-none-declared", _listening(9000)),
    # A number is another port whether or not one can listen there; a variable may well be the declared one.
    Case(
        "N-port-nobody-listens-on",
        _listening(0, 8000),
        refused=(Refused("MD029", ARGUMENTS, ("--port 0", "8000"), spares=("put 0 first",)),),
    ),
    Case("N-port-too-high", _listening(65536, 8000), refused=_two(65536, 8000)),
    Case("N-port-of-a-variable", {ARGUMENTS: ["--port=$(PORT)"], _PORTS: [{"port": 8000}]}),
    Case("N-port-other", _listening(9000, 8000), refused=_two(9000, 8000)),
    Case("N-port-second", _listening(9000, 8000, 9000), refused=_two(9000, 8000)),
    Case("N-port-prefix", {ARGUMENTS: ["--por=9000"], _PORTS: [{"port": 8000}]}, refused=_two(9000, 8000)),
    Case("N-port-last-wins", {ARGUMENTS: ["--port=1", "--port=8000"], _PORTS: [{"port": 8000}]}),
    Case(
        "N-port-command",
        {COMMAND: [*_SERVE, "--port", "9000"], _PORTS: [{"port": 8000}]},
        refused=_two(9000, 8000, COMMAND),
    ),
    Case("N-port-beside-command", {COMMAND: _SERVE, **_listening(9000, 8000)}),
    Case("N-port-stored", _listening(9000, 8000) | {"spec.roles[0].replicas": 5}, old=_listening(9000, 8000)),
    Case(
        "N-port-stored-arguments",
        _listening(9000, 8000) | {ARGUMENTS: ["--port", "9000", "--seed=1"]},
        old=_listening(9000, 8000),
        refused=_two(9000, 8000),
    ),
    Case("N-port-stored-ports", _listening(9000, 8000, 8001), old=_listening(9000, 8000), refused=_two(9000, 8000)),
    Case(
        "N-port-direct-decoder",
        _LLM_D | pair(decode=ports(8000) | {"extraArgs": ["--port=9000"]}, prefill=ports(8000)),
    ),
    Case(
        "N-port-decoder-of-another-router",
        _VLLM | {"spec.kvCache": GONE} | pair(decode=ports(8000) | {"extraArgs": ["--port=9000"]}),
        refused=(Refused("MD029", "spec.roles[1].extraArgs", ("9000", "8000")),),
    ),
    Case(
        "N-port-take-over-decoder",
        _LLM_D | pair(decode=ports(8000) | {"command": [*_SERVE, "--port=9000"]}),
        refused=(Refused("MD029", "spec.roles[1].command", ("9000", "8000")),),
    ),
    Case(
        "N-proxy-declared",
        _LLM_D | pair(prefill=ports(9000), decode=ports(9000) | {"extraArgs": ["--port=9000"]}),
        refused=(Refused("MD027", "spec.router", ("role decode", "9000", "proxy")),),
    ),
    Case(
        "N-proxy-sglang",
        SGLANG | _LLM_D | pair(decode={"extraArgs": ["--port=8000"]}),
        refused=(Refused("MD027", "spec.router", ("role decode", "8000", "proxy")),),
    ),
    Case(
        "N-proxy-lone-decode",
        _LLM_D | {"spec.roles": [role("decode", "Decode", extraArgs=["--port=8000"])]},
        refused=(Refused("MD027", "spec.router", ("role decode", "8000", "proxy")),),
    ),
    Case(
        "N-proxy-unreadable",
        _LLM_D | pair(decode={"extraArgs": ["--port=$(PORT)"]}),
        refused=(
            Refused(
                "MD027", "spec.router", ("role decode", '"$(PORT)"', "1 to 65535"), spares=("its Service publishes",)
            ),
        ),
    ),
    # The engine behind the proxy needs a port that nothing else of the role has (facts rendering §14 F10).
    Case("N-proxy-F10", _DECLARED, refused=_AT_A_DECLARED_PORT),
    Case("N-proxy-F10-stored", _DECLARED, old=_DECLARED, refused=_AT_A_DECLARED_PORT),
    Case("N-proxy-F10-sglang", SGLANG | _DECLARED, refused=_AT_A_DECLARED_PORT),
    Case(
        "N-proxy-F10-last-wins",
        _LLM_D | pair(decode=ports(8000, 9100) | {"extraArgs": ["--port=9100", "--port=9200"]}),
    ),
    Case(
        "N-proxy-F10-udp",
        _LLM_D
        | pair(decode={"ports": [{"port": 8000}, {"port": 9100, "protocol": "UDP"}], "extraArgs": ["--port=9100"]}),
        refused=_AT_A_DECLARED_PORT,
    ),
    Case(
        "N-proxy-F10-of-another-router",
        _VLLM | {"spec.kvCache": GONE} | pair(decode=ports(8000, 9100) | {"extraArgs": ["--port=9100"]}),
        refused=(Refused("MD029", "spec.roles[1].extraArgs", ("9100", "8000")),),
    ),
    Case("N-proxy-vllm-router", _VLLM | {"spec.kvCache": GONE} | pair(decode={"extraArgs": ["--port=8000"]})),
    # decisions D34: the port that counts is the one in the Pod.
    Case(
        "N-routed-same-by-flag",
        _VLLM | {"spec.roles": [role("a", extraArgs=["--port=9000"]), role("b", **ports(9000))]},
    ),
    Case(
        "N-routed-by-flag", _VLLM | {"spec.roles": [role("a", extraArgs=["--port=9000"]), role("b")]}, refused=_SEVERAL
    ),
    Case(
        "N-routed-by-command",
        _VLLM | {"spec.roles": [role("a", command=[*_SERVE, "--port=9000"]), role("b")]},
        refused=_SEVERAL,
    ),
    Case("N-routed-behind-the-proxy", _LLM_D | pair(prefill={"extraArgs": ["--port=9000"]}), refused=_SEVERAL),
    Case("N-unrouted", {"spec.roles": [role("a", extraArgs=["--port=9000"]), role("b")]}),
    Case(
        "N-routed-sctp",
        _VLLM | {_PORTS: [{"port": 8000, "protocol": "SCTP"}, {"port": 8000}]},
        refused=(Refused("MD026", "spec.router", ("TCP serving ports", "SCTP")),),
    ),
    Case(
        "N-routed-tls-of-a-take-over",
        _VLLM | {COMMAND: [*_SERVE, "--ssl-certf=/tls/cert.pem"]},
        refused=(Refused("MD026", "spec.router", ("plaintext endpoints only", COMMAND)),),
    ),
    Case("N-routed-tls-authorities", _VLLM | {ARGUMENTS: ["--ssl-ca-certs=/tls/ca.pem"]}),
    # Flags of a router match by their exact name (facts admission §5).
    Case(
        "N-router-flag-spelled-otherwise", _LLM_D | {"spec.router.extraArgs": ["--secure_serving=1", "--secure-serv=1"]}
    ),
    Case("N-reserved-flag", _LLM_D | _COLLIDING, refused=_EVENTS),
    Case("N-reserved-flag-beside-ports", _LLM_D | _listening(5557, 8000), refused=_two(5557, 8000)),
    Case("N-reserved-flag-unrouted", _COLLIDING),
    Case("N-reserved-flag-take-over", _LLM_D | {COMMAND: [*_SERVE, "--port=5557"]}),
    Case("N-reserved-flag-sglang", SGLANG | _LLM_D | _COLLIDING),
    Case(
        "N-reserved-flag-cache",
        SGLANG | _BOOTSTRAP,
        refused=_taken(8998, ARGUMENTS, ARGUMENTS, "SGLang"),
    ),
    Case("N-reserved-flag-stored", _LLM_D | _COLLIDING | {"spec.roles[0].replicas": 5}, old=_LLM_D | _COLLIDING),
    Case("N-reserved-flag-router-added", _LLM_D | _COLLIDING, old=_COLLIDING, refused=_EVENTS),
    Case(
        "N-reserved-flag-another",
        _LLM_D | {ARGUMENTS: ["--port=5558"]},
        old=_LLM_D | _COLLIDING,
        refused=_taken(5558, ARGUMENTS, "spec.router"),
    ),
    Case(
        "N-reserved-declared-stored",
        _LLM_D | {_PORTS: [{"port": 5557}]},
        old=_LLM_D | {_PORTS: [{"port": 5557}]},
        refused=(Refused("MD021", "spec.router", ("port 5557", f"{_PORTS}")),),
    ),
    Case(
        "N-reserved-encode",
        _LLM_D
        | {
            "spec.roles": [
                role("encode", "Encode", **ports(8000, 5601)),
                role("prefill", "Prefill"),
                role("decode", "Decode"),
            ]
        },
        refused=(Refused("MD021", "spec.router", ("role encode", "port 5601")),),
    ),
    Case("N-reserved-no-events-of-a-decoder", _LLM_D | pair(decode=ports(8000, 5557, 5558))),
    # An encoder has no cache, so nothing of it is published (facts encode §6).
    Case(
        "N-reserved-no-events-of-an-encoder",
        _LLM_D
        | {
            "spec.roles": [
                role("encode", "Encode", **ports(8000, 5557, 5558)),
                role("prefill", "Prefill"),
                role("decode", "Decode"),
            ]
        },
    ),
    Case("N-name-nothing", {ARGUMENTS: ["--served-model-name"]}, refused=_NAME),
    Case("N-name-empty", {ARGUMENTS: ["--served-model-name="]}, refused=_NAME),
    Case(
        "N-name-twice",
        {ARGUMENTS: ["--served-model-name", _MODEL, "--served-model-name", "other"]},
        refused=_NAME,
    ),
    Case("N-name-the-same-twice", {ARGUMENTS: ["--served-model-name", _MODEL, _MODEL]}, refused=_NAME),
    Case("N-name-prefix", {ARGUMENTS: ["--served-m=other"]}, refused=_NAME),
    Case("N-name-sglang-second", SGLANG | {ARGUMENTS: ["--served-model-name", _MODEL, "other"]}),
    Case("N-name-beside-command", {COMMAND: _SERVE} | _NAMED),
    Case("N-name-stored-respelled", {ARGUMENTS: ["--served-model-name=other"]}, old=_NAMED),
    Case(
        "N-name-stored-beside-a-command",
        _NAMED,
        old={COMMAND: _SERVE} | _NAMED,
        refused=(*_NAME, Refused("MD033", COMMAND)),
    ),
    Case("N-name-stored-gained", _NAMED, old={}, refused=_NAME),
    Case(
        "N-dtype-no-ratchet",
        {ARGUMENTS: ["--kv-cache-dtype=fp8"], "spec.roles[0].replicas": 5},
        old={ARGUMENTS: ["--kv-cache-dtype=fp8"]},
        refused=(Refused("MD032", f"{ARGUMENTS}[0]"),),
    ),
    Case("N-dtype-removed", {}, old={ARGUMENTS: ["--kv-cache-dtype=fp8"]}),
)
