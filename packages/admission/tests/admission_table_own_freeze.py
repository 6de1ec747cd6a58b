"""Rows of our own: what reads the same is no edit, and what a merge patch leaves out is one."""

from typing import Any, Final

from admission_case import Case, Refused
from modeldeployment.admission.examples import GONE

_RESOURCES: Final = "spec.roles[0].resources"
_COMMAND: Final = "spec.roles[0].command"
_SERVE: Final = {_COMMAND: ["vllm", "serve", "/models/qwen"]}
_MIG: Final = {"spec.roles[0].instanceType": "a100-mig", _RESOURCES: {"acceleratorPartitionedProfile": "1g.10gb"}}
_CPU: Final = {"spec.roles[0].instanceType": "cpu", _RESOURCES: GONE}
_DELETED: Final = {"metadata.deletionTimestamp": "2026-01-02T03:04:05Z"}
_ARTIFACT: Final = "spec.model.artifactRef"


def _dropped(field: str) -> Refused:
    return Refused("MD033", field, ("identifies the deployment", "merge patch", "JSON patch"))


def _role(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "instanceType": "h20-8x", **more}


TABLE: Final = (
    # Document 1: a role restated without its command sets the command to null.
    Case(
        "N-freeze-merge-patch-null-command",
        {_COMMAND: None, "spec.roles[0].replicas": 5},
        old=_SERVE,
        refused=(_dropped(_COMMAND),),
    ),
    Case("N-freeze-merge-patch-no-command", {_COMMAND: GONE}, old=_SERVE, refused=(_dropped(_COMMAND),)),
    Case(
        "N-freeze-merge-patch-no-resources",
        {_RESOURCES: GONE},
        old={_RESOURCES: {"accelerator": 2}},
        refused=(_dropped(_RESOURCES),),
    ),
    # What the API server makes of a role restated without its size: the default stands there.
    Case(
        "N-freeze-merge-patch-no-size",
        {"spec.roles[0].size": 1},
        old={"spec.roles[0].size": 2},
        refused=(Refused("MD033", "spec.roles[0].size", ("replicas", "merge patch"), spares=("identifies",)),),
    ),
    Case("N-freeze-empty-command", {_COMMAND: []}, old={}),
    Case("N-freeze-null-fields", {"spec.kvCache": None, "spec.router": None}, old={"spec.kvCache": GONE}),
    Case("N-freeze-kind-written-out", {"spec.roles[0].kind": "Server"}, old={}),
    Case("N-freeze-connector-written-out", {"spec.kvCache.connector": "Mooncake"}, old={}),
    Case("N-freeze-quantity-spelled-otherwise", {f"{_RESOURCES}.accelerator": "1"}, old={}),
    Case("N-freeze-resources-defaulted", {}, old={_RESOURCES: GONE}),
    Case("N-freeze-resources-left-out", {_RESOURCES: GONE}, old={}),
    Case("N-freeze-resources-zeros", {_RESOURCES: {"interface": 0, "acceleratorSlicedCoresPercentage": 0}}, old={}),
    Case("N-freeze-one-on-a-cpu-type", {**_CPU, _RESOURCES: {"accelerator": 1}}, old=_CPU),
    Case(
        "N-freeze-profile",
        {**_MIG, f"{_RESOURCES}.acceleratorPartitionedProfile": "2g.20gb"},
        old=_MIG,
        refused=(Refused("MD033", _RESOURCES),),
    ),
    Case("N-freeze-interface", {f"{_RESOURCES}.interface": 1}, old={}, refused=(Refused("MD033", _RESOURCES),)),
    Case(
        "N-freeze-renamed-role",
        {"spec.roles[0].name": "renamed"},
        old={},
        refused=(
            Refused("MD033", "spec.roles", ("server", "is gone")),
            Refused("MD033", "spec.roles[0].name", ("renamed", "is new")),
        ),
    ),
    Case(
        "N-freeze-while-deleting",
        {**_DELETED, "spec.model.name": "other"},
        old=_DELETED,
        refused=(Refused("MD033", "spec.model"),),
    ),
    Case(
        "N-freeze-router-while-deleting",
        {**_DELETED, "spec.router": {"name": "vllm-router"}},
        old={**_DELETED, "spec.router": {"name": "llm-d-router"}},
        refused=(Refused("MD034", "spec.router.name"),),
    ),
    Case(
        "N-freeze-everything-at-once",
        {
            "spec.model.name": "other",
            "spec.engine.name": "SGLang",
            "spec.kvCache": GONE,
            "spec.roles": [
                _role(
                    "server",
                    kind="Prefill",
                    size=2,
                    instanceType="h20-other",
                    resources={"accelerator": 2},
                    command=["serve"],
                )
            ],
            "spec.router": {"name": "sglang-gateway"},
        },
        old={"spec.router": {"name": "llm-d-router"}, "spec.roles[0].replicas": 1},
        refused=(
            Refused("MD033", "spec.model"),
            Refused("MD033", "spec.engine.name"),
            Refused("MD033", "spec.kvCache"),
            Refused("MD033", "spec.roles[0].kind"),
            Refused("MD033", "spec.roles[0].size"),
            Refused("MD033", "spec.roles[0].instanceType"),
            Refused("MD033", "spec.roles[0].resources"),
            Refused("MD033", "spec.roles[0].command"),
            Refused("MD034", "spec.router.name"),
        ),
    ),
    Case("N-elastic-leaves-while-deleting", {**_DELETED, "spec.roles[0].elasticEp": {"width": 2}}, old=_DELETED),
    Case("N-freeze-artifact-null", {_ARTIFACT: None}, old={}),
)
