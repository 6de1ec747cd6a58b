"""The schema of a kind, read against a submitted object the way the API server reads it.

The structural schema of the generated CustomResourceDefinition is laid out for `jsonschema`, with what Kubernetes reads
differently: fields nobody knows are faults, an explicit null is an absent field (decisions D45), lists may be keyed,
and a status is dropped before its values are looked at. Faults are told, not worded; `schema` finds the words.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final

from modeldeployment.admission.schema import checking
from modeldeployment.admission.schema.checking import Node, Path
from modeldeployment.api import crds
from modeldeployment.api.schema import structural

KINDS: Final = {kind.name: kind for kind in crds.KINDS}
"""Our kinds by name."""

_OPEN: Final = "x-kubernetes-preserve-unknown-fields"

_KEPT: Final = (
    "type",
    checking.INT_OR_STRING,
    "enum",
    "format",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "required",
    checking.LIST_TYPE,
    checking.MAP_KEYS,
)
_SUBDOMAIN: Final = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_LABEL_VALUE: Final = r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"
_STRINGS: Final[dict[str, Any]] = {"type": "array", "items": {"type": "string"}}
_PLAIN: Final = re.compile(r"[^.\[\]]+")
_METADATA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 253, "pattern": _SUBDOMAIN},
        "generateName": {"type": "string"},
        "namespace": {"type": "string"},
        "labels": {
            "type": "object",
            "additionalProperties": {"type": "string", "maxLength": 63, "pattern": _LABEL_VALUE},
        },
        "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
        "finalizers": _STRINGS,
        "ownerReferences": {"type": "array", "items": {"type": "object", _OPEN: True}},
        "managedFields": {"type": "array", "items": {"type": "object", _OPEN: True}},
        "creationTimestamp": {"type": "string"},
        "deletionTimestamp": {"type": "string"},
        "deletionGracePeriodSeconds": {"type": "integer"},
        "generation": {"type": "integer"},
        "resourceVersion": {"type": "string"},
        "selfLink": {"type": "string"},
        "uid": {"type": "string"},
    },
}
"""The metadata of every Kubernetes object; a custom resource's own schema leaves it to the API server."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One disagreement: where, by which keyword with which demand, and the value found (None where there is none).

    `node` is the schema of the place whose keyword it is: the object's own for an unknown or a missing field.
    """

    path: Path
    keyword: str
    demand: Any
    value: Any
    node: Node


@dataclass(frozen=True, slots=True)
class Structure:
    """The schema of one kind: `node` as the CustomResourceDefinition says it, `laid_out` as it is checked."""

    kind: str
    plural: str
    namespaced: bool
    node: Node
    laid_out: Node

    def faults(self, body: Mapping[str, Any]) -> list[Fault]:
        """Find every fault of an object, in the order of the fields in the schema."""
        found = [
            Fault(tuple(error.absolute_path), str(error.validator), error.validator_value, error.instance, error.schema)
            for error in checking.checker()(self.laid_out).iter_errors(body)
        ]
        return sorted(found, key=lambda fault: self.place(fault.path))

    def defaulted(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of an object with the schema's defaults written out and explicit nulls left out."""
        whole: dict[str, Any] = _defaulted(body, self.node)
        return whole

    def places(self, name: str) -> tuple[str, ...]:
        """Field paths at which the kind has a field of that name, with `[*]` for any entry of a list."""
        return _places(self.kind).get(name, ())

    def place(self, path: Path) -> tuple[int, ...]:
        """Where a field stands in the order of the schema; what the schema does not know stands last."""
        place, node = [], self.laid_out
        for step in path:
            if isinstance(step, int):
                place.append(step)
                node = node.get("items", {})
            else:
                names = list(node.get("properties", ()))
                place.append(names.index(step) if step in names else len(names))
                node = node.get("properties", {}).get(step, {})
        return tuple(place)


@dataclass(frozen=True)
class Submitted:
    """An object of a known kind."""

    kind: Structure
    body: Mapping[str, Any]

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """Everything its schema holds against it, in field order."""
        return tuple(self.kind.faults(self.body))

    def of(self, *keywords: str) -> Iterator[tuple[str, Fault]]:
        """The faults of these keywords, each with its field."""
        return ((spelled(fault.path), fault) for fault in self.faults if fault.keyword in keywords)


def spelled(path: Path) -> str:
    """Spell a path as Kubernetes spells field paths; a name that is no plain one stands in brackets."""
    field = ""
    for step in path:
        plain = isinstance(step, str) and _PLAIN.fullmatch(step)
        field += (f".{step}" if field else str(step)) if plain else f"[{step}]"
    return field


def of(kind: str) -> Structure | None:
    """The schema of one of our kinds, None for any other."""
    return _structure(kind) if kind in KINDS else None


@cache
def _structure(kind: str) -> Structure:
    # One at a time: a schema is made of the sources of its models, which takes a tenth of a second.
    made = KINDS[kind]
    node = structural(made.model, {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": _METADATA})
    laid_out = _laid_out(node, dropped=("status",)) | {checking.NAMED: True}
    return Structure(kind, made.plural, made.namespaced, node, laid_out)


def _laid_out(node: Node, *, lenient: bool = False, dropped: tuple[str, ...] = ()) -> dict[str, Any]:
    made = {} if lenient else {keyword: node[keyword] for keyword in _KEPT if keyword in node}
    if node.get(checking.INT_OR_STRING):
        made.pop("type", None)
    elif node.get("nullable") and "type" in made:
        made["type"] = [made["type"], "null"]
    properties = node.get("properties", {})
    if properties:
        made["properties"] = {
            name: _laid_out(child, lenient=lenient or name in dropped)
            | ({"default": child["default"]} if "default" in child else {})
            for name, child in properties.items()
        }
    if "items" in node:
        made["items"] = _laid_out(node["items"], lenient=lenient)
    if isinstance(node.get("additionalProperties"), Mapping):
        made["additionalProperties"] = _laid_out(node["additionalProperties"], lenient=lenient)
    elif node.get("type") == "object" and not node.get(_OPEN) and not node.get("additionalProperties"):
        made[checking.KNOWN] = tuple(properties)
    return made


def _defaulted(value: Any, node: Node) -> Any:
    if isinstance(value, Mapping):
        properties, rest = node.get("properties", {}), node.get("additionalProperties")
        made = {}
        for name, child in value.items():
            schema = properties.get(name, rest if isinstance(rest, Mapping) else None)
            if child is None and schema is not None and not schema.get("nullable"):
                continue
            made[name] = child if schema is None else _defaulted(child, schema)
        for name, schema in properties.items():
            if name not in made and "default" in schema:
                made[name] = _defaulted(schema["default"], schema)
        return made
    if isinstance(value, list):
        return [_defaulted(entry, node.get("items", {})) for entry in value]
    return value


@cache
def _places(kind: str) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}

    def walk(node: Node, at: str) -> None:
        for name, child in node.get("properties", {}).items():
            found[name] = (*found.get(name, ()), f"{at}.{name}")
            walk(child, f"{at}.{name}")
        if "items" in node:
            walk(node["items"], f"{at}[*]")

    walk(_structure(kind).node["properties"].get("spec", {}), "spec")
    return found
