"""For every rule of the schemas, an object it refuses and the nearest one that is accepted."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import yaml
from modeldeployment.api import artifact, frozen, instancetype, kvbackend, kvpool, scaler
from modeldeployment.api.cel import Rule
from modeldeployment.api.minimal import MINIMAL

Change = Mapping[str, Any]


@dataclass(frozen=True)
class Shown:
    """Changes to the least object of the rule's kind; `stored` makes both an edit of that object."""

    rule: Rule
    refused: Change
    accepted: Change = field(default_factory=dict)
    stored: Change | None = None

    @property
    def name(self) -> str:
        """The rule's code and field."""
        return f"{self.rule.code} {self.rule.field}"


def changed(kind: str, change: Change) -> dict[str, Any]:
    """The least object of a kind with the values at dotted paths put in place; None takes one away."""
    document: dict[str, Any] = yaml.safe_load(MINIMAL[kind])
    for path, value in change.items():
        *way, last = (int(step) if step.isdigit() else step for step in path.split("."))
        node: Any = document
        for step in way:
            node = node[step] if isinstance(step, int) else node.setdefault(step, {})
        if value is None:
            node.pop(last, None)
        else:
            node[last] = deepcopy(value)
    return document


ROLE = "spec.roles.0"
TWO = [
    {"name": "a", "instanceType": "h20"},
    {"name": "b", "instanceType": "h20"},
]
WHOLE = {f"{ROLE}.resources": {"accelerator": 2, "interface": 1}}
MEMBERS = "spec.connection.managed.members"
HUB = {"huggingFace": {"repository": "Qwen/Qwen3-8B"}}
CLAIM = {"persistentVolumeClaim": {"claimName": "weights"}}
DIGEST = "sha256:" + "0a" * 32
(RESOURCES, COMMAND) = frozen.ROLE
(ACCELERATOR, MEMORY, CORES, PROFILE, INTERFACE) = frozen.RESOURCES
(GROUP, GENERAL, OS, ARCH, ACCELERATABLE, UNITS, STORAGE) = instancetype.FIXED
(CPU, RAM) = instancetype.FIXED_UNITS
(ALLOW, IGNORE, EXPECTED) = artifact.HUB_ONLY

DEPLOYMENTS = (
    Shown(frozen.MODEL, {"spec.model.name": "other"}, {"spec.engine.version": "0.30.0"}, {}),
    Shown(frozen.ENGINE_NAME, {"spec.engine.name": "SGLang"}, {"spec.engine.image": "a/b:c"}, {}),
    Shown(frozen.KV_CACHE, {"spec.kvCache.poolRef.name": "a"}, {"spec.router.name": "vllm-router"}, {}),
    Shown(
        frozen.ROLE_SET,
        {"spec.roles": [TWO[0], {**TWO[1], "name": "c"}]},
        {"spec.roles": [TWO[1], TWO[0]]},
        {"spec.roles": TWO},
    ),
    Shown(frozen.KIND, {f"{ROLE}.kind": "Prefill"}, {f"{ROLE}.kind": "Server"}, {}),
    Shown(frozen.SIZE, {f"{ROLE}.size": 2}, {f"{ROLE}.size": 1, f"{ROLE}.replicas": 9}, {}),
    Shown(frozen.INSTANCE_TYPE, {f"{ROLE}.instanceType": "other"}, {f"{ROLE}.image": "a/b:c"}, {}),
    Shown(RESOURCES, {f"{ROLE}.resources.accelerator": 2}, {f"{ROLE}.resources.accelerator": 1}, {}),
    Shown(COMMAND, {f"{ROLE}.command": ["serve"]}, {f"{ROLE}.extraArgs": ["--seed=1"]}, {}),
    Shown(
        ACCELERATOR, WHOLE | {f"{ROLE}.resources.accelerator": 3}, WHOLE | {f"{ROLE}.resources.accelerator": "2"}, WHOLE
    ),
    Shown(
        MEMORY,
        {f"{ROLE}.resources": {"acceleratorSlicedMemoryPercentage": 50}},
        {f"{ROLE}.resources": {"accelerator": 1}},
        {f"{ROLE}.resources": {}},
    ),
    Shown(
        CORES,
        {f"{ROLE}.resources": {"acceleratorSlicedCoresPercentage": 50}},
        {f"{ROLE}.resources": {"acceleratorSlicedCoresPercentage": 0}},
        {f"{ROLE}.resources": {}},
    ),
    Shown(
        PROFILE,
        {f"{ROLE}.resources": {"acceleratorPartitionedProfile": "3g.40gb"}},
        {f"{ROLE}.resources": {"acceleratorPartitionedProfile": ""}},
        {f"{ROLE}.resources": {}},
    ),
    Shown(INTERFACE, WHOLE | {f"{ROLE}.resources.interface": 2}, WHOLE | {f"{ROLE}.resources.interface": "1"}, WHOLE),
    Shown(
        frozen.ROUTER_NAME,
        {"spec.router.name": "llm-d-router"},
        {"spec.router": None},
        {"spec.router.name": "vllm-router"},
    ),
    Shown(frozen.WHOLE_ACCELERATOR, {f"{ROLE}.resources.accelerator": "500m"}, {f"{ROLE}.resources.accelerator": "2"}),
    Shown(frozen.WHOLE_INTERFACE, {f"{ROLE}.resources.interface": -1}, {f"{ROLE}.resources.interface": 0}),
    Shown(
        frozen.NOT_HOSTNAME,
        {f"{ROLE}.topology.requiredLevel": "kubernetes.io/hostname"},
        {f"{ROLE}.topology.requiredLevel": "topology.kubernetes.io/zone"},
    ),
    Shown(frozen.POOL_NAMED, {"spec.kvCache.poolRef": {}}, {"spec.kvCache.poolRef.name": "shared-kv"}),
)
SCALERS = (
    Shown(scaler.TARGET_FIXED, {"spec.targetRef.name": "other"}, {"spec.mode": "Active"}, {}),
    Shown(scaler.BOUNDS_ORDERED, {f"{ROLE}.minReplicas": 17}, {f"{ROLE}.minReplicas": 16}),
    Shown(
        scaler.TWO_ROLES,
        {"spec.ratios": [{"numeratorRole": "a", "denominatorRole": "a"}]},
        {
            "spec.ratios": [
                {"numeratorRole": "a", "denominatorRole": "b"},
                {"numeratorRole": "b", "denominatorRole": "a"},
            ]
        },
    ),
)
OTHERS = (
    Shown(GROUP, {"spec.acceleratorGroup": "nvidia-h20"}, {"spec.displayName": "A10G"}, {}),
    Shown(GENERAL, {"spec.generalGroup": "arm"}, {"spec.generalGroup": "generic"}, {}),
    Shown(OS, {"spec.os": "windows"}, {"spec.inactive": True}, {}),
    Shown(ARCH, {"spec.arch": "arm64"}, {"spec.description": "slow"}, {}),
    Shown(ACCELERATABLE, {"spec.acceleratable": False}, {"spec.acceleratable": True}, {}),
    Shown(UNITS, {"spec.unitResources": {}}, {"spec.inactive": True}, {}),
    Shown(STORAGE, {"spec.localStorage": "50Gi"}, {"spec.localStorage": "100Gi"}, {"spec.localStorage": "102400Mi"}),
    Shown(CPU, {"spec.unitResources.cpu": 5}, {"spec.unitResources.cpu": "4"}, {"spec.unitResources.cpu": 4}),
    Shown(
        RAM,
        {"spec.unitResources.ram": "8Gi"},
        {"spec.unitResources.ram": "16Gi"},
        {"spec.unitResources.ram": "16384Mi"},
    ),
    Shown(
        instancetype.GROUP_NAMED,
        {"spec.acceleratorGroup": ""},
        {"spec.acceleratorGroup": None, "spec.acceleratable": False},
    ),
    Shown(
        kvbackend.ONE_CONNECTION,
        {"spec.connection.external.endpoints": [{"name": "Client", "address": "a:1"}]},
        {"spec.connection": {"external": {"endpoints": [{"name": "Client", "address": "a:1"}]}}},
    ),
    Shown(
        kvbackend.MEDIUM_FIXED,
        {MEMBERS: [{"medium": "VRAM"}]},
        {MEMBERS: [{"capacityPerMember": "1Gi"}, {"medium": "VRAM"}]},
        {MEMBERS: [{"medium": "DRAM"}]},
    ),
    Shown(kvpool.ONE_BACKEND, {"spec.backends": [{"name": "a"}, {"name": "b"}]}, {"spec.backends": [{"name": "a"}]}),
    Shown(kvpool.BACKENDS_FIXED, {"spec.backends": [{"name": "b"}]}, {"spec.quota.total": "2Ti"}, {}),
    Shown(kvpool.TOTAL_POSITIVE, {"spec.quota.total": 0}, {"spec.quota.total": 1}),
    Shown(kvpool.POOL_FIXED, {"spec.poolRef.name": "vram"}, {"spec.quota.ceiling": "1Gi"}, {}),
    Shown(kvpool.DOMAIN_FIXED, {"spec.domain.blockSize": 64}, {"spec.domain.name": "default"}, {}),
    Shown(kvpool.CEILING_POSITIVE, {"spec.quota.ceiling": "-1Gi"}, {"spec.quota.ceiling": "1m"}),
    Shown(kvpool.DTYPE_NAMED, {"spec.domain.dtype": "auto"}, {"spec.domain.dtype": "fp8_e4m3"}),
    Shown(artifact.SPEC_FIXED, {"spec.source.huggingFace.revision": "v2"}, {"metadata.labels": {"a": "b"}}, {}),
    Shown(artifact.ONE_SOURCE, {"spec.source": HUB | CLAIM}, {"spec.source": CLAIM}),
    Shown(ALLOW, {"spec.source": CLAIM, "spec.allowPatterns": ["*"]}, {"spec.allowPatterns": ["*"]}),
    Shown(IGNORE, {"spec.source": CLAIM, "spec.ignorePatterns": ["*"]}, {"spec.ignorePatterns": ["*"]}),
    Shown(EXPECTED, {"spec.source": CLAIM, "spec.expectedDigest": DIGEST}, {"spec.expectedDigest": DIGEST}),
)
SHOWN = (*DEPLOYMENTS, *SCALERS, *OTHERS)
