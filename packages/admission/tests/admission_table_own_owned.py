"""Our own rows: owned arguments and variables in every spelling, and what only looks like one."""

from collections.abc import Iterator
from typing import Any, Final

from admission_case import Case, Refused
from admission_table_b_owned import ARGUMENTS, COMMAND, ENV, SGLANG, variables
from admission_table_k_router import pair, role
from modeldeployment.admission.examples import GONE

_SERVE: Final = ["vllm", "serve", "/models/qwen"]
_ARTIFACT: Final[dict[str, Any]] = {"spec.model.artifactRef.name": "qwen-weights"}
_MEMBER: Final = ("GPUSTACK_REPLICA_LEADER_ADDRESS", "GPUSTACK_REPLICA_SIZE", "GPUSTACK_MEMBER_INDEX")
_OWNED_VARIABLES: Final = {
    "vLLM": ("MOONCAKE_CONFIG_PATH", "VLLM_MOONCAKE_BOOTSTRAP_PORT"),
    "SGLang": (
        "SGLANG_HICACHE_MOONCAKE_CONFIG_PATH",
        "MOONCAKE_MASTER",
        "MOONCAKE_TE_META_DATA_SERVER",
        "MOONCAKE_PROTOCOL",
        "MOONCAKE_DEVICE",
        "MOONCAKE_GLOBAL_SEGMENT_SIZE",
        "MOONCAKE_LOCAL_HOSTNAME",
        "MOONCAKE_TENANT_ID",
    ),
}
_ENGINES: Final[dict[str, dict[str, Any]]] = {"vLLM": {}, "SGLang": SGLANG}

# What an owned key may be written as, with the key it is read as.
_READ_AS_OWNED: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "vLLM": {
        "prefix": ("--kv-transfer-conf={}", "--kv-transfer-config"),
        "short-prefix": ("--kv-t", "--kv-transfer-config"),
        "shared-prefix": ("--kv-", "--kv-transfer-config"),
        "underscores": ("--kv_events_config", "--kv-events-config"),
        "mixed": ("--kv_transfer-config={}", "--kv-transfer-config"),
        "dot": ("--kv-transfer-config.kv_role=kv_both", "--kv-transfer-config"),
        "dot-after-underscores": ("--kv_events_config.enable_kv_cache_events", "--kv-events-config"),
        "dot-after-prefix": ("--kv-ev.topic=x", "--kv-events-config"),
        "empty-value": ("--kv-events-config=", "--kv-events-config"),
        "two-equals": ("--kv-events-config=a=b", "--kv-events-config"),
    },
    "SGLang": {
        "prefix": ("--disaggregation-mo", "--disaggregation-mode"),
        "backend": ("--hicache-storage-backend=mooncake", "--hicache-storage-backend"),
        "longer-stem": ("--hicache-storage-backend-e", "--hicache-storage-backend-extra-config"),
        "port": ("--disaggregation-bootstrap-port=8998", "--disaggregation-bootstrap-port"),
        "transfer": ("--disaggregation-transfer-backend=nixl", "--disaggregation-transfer-backend"),
    },
}
_NOT_OWNED: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "vLLM": {
        "glued": ("--kv-transfer-config{}",),
        "one-dash": ("-kv-transfer-config", "{}"),
        "no-dash": ("kv-transfer-config={}",),
        "longer": ("--kv-transfer-config-file=/x",),
        "upper-case": ("--KV-TRANSFER-CONFIG={}",),
        "leading-space": (" --kv-transfer-config={}",),
        "space-inside": ("--kv-transfer-config {}",),
        "full-width-dash": ("\uff0d\uff0dkv-transfer-config={}",),
        "accent": ("--kv-tr\u00e1nsfer-config={}",),
        "as-a-value": ("--additional-config=--kv-transfer-config",),
        "bare-dashes": ("--",),
        "empty": ("",),
        "listen-flag": ("--host", "0.0.0.0"),
    },
    "SGLang": {
        "underscores": ("--disaggregation_mode=prefill",),
        "dot": ("--disaggregation-mode.x=prefill",),
        "glued": ("--disaggregation-modeprefill",),
        "of-vllm": ("--kv-events-config={}",),
    },
}


def _owned(argument: str, key: str, engine: str, index: int = 0) -> Refused:
    spelling = argument.partition("=")[0]
    return Refused("MD012", f"{ARGUMENTS}[{index}]", (spelling, key, engine, COMMAND))


def _variable(name: str, engine: str, index: int) -> Refused:
    return Refused("MD013", f"{ENV}[{index}]", (name, engine, COMMAND))


def _spellings() -> Iterator[Case]:
    for engine, base in _ENGINES.items():
        # Without a cache, so that a prefix of the dtype flag as well is refused once.
        base_changes = {**base, "spec.kvCache": GONE}
        for name, (argument, key) in _READ_AS_OWNED[engine].items():
            yield Case(
                f"N-owned-{engine}-{name}",
                base_changes | {ARGUMENTS: ["--seed=1", argument]},
                refused=(_owned(argument, key, engine, 1),),
            )
        for name, arguments in _NOT_OWNED[engine].items():
            yield Case(f"N-user-{engine}-{name}", base_changes | {ARGUMENTS: list(arguments)})


def _environment() -> Iterator[Case]:
    for engine, base in _ENGINES.items():
        for size in (1, 2):
            yield Case(
                f"N-member-{engine}-size-{size}",
                base | {"spec.roles[0].size": size, ENV: variables(*_MEMBER)},
                refused=tuple(_variable(name, engine, index) for index, name in enumerate(_MEMBER)),
            )
        names = _OWNED_VARIABLES[engine]
        refused = tuple(_variable(name, engine, index) for index, name in enumerate(names))
        yield Case(f"N-env-{engine}", base | {ENV: variables(*names)}, refused=refused)
        yield Case(f"N-env-{engine}-take-over", base | {COMMAND: _SERVE, ENV: variables(*names)}, refused=refused)
        yield Case(
            f"N-env-{engine}-alike",
            base | {ENV: variables(*(f"{name}_" for name in names), *(name.lower() for name in _MEMBER))},
        )


def _staged(
    arguments: dict[str, list[str]], router: str = "llm-d-router", engine: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {
        **(engine or {}),
        "spec.router.name": router,
        "spec.roles": [
            role(kind.lower(), kind, **({"extraArgs": arguments[kind]} if kind in arguments else {}))
            for kind in ("Encode", "Prefill", "Decode")
        ],
    }


def _encode() -> Iterator[Case]:
    vllm = ("--ec-transfer-config={}", "--mm-encoder-only")
    sglang = (
        "--encoder-only",
        "--language-only",
        "--encoder-urls=http://a",
        "--encoder-transfer-backend=mooncake",
        "--encoder-bootstrap-port=8997",
        "--encoder-register-urls=http://a",
    )
    for engine, arguments, router in (("vLLM", vllm, "llm-d-router"), ("SGLang", sglang, "sglang-gateway")):
        base = _ENGINES[engine]
        yield Case(
            f"N-encode-{engine}",
            _staged({"Encode": list(arguments)}, router, base),
            refused=tuple(
                _owned(argument, argument.partition("=")[0], engine, index) for index, argument in enumerate(arguments)
            ),
        )
        # Without an Encode role nobody writes them, so they are the user's.
        yield Case(f"N-encode-{engine}-none", base | {"spec.kvCache": GONE, ARGUMENTS: list(arguments)})
    embeds = {"Prefill": ["--enable-mm-embeds"]}
    yield Case("N-embeds-llm-d", _staged(embeds))
    yield Case(
        "N-embeds-vllm-router",
        {"spec.kvCache": GONE} | _staged(embeds, "vllm-router"),
        refused=(Refused("MD012", "spec.roles[1].extraArgs[0]", ("--enable-mm-embeds", "vLLM")),),
    )
    yield Case("N-embeds-pair", {"spec.router.name": "vllm-router"} | pair(prefill={"extraArgs": embeds["Prefill"]}))
    epd = {"spec.router.extraArgs": ["--epd-config", "{}"]}
    yield Case(
        "N-epd-config",
        {"spec.kvCache": GONE} | _staged({}, "vllm-router") | epd,
        refused=(Refused("MD022", "spec.router.extraArgs[0]", ("--epd-config", "vllm-router")),),
    )
    yield Case("N-epd-config-llm-d", _staged({}) | epd)


TABLE: Final[tuple[Case, ...]] = (
    *_spellings(),
    *_environment(),
    *_encode(),
    Case(
        "N-owned-shared-prefix-and-dtype",
        {ARGUMENTS: ["--kv"]},
        refused=(
            _owned("--kv", "--kv-transfer-config", "vLLM"),
            Refused("MD032", f"{ARGUMENTS}[0]", ("--kv", "--kv-cache-dtype")),
        ),
    ),
    Case(
        "N-owned-every-one",
        {ARGUMENTS: ["--kv-transfer-config", "{}", "--kv-transfer-config", "{}"]},
        refused=(
            _owned("--kv-transfer-config", "--kv-transfer-config", "vLLM"),
            _owned("--kv-transfer-config", "--kv-transfer-config", "vLLM", 2),
        ),
    ),
    Case("N-owned-beside-command", {COMMAND: _SERVE, ARGUMENTS: ["--kv-transfer-config", "{}"]}),
    Case("N-owned-in-command", {COMMAND: [*_SERVE, "--kv-transfer-config", "{}"]}),
    Case(
        "N-owned-deleting",
        {ARGUMENTS: ["--kv-transfer-config", "{}"], "metadata.deletionTimestamp": "2026-01-01T00:00:00Z"},
        old={"metadata.finalizers": ["gpustack.ai/controlled"]},
        refused=(_owned("--kv-transfer-config", "--kv-transfer-config", "vLLM"),),
    ),
    Case(
        "N-artifact-alias",
        SGLANG | _ARTIFACT | {ARGUMENTS: ["--model", "/x"]},
        refused=(Refused("MD019", f"{ARGUMENTS}[0]", ("--model-path", "ModelArtifact qwen-weights", COMMAND)),),
    ),
    Case("N-artifact-exact-other", _ARTIFACT | {ARGUMENTS: ["--tokenizer", "/data/tokenizer"]}),
    Case(
        "N-artifact-prefix",
        _ARTIFACT | {ARGUMENTS: ["--download_d=/x"]},
        refused=(Refused("MD019", f"{ARGUMENTS}[0]", ("--download_d", "--download-dir")),),
    ),
    Case("N-ten-thousand-accepted", {ARGUMENTS: [f"--kv-transfer-config-{index}" for index in range(10_000)]}),
    Case(
        "N-ten-thousand-last-refused",
        {ARGUMENTS: [*("--max-model-len=1" for _ in range(9_999)), "--kv-events-config={}"]},
        refused=(_owned("--kv-events-config", "--kv-events-config", "vLLM", 9_999),),
    ),
)
