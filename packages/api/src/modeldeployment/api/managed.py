"""Who wrote the counts of a deployment, as its managed fields tell it."""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from modeldeployment.api import keys


def writers(managed: Iterable[Mapping[str, Any]], roles: Collection[str]) -> tuple[str, ...]:
    """Name the field managers that hold the count of any of these roles, the latest first, but for the operator's own.

    Entries that cannot be read tell of nobody.
    """
    owned = {f"k:{json.dumps({'name': role}, separators=(',', ':'))}" for role in roles}
    found = [
        (str(entry.get("time", "")), str(entry.get("manager", "")))
        for entry in managed
        if entry.get("manager") != keys.FIELD_MANAGER and _holds(entry, owned)
    ]
    return tuple(dict.fromkeys(manager for _, manager in sorted(found, reverse=True) if manager))


def _holds(entry: Mapping[str, Any], owned: Collection[str]) -> bool:
    roles = _table(_table(_table(entry.get("fieldsV1")).get("f:spec")).get("f:roles"))
    return any("f:replicas" in _table(roles.get(role)) for role in owned)


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
