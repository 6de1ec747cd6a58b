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


def amount(side: str, name: str, unset: int) -> str:
    """The quantity, whether written 2 or "2"; `unset` is what it reads as when absent."""
    return f"quantity(has({side}.{name}) ? string({side}.{name}) : '{unset}')"


def same_amount(name: str, unset: int) -> str:
    """The quantity reads the same."""
    return f"{amount('self', name, unset)}.compareTo({amount('oldSelf', name, unset)}) == 0"


def fixed_amount(name: str) -> str:
    """The quantity was neither added nor removed and is still the same amount."""
    return f"{same_presence(name)} && {same_amount(name, 0)}"


def counts(name: str) -> str:
    """The quantity, if present, is a whole number and not negative."""
    return f"{amount('self', name, 0)}.isInteger() && {amount('self', name, 0)}.compareTo(quantity('0')) >= 0"
