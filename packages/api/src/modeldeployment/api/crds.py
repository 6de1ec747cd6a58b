"""The CustomResourceDefinitions of our kinds, generated from their models."""

from typing import Any, Final

from modeldeployment.api import keys
from modeldeployment.api.document import Document
from modeldeployment.api.instancetype import InstanceType
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.api.schema import Schema, structural

# The API server owns these three and describes them itself.
_TYPE_AND_METADATA: Final[dict[str, Schema]] = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {"type": "object"},
}


def crds() -> tuple[dict[str, Any], ...]:
    """Return a fresh CustomResourceDefinition of every kind, in the order they are meant to be applied.

    Each serves and stores `worker.gpustack.ai/v1` alone (decisions D20). Install them before the operator that
    writes their status: a field the stored schema does not know is pruned, not kept.
    """
    return (_instance_type(), _model_deployment())


def _instance_type() -> dict[str, Any]:
    return _definition(
        InstanceType,
        plural="instancetypes",
        short_name="instype",
        scope="Cluster",
        columns=(("Phase", ".status.phase"), ("Entrance", ".status.entrance")),
    )


def _model_deployment() -> dict[str, Any]:
    return _definition(
        ModelDeployment,
        plural="modeldeployments",
        short_name="md",
        scope="Namespaced",
        columns=(
            ("Engine", ".spec.engine.name"),
            ("Roles", ".status.roleSummary"),
            ("Phase", ".status.phase"),
            ("Endpoint", ".status.endpoint"),
        ),
    )


def _definition(
    model: type[Document], *, plural: str, short_name: str, scope: str, columns: tuple[tuple[str, str], ...]
) -> dict[str, Any]:
    kind = model.__name__
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{keys.GROUP}"},
        "spec": {
            "group": keys.GROUP,
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": kind.lower(),
                "shortNames": [short_name],
                "categories": [keys.CATEGORY],
            },
            "scope": scope,
            "versions": [
                {
                    "name": keys.VERSION,
                    "served": True,
                    "storage": True,
                    "additionalPrinterColumns": [
                        {"name": name, "type": "string", "jsonPath": path} for name, path in columns
                    ],
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": structural(model, _TYPE_AND_METADATA)},
                }
            ],
        },
    }
