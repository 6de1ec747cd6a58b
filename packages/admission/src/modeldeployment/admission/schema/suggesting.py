"""Ways out of what a schema refuses: the name that was meant, where a field is now, how a value is written."""

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from modeldeployment.admission import patching
from modeldeployment.admission.patching import Operation
from modeldeployment.admission.schema.checking import Path
from modeldeployment.admission.schema.structure import Fault, Structure

_FEW: Final = 12
_NEAR: Final = 0.75
_LOOKED_AT: Final = 100
_ROLE: Final = ("spec", "roles", 0)

_MOVED: Final[Mapping[tuple[str, Path], tuple[str, str]]] = {
    ("ModelDeployment", (*_ROLE, "template")): (
        "the template block of a role is gone; its fields stand on the role itself",
        "move what stands under it to the role: image, env, ports, additionalVolumes, terminationGracePeriodSeconds",
    ),
    ("ModelDeployment", ("spec", "kvCache", "poolRef", "namespace")): (
        "poolRef names a KVCachePoolBinding in this namespace and cannot name another namespace",
        "take it out, and have an administrator create a binding in this namespace",
    ),
    ("ModelDeployment", ("spec", "kvCache", "domain")): (
        "the reuse domain belongs to the KVCachePoolBinding; a deployment inherits it and cannot declare one",
        "take it out, or name a binding that declares the domain",
    ),
    ("ModelDeploymentScaler", ("spec", "targetRef", "namespace")): (
        "targetRef names a ModelDeployment in this namespace and cannot name another namespace",
        "take it out, and put the scaler into the namespace of its target",
    ),
    **{
        ("ModelDeployment", (*_ROLE, "resources", name)): (
            "CPU, memory and storage of a Pod are derived from the InstanceType and its accelerator count",
            "take it out, and name an InstanceType whose units are large enough",
        )
        for name in ("cpu", "memory", "ram", "limits", "requests", "ephemeral-storage", "localStorage")
    },
}
"""What people write that is not there for a reason: why, and the way out. List indexes are read as 0."""


def moved(kind: str, path: Path) -> tuple[str, str] | None:
    """Why a field that people expect is not there, and the way out; None for any other name."""
    return _MOVED.get((kind, tuple(0 if isinstance(step, int) else step for step in path)))


SORTS: Final = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "null",
    "integer or string": "a whole number or a text",
}


def wanted(demand: Any) -> str:
    """The type a `type` keyword asks for first."""
    return str(demand[0] if isinstance(demand, list) else demand)


def sort_of(value: Any) -> str:
    """What a JSON value is, in words."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int():
            return "a whole number"
        case float():
            return "a fraction"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "a mapping"


def retyped(wanted: str, field: str, value: Any) -> tuple[str, tuple[Operation, ...]]:
    """How to write a value of the wrong type, and the patch where that is certain."""
    match wanted, value:
        case "string" | "integer or string", bool() | float():
            return 'put it in quotes, as YAML reads it otherwise: "…"', ()
        case "string" | "integer or string", int():
            return f'put it in quotes: "{value}"', (patching.replace(field, str(value)),)
        case "integer", str() if re.fullmatch(r"-?[0-9]{1,18}", value):
            return f"write {int(value)} without quotes", (patching.replace(field, int(value)),)
        case "boolean", "true" | "false" | "True" | "False":
            return f"write {value.lower()} without quotes", (patching.replace(field, value.lower() == "true"),)
        case "array", str() | int() | float():
            return "write a list, one entry to a line after a dash", (patching.replace(field, [value]),)
        case _:
            return f"write {SORTS[wanted]}", ()


def extent(keyword: str, demand: int) -> str:
    """What a bound on a length or a number of entries asks for, in words."""
    one, many = ("character", "characters") if keyword.endswith("Length") else ("entry", "entries")
    return f"at {'least' if keyword.startswith('min') else 'most'} {demand} {one if demand == 1 else many}"


def form(demand: str) -> str:
    """What a pattern of ours asks for, in words."""
    if demand.startswith("^(/"):
        return "write an absolute path such as /data/models"
    if demand.startswith("^[^/]"):
        return "write a path that does not begin with a slash"
    if "[KMGTPE]i" in demand:
        return "write a quantity such as 2, 500m or 16Gi"
    if "/)?" in demand:
        return (
            "write a label key such as topology.kubernetes.io/zone: a DNS prefix and a slash, or none, then at most 63 "
            "letters, digits, dashes, underscores and dots"
        )
    if "A-Z" in demand:
        return "use letters, digits, dashes, underscores and dots, with a letter or digit at both ends"
    return "use lower-case letters, digits and dashes, with a letter or digit at both ends"


def example(fault: Fault, name: str) -> str:
    """The choices of a missing field, to go after its name; empty where it has none."""
    choices = fault.node.get("properties", {}).get(name, {}).get("enum")
    return f" to {' or '.join(choices)}" if choices else ""


def elsewhere(kind: Structure, name: str, known: tuple[str, ...]) -> str:
    """What to do with a field that is not here."""
    if places := kind.places(name):
        return f"take it out, or write it where it belongs: {' or '.join(places[:3])}"
    if 0 < len(known) <= _FEW:
        return f"take it out; the fields here are {', '.join(known)}"
    return "take it out"


def nearest(name: str, choices: Iterable[str]) -> str:
    """The choice a name was most likely meant to be; empty where none is near."""
    bare = {_bare(choice): choice for choice in choices}
    near = difflib.get_close_matches(_bare(name[:_LOOKED_AT]), bare, n=1, cutoff=_NEAR)
    return str(bare[near[0]]) if near else ""


def _bare(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def text(value: Any) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def pointer(path: Path) -> str:
    """Respell a path as a JSON pointer, whatever its names hold."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)
