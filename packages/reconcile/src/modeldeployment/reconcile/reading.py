"""Stored objects of our kinds, read into their models.

Of what is only followed, the parts that no decision reads are left out before the model is made, so that two versions
that differ in figures alone are equal.
"""

from collections.abc import Collection, Mapping
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from modeldeployment.api import InstanceType, KVCachePoolBinding, ModelArtifact, ModelDeployment, keys
from modeldeployment.api.kvcache import KVCacheBackend, KVCachePool
from modeldeployment.kube import Kind, shapes
from modeldeployment.reconcile import observing
from modeldeployment.reconcile.errors import Unreadable
from modeldeployment.reconcile.kinds import ARTIFACTS, BACKENDS, BINDINGS, DEPLOYMENTS, INSTANCE_TYPES, POOLS

Model = TypeVar("Model", bound=BaseModel)


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
    return _validated(ModelDeployment, DEPLOYMENTS, metadata, stored, observing.table(stored.status))


def instance_type(stored: shapes.Custom) -> InstanceType:
    """Read a stored InstanceType: spec, queue and hardware, and no amounts, which move with every Pod.

    Raises Unreadable naming the field where it does not fit this release's model.
    """
    return _followed(InstanceType, INSTANCE_TYPES, stored, ("entrance", "detail"))


def binding(stored: shapes.Custom) -> KVCachePoolBinding:
    """Read a stored binding: spec, phase and grant. Raises Unreadable."""
    return _followed(KVCachePoolBinding, BINDINGS, stored, ("phase",), ("QuotaGranted",))


def pool(stored: shapes.Custom) -> KVCachePool:
    """Read a stored pool: spec, where clients find the store, and whether its ledger is kept. Raises Unreadable."""
    return _followed(KVCachePool, POOLS, stored, ("clientEndpoint",), ("QuotaLedgerAvailable",))


def backend(stored: shapes.Custom) -> KVCacheBackend:
    """Read the spec of a stored backend. Raises Unreadable."""
    return _followed(KVCacheBackend, BACKENDS, stored)


def artifact(stored: shapes.Custom) -> ModelArtifact:
    """Read a stored artifact: spec, and what it was resolved to. Raises Unreadable."""
    return _followed(ModelArtifact, ARTIFACTS, stored, ("resolved",), ("Resolved",))


def _followed(
    model: type[Model],
    kind: Kind[shapes.Custom],
    stored: shapes.Custom,
    fields: Collection[str] = (),
    conditions: Collection[str] = (),
) -> Model:
    meta, whole = stored.metadata, observing.table(stored.status)
    listed = cast("list[Mapping[str, Any]]", whole.get("conditions") or [])
    status = {name: value for name, value in whole.items() if name in fields} | {
        "conditions": [
            {name: each[name] for name in ("type", "status", "reason") if name in each}
            for each in listed
            if each.get("type") in conditions
        ]
    }
    metadata = {"name": meta.name, "namespace": meta.namespace, "uid": meta.uid}
    leaving = {"deletionTimestamp": meta.deletion_timestamp} if meta.deletion_timestamp else {}
    return _validated(model, kind, {**metadata, **leaving}, stored, status)


def _validated(
    model: type[Model],
    kind: Kind[shapes.Custom],
    metadata: Mapping[str, object],
    stored: shapes.Custom,
    status: Mapping[str, object],
) -> Model:
    document = {
        "apiVersion": keys.API_VERSION,
        "kind": kind.kind,
        "metadata": metadata,
        "spec": observing.table(stored.spec),
        "status": status or None,
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
            f"{kind.kind} {stored.metadata.name}: {field_path}{shown}: {first['msg']}; apply the object again "
            "so that the API server checks it against the installed CRD"
        ) from error
