"""The text of what a ConfigMap holds: equal for equal content on every release of every library.

The text is hashed into the Pod template, so a new spelling of the same document would replace every router once. That
is why it is written here and not by a library whose line breaks and quotes may change (facts router-rendering §1).
"""

import hashlib
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

_PLAIN: Final = re.compile(r"[A-Za-z/](?:[\w./@-]|:(?=[\w/]))*|\d+s", re.ASCII)
"""Strings that every YAML reader takes for strings without quotes, unless they are words below."""
_WORDS: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def yaml(document: Mapping[str, Any]) -> str:
    """Write a document of tables, lists, strings, integers and booleans as YAML, keys in order.

    Raises TypeError for a value of any other type.
    """
    lines: list[str] = []
    _table(document, "", lines)
    return "\n".join(lines) + "\n"


def json_line(value: Any) -> str:
    """Write a value as one line of JSON as Go does: keys in order, no spaces, nothing that a page could run."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def digest(data: Mapping[str, str]) -> str:
    """Answer the SHA-256 of a ConfigMap's data in lower-case hexadecimal digits."""
    return hashlib.sha256(json_line(dict(data)).encode()).hexdigest()


def _table(table: Mapping[str, Any], indent: str, lines: list[str]) -> None:
    for key in sorted(table):
        value, opening = table[key], f"{indent}{_string(key)}:"
        if isinstance(value, dict) and value:
            lines.append(opening)
            _table(value, f"{indent}  ", lines)
        elif isinstance(value, list | tuple) and value:
            lines.append(opening)
            for item in value:
                _item(item, indent, lines)
        else:
            lines.append(f"{opening} {_scalar(value)}")


def _item(item: Any, indent: str, lines: list[str]) -> None:
    """Write one entry of a list, its first line behind the dash."""
    if isinstance(item, dict) and item:
        first = len(lines)
        _table(item, f"{indent}  ", lines)
        lines[first] = f"{indent}- {lines[first].lstrip()}"
    else:
        lines.append(f"{indent}- {_scalar(item)}")


def _scalar(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return _string(value)
        case dict() if not value:
            return "{}"
        case list() | tuple() if not value:
            return "[]"
        case _:
            raise TypeError(f"no document of a router holds a {type(value).__name__}")


@lru_cache(1024)  # most strings of a document are its own words, the same in every document
def _string(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(each if " " <= each <= "~" else f"\\U{ord(each):08x}" for each in quoted)
