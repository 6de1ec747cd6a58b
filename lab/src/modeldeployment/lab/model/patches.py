"""How objects are changed by patches. Objects are never changed in place: what a patch leaves alone is shared."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from modeldeployment.lab.model.resources import JSON

_KEYS: Final = ("name", "type", "key", "uid", "containerPort", "port")
"""By which entries of a list are told apart in a server-side apply, as far as applied lists go here."""


def merged(whole: Any, patch: Any) -> Any:
    """Apply a JSON merge patch (RFC 7396)."""
    if not isinstance(patch, Mapping):
        return patch
    result: JSON = dict(whole) if isinstance(whole, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def applied(whole: Any, wanted: Any, before: Any) -> Any:
    """Apply `wanted` over an object: fields that the same manager applied `before` and no longer wants go.

    Lists whose entries have a key are merged by it, others are replaced whole. Fields of other managers are taken
    without asking, as with `force`.
    """
    if isinstance(wanted, Mapping):
        result: JSON = dict(whole) if isinstance(whole, Mapping) else {}
        had = before if isinstance(before, Mapping) else {}
        for key in had:
            if key not in wanted:
                result.pop(key, None)
        for key, value in wanted.items():
            result[key] = applied(result.get(key), value, had.get(key))
        return result
    if isinstance(wanted, list) and (key := _key(wanted)):
        had_entries = {each[key]: each for each in before or () if key in each} if isinstance(before, list) else {}
        kept = {each[key]: each for each in whole or ()}
        for name in had_entries:
            kept.pop(name, None) if all(each[key] != name for each in wanted) else None
        for each in wanted:
            kept[each[key]] = applied(kept.get(each[key]), each, had_entries.get(each[key]))
        return list(kept.values())
    return wanted


def _key(entries: Sequence[Any]) -> str:
    for key in _KEYS:
        if entries and all(isinstance(each, Mapping) and key in each for each in entries):
            return key
    return ""


def edited(whole: JSON, operations: Sequence[Mapping[str, Any]]) -> JSON:
    """Apply a JSON patch (RFC 6902); raises LookupError or ValueError for a path that is not there."""
    for each in operations:
        path = [part.replace("~1", "/").replace("~0", "~") for part in each["path"].split("/")[1:]]
        whole = _operated(whole, path, each)
    return whole


def _operated(whole: Any, path: list[str], operation: Mapping[str, Any]) -> Any:
    first, rest = path[0], path[1:]
    if isinstance(whole, list):
        copy, place = list(whole), len(whole) if first == "-" else int(first)
        if rest:
            copy[place] = _operated(copy[place], rest, operation)
        elif operation["op"] == "add":
            copy.insert(place, operation["value"])
        elif operation["op"] == "replace":
            copy[place] = operation["value"]
        elif operation["op"] == "remove":
            del copy[place]
        return copy
    table: JSON = dict(whole)
    if rest:
        table[first] = _operated(table[first], rest, operation)
    elif operation["op"] == "add":
        table[first] = operation["value"]
    elif operation["op"] == "replace":
        if first not in table:
            raise LookupError(first)
        table[first] = operation["value"]
    elif operation["op"] == "remove":
        del table[first]
    elif operation["op"] == "test" and table.get(first) != operation["value"]:
        raise ValueError(first)
    return table
