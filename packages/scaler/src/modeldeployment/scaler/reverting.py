"""Who wrote the counts of a deployment, as its managed fields tell. The reading is pure, its request is not."""

from typing import Any, Final

import msgspec

from modeldeployment.api import keys
from modeldeployment.kube import Client, Kind, KubeError, shapes


class _Entry(msgspec.Struct, rename="camel"):
    manager: str = ""
    time: str = ""
    subresource: str = ""
    fields: dict[str, Any] = msgspec.field(default_factory=dict, name="fieldsV1")


class _Meta(shapes.ObjectMeta, frozen=True):
    """Metadata with what is left out elsewhere, since it is long."""

    managed_fields: msgspec.Raw = msgspec.Raw(b"[]")


class Managed(shapes.Object, frozen=True):
    """An object of which only the managed fields are read."""

    metadata: _Meta


_MANAGED: Final = Kind(keys.GROUP, keys.VERSION, "modeldeployments", "ModelDeployment", Managed)


async def managers(client: Client, namespace: str, name: str, roles: tuple[str, ...]) -> tuple[str, ...]:
    """Find who wrote the counts of these roles; nobody where that is not told or cannot be read."""
    try:
        found = await client.get(_MANAGED, name, namespace)
    except KubeError:
        return ()
    return of(found, roles)


def of(found: Managed, roles: tuple[str, ...]) -> tuple[str, ...]:
    """The managers of the counts of these roles but for ourselves, the latest first."""
    entries = msgspec.json.decode(found.metadata.managed_fields, type=list[_Entry])
    written = [each for each in entries if each.manager != keys.FIELD_MANAGER and _writes(each.fields, roles)]
    return tuple(dict.fromkeys(each.manager for each in sorted(written, key=lambda each: each.time, reverse=True)))


def _writes(fields: dict[str, Any], roles: tuple[str, ...]) -> bool:
    entries: dict[str, Any] = fields.get("f:spec", {}).get("f:roles", {})
    owned = (msgspec.json.encode({"name": role}).decode() for role in roles)
    return any("f:replicas" in entries.get(f"k:{each}", {}) for each in owned)
