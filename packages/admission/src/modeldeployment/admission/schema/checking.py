"""How the API server reads the keywords of a structural schema, as a checker of the `jsonschema` library."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeAlias

Node: TypeAlias = Mapping[str, Any]
Path: TypeAlias = tuple[str | int, ...]

KNOWN: Final = "x-known"
"""Our keyword of an object that takes no other fields than these."""
NAMED: Final = "x-named"
"""Our keyword of a whole object, which needs a name or the beginning of one."""
INT_OR_STRING: Final = "x-kubernetes-int-or-string"
MAP_KEYS: Final = "x-kubernetes-list-map-keys"
LIST_TYPE: Final = "x-kubernetes-list-type"

_EXACT: Final = 2**53 - 1


@cache
def checker() -> Any:
    """The class of validators; made once, with the library imported then."""
    # Here rather than above: only who checks a schema pays for the library.
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def fault(path: Path, value: Any) -> ValidationError:
        # None is a value here, and the library would fill it with the enclosing one.
        made = ValidationError("", path=path)
        made.instance = value
        return made

    def properties(validator: Any, children: Node, instance: Any, _node: Node) -> Iterator[ValidationError]:
        if isinstance(instance, dict):
            for name, child in children.items():
                if instance.get(name) is not None:
                    yield from validator.descend(instance[name], child, path=name)

    def additional(validator: Any, child: Node, instance: Any, node: Node) -> Iterator[ValidationError]:
        if isinstance(instance, dict):
            for name in instance.keys() - node.get("properties", {}).keys():
                if instance[name] is not None:
                    yield from validator.descend(instance[name], child, path=name)

    def known(_validator: Any, names: tuple[str, ...], instance: Any, _node: Node) -> Iterator[ValidationError]:
        if isinstance(instance, dict):
            yield from (fault((name,), instance[name]) for name in instance if name not in names)

    def required(_validator: Any, names: list[str], instance: Any, node: Node) -> Iterator[ValidationError]:
        if isinstance(instance, dict):
            for name in names:
                if instance.get(name) is None and "default" not in node.get("properties", {}).get(name, {}):
                    yield fault((name,), None)

    def named(_validator: Any, _on: bool, instance: Any, _node: Node) -> Iterator[ValidationError]:
        metadata = instance.get("metadata") or {}
        if isinstance(metadata, dict) and not metadata.get("name") and not metadata.get("generateName"):
            yield fault(("metadata", "name"), None)

    def int_or_string(_validator: Any, _on: bool, instance: Any, _node: Node) -> Iterator[ValidationError]:
        if not isinstance(instance, str) and not (_whole(instance) and -(2**63) <= instance < 2**63):
            yield fault((), instance)

    def written_as(_validator: Any, name: str, instance: Any, _node: Node) -> Iterator[ValidationError]:
        bits = {"int32": 31, "int64": 63}.get(name)
        number = isinstance(instance, int | float) and not isinstance(instance, bool)
        if bits and number and not -(2**bits) <= instance < 2**bits:
            yield fault((), instance)

    def pattern(_validator: Any, expression: str, instance: Any, node: Node) -> Iterator[ValidationError]:
        # What is too long is refused for that; the API server's matcher is linear, ours need not be.
        short = isinstance(instance, str) and len(instance) <= node.get("maxLength", len(instance))
        if short and not _matcher(expression).search(instance):
            yield fault((), instance)

    def keyed(_validator: Any, keys: list[str], instance: Any, node: Node) -> Iterator[ValidationError]:
        defaults = {key: node["items"]["properties"][key].get("default") for key in keys}
        seen = set()
        for index, entry in enumerate(instance if isinstance(instance, list) else ()):
            if isinstance(entry, dict):
                values = {key: defaults[key] if entry.get(key) is None else entry[key] for key in keys}
                if (mark := repr(tuple(values.values()))) in seen:
                    yield fault((index,), values)
                seen.add(mark)

    def distinct(_validator: Any, how: str, instance: Any, _node: Node) -> Iterator[ValidationError]:
        seen = set()
        for index, entry in enumerate(instance if isinstance(instance, list) and how == "set" else ()):
            if repr(entry) in seen:
                yield fault((index,), entry)
            seen.add(repr(entry))

    return extend(  # type: ignore[no-untyped-call]
        Draft202012Validator,
        {
            "properties": properties,
            "additionalProperties": additional,
            KNOWN: known,
            "required": required,
            NAMED: named,
            INT_OR_STRING: int_or_string,
            "format": written_as,
            "pattern": pattern,
            MAP_KEYS: keyed,
            LIST_TYPE: distinct,
        },
        type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _checker, value: _whole(value)),
    )


def _whole(value: Any) -> bool:
    """Whether the API server takes a number for a whole one: a fraction of nothing is one while a float is exact."""
    if isinstance(value, float):
        return value.is_integer() and abs(value) <= _EXACT
    return isinstance(value, int) and not isinstance(value, bool)


@cache
def _matcher(expression: str) -> re.Pattern[str]:
    """The expression as the API server reads it: `$` is the end and nothing before it, classes are ASCII."""
    strict = re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]|\$", lambda found: r"\Z" if found[0] == "$" else found[0], expression)
    return re.compile(strict, re.ASCII)
