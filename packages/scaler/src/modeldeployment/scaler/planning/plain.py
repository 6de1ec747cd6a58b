"""What every value of planning is made of: frozen, comparable, and the same JSON whoever writes it.

These values are what a journal line holds, so they are spelt as status spells them: camelCase, amounts as quantities,
instants in UTC to the second.
"""

from datetime import datetime
from typing import Annotated, TypeAlias

import msgspec


def _spelt(name: str) -> str:
    """A field's name as Kubernetes spells it: `decision_id` is `decisionID`."""
    first, *others = name.split("_")
    return first + "".join(each.upper() if each in ("id", "uid") else each.capitalize() for each in others)


class Plain(
    msgspec.Struct, frozen=True, kw_only=True, rename=_spelt, omit_defaults=True, forbid_unknown_fields=True, gc=False
):
    """A value that cannot be changed; a field that has its default is not written."""


Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
"""A number of things, an ordinal, a generation: never below zero, which decoding holds."""

Instant: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]
"""A moment with its offset, which decoding holds; whole seconds, in UTC, wherever the rim makes one."""

Vector: TypeAlias = dict[str, Count]
"""Replicas by role, in the order of the scaler's roles. Nobody changes one; a stage makes another."""
