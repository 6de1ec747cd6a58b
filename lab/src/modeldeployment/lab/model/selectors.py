"""Which objects a list or a watch is about."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from modeldeployment.lab.model.errors import Unmodelled
from modeldeployment.lab.model.resources import JSON

Matches: TypeAlias = Callable[[JSON], bool]

_BETWEEN: Final = re.compile(r",(?![^(]*\))")
_AMONG: Final = re.compile(r"(?P<key>\S+) in \((?P<values>[^)]*)\)")


def by_labels(selector: str) -> Matches:
    """Read a label selector: equality, inequality, existence and `in (…)`, joined by commas; empty selects all."""
    terms = [_term(each.strip()) for each in _BETWEEN.split(selector) if each.strip()]

    def matches(thing: JSON) -> bool:
        labels = thing["metadata"].get("labels") or {}
        return all(term(labels) for term in terms)

    return matches


def _term(text: str) -> Callable[[Mapping[str, str]], bool]:
    if among := _AMONG.fullmatch(text):
        values = {each.strip() for each in among["values"].split(",")}
        return lambda labels: labels.get(among["key"]) in values
    if " " in text:
        raise Unmodelled(f"label selector {text!r}: only equality, existence and membership are known")
    for sign, equal in (("!=", False), ("==", True), ("=", True)):
        key, found, value = text.partition(sign)
        if found:
            return lambda labels: (labels.get(key) == value) is equal
    if text.startswith("!"):
        return lambda labels: text[1:] not in labels
    return lambda labels: text in labels


def by_fields(selector: str) -> Matches:
    """Read a field selector: paths that equal a value, joined by commas."""
    terms = [each.replace("==", "=").partition("=") for each in selector.split(",") if each]

    def matches(thing: JSON) -> bool:
        return all(str(_at(thing, path)) == value for path, _, value in terms)

    return matches


def _at(thing: Any, path: str) -> Any:
    for part in path.split("."):
        thing = thing.get(part, "") if isinstance(thing, Mapping) else ""
    return thing
