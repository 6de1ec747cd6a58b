"""Objects one step away from a valid one, and what their schema says of them, with and without an API server."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from modeldeployment.admission.examples import CLUSTER, DEPLOYMENT, GONE, SCALER, Change, changed


@dataclass(frozen=True, slots=True)
class SchemaCase:
    """Changes to the valid object of `kind`, and its one refusal as code and field; none: it is allowed."""

    id: str
    new: Change = field(default_factory=dict)
    refused: tuple[str, str] | None = None
    kind: str = "ModelDeployment"

    @property
    def body(self) -> dict[str, Any]:
        """The object submitted."""
        return changed(VALID[self.kind], self.new)


def _of(kind: str) -> dict[str, Any]:
    return next(each for each in CLUSTER if each["kind"] == kind)


VALID: Final[Mapping[str, dict[str, Any]]] = {
    "ModelDeployment": DEPLOYMENT,
    "ModelDeploymentScaler": SCALER,
    **{kind: _of(kind) for kind in ("InstanceType", "KVCacheBackend", "KVCachePool", "KVCachePoolBinding")},
    "ModelArtifact": {
        "apiVersion": "worker.gpustack.ai/v1",
        "kind": "ModelArtifact",
        "metadata": {"name": "qwen", "namespace": "team-a"},
        "spec": {"source": {"huggingFace": {"repository": "Qwen/Qwen2.5-72B-Instruct"}}},
    },
}
"""An object of each kind that its schema lets in."""

_ROLE: Final = "spec.roles[0]"
_SERVER: Final[dict[str, Any]] = DEPLOYMENT["spec"]["roles"][0]

CASES: Final = (
    *(SchemaCase(f"valid-{kind}", kind=kind) for kind in VALID),
    # unknown fields
    SchemaCase("unknown-in-role", {f"{_ROLE}.template": {"spec": {}}}, ("MD901", f"{_ROLE}.template")),
    SchemaCase("unknown-null", {"spec.foo": None}, ("MD901", "spec.foo")),
    SchemaCase("unknown-at-top", {"spce": {}}, ("MD901", "spce")),
    SchemaCase("unknown-deep", {"spec.kvCache.poolRef.namespace": "b"}, ("MD901", "spec.kvCache.poolRef.namespace")),
    SchemaCase("unknown-in-metadata", {"metadata.lables": {}}, ("MD901", "metadata.lables")),
    SchemaCase("unknown-in-status", {"status.foo": 1}, ("MD901", "status.foo")),
    SchemaCase("unknown-in-open-status", {"status.foo": 1}, kind="InstanceType"),
    SchemaCase("unknown-in-scaler", {"spec.maxReplicas": 3}, ("MD901", "spec.maxReplicas"), "ModelDeploymentScaler"),
    # required
    SchemaCase("missing", {f"{_ROLE}.instanceType": GONE}, ("MD902", f"{_ROLE}.instanceType")),
    SchemaCase("missing-null", {f"{_ROLE}.instanceType": None}, ("MD902", f"{_ROLE}.instanceType")),
    SchemaCase("missing-block", {"spec.engine": GONE}, ("MD902", "spec.engine")),
    SchemaCase("missing-spec", {"spec": GONE}, ("MD902", "spec")),
    SchemaCase("missing-spec-null", {"spec": None}, ("MD902", "spec")),
    SchemaCase("missing-name", {"metadata.name": GONE}, ("MD902", "metadata.name")),
    SchemaCase("generated-name", {"metadata.name": GONE, "metadata.generateName": "qwen-"}),
    SchemaCase("missing-in-pool", {"spec.quota.total": GONE}, ("MD902", "spec.quota.total"), "KVCachePool"),
    # null reads as unset
    SchemaCase("null-optional", {f"{_ROLE}.command": None, "spec.router": None, f"{_ROLE}.replicas": None}),
    SchemaCase("null-in-map", {"metadata.labels": {"a": None}}),
    SchemaCase("null-entry", {f"{_ROLE}.extraArgs": [None]}, ("MD903", f"{_ROLE}.extraArgs[0]")),
    SchemaCase("null-role", {"spec.roles[1]": None}, ("MD903", "spec.roles[1]")),
    # types
    SchemaCase("text-for-number", {f"{_ROLE}.replicas": "4"}, ("MD903", f"{_ROLE}.replicas")),
    SchemaCase("fraction-for-whole", {f"{_ROLE}.replicas": 1.5}, ("MD903", f"{_ROLE}.replicas")),
    SchemaCase("whole-written-as-fraction", {f"{_ROLE}.replicas": 4.0}),
    SchemaCase("number-for-text", {"spec.engine.version": 0.29}, ("MD903", "spec.engine.version")),
    SchemaCase("boolean-for-text", {"spec.engine.version": True}, ("MD903", "spec.engine.version")),
    SchemaCase("boolean-for-number", {f"{_ROLE}.replicas": True}, ("MD903", f"{_ROLE}.replicas")),
    SchemaCase("number-for-boolean", {f"{_ROLE}.privileged": 1}, ("MD903", f"{_ROLE}.privileged")),
    SchemaCase("text-for-list", {f"{_ROLE}.extraArgs": "--a"}, ("MD903", f"{_ROLE}.extraArgs")),
    SchemaCase("list-for-object", {"spec.engine": []}, ("MD903", "spec.engine")),
    SchemaCase("object-for-list", {"spec.roles": {}}, ("MD903", "spec.roles")),
    SchemaCase("text-for-object", {"spec": "x"}, ("MD903", "spec")),
    SchemaCase("number-for-label", {"metadata.labels": {"a": 1}}, ("MD903", "metadata.labels.a")),
    SchemaCase("quantity-text", {f"{_ROLE}.resources.accelerator": "2"}),
    SchemaCase(
        "quantity-fraction",
        {f"{_ROLE}.resources.interface": 1.5},
        ("MD903", f"{_ROLE}.resources.interface"),
    ),
    SchemaCase(
        "quantity-whole-written-as-fraction",
        {"spec.algorithm.tokenThroughput.serverTargetTokensPerSecond": 2.0},
        kind="ModelDeploymentScaler",
    ),
    SchemaCase("quantity-boolean", {"spec.quota.total": True}, ("MD903", "spec.quota.total"), "KVCachePool"),
    SchemaCase("quantity-over-64-bits", {"spec.quota.total": 2**63}, ("MD903", "spec.quota.total"), "KVCachePool"),
    SchemaCase("quantity-list", {"spec.quota.total": []}, ("MD903", "spec.quota.total"), "KVCachePool"),
    # bounds
    SchemaCase("too-small", {f"{_ROLE}.replicas": 0}, ("MD904", f"{_ROLE}.replicas")),
    SchemaCase("too-large", {f"{_ROLE}.replicas": 1025}, ("MD904", f"{_ROLE}.replicas")),
    SchemaCase("at-the-bound", {f"{_ROLE}.replicas": 1024}),
    SchemaCase("over-size", {f"{_ROLE}.size": 65}, ("MD904", f"{_ROLE}.size")),
    SchemaCase("over-32-bits", {f"{_ROLE}.replicas": 2**31}, ("MD904", f"{_ROLE}.replicas")),
    SchemaCase(
        "over-32-bits-without-maximum",
        {"spec.router": {"name": "vllm-router", "replicas": 2**31}},
        ("MD904", "spec.router.replicas"),
    ),
    SchemaCase("port-zero", {f"{_ROLE}.ports": [{"port": 0}]}, ("MD904", f"{_ROLE}.ports[0].port")),
    SchemaCase(
        "grace-too-short",
        {f"{_ROLE}.terminationGracePeriodSeconds": 14},
        ("MD904", f"{_ROLE}.terminationGracePeriodSeconds"),
    ),
    SchemaCase(
        "interval-too-short",
        {"spec.sampling.intervalSeconds": 4},
        ("MD904", "spec.sampling.intervalSeconds"),
        "ModelDeploymentScaler",
    ),
    # choices
    SchemaCase("choice", {"spec.engine.name": "vllm"}, ("MD905", "spec.engine.name")),
    SchemaCase("choice-empty", {f"{_ROLE}.kind": ""}, ("MD905", f"{_ROLE}.kind")),
    SchemaCase("choice-mode", {"spec.mode": "active"}, ("MD905", "spec.mode"), "ModelDeploymentScaler"),
    # form
    SchemaCase("form-of-name", {f"{_ROLE}.name": "Server"}, ("MD906", f"{_ROLE}.name")),
    SchemaCase("form-with-line-end", {f"{_ROLE}.name": "server\n"}, ("MD906", f"{_ROLE}.name")),
    SchemaCase(
        "form-of-path",
        {f"{_ROLE}.additionalVolumes": [{"mountPath": "data"}]},
        ("MD906", f"{_ROLE}.additionalVolumes[0].mountPath"),
    ),
    SchemaCase("form-of-quantity", {"spec.quota.total": "two"}, ("MD906", "spec.quota.total"), "KVCachePool"),
    SchemaCase("form-of-object-name", {"metadata.name": "Qwen"}, ("MD906", "metadata.name")),
    SchemaCase("form-of-dtype", {"spec.domain.dtype": "BF16"}, ("MD906", "spec.domain.dtype"), "KVCachePoolBinding"),
    # duplicates
    SchemaCase("roles-of-one-name", {"spec.roles[1]": _SERVER}, ("MD907", "spec.roles[1]")),
    SchemaCase(
        "variables-of-one-name",
        {f"{_ROLE}.env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]},
        ("MD907", f"{_ROLE}.env[1]"),
    ),
    SchemaCase(
        "ports-alike-by-default",
        {f"{_ROLE}.ports": [{"port": 80}, {"port": 80, "protocol": "TCP"}]},
        ("MD907", f"{_ROLE}.ports[1]"),
    ),
    SchemaCase("ports-of-two-protocols", {f"{_ROLE}.ports": [{"port": 80}, {"port": 80, "protocol": "UDP"}]}),
    # lengths
    SchemaCase("text-empty", {"spec.model.name": ""}, ("MD908", "spec.model.name")),
    SchemaCase("text-too-long", {"spec.model.name": "m" * 254}, ("MD908", "spec.model.name")),
    SchemaCase("text-long-in-bytes", {"spec.model.name": "é" * 253}),
    SchemaCase("no-roles", {"spec.roles": []}, ("MD908", "spec.roles")),
    SchemaCase(
        "too-many-secrets",
        {f"{_ROLE}.imagePullSecrets": [{"name": "one"}] * 33},
        ("MD908", f"{_ROLE}.imagePullSecrets"),
    ),
    SchemaCase("role-name-of-64", {f"{_ROLE}.name": "a" * 64}, ("MD908", f"{_ROLE}.name")),
    # kinds and versions
    SchemaCase("version", {"apiVersion": "worker.gpustack.ai/v1alpha1"}, ("MD909", "apiVersion")),
    SchemaCase("kind", {"kind": "ModelDeploymnt"}, ("MD909", "kind")),
)
