"""Facts admission §9, table B: owned keys."""

from typing import Any, Final

from admission_case import Case, Refused

ARGUMENTS: Final = "spec.roles[0].extraArgs"
ENV: Final = "spec.roles[0].env"
COMMAND: Final = "spec.roles[0].command"
SGLANG: Final[dict[str, Any]] = {"spec.engine.name": "SGLang", "spec.engine.version": "0.5.18"}


def variables(*names: str) -> list[dict[str, str]]:
    return [{"name": name, "value": "x"} for name in names]


def _argument(key: str, engine: str, index: int = 0) -> Refused:
    return Refused("MD012", f"{ARGUMENTS}[{index}]", (key, engine, COMMAND))


def _variable(name: str, engine: str, index: int = 0) -> Refused:
    return Refused("MD013", f"{ENV}[{index}]", (name, engine, COMMAND))


TABLE: Final[tuple[Case, ...]] = (
    Case(
        "B1",
        {ARGUMENTS: ['--kv-transfer-config={"kv_role":"kv_both"}']},
        refused=(_argument("--kv-transfer-config", "vLLM"),),
    ),
    Case(
        "B2",
        SGLANG | {ARGUMENTS: ["--hicache-storage-backend-extra-config", "{}"]},
        refused=(_argument("--hicache-storage-backend-extra-config", "SGLang"),),
    ),
    Case("B3", SGLANG | {ARGUMENTS: ['--kv-transfer-config={"kv_role":"kv_both"}']}),
    Case("B4", {ARGUMENTS: ["--max-model-len=32768"]}),
    Case("B5", {ENV: variables("MOONCAKE_CONFIG_PATH")}, refused=(_variable("MOONCAKE_CONFIG_PATH", "vLLM"),)),
    Case("B6", SGLANG | {ENV: variables("MOONCAKE_CONFIG_PATH")}),
    Case("B7", {ENV: [{"name": "MC_TE_METRIC", "value": "0"}]}),
    Case(
        "B8",
        SGLANG | {ENV: variables("GPUSTACK_MEMBER_INDEX")},
        refused=(_variable("GPUSTACK_MEMBER_INDEX", "SGLang"),),
    ),
    Case(
        "B9",
        {"spec.roles[0].size": 1, ENV: variables("GPUSTACK_REPLICA_SIZE")},
        refused=(_variable("GPUSTACK_REPLICA_SIZE", "vLLM"),),
    ),
    Case(
        "B10",
        {COMMAND: ["vllm", "serve", "/models/qwen"], ENV: variables("MOONCAKE_CONFIG_PATH")},
        refused=(_variable("MOONCAKE_CONFIG_PATH", "vLLM"),),
    ),
    Case("B11", {ENV: variables("HF_HOME")}),
    Case("B12", {COMMAND: ["vllm", "serve", "/models/qwen"]}),
)
