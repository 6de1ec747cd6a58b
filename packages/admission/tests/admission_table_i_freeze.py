"""Table I of facts admission §9: which edits are let in."""

from typing import Any, Final

from admission_case import Case, Refused
from modeldeployment.admission.examples import GONE
from modeldeployment.admission.facts import Policy

_IDENTITY: Final = ("a different value describes a different deployment, which is created rather than edited",)
_ROLE: Final = "spec.roles[0]"
_LLM_D: Final = {"spec.router": {"name": "llm-d-router"}}
_SECOND: Final = {"name": "second", "instanceType": "mi300x", "resources": {"accelerator": 1}}
_TWO: Final = {"spec.roles[1]": _SECOND}
_SIZE_2: Final = {f"{_ROLE}.size": 2}
_COMMAND: Final = {f"{_ROLE}.command": ["vllm", "serve", "/models/qwen"]}
_WEIGHTS: Final = {"spec.model.artifactRef": {"name": "qwen-weights"}}
_SERVER: Final = {"name": "server", "replicas": 4, "instanceType": "h20-8x", "resources": {"accelerator": 1}}


def _frozen(field: str, *names: str) -> tuple[Refused, ...]:
    return (Refused("MD033", field, _IDENTITY + names),)


def _editable(row: str, field: str, value: Any, policy: Policy | None = None) -> Case:
    return Case(row, {field: value}, old={}, policy=policy or Policy())


TABLE: Final = (
    Case("I1", {"spec.model.name": "other"}, old={}, refused=_frozen("spec.model")),
    Case(
        "I2",
        {"spec.engine.name": "SGLang"},
        old={},
        refused=_frozen("spec.engine.name", "SGLang"),
    ),
    Case("I3-pool", {"spec.kvCache.poolRef.name": "other-kv"}, old={}, refused=_frozen("spec.kvCache")),
    Case("I3-removed", {"spec.kvCache": GONE}, old={}, refused=_frozen("spec.kvCache")),
    Case("I3-added", {}, old={"spec.kvCache": GONE}, refused=_frozen("spec.kvCache")),
    # Mooncake is the only connector there is, so another one is the schema's to refuse.
    Case(
        "I3-connector",
        {"spec.kvCache.connector": "NIXL"},
        old={},
        refused=(Refused("MD905", "spec.kvCache.connector", ("NIXL",)),),
    ),
    Case("I4", {f"{_ROLE}.kind": "Prefill"}, old={}, refused=_frozen(f"{_ROLE}.kind", "Prefill")),
    Case("I5", {f"{_ROLE}.instanceType": "h20-other"}, old={}, refused=_frozen(f"{_ROLE}.instanceType")),
    Case("I6", {f"{_ROLE}.resources.accelerator": 2}, old={}, refused=_frozen(f"{_ROLE}.resources")),
    Case("I7", _COMMAND, old={}, refused=_frozen(f"{_ROLE}.command")),
    Case("I8", _TWO, old={}, refused=_frozen("spec.roles[1].name", "second")),
    Case("I9", {}, old=_TWO, refused=_frozen("spec.roles", "second")),
    _editable("I10-version", "spec.engine.version", "0.31.0"),
    _editable("I10-replicas", f"{_ROLE}.replicas", 5),
    _editable("I10-extra-args", f"{_ROLE}.extraArgs", ["--max-model-len=4096"]),
    _editable("I10-env", f"{_ROLE}.env", [{"name": "MC_TE_METRIC", "value": "0"}]),
    _editable("I10-image", f"{_ROLE}.image", "registry.example/runner:2"),
    _editable("I10-pull-policy", f"{_ROLE}.imagePullPolicy", "Always"),
    _editable("I10-pull-secrets", f"{_ROLE}.imagePullSecrets", [{"name": "registry"}]),
    _editable("I10-privileged", f"{_ROLE}.privileged", True, Policy(privileged_allowed=True)),
    _editable("I10-ports", f"{_ROLE}.ports", [{"port": 8100}]),
    _editable("I10-volumes", f"{_ROLE}.additionalVolumes", [{"mountPath": "/data", "secret": {"name": "s"}}]),
    Case("I11-re-applied", {}, old={}),
    Case("I11-reordered", {"spec.roles": [_SECOND, _SERVER]}, old=_TWO),
    Case(
        "I12",
        {"spec.roles": [{**_SECOND, "instanceType": "h20-other"}, _SERVER]},
        old=_TWO,
        refused=_frozen("spec.roles[0].instanceType", "h20-other"),
    ),
    Case(
        "I13",
        {f"{_ROLE}.size": 3},
        old=_SIZE_2,
        refused=(
            Refused(
                "MD033",
                f"{_ROLE}.size",
                ("fixed when the deployment is created", "change replicas", "create another deployment"),
                spares=("identif", "describes a different", "lock", "conflict", " race", "concurren"),
            ),
        ),
    ),
    Case("I14", {**_SIZE_2, f"{_ROLE}.replicas": 4}, old={**_SIZE_2, f"{_ROLE}.replicas": 1}),
    Case("I15-added", _LLM_D, old={}),
    Case("I15-removed", {}, old=_LLM_D),
    Case("I15-unchanged", {**_LLM_D, f"{_ROLE}.replicas": 5}, old=_LLM_D),
    Case(
        "I16",
        {"spec.router": {"name": "vllm-router"}},
        old=_LLM_D,
        refused=(Refused("MD034", "spec.router.name", ("immutable", "vllm-router", "remove spec.router first")),),
    ),
    Case("I17", {"metadata.labels": {"team": "a"}, "metadata.annotations": {"note": "b"}}, old={}),
    Case("I18-added", _WEIGHTS, old={}, refused=_frozen("spec.model")),
    Case("I18-removed", {}, old=_WEIGHTS, refused=_frozen("spec.model")),
    Case(
        "I18-re-pointed",
        {"spec.model.artifactRef": {"name": "other"}},
        old=_WEIGHTS,
        refused=_frozen("spec.model"),
    ),
    Case("I19", {"spec.model.name": "other", **_COMMAND}),
)
