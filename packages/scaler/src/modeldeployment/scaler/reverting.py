"""Asks who wrote counts that are a scaler's to write."""

from typing import Any, Final

import msgspec

from modeldeployment.api import keys, managed
from modeldeployment.kube import Client, Kind, KubeError, shapes


class _Meta(shapes.ObjectMeta, frozen=True):
    """Metadata with what is left out elsewhere, since it is long."""

    managed_fields: msgspec.Raw = msgspec.Raw(b"[]")


class _Managed(shapes.Object, frozen=True):
    """A deployment of which only the managed fields are read."""

    metadata: _Meta


_MANAGED: Final = Kind(keys.GROUP, keys.VERSION, "modeldeployments", "ModelDeployment", _Managed)


async def writers(client: Client, namespace: str, name: str, roles: tuple[str, ...]) -> tuple[str, ...]:
    """Find who wrote the counts of these roles, the latest first; nobody where that is not told or cannot be read."""
    try:
        found = await client.get(_MANAGED, name, namespace)
        told: list[dict[str, Any]] = msgspec.json.decode(found.metadata.managed_fields, type=list[dict[str, Any]])
    except (KubeError, msgspec.DecodeError):
        return ()
    return managed.writers(told, roles)
