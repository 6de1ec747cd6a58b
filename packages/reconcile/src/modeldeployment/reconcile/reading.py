"""Stored objects of our kinds, read into their models.

Of what is only followed, the parts that no decision reads are left out before the model is made, so that two versions
that differ in figures alone are equal.
"""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast

from pydantic import BaseModel, ValidationError

from modeldeployment.api import (
    InstanceType,
    KVCachePoolBinding,
    ModelArtifact,
    ModelDeployment,
    ObjectMeta,
    Reason,
    keys,
)
from modeldeployment.api.kvcache import KVCacheBackend, KVCachePool
from modeldeployment.kube import Kind, shapes
from modeldeployment.reconcile import observing
from modeldeployment.reconcile.deciding.seen import User
from modeldeployment.reconcile.errors import Unreadable
from modeldeployment.reconcile.kinds import ARTIFACTS, BACKENDS, BINDINGS, DEPLOYMENTS, INSTANCE_TYPES, POOLS

Model = TypeVar("Model", bound=BaseModel)


DELIVERY: Final = (Reason.NODE_DELIVERY_UNAVAILABLE, Reason.MATERIALIZATION_FAILED, Reason.MATERIALIZING)
"""Reasons by which an artifact says that it is not delivered, whatever its condition; the gravest first."""


def deployment(stored: shapes.Custom) -> ModelDeployment:
    """Read a stored deployment; raises Unreadable naming the field where it does not fit this release's model."""
    return _validated(ModelDeployment, DEPLOYMENTS, _metadata(stored), stored, observing.table(stored.status))


def renewed(known: ModelDeployment, stored: shapes.Custom) -> ModelDeployment:
    """A deployment whose spec is still that of the last reading, which is not read again; its status is left out."""
    metadata = ObjectMeta.model_validate(_metadata(stored))
    return known.model_copy(update={"metadata": metadata, "status": None})


def _metadata(stored: shapes.Custom) -> dict[str, object]:
    meta = stored.metadata
    return {
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


def instance_type(stored: shapes.Custom) -> InstanceType:
    """Read a stored InstanceType: spec, queue and hardware, and no amounts, which move with every Pod.

    Raises Unreadable naming the field where it does not fit this release's model.
    """
    return _followed(InstanceType, INSTANCE_TYPES, stored, ("entrance", "detail"))


def binding(stored: shapes.Custom) -> KVCachePoolBinding:
    """Read a stored binding: spec, phase and grant, who uses it, and whether it holds blocks. Raises Unreadable."""
    return _followed(KVCachePoolBinding, BINDINGS, stored, ("phase", "usedBy", "blocks"), ("QuotaGranted",))


def users(stored: shapes.Custom) -> tuple[User, ...]:
    """Who uses a stored binding; entries are read even where the rest of it cannot be."""
    listed = cast("list[Mapping[str, str]]", observing.table(stored.status).get("usedBy") or [])
    return tuple(User(each.get("kind", ""), each.get("namespace", ""), each.get("name", "")) for each in listed)


def pool(stored: shapes.Custom) -> KVCachePool:
    """Read a stored pool: spec, where clients find the store, whether its ledger is kept, which domains hold blocks.

    Raises Unreadable.
    """
    return _followed(KVCachePool, POOLS, stored, ("clientEndpoint", "domains"), ("QuotaLedgerAvailable",))


def backend(stored: shapes.Custom) -> KVCacheBackend:
    """Read the spec of a stored backend. Raises Unreadable."""
    return _followed(KVCacheBackend, BACKENDS, stored)


def artifact(stored: shapes.Custom) -> ModelArtifact:
    """Read a stored artifact: spec, what it was resolved to, and whether it is delivered. Raises Unreadable."""
    return _followed(ModelArtifact, ARTIFACTS, stored, ("resolved",), ("Resolved",), DELIVERY)


def _followed(
    model: type[Model],
    kind: Kind[shapes.Custom],
    stored: shapes.Custom,
    fields: Collection[str] = (),
    conditions: Collection[str] = (),
    reasons: Collection[str] = (),
) -> Model:
    meta, whole = stored.metadata, observing.table(stored.status)
    listed = cast("list[Mapping[str, Any]]", whole.get("conditions") or [])
    status = {name: _SIGNS.get(name, _same)(value) for name, value in whole.items() if name in fields} | {
        "conditions": [
            {name: each[name] for name in ("type", "status", "reason") if name in each}
            for each in listed
            if each.get("type") in conditions or each.get("reason") in reasons
        ]
    }
    metadata = {"name": meta.name, "namespace": meta.namespace, "uid": meta.uid}
    leaving = {"deletionTimestamp": meta.deletion_timestamp} if meta.deletion_timestamp else {}
    return _validated(model, kind, {**metadata, **leaving}, stored, status)


def _same(value: object) -> object:
    return value


def _some(blocks: object) -> object:
    return (1 if blocks > 0 else None) if isinstance(blocks, int) else blocks


def _holding(domains: object) -> object:
    """Answer the domains that hold blocks; how many and how often they are found moves all the time."""
    if not isinstance(domains, list):
        return domains
    kept = ("name", "binding", "blocks")
    listed = cast("list[Mapping[str, object]]", domains)
    return [
        {name: _SIGNS.get(name, _same)(each[name]) for name in kept if name in each}
        for each in listed
        if _some(each.get("blocks"))
    ]


_SIGNS: Final[Mapping[str, Callable[[object], object]]] = MappingProxyType({"blocks": _some, "domains": _holding})
"""Figures of which only the sign is read."""


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
