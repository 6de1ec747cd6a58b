"""CEL expressions that compare a field before and after an update, for transition rules of a CRD.

Each treats an absent field as the zero value it reads as, and is cheap enough for the API server's cost budget:
comparing CEL optionals or unbounded values is not.
"""

from typing import Any, Final

Rule = dict[str, Any]

SAME: Final = "self == oldSelf"
"""The rule's own node, which is always present, did not change."""


def same_presence(name: str) -> str:
    """The field was neither added nor removed."""
    return f"has(self.{name}) == has(oldSelf.{name})"


def same_value(name: str, zero: str) -> str:
    """The field reads the same; absent reads as `zero`, a CEL literal."""
    new, old = (f"(has({side}.{name}) ? {side}.{name} : {zero})" for side in ("self", "oldSelf"))
    return f"{new} == {old}"


def same_object(name: str) -> str:
    """The field was neither added nor removed nor changed in any part."""
    return f"{same_presence(name)} && (!has(self.{name}) || self.{name} == oldSelf.{name})"


def same_amount(name: str) -> str:
    """The quantity was neither added nor removed and is still the same amount, whether written 2 or "2"."""
    new, old = (f"quantity(string({side}.{name}))" for side in ("self", "oldSelf"))
    return f"{same_presence(name)} && (!has(self.{name}) || {new}.compareTo({old}) == 0)"
