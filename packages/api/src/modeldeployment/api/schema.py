"""From a pydantic model to the structural OpenAPI v3 schema the API server accepts.

Structural means: every node says its type, nothing refers elsewhere, and unions exist only as int-or-string.
Bounds, patterns, defaults and descriptions stay where they are written, in the model; this only respells them.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

from pydantic import BaseModel

from modeldeployment.api.document import STATED

Schema = dict[str, Any]

_REFERENCE: Final = "#/$defs/"
_KEPT: Final = (
    "description",
    "type",
    "anyOf",
    "format",
    "enum",
    "default",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "x-kubernetes-int-or-string",
    "x-kubernetes-map-type",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
    "required",
    "properties",
    "additionalProperties",
    "items",
)
"""Every keyword a node may keep, in the order it is written."""
_DROPPED: Final = frozenset({"title"})


class SchemaError(ValueError):
    """A model says something a structural schema cannot hold; the message names the path and the keyword."""


def structural(model: type[BaseModel], given: Mapping[str, Schema]) -> Schema:
    """Return the structural schema of `model`, its `given` properties verbatim; raises SchemaError when it has none."""
    whole = model.model_json_schema(by_alias=True, mode="validation")
    whole["properties"] |= given
    return _node(whole, whole.get("$defs", {}), model.__name__)


def _node(raw: Schema, definitions: dict[str, Schema], path: str) -> Schema:
    node = _resolved(raw, definitions, path)
    if "const" in node:
        node["enum"] = [node.pop("const")]
    if not node.pop(STATED, False) and not _worth_writing(node.get("default")):
        node.pop("default", None)
    if "properties" in node:
        node["properties"] = {
            name: _node(child, definitions, f"{path}.{name}") for name, child in node["properties"].items()
        }
    for keyword, below in (("items", "[]"), ("additionalProperties", "[*]")):
        if keyword in node:
            node[keyword] = _node(node[keyword], definitions, f"{path}{below}")
    if unknown := node.keys() - set(_KEPT) - _DROPPED - {"$defs"}:
        raise SchemaError(f"{path}: {', '.join(sorted(unknown))} has no place in a structural schema")
    # Copied keyword by keyword: what a mark says once may stand at many nodes, and no two nodes may share it.
    return {keyword: deepcopy(node[keyword]) for keyword in _KEPT if keyword in node}


def _resolved(raw: Schema, definitions: dict[str, Schema], path: str) -> Schema:
    """Follow a reference and drop the null branch of an optional; what is said nearer to the field wins."""
    node = dict(raw)
    if reference := node.pop("$ref", None):
        return {**_resolved(definitions[reference.removeprefix(_REFERENCE)], definitions, path), **node}
    if "anyOf" in node and "x-kubernetes-int-or-string" not in node:
        branches = [branch for branch in node.pop("anyOf") if branch != {"type": "null"}]
        if len(branches) != 1:
            raise SchemaError(f"{path}: a union of {len(branches)} types has no place in a structural schema")
        return {**_resolved(branches[0], definitions, path), **node}
    return node


def _worth_writing(default: object) -> bool:
    # A zero value reads the same when absent, so storing it in every object would only add noise; where a document says
    # that it is stored, a mark does.
    return isinstance(default, str | int) and bool(default)
