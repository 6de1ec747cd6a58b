"""The kinds that a deployment is rendered from and those it owns, and the shape in which owned objects are kept."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from modeldeployment.api import keys
from modeldeployment.kube import Kind, custom, shapes
from modeldeployment.reconcile.deciding.seen import OwnedKind

DEPLOYMENTS: Final = custom(keys.GROUP, keys.VERSION, "modeldeployments", "ModelDeployment")
INSTANCE_TYPES: Final = custom(keys.GROUP, keys.VERSION, "instancetypes", "InstanceType", namespaced=False)
BINDINGS: Final = custom(keys.GROUP, keys.VERSION, "kvcachepoolbindings", "KVCachePoolBinding")
POOLS: Final = custom(keys.GROUP, keys.VERSION, "kvcachepools", "KVCachePool", namespaced=False)
BACKENDS: Final = custom(keys.GROUP, keys.VERSION, "kvcachebackends", "KVCacheBackend", namespaced=False)
ARTIFACTS: Final = custom(keys.GROUP, keys.VERSION, "modelartifacts", "ModelArtifact")
RUNTIME_CLASSES: Final = Kind(
    "node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", shapes.Partial, namespaced=False, metadata_only=True
)


class Document(shapes.Object, frozen=True):
    """An owned object, of whose parts those that its drift is judged by stay bytes."""

    spec: msgspec.Raw = msgspec.Raw(b"")
    data: msgspec.Raw = msgspec.Raw(b"")
    rules: msgspec.Raw = msgspec.Raw(b"")
    subjects: msgspec.Raw = msgspec.Raw(b"")
    status: msgspec.Raw = msgspec.Raw(b"")


def _owned(group: str, plural: str, kind: OwnedKind) -> Kind[Document]:
    return Kind(group, "v1", plural, kind.value, Document)


_RBAC: Final = "rbac.authorization.k8s.io"

OWNED: Final[Mapping[OwnedKind, Kind[Document]]] = MappingProxyType(
    {
        OwnedKind.SERVICE_ACCOUNT: _owned("", "serviceaccounts", OwnedKind.SERVICE_ACCOUNT),
        OwnedKind.ROLE: _owned(_RBAC, "roles", OwnedKind.ROLE),
        OwnedKind.ROLE_BINDING: _owned(_RBAC, "rolebindings", OwnedKind.ROLE_BINDING),
        OwnedKind.CONFIG_MAP: _owned("", "configmaps", OwnedKind.CONFIG_MAP),
        OwnedKind.SERVICE: _owned("", "services", OwnedKind.SERVICE),
        OwnedKind.DEPLOYMENT: _owned("apps", "deployments", OwnedKind.DEPLOYMENT),
    }
)
"""Where the API has each kind that a deployment owns beside its Pods."""
