"""Field paths and JSON patches: two ways to say where in an object something is."""

import re
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from typing import Any, Final, TypeAlias

import jsonpatch

Operation: TypeAlias = Mapping[str, Any]
"""One operation of a JSON patch (RFC 6902): op, path, and value where the operation has one."""

Step: TypeAlias = str | int

_STEP: Final = re.compile(r"\[(?P<index>\d+)\]|\[(?P<key>[^\]]+)\]|\.?(?P<name>[^.\[\]]+)")


def steps(field: str) -> Iterator[Step]:
    """Yield the steps of a field path: `spec.roles[0].name` is spec, roles, 0, name.

    A map key that is no plain name stands in brackets: `metadata.annotations[a.b/c]`.
    """
    for match in _STEP.finditer(field):
        yield int(match["index"]) if match["index"] is not None else match["key"] or match["name"]


def pointer(field: str) -> str:
    """Respell a field path as a JSON pointer."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps(field))


def put(field: str, value: Any) -> Operation:
    """The operation that sets a field, whether or not it was there; an index past the end of a list appends."""
    return {"op": "add", "path": pointer(field), "value": value}


def replace(field: str, value: Any) -> Operation:
    """The operation that changes an entry that is there; in a list, `put` would insert."""
    return {"op": "replace", "path": pointer(field), "value": value}


def remove(field: str) -> Operation:
    """The operation that takes a field or an entry away."""
    return {"op": "remove", "path": pointer(field)}


def found(document: Any, field: str) -> Any:
    """The value at a field path, None where there is none."""
    for step in steps(field):
        if isinstance(step, int):
            document = document[step] if isinstance(document, list) and step < len(document) else None
        else:
            document = document.get(step) if isinstance(document, Mapping) else None
    return document


def applied(document: Mapping[str, Any], operations: Iterable[Operation]) -> dict[str, Any]:
    """A copy of `document` with the operations applied in order."""
    changed: dict[str, Any] = jsonpatch.apply_patch(document, [dict(operation) for operation in operations])
    return changed


def with_members(document: Mapping[str, Any], operations: Iterable[Operation]) -> dict[str, Any]:
    """A copy of `document` with members set; only what stands on the way to them is copied, the rest is shared.

    Every operation leads through members and entries that are there, and ends in a member.
    """
    changed = dict(document)
    fresh: dict[str, Any] = {}
    for operation in operations:
        *way, last = (step.replace("~1", "/").replace("~0", "~") for step in operation["path"].split("/")[1:])
        holder: Any = changed
        at = ""
        for step in way:
            at = f"{at}/{step}"
            key = int(step) if isinstance(holder, list) else step
            if at not in fresh:
                fresh[at] = holder[key] = copy(holder[key])
            holder = fresh[at]
        holder[last] = operation["value"]
    return changed
