"""JSON with holes: text cut at the places where Pods of one role differ.

A hole is an object in the tree, never a marker in a text, so the cuts follow the structure alone.
"""

import json
from collections.abc import Callable
from enum import Enum
from typing import Any, Final

quoted: Final[Callable[[Any], str]] = json.JSONEncoder().encode
"""Write a string, number, boolean or null as JSON, in ASCII."""


class Hole(Enum):
    """What differs between two Pods of one role."""

    ORDINAL = 0
    MEMBER = 1
    GROUP = 2
    FINGERPRINT = 3
    NAME = 4
    """Pod name and hostname above size 1; a single Pod gets a generated name."""
    SUBDOMAIN = 5
    LEADER = 6
    ELIGIBLE = 7
    """The whole eligibility label, on answering members only; outside digest and fingerprint (decisions D4)."""


def cut(tree: dict[str, Any], *, canonical: bool) -> list[str | Hole]:
    """Write `tree` as JSON and answer its texts and holes in turn.

    Canonical: the keys of every object sorted, so that the order in which Parts placed them does not show.
    """
    pieces: list[str | Hole] = []
    run: list[str] = []

    def hole(this: Hole) -> None:
        pieces.append("".join(run))
        pieces.append(this)
        run.clear()

    def write(node: Any) -> None:
        if isinstance(node, dict):
            write_object(node)
        elif isinstance(node, list | tuple):
            separator = "["
            for entry in node:
                run.append(separator)
                write(entry)
                separator = ","
            run.append("]" if node else "[]")
        elif isinstance(node, Hole):
            run.append('"')
            hole(node)
            run.append('"')
        else:
            run.append(quoted(node))

    def write_object(entries: dict[str, Any]) -> None:
        separator = "{"
        for key in sorted(entries) if canonical else entries:
            if entries[key] is Hole.ELIGIBLE:
                if separator == "{":
                    raise ValueError("the eligibility label cannot come first: it brings its own comma")
                hole(Hole.ELIGIBLE)
                continue
            run.append(f"{separator}{quoted(key)}:")
            write(entries[key])
            separator = ","
        run.append("}" if entries else "{}")

    write(tree)
    pieces.append("".join(run))
    return pieces
