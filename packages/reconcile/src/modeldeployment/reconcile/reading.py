"""Stored objects of our kinds, read into their models."""

from collections.abc import Mapping
from typing import TypeVar

from pydantic import ValidationError

from modeldeployment.api import InstanceType, ModelDeployment, keys
from modeldeployment.kube import shapes
from modeldeployment.reconcile import observing
from modeldeployment.reconcile.errors import Unreadable
from modeldeployment.reconcile.watching import DEPLOYMENTS, INSTANCE_TYPES

Model = TypeVar("Model", ModelDeployment, InstanceType)


def deployment(stored: shapes.Custom) -> ModelDeployment:
    """Read a stored deployment; raises Unreadable naming the field where it does not fit this release's model."""
    meta = stored.metadata
    metadata: dict[str, object] = {
        "name": meta.name,
        "namespace": meta.namespace,
        "uid": meta.uid,
        "resourceVersion": meta.resource_version,
        "generation": meta.generation,
        "labels": meta.labels,
        "annotations": meta.annotations,
        "finalizers": list(meta.finalizers),
        "creationTimestamp": meta.creation_timestamp or None,
        "deletionTimestamp": meta.deletion_timestamp,
    }
    return _validated(ModelDeployment, DEPLOYMENTS.kind, metadata, stored)


def instance_type(stored: shapes.Custom) -> InstanceType:
    """Read a stored InstanceType; raises Unreadable naming the field where it does not fit this release's model."""
    metadata: dict[str, object] = {"name": stored.metadata.name, "uid": stored.metadata.uid}
    return _validated(InstanceType, INSTANCE_TYPES.kind, metadata, stored)


def _validated(model: type[Model], kind: str, metadata: Mapping[str, object], stored: shapes.Custom) -> Model:
    document = {
        "apiVersion": keys.API_VERSION,
        "kind": kind,
        "metadata": metadata,
        "spec": observing.table(stored.spec),
        "status": observing.table(stored.status) or None,
    }
    try:
        return model.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field_path = ".".join(str(part) for part in first["loc"])
        # Only plain values are shown: a table may hold a user's environment.
        value = first["input"]
        shown = f" is {value!r:.100}" if isinstance(value, str | int | float | bool) else ""
        raise Unreadable(
            f"{kind} {stored.metadata.name}: {field_path}{shown}: {first['msg']}; apply the object again "
            "so that the API server checks it against the installed CRD"
        ) from error
