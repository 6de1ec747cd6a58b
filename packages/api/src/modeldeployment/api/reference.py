"""The reference pages of our kinds, one a kind, printed from the schemas the API server holds.

A page lists every field with its type, default, bounds and description, the rules the schema holds in CEL with their
codes, the columns of `kubectl get`, and the least object that is accepted.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from modeldeployment.api import guards
from modeldeployment.api.crds import KINDS, Kind, crds
from modeldeployment.api.minimal import MINIMAL
from modeldeployment.api.schema import Schema

_GENERATED: Final = (
    "<!-- Printed from the models in packages/api; run its tests with UPDATE_GOLDEN=1 to print it anew. -->"
)


def pages() -> Mapping[str, str]:
    """Return the Markdown of every page by its file name."""
    definitions = {crd["spec"]["names"]["kind"]: crd for crd in crds()}
    return {f"{kind.name.lower()}.md": _page(kind, definitions[kind.name]) for kind in KINDS}


def _page(kind: Kind, definition: Mapping[str, Any]) -> str:
    spec = definition["spec"]
    version = spec["versions"][0]
    schema = version["schema"]["openAPIV3Schema"]
    fields = schema["properties"]
    name = f"`{spec['group']}/{version['name']}`"
    scope = "one per name in a namespace" if kind.namespaced else "one per name in the cluster"
    sections = [
        f"# {kind.name}",
        _GENERATED,
        schema["description"],
        f"{name}, `{kind.plural}`, short name `{kind.short_name}`; {scope}; `status` is a subresource.",
        "## The least object",
        f"```yaml\n{MINIMAL[kind.name]}```",
        "## spec",
        _fields("spec", fields["spec"]),
        "## status",
        _fields("status", fields["status"]),
        "## Rules across fields",
        "Held by the schema, whoever writes. *edit* marks the rules that compare with the stored object.",
        _table(
            ("Code", "Field", "Judged", "Refused because it", "Way out"),
            (
                (
                    f"`{rule.code}`",
                    f"`{rule.field}`",
                    "edit" if "oldSelf" in rule.holds else "always",
                    rule.why,
                    rule.way_out,
                )
                for rule in guards.of(kind.name)
            ),
        ),
        "## Columns of `kubectl get`",
        _table(("Column", "Read from"), ((column.name, f"`{column.path}`") for column in kind.columns)),
    ]
    return "\n\n".join(sections) + "\n"


def _fields(path: str, schema: Schema) -> str:
    return _table(("Field", "Type", "Default", "Bounds", "Description"), _rows(path, schema))


def _rows(path: str, schema: Schema) -> Iterator[tuple[str, ...]]:
    for name, child in schema.get("properties", {}).items():
        field, required = f"{path}.{name}", name in schema.get("required", ())
        yield (
            f"`{field}`",
            _type(child),
            _default(field, child, required=required),
            "; ".join(_bounds(child, required=required)),
            child["description"],
        )
        yield from _rows(f"{field}[]", child["items"]) if "items" in child else _rows(field, child)


def _default(field: str, schema: Schema, *, required: bool) -> str:
    if "default" not in schema:
        # A zero is not stored, since it reads the same when absent; a switch of ours is off unless it says so.
        return "`false`" if schema.get("type") == "boolean" and field.startswith("spec.") and not required else ""
    return "" if schema["default"] == {} else f"`{json.dumps(schema['default'])}`"


def _type(schema: Schema) -> str:
    if "x-kubernetes-int-or-string" in schema:
        return "quantity"
    match schema["type"]:
        case "array":
            keys = schema.get("x-kubernetes-list-map-keys")
            return f"list of {_type(schema['items'])}" + (f", by {' and '.join(keys)}" if keys else "")
        case "object" if "additionalProperties" in schema:
            return f"map of {_type(schema['additionalProperties'])}"
        case "string" if schema.get("format") == "date-time":
            return "time"
        case "integer":
            return str(schema.get("format", "integer"))
        case plain:
            return str(plain)


def _bounds(schema: Schema, *, required: bool) -> Iterator[str]:
    if required:
        yield "required"
    if "enum" in schema:
        yield "one of " + ", ".join(f"`{choice}`" for choice in schema["enum"])
    yield from _range(schema.get("minimum"), schema.get("maximum"), "")
    if "x-kubernetes-int-or-string" not in schema:
        yield from _range(schema.get("minLength"), schema.get("maxLength"), " characters")
        if "pattern" in schema:
            yield f"matches `{schema['pattern']}`"
    yield from _range(schema.get("minItems"), schema.get("maxItems"), " entries")
    if "x-kubernetes-preserve-unknown-fields" in schema:
        yield "further fields are kept"


def _range(least: int | None, most: int | None, unit: str) -> Iterator[str]:
    if least is not None and most is not None:
        yield f"{least} to {most}{unit}"
    elif least == 1 and unit:
        yield "not empty"
    elif least is not None:
        yield f"at least {least}{unit}"
    elif most is not None:
        yield f"at most {most}{unit}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
