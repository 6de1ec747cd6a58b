"""JSON with holes: text cut at the places where Pods of one role differ.

A hole is an object in the tree. The encoder, which is C, leaves a mark in its place, and the mark is one that no value
holds, so the cuts follow the structure alone.
"""

import json
from collections.abc import Callable
from enum import Enum
from typing import Any, Final, cast

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
    Raises ValueError for an eligibility label that comes first in its object.
    """
    holes: list[Hole] = []
    mark = _MARK
    while True:
        text = _encoder(holes, mark, canonical=canonical).encode(tree)
        texts = text.split(mark)
        if len(texts) == len(holes) + 1:
            break
        # Some value holds the mark. Doubled, it soon is longer than any value, whatever a user writes.
        holes.clear()
        mark += mark
    pieces: list[str | Hole] = [texts[0]]
    for hole, text in zip(holes, texts[1:], strict=True):
        if hole is Hole.ELIGIBLE:
            before, comma, key = cast("str", pieces[-1]).rpartition(',"')
            if not comma or "{" in key:
                raise ValueError("the eligibility label cannot come first: it brings its own comma")
            pieces[-1], text = before, text[1:]
        pieces += [hole, text]
    return pieces


_MARK: Final = "<hole>"


def _encoder(holes: list[Hole], mark: str, *, canonical: bool) -> json.JSONEncoder:
    """An encoder that leaves `mark` in a hole's place and notes which hole it was, in the order of the text."""

    def noted(node: Any) -> str:
        if not isinstance(node, Hole):
            raise TypeError(f"{node!r} is no JSON")
        holes.append(node)
        return mark

    return json.JSONEncoder(sort_keys=canonical, separators=(",", ":"), default=noted)
