"""Rows of our own: names that a stored deployment keeps, and the corners of names, kinds and required fields."""

from typing import Any, Final

from admission_case import Case, Refused
from modeldeployment.admission.examples import GONE

_DOTTED: Final = {"metadata.name": "qwen.72b"}
_LONG: Final = {"metadata.name": "q" * 57, "spec.roles[0].name": "serve"}
_ROUTER: Final = {"spec.router": {"name": "llm-d-router"}}
_DELETED: Final = {"metadata.deletionTimestamp": "2026-01-02T03:04:05Z"}
_LEVEL: Final = "spec.roles[0].topology.requiredLevel"
_STAGES: Final = ("Prefill", "Decode", "Prefill")


def _role(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "instanceType": "h20-8x", **more}


def _grown(replicas: int) -> dict[str, Any]:
    return {"spec.roles": [_role("x", size=2, replicas=replicas), _role("x-r3")]}


_UNNAMED_ARTIFACT: Final = Refused(
    "MD058", "spec.model.artifactRef.name", ("names no ModelArtifact", "leave spec.model.artifactRef out")
)

TABLE: Final = (
    Case("N-name-dotted-stored", {**_DOTTED, "spec.roles[0].replicas": 5}, old=_DOTTED),
    Case(
        "N-name-digit-first",
        {"metadata.name": "72b"},
        refused=(
            Refused("MD048", "metadata.name", ('"72b"', "a lowercase letter followed by", "starts with a letter")),
            Refused("MD003", "spec.roles[0].name", ('"72b-server"',)),
        ),
    ),
    Case(
        "N-name-router-too-long",
        {**_LONG, **_ROUTER},
        refused=(
            Refused(
                "MD048",
                "spec.router",
                (f'"{"q" * 57}-router"', "64 characters", "63 characters", "leave spec.router out"),
            ),
        ),
    ),
    Case("N-name-router-added", {**_LONG, **_ROUTER}, old=_LONG, refused=(Refused("MD048", "spec.router"),)),
    Case("N-name-router-stored", {**_LONG, **_ROUTER, "spec.roles[0].replicas": 5}, old={**_LONG, **_ROUTER}),
    Case("N-name-to-be-generated", {"metadata.name": GONE, "metadata.generateName": "qwen-"}),
    Case(
        "N-name-of-a-replica-taken-first",
        {"spec.roles": [_role("x-r0"), _role("x", size=2)]},
        refused=(Refused("MD004", "spec.roles[1].name", ('"qwen-72b-x-r0"', '"x-r0"', "spec.roles[0]")),),
    ),
    Case("N-name-of-no-replica", {"spec.roles": [_role("x", size=2), _role("x-r01"), _role("x-r"), _role("x-r4-r0")]}),
    Case("N-name-next-to-the-last-replica", _grown(3)),
    Case(
        "N-name-grown-into",
        _grown(4),
        old=_grown(3),
        refused=(Refused("MD004", "spec.roles[1].name", ('"qwen-72b-x-r3"', "3 replicas or fewer")),),
    ),
    Case(
        "N-name-collision-while-deleting",
        {**_grown(4), **_DELETED},
        old={**_grown(4), **_DELETED},
        refused=(Refused("MD004", "spec.roles[1].name"),),
    ),
    Case(
        "N-name-member-with-a-dot",
        {**_DOTTED, "spec.roles[0].size": 2},
        old={**_DOTTED, "spec.roles[0].size": 2},
        refused=(Refused("MD005", "spec.roles[0]", ('"qwen.72b-server-r3-m1"', "hostname")),),
    ),
    Case(
        "N-name-three-of-a-name",
        {"spec.roles": [_role("w", size=2), _role("w", size=2), _role("w", size=2)]},
        refused=(
            Refused("MD002", "spec.roles[1].name", ("spec.roles[0].name", "2 members")),
            Refused("MD002", "spec.roles[2].name", ("spec.roles[0].name",)),
        ),
    ),
    Case(
        "N-kind-three-stages",
        {"spec.roles": [_role(f"stage-{index}", kind=kind) for index, kind in enumerate(_STAGES)]},
        refused=(Refused("MD007", "spec.roles[2].kind", ('"stage-0"',)),),
    ),
    Case(
        "N-version-no-image",
        {"spec.engine.version": GONE, "spec.roles[1]": _role("other", image="registry.example/runner:1")},
        refused=(
            Refused(
                "MD010",
                "spec.engine.version",
                ('role "server"', "spec.engine.version", "spec.engine.image", "the image of every role"),
                spares=("other",),
            ),
        ),
    ),
    Case("N-version-engine-image", {"spec.engine.version": GONE, "spec.engine.image": "registry.example/runner:1"}),
    Case("N-version-role-image", {"spec.engine.version": GONE, "spec.roles[0].image": "registry.example/runner:1"}),
    Case(
        "N-version-two-roles",
        {"spec.engine.version": GONE, "spec.roles[1]": _role("other")},
        refused=(Refused("MD010", "spec.engine.version", ('"server"', '"other"')),),
    ),
    Case("N-artifact-empty", {"spec.model.artifactRef": {"name": ""}}, refused=(_UNNAMED_ARTIFACT,)),
    Case("N-artifact-nameless", {"spec.model.artifactRef": {}}, refused=(_UNNAMED_ARTIFACT,)),
    Case("N-artifact-created-later", {"spec.model.artifactRef": {"name": "not-there-yet"}}),
    Case(
        "N-artifact-empty-stored",
        {"spec.model.artifactRef": {"name": ""}, "spec.roles[0].replicas": 5},
        old={"spec.model.artifactRef": {"name": ""}},
    ),
    Case("N-level-bare", {_LEVEL: "rack"}),
    Case("N-level-empty", {_LEVEL: ""}),
    Case("N-level-null", {_LEVEL: None}),
    Case(
        "N-level-hostname",
        {_LEVEL: "kubernetes.io/hostname"},
        refused=(Refused("MD009", _LEVEL, ("kubernetes.io/hostname", "implicit", "leave requiredLevel empty")),),
    ),
    Case(
        "N-level-prefix-too-long",
        {_LEVEL: f"{'a' * 254}/rack"},
        refused=(Refused("MD009", _LEVEL, ("253 characters", "label key")),),
    ),
)
