"""The CustomResourceDefinitions of our kinds, generated from their models."""

from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from modeldeployment.api import keys
from modeldeployment.api.artifact import ModelArtifact
from modeldeployment.api.document import Document
from modeldeployment.api.instancetype import InstanceType
from modeldeployment.api.kvcache import KVCacheBackend, KVCachePool, KVCachePoolBinding
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.api.scaler import ModelDeploymentScaler
from modeldeployment.api.scalerconditions import ScalerCondition
from modeldeployment.api.schema import Schema, structural

# The API server owns these three and describes them itself.
_TYPE_AND_METADATA: Final[dict[str, Schema]] = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {"type": "object"},
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of `kubectl get`."""

    name: str
    path: str
    type: str = "string"


@dataclass(frozen=True, slots=True)
class Kind:
    """One of our kinds: its model and what people call and see of it."""

    model: type[Document]
    plural: str
    short_name: str
    columns: tuple[Column, ...]
    namespaced: bool = True

    @property
    def name(self) -> str:
        """The kind's name."""
        return self.model.__name__


_AGE: Final = Column("Age", ".metadata.creationTimestamp", "date")


def _condition(type_: str) -> Column:
    return Column(str(type_), f".status.conditions[?(@.type=='{type_}')].status")


KINDS: Final = (
    Kind(
        InstanceType,
        "instancetypes",
        "instype",
        (Column("Phase", ".status.phase"), Column("Entrance", ".status.entrance")),
        namespaced=False,
    ),
    Kind(
        KVCacheBackend,
        "kvcachebackends",
        "kvcb",
        (
            Column("Type", ".spec.type"),
            Column("Phase", ".status.phase"),
            Column("Endpoint", ".status.endpoints[?(@.name=='Client')].address"),
            Column("Capacity", ".status.capacity.total"),
            _AGE,
        ),
        namespaced=False,
    ),
    Kind(
        KVCachePool,
        "kvcachepools",
        "kvcp",
        (
            Column("Quota", ".spec.quota.total"),
            Column("Usage", ".status.usage.total"),
            Column("Phase", ".status.phase"),
            Column("Endpoint", ".status.clientEndpoint"),
            _AGE,
        ),
        namespaced=False,
    ),
    Kind(
        KVCachePoolBinding,
        "kvcachepoolbindings",
        "kvcpb",
        (
            Column("Pool", ".spec.poolRef.name"),
            Column("Domain", ".spec.domain.name"),
            Column("Granted", ".status.effectiveQuota"),
            Column("Usage", ".status.usage"),
            Column("Phase", ".status.phase"),
            _AGE,
        ),
    ),
    Kind(
        ModelArtifact,
        "modelartifacts",
        "mart",
        (_condition("Resolved"), Column("Revision", ".status.resolved.revision"), _AGE),
    ),
    Kind(
        ModelDeployment,
        "modeldeployments",
        "md",
        (
            Column("Engine", ".spec.engine.name"),
            Column("Roles", ".status.roleSummary"),
            Column("Phase", ".status.phase"),
            Column("Endpoint", ".status.endpoint"),
        ),
    ),
    Kind(
        ModelDeploymentScaler,
        "modeldeploymentscalers",
        "mds",
        (
            Column("Target", ".spec.targetRef.name"),
            Column("Mode", ".spec.mode"),
            Column("Algorithm", ".spec.algorithm.type"),
            *(_condition(type_) for type_ in (ScalerCondition.BOUND, ScalerCondition.ACTIVE, ScalerCondition.BLOCKED)),
        ),
    ),
)
"""Every kind, in the order its definition is meant to be applied."""


def crds() -> tuple[dict[str, Any], ...]:
    """Return a fresh CustomResourceDefinition of every kind, in the order they are meant to be applied.

    Each serves and stores `worker.gpustack.ai/v1` alone (decisions D20). Install them before the operator that
    writes their status: a field the stored schema does not know is pruned, not kept.
    """
    return deepcopy(_definitions())


@cache
def _definitions() -> tuple[dict[str, Any], ...]:
    # Reading every model's source for its descriptions takes half a second, and the answer is always the same.
    return tuple(_definition(kind) for kind in KINDS)


def _definition(kind: Kind) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{keys.GROUP}"},
        "spec": {
            "group": keys.GROUP,
            "names": {
                "kind": kind.name,
                "listKind": f"{kind.name}List",
                "plural": kind.plural,
                "singular": kind.name.lower(),
                "shortNames": [kind.short_name],
                "categories": [keys.CATEGORY],
            },
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [
                {
                    "name": keys.VERSION,
                    "served": True,
                    "storage": True,
                    "additionalPrinterColumns": [
                        {"name": column.name, "type": column.type, "jsonPath": column.path} for column in kind.columns
                    ],
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": structural(kind.model, _TYPE_AND_METADATA)},
                }
            ],
        },
    }
