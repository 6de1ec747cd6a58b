"""The text of what a ConfigMap holds: equal for equal content on every release of every library.

The text is hashed into the Pod template, so a new spelling of the same document would replace every router once. That
is why it is written here and not by a library whose line breaks and quotes may change (facts router-rendering §1).
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_PLAIN: Final = re.compile(r"[A-Za-z/](?:[\w./@-]|:(?=[\w/]))*|\d+s", re.ASCII)
"""Strings that every YAML reader takes for strings without quotes, unless they are words below."""
_WORDS: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def yaml(document: Mapping[str, Any]) -> str:
    """Write a document of tables, lists, strings, integers and booleans as YAML, keys in order.

    Raises TypeError for a value of any other type.
    """
    return "\n".join(_table(document, "")) + "\n"


def json_line(value: Any) -> str:
    """Write a value as one line of JSON as Go does: keys in order, no spaces, nothing that a page could run."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def digest(data: Mapping[str, str]) -> str:
    """Answer the SHA-256 of a ConfigMap's data in lower-case hexadecimal digits."""
    return hashlib.sha256(json_line(dict(data)).encode()).hexdigest()


def _table(table: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key in sorted(table):
        yield from _entry(f"{indent}{_string(key)}:", table[key], indent)


def _entry(opening: str, value: Any, indent: str) -> Iterator[str]:
    match value:
        case Mapping() if value:
            yield opening
            yield from _table(value, f"{indent}  ")
        case list() | tuple() if value:
            yield opening
            for item in value:
                yield from _item(item, indent)
        case _:
            yield f"{opening} {_scalar(value)}"


def _item(item: Any, indent: str) -> Iterator[str]:
    """Write one entry of a list, its first line behind the dash."""
    match item:
        case Mapping() if item:
            first, *rest = _table(item, f"{indent}  ")
            yield f"{indent}- {first.lstrip()}"
            yield from rest
        case _:
            yield f"{indent}- {_scalar(item)}"


def _scalar(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return _string(value)
        case Mapping() if not value:
            return "{}"
        case list() | tuple() if not value:
            return "[]"
        case _:
            raise TypeError(f"no document of a router holds a {type(value).__name__}")


def _string(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(each if " " <= each <= "~" else f"\\U{ord(each):08x}" for each in quoted)
