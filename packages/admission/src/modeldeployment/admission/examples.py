"""The small world in which every row is shown: one deployment, one scaler, and the cluster they stand in.

An example is what it changes, by field path; the rest is the base. The base is accepted without a warning.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from modeldeployment.admission import patching
from modeldeployment.admission.facts import Actor, Policy
from modeldeployment.api import keys

Change = Mapping[str, Any]


class Gone(Enum):
    """The one value that takes a field away."""

    GONE = "gone"


GONE: Final = Gone.GONE


@dataclass(frozen=True, slots=True)
class Example:
    """An object, and on an update the one it replaces, as changes to the base; `scaler` tells which base.

    `old` given makes it an update. `actor`, `policy` and `known` (changes to the cluster, by object name and field
    path) are those of the request.
    """

    new: Change = field(default_factory=dict)
    old: Change | None = None
    scaler: bool = False
    actor: Actor = Actor.USER
    policy: Policy = field(default_factory=Policy)
    known: Mapping[str, Change | None] = field(default_factory=dict)

    def objects(self) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """The new object and, on an update, the old one."""
        base = SCALER if self.scaler else DEPLOYMENT
        return changed(base, self.new), None if self.old is None else changed(base, self.old)

    def cluster(self) -> tuple[dict[str, Any], ...]:
        """The objects of the cluster, as manifests; one that `known` names without changes is not there."""
        kept = [each for each in CLUSTER if self.known.get(each["metadata"]["name"], {}) is not None]
        return tuple(changed(each, self.known.get(each["metadata"]["name"]) or {}) for each in kept)


def changed(base: Mapping[str, Any], changes: Change) -> dict[str, Any]:
    """A copy of `base` with the values at those field paths put in place; GONE takes one away."""
    document = deepcopy(dict(base))
    for path, value in changes.items():
        _put(document, list(patching.steps(path)), deepcopy(value))
    return document


def _put(document: Any, steps: list[patching.Step], value: Any) -> None:
    *way, last = steps
    for step, following in zip(way, steps[1:], strict=True):
        empty: Any = [] if isinstance(following, int) else {}
        if isinstance(step, int):
            if step == len(document):
                document.append(empty)
            document = document[step]
        else:
            document = document.setdefault(step, empty)
    if value is GONE:
        document.pop(last, None) if isinstance(document, dict) else document.pop(last)
    elif isinstance(last, int) and last == len(document):
        document.append(value)
    else:
        document[last] = value


def _instance_type(name: str, group: str, detail: dict[str, Any], capacity: str | None = "8") -> dict[str, Any]:
    status: dict[str, Any] = {"entrance": f"queue-{name}", "detail": detail}
    return {
        "apiVersion": keys.API_VERSION,
        "kind": "InstanceType",
        "metadata": {"name": name},
        "spec": {
            "os": "linux",
            "arch": "amd64",
            "acceleratable": bool(group),
            **({"acceleratorGroup": group} if group else {}),
        },
        "status": status | ({"accelerator": {"capacity": capacity}} if group else {}),
    }


DEPLOYMENT: Final[dict[str, Any]] = {
    "apiVersion": keys.API_VERSION,
    "kind": "ModelDeployment",
    "metadata": {"name": "qwen-72b", "namespace": "team-a"},
    "spec": {
        "model": {"name": "Qwen/Qwen2.5-72B-Instruct"},
        "engine": {"name": "vLLM", "version": "0.30.0"},
        "kvCache": {"poolRef": {"name": "shared-kv"}},
        "roles": [
            {"name": "server", "replicas": 4, "instanceType": "h20-8x", "resources": {"accelerator": 1}},
        ],
    },
}
"""Four vLLM servers on whole cards, attached to a shared pool."""

SCALER: Final[dict[str, Any]] = {
    "apiVersion": keys.API_VERSION,
    "kind": "ModelDeploymentScaler",
    "metadata": {"name": "qwen-72b", "namespace": "team-a"},
    "spec": {
        "targetRef": {"name": "qwen-72b"},
        "roles": [{"name": "server", "minReplicas": 2, "maxReplicas": 16}],
        "algorithm": {"type": "TokenThroughput", "tokenThroughput": {"serverTargetTokensPerSecond": "2000"}},
    },
}
"""A scaler of that deployment."""


def _staged(name: str, *kinds: str) -> dict[str, Any]:
    roles = [
        {
            "name": kind.lower(),
            "kind": kind,
            "replicas": 2,
            "instanceType": "h20-8x",
            "resources": {"accelerator": 1},
        }
        for kind in kinds
    ]
    return {
        "apiVersion": keys.API_VERSION,
        "kind": "ModelDeployment",
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": {
            "model": {"name": "Qwen/Qwen2.5-VL-72B-Instruct"},
            "engine": {"name": "vLLM", "version": "0.30.0"},
            "router": {"name": "llm-d-router"},
            "roles": roles,
        },
    }


PAIR: Final = _staged("qwen-pd", "Prefill", "Decode")
"""A deployment of two roles, for scalers that relate them."""

EPD: Final = _staged("qwen-epd", "Encode", "Prefill", "Decode")
"""A deployment of three kinds, for scalers of an Encode role."""

CLUSTER: Final[tuple[dict[str, Any], ...]] = (
    _instance_type("h20-8x", "nvidia-h20", {"manufacturer": "nvidia", "runtimeVersions": ["12.9"]}),
    _instance_type("h20-other", "nvidia-h20", {"manufacturer": "nvidia", "runtimeVersions": ["12.9"]}),
    _instance_type(
        "l40s-slices",
        "nvidia-l40s",
        {"manufacturer": "nvidia", "runtimeVersions": ["12.9"], "slicedDetail": {"logical": {"count": 16}}},
    ),
    _instance_type(
        "a100-mig",
        "nvidia-a100",
        {
            "manufacturer": "nvidia",
            "runtimeVersions": ["12.9"],
            "slicedDetail": {
                "physical": {"count": 7, "profiles": [{"name": "1g.10gb"}, {"name": "2g.20gb"}, {"name": "3g.40gb"}]}
            },
        },
    ),
    _instance_type(
        "ascend-910b", "ascend-910b", {"manufacturer": "ascend", "family": "910B", "runtimeVersions": ["9.1"]}
    ),
    _instance_type("mi300x", "amd-mi300x", {"manufacturer": "amd", "runtimeVersions": ["6.4"]}),
    _instance_type("unobserved", "nvidia-new", {}),
    _instance_type("cpu", "", {"manufacturer": "intel"}),
    {
        "apiVersion": keys.API_VERSION,
        "kind": "KVCachePoolBinding",
        "metadata": {"name": "shared-kv", "namespace": "team-a"},
        "spec": {
            "poolRef": {"name": "dram"},
            "quota": {"ceiling": "100Gi"},
            "domain": {"name": "team-a", "blockSize": 128, "dtype": "bfloat16"},
        },
    },
    {
        "apiVersion": keys.API_VERSION,
        "kind": "KVCachePool",
        "metadata": {"name": "dram"},
        "spec": {"backends": [{"name": "mooncake"}], "quota": {"total": "1Ti"}},
    },
    {
        "apiVersion": keys.API_VERSION,
        "kind": "KVCacheBackend",
        "metadata": {"name": "mooncake"},
        "spec": {
            "connection": {"managed": {"members": [{"medium": "DRAM", "capacityPerMember": "64Gi"}]}},
            "transport": {"protocol": "TCP"},
        },
    },
    DEPLOYMENT,
    SCALER,
    PAIR,
    EPD,
)
"""InstanceTypes of several makers, a cache with one transport, and the objects above."""
