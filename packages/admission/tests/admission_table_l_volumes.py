"""Facts admission §9, table L: volumes, artifacts and served names."""

from typing import Any, Final

from admission_case import Case, Refused
from admission_table_b_owned import ARGUMENTS, COMMAND, ENV, SGLANG, variables
from modeldeployment.admission.facts import Policy

_VOLUMES: Final = "spec.roles[0].additionalVolumes"
_ARTIFACT: Final[dict[str, Any]] = {"spec.model.artifactRef.name": "qwen-weights"}
_MODEL: Final = "Qwen/Qwen2.5-72B-Instruct"
_MODELSCOPE: Final = ("MODELSCOPE_API_TOKEN", "MODELSCOPE_DOMAIN", "MODELSCOPE_CACHE", "VLLM_USE_MODELSCOPE")


def _mounted(*paths: str, **more: str) -> dict[str, Any]:
    return {_VOLUMES: [{"mountPath": path, "configMap": {"name": "files"}, **more} for path in paths]}


def _argument(index: int, key: str) -> Refused:
    return Refused("MD019", f"{ARGUMENTS}[{index}]", (key, "ModelArtifact qwen-weights", COMMAND))


def _variable(index: int, name: str) -> Refused:
    return Refused("MD019", f"{ENV}[{index}]", (name, "ModelArtifact qwen-weights", COMMAND))


def _over(*reserved: str) -> tuple[Refused, ...]:
    return (Refused("MD020", f"{_VOLUMES}[0].mountPath", reserved),)


_SUB_PATH: Final = (Refused("MD018", f"{_VOLUMES}[0].subPath", (".. element",)),)
_NAME: Final = (Refused("MD031", ARGUMENTS, ("--served-model-name", _MODEL)),)
_OTHER: Final[dict[str, Any]] = {ARGUMENTS: ["--served-model-name", "other"]}

TABLE: Final[tuple[Case, ...]] = (
    Case(
        "L1",
        _mounted("/data", "/data"),
        refused=(Refused("MD018", f"{_VOLUMES}[1].mountPath", ("already mounted by", f"{_VOLUMES}[0]", "/data")),),
    ),
    Case("L2-inside", _mounted("/data", subPath="a/../../etc"), refused=_SUB_PATH),
    Case("L2-alone", _mounted("/data", subPath=".."), refused=_SUB_PATH),
    Case("L3", _mounted("/data", subPath="a..b/c")),
    Case("L4", {_VOLUMES: [{"mountPath": "/data"}]}, refused=(Refused("MD018", f"{_VOLUMES}[0]", ("/data",)),)),
    Case("L5-secret", {_VOLUMES: [{"mountPath": "/data", "secret": {"name": "token"}}]}),
    Case(
        "L5-host-path",
        {_VOLUMES: [{"mountPath": "/data", "hostPath": {"path": "/mnt/data"}}]},
        policy=Policy(host_path_allowed=True),
    ),
    Case("L6-absent"),
    Case("L6-split", {ARGUMENTS: ["--served-model-name", _MODEL]}),
    Case("L6-inline", {ARGUMENTS: [f"--served-model-name={_MODEL}"]}),
    Case("L7-vllm", _OTHER, refused=_NAME),
    Case("L7-sglang", SGLANG | _OTHER, refused=_NAME),
    Case("L7-second", {ARGUMENTS: ["--served-model-name", _MODEL, "qwen"]}, refused=_NAME),
    Case("L7-underscores", {ARGUMENTS: ["--served_model_name=other"]}, refused=_NAME),
    Case("L7-artifact", _ARTIFACT | _OTHER, refused=_NAME),
    Case("L8", {COMMAND: ["vllm", "serve", "/m", "--served-model-name", "other"]}),
    Case(
        "L9",
        _ARTIFACT | {ARGUMENTS: ["--revision", "v2", "--model=/x", "--download-dir", "/tmp"]},
        refused=(_argument(0, "--revision"), _argument(2, "--model"), _argument(3, "--download-dir")),
    ),
    Case(
        "L10-vllm",
        _ARTIFACT | {ARGUMENTS: ["--tokenizer-revision=v2"]},
        refused=(_argument(0, "--tokenizer-revision"),),
    ),
    Case(
        "L10-sglang", SGLANG | _ARTIFACT | {ARGUMENTS: ["--model-path", "/x"]}, refused=(_argument(0, "--model-path"),)
    ),
    Case(
        "L11",
        _ARTIFACT | {ENV: variables("HF_TOKEN", "HTTPS_PROXY", "HF_HOME")},
        refused=(_variable(0, "HF_TOKEN"), _variable(2, "HF_HOME")),
    ),
    Case(
        "L12",
        _ARTIFACT | {ENV: variables(*_MODELSCOPE)},
        refused=tuple(_variable(index, name) for index, name in enumerate(_MODELSCOPE)),
    ),
    Case(
        "L13-sglang",
        SGLANG | _ARTIFACT | {ENV: variables("SGLANG_USE_MODELSCOPE")},
        refused=(_variable(0, "SGLANG_USE_MODELSCOPE"),),
    ),
    Case("L13-vllm", _ARTIFACT | {ENV: variables("SGLANG_USE_MODELSCOPE")}),
    Case("L14-no-artifact", {ARGUMENTS: ["--revision", "v2"], ENV: variables("HF_TOKEN")}),
    Case(
        "L14-take-over",
        _ARTIFACT | {COMMAND: ["vllm", "serve", "/m"], ARGUMENTS: ["--revision", "v2"], ENV: variables("HF_TOKEN")},
    ),
    Case("L15-at", _ARTIFACT | _mounted("/var/lib/gpustack/model"), refused=_over("/var/lib/gpustack/model")),
    Case(
        "L15-inside",
        _ARTIFACT | _mounted("/var/lib/gpustack/model/tokenizer"),
        refused=_over("/var/lib/gpustack/model"),
    ),
    Case(
        "L15-around",
        _ARTIFACT | _mounted("/var/lib/gpustack"),
        refused=_over("/var/lib/gpustack/model", "/var/lib/gpustack/model-cache"),
    ),
    Case(
        "L15-cache",
        _ARTIFACT | _mounted("/var/lib/gpustack/model-cache"),
        refused=_over("/var/lib/gpustack/model-cache"),
    ),
    Case("L16-data", _ARTIFACT | _mounted("/data")),
    Case("L16-beside", _ARTIFACT | _mounted("/var/lib/gpustack/models")),
    Case("L16-no-artifact", _mounted("/var/lib/gpustack/model")),
    Case("L17-replicas", _OTHER | {"spec.roles[0].replicas": 5}, old=_OTHER),
    Case("L17-new-name", {ARGUMENTS: ["--served-model-name", "third"]}, old=_OTHER, refused=_NAME),
)
