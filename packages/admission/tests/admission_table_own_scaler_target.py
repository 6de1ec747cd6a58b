"""Our own rows for a scaler against its target (facts api-scaler §3)."""

from typing import Any, Final

from admission_case import Case, Refused
from admission_table_own_scaler_ratios import accepted, bounds, refused
from modeldeployment.admission.examples import GONE
from modeldeployment.admission.facts import Actor

NO_TARGET: Final = {"qwen-72b": None}
COMMANDED: Final = {"qwen-72b": {"spec.roles[0].command": ["vllm", "serve", "/models/qwen"]}}


def long(role: str, size: int, **more: Any) -> dict[str, Any]:
    return {"qwen-72b": {"spec.roles[0].name": role, "spec.roles[0].size": size, **more}}


def scaled(role: str, high: int) -> dict[str, Any]:
    return {"spec.roles": [bounds(role, 1, high)]}


ROLES: Final = (
    refused(
        "NS40-a-role-the-target-does-not-have",
        {"spec.roles": [bounds("server", 1, 8), bounds("servers", 1, 8)]},
        Refused("MD143", "spec.roles[1].name", ("servers", "qwen-72b", "its roles are server")),
    ),
    accepted("NS40-no-target-yet", {"spec.roles": [bounds("server", 1, 8), bounds("servers", 1, 8)]}, known=NO_TARGET),
    accepted(
        "NS41-an-incomplete-set-of-roles",
        {
            "spec.targetRef.name": "qwen-pd",
            "spec.roles": [bounds("prefill", 1, 8)],
            "spec.algorithm.tokenThroughput": {"prefillTargetTokensPerSecond": "2000"},
        },
    ),
    refused(
        "NS42-a-command",
        {},
        Refused("MD140", "spec.roles[0].name", ("server", "qwen-72b", "command")),
        known=COMMANDED,
    ),
    refused(
        "NS43-elastic-width",
        {},
        Refused("MD141", "spec.roles[0].name", ("server", "qwen-72b", "elasticEp")),
        known={"qwen-72b": {"spec.roles[0].elasticEp": {"width": 2}}},
    ),
    refused(
        "NS43-on-an-update",
        {"spec.roles[0].maxReplicas": 8},
        Refused("MD140", "spec.roles[0].name"),
        old={},
        known=COMMANDED,
    ),
)

NAMES: Final = (
    accepted("NS44-63-characters", scaled("s" * 48, 10), known=long("s" * 48, 2)),
    refused(
        "NS44-64-characters",
        scaled("s" * 48, 11),
        Refused(
            "MD142",
            "spec.roles[0].maxReplicas",
            ("-r10-m1", "64", "63", "shorten the name of the deployment or of the role", "to 10 or less"),
        ),
        known=long("s" * 48, 2),
    ),
    refused(
        "NS44-two-digits-of-members",
        scaled("s" * 47, 11),
        Refused("MD142", "spec.roles[0].maxReplicas", ("-r10-m10", "64")),
        known=long("s" * 47, 11),
    ),
    refused(
        "NS44-not-even-one-replica",
        scaled("s" * 54, 11),
        Refused("MD142", "spec.roles[0].maxReplicas", ("shorten",), ("or less",)),
        known=long("s" * 54, 2),
    ),
    accepted("NS45-one-pod-a-replica-is-never-named", scaled("s" * 54, 1024), known=long("s" * 54, 1)),
)

EDITS: Final = (
    accepted("NS46-suspending-needs-no-fitting-target", {"spec.suspend": True}, old={}, known=COMMANDED),
    accepted(
        "NS46-a-suspended-scaler-applied-again",
        {"spec.suspend": True},
        old={"spec.suspend": True},
        known=COMMANDED,
    ),
    accepted(
        "NS46-the-target-is-gone-again",
        {"spec.roles": [bounds("server", 1, 8), bounds("servers", 1, 8)], "spec.algorithm": GONE},
        old={},
        known=NO_TARGET,
    ),
    refused(
        "NS46-resuming-does",
        {},
        Refused("MD140", "spec.roles[0].name"),
        old={"spec.suspend": True},
        known=COMMANDED,
    ),
    refused(
        "NS46-suspending-with-another-edit-does",
        {"spec.suspend": True, "spec.roles[0].maxReplicas": 8},
        Refused("MD140", "spec.roles[0].name"),
        old={},
        known=COMMANDED,
    ),
    accepted(
        "NS47-the-operator-adds-its-finalizer",
        {"metadata.finalizers": ["gpustack.ai/controlled"]},
        old={},
        known=COMMANDED,
        actor=Actor.OPERATOR,
    ),
    accepted(
        "NS48-on-its-way-out",
        {"metadata.deletionTimestamp": "2030-01-01T00:00:00Z"},
        old={"metadata.finalizers": ["gpustack.ai/controlled"]},
        known=COMMANDED,
    ),
)

TABLE: Final[tuple[Case, ...]] = (*ROLES, *NAMES, *EDITS)
