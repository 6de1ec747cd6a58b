"""Kubernetes objects out of YAML and JSON files, and where in them each field stands.

Values are read as kubectl reads them (YAML 1.1, timestamps stay text, whole numbers stay whole), so that what is judged
is what the API server would get.
"""

import math
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

from modeldeployment.operator.errors import UsageError

STDIN: Final = "-"
SUFFIXES: Final = (".yaml", ".yml", ".json")
NODES: Final = 1_000_000
"""Most values one document may expand to; aliases can make a few lines into billions."""

Step: TypeAlias = str | int
Position: TypeAlias = tuple[int, int]
"""Line and column, both from 1."""

_TAG: Final = "tag:yaml.org,2002:"
_INTEGER: Final = re.compile(r"[-+]?(0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]*|[1-9][0-9_]*)\Z")
_NUMBER: Final = re.compile(r"[-+]?(\.[0-9][0-9_]*|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?\Z")
_BOOLEAN: Final = re.compile(r"(y|yes|n|no|true|false|on|off)\Z", re.IGNORECASE)
_WORDS: Final = (str.lower, str.upper, str.capitalize)
_PAIRS: Final = re.compile(r"\\\\|\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
"""Two escapes that are one character in JSON and none in YAML."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Composes nodes; which scalars are numbers and booleans is kubectl's to say."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in rows if tag.removeprefix(_TAG) in ("null", "merge")]
    for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(f"{_TAG}bool", _BOOLEAN, list("yYnNtTfFoO"))
_Loader.add_implicit_resolver(f"{_TAG}int", _INTEGER, list("-+0123456789"))
_Loader.add_implicit_resolver(f"{_TAG}float", _NUMBER, list("-+.0123456789"))

RESOLVERS: Final = _Loader.yaml_implicit_resolvers
"""What kubectl takes for something other than text where no quotes stand around it, by first character."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object: where it was read, its JSON, and the nodes that remember where every part of it stands."""

    file: str
    body: dict[str, Any]
    node: yaml.Node

    @property
    def kind(self) -> str:
        """Its kind; empty where it says none."""
        return _text(self.body.get("kind"))

    @property
    def name(self) -> str:
        """Its name; empty where it says none."""
        metadata = self.body.get("metadata")
        return _text(metadata.get("name")) if isinstance(metadata, dict) else ""

    @property
    def namespace(self) -> str:
        """Its namespace; empty where it says none."""
        metadata = self.body.get("metadata")
        return _text(metadata.get("namespace")) if isinstance(metadata, dict) else ""

    def position(self, steps: Iterable[Step]) -> Position:
        """Where a field stands, or the nearest thing around it that is there.

        A value counts where it begins on the line of its key; otherwise the key does.
        """
        mark, node = self.node.start_mark, self.node
        for step in steps:
            if isinstance(step, int) and isinstance(node, yaml.SequenceNode) and step < len(node.value):
                node = node.value[step]
                mark = node.start_mark
            elif entry := _entry(node, str(step)):
                key, node = entry
                mark = node.start_mark if node.start_mark.line == key.start_mark.line else key.start_mark
            else:
                break
        return mark.line + 1, mark.column + 1


def read(sources: Iterable[str]) -> Iterator[Manifest]:
    """Read every object of files, directories (recursively) and `-`, the standard input; lists are unrolled.

    What is no mapping (an empty document, a list of values) is passed over. Raises UsageError for a file that cannot be
    read and for YAML that cannot be, with its line and column.
    """
    for source in sources:
        for name, text in _texts(source):
            for node in _composed(name, text):
                yield from _objects(name, node)


def _texts(source: str) -> Iterator[tuple[str, str]]:
    path = Path(source)
    try:
        if source == STDIN:
            yield "<stdin>", sys.stdin.read()
        elif path.is_dir():
            for found in sorted(path.rglob("*")):
                if found.suffix in SUFFIXES and found.is_file():
                    yield str(found), found.read_text(encoding="utf-8")
        else:
            yield source, path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{source} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{source} is no text: byte {error.start} is not UTF-8") from error


def _composed(file: str, text: str) -> Iterator[yaml.Node]:
    try:
        loader = _Loader(_PAIRS.sub(_paired, text.removeprefix("\ufeff")))
        while loader.check_node():
            yield loader.get_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise UsageError(f"{file}{where}: not YAML: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise UsageError(f"{file}: not YAML: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise UsageError(f"{file}: not YAML that can be read: it is nested too deep") from error


def _objects(file: str, node: yaml.Node) -> Iterator[Manifest]:
    if not isinstance(node, yaml.MappingNode):
        return
    try:
        body = _Reading(file).value(node)
    except RecursionError as error:
        raise UsageError(f"{file}: not YAML that can be read: it is nested too deep") from error
    items = _entry(node, "items")
    if _text(body.get("kind")).endswith("List") and items and isinstance(items[1], yaml.SequenceNode):
        for item in items[1].value:
            yield from _objects(file, item)
    else:
        yield Manifest(file, body, node)


class _Reading:
    """The reading of one document."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._left = NODES
        self._around: set[int] = set()

    def value(self, node: yaml.Node) -> Any:
        self._left -= 1
        if self._left < 0:
            raise self._error(node, f"its aliases expand to more than {NODES} values")
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        if id(node) in self._around:
            raise self._error(node, "an alias stands inside what it stands for")
        self._around.add(id(node))
        made = self._list(node) if isinstance(node, yaml.SequenceNode) else self._mapping(node)
        self._around.discard(id(node))
        return made

    def _list(self, node: yaml.Node) -> list[Any]:
        return [self.value(entry) for entry in node.value]

    def _mapping(self, node: yaml.Node) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key, child in node.value:
            if key.tag == f"{_TAG}merge":
                for source in child.value if isinstance(child, yaml.SequenceNode) else [child]:
                    if not isinstance(source, yaml.MappingNode):
                        raise self._error(source, "<< takes a mapping, or a list of them")
                    merged = self.value(source) | merged
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise self._error(key, "a key must be a plain text")
            if (name := _key(key)) in own:
                raise self._error(key, f"the key {name} is already there, and one of the two would be dropped")
            own[name] = self.value(child)
        return merged | own

    def _error(self, node: yaml.Node, what: str) -> UsageError:
        return UsageError(f"{self._file}:{node.start_mark.line + 1}:{node.start_mark.column + 1}: {what}")


def _entry(node: yaml.Node, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    """The key and the value of an entry of a mapping, None where there is none of that name."""
    if not isinstance(node, yaml.MappingNode):
        return None
    return next(
        ((key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode) and _key(key) == name), None
    )


def _key(node: yaml.Node) -> str:
    value = _scalar(node)
    return value if isinstance(value, str) else str(value).lower()


def _scalar(node: yaml.Node) -> Any:
    text: str = node.value
    match node.tag.removeprefix(_TAG):
        case "null":
            return None
        case "bool":
            # Only three ways to write a word count; nO is a text.
            if text not in [case(text) for case in _WORDS]:
                return text
            return text.lower() in ("y", "yes", "true", "on")
        case "int":
            return _integer(text)
        case "float":
            number = float(text.replace("_", ""))
            if math.isinf(number):
                return text
            return int(number) if number.is_integer() else number
        case _:
            return text


def _integer(text: str) -> int | float | str:
    digits = text.replace("_", "")
    try:
        number = int(digits, 8 if re.match(r"[-+]?0[0-7]", digits) else 0)
    except ValueError:
        return text
    return number if -(2**63) <= number < 2**63 else float(number)


def _paired(found: re.Match[str]) -> str:
    if found[1] is None:
        return found[0]
    return chr(0x10000 + ((int(found[1], 16) - 0xD800) << 10) + int(found[2], 16) - 0xDC00)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
