"""Rules a CRD holds in CEL, and the expressions they are made of, most of which compare a field before and after.

Each expression treats an absent field as the zero value it reads as, and is cheap enough for the API server's cost
budget: comparing CEL optionals or unbounded values is not.
"""

from dataclasses import dataclass
from typing import Any, Final

SAME: Final = "self == oldSelf"
"""The rule's own node, which is always present, did not change."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a kind's schema refuses, under the code that admission and the command line refuse it with as well.

    `why` and `way_out` are sentences without a capital or a full stop, and `why` reads on from the field's name.
    `holds` is the CEL expression, judged at the node it is attached to; `at` is the field below that node to blame.
    """

    code: str
    kind: str
    field: str
    why: str
    way_out: str
    holds: str = SAME
    at: str = ""
    reason: str = ""

    @property
    def sentence(self) -> str:
        """Field, why and way out in one sentence, without the code."""
        return f"{self.field} {self.why}; {self.way_out}"

    @property
    def compares(self) -> bool:
        """Whether the rule compares with the stored object, so that it judges edits alone."""
        return "oldSelf" in self.holds

    def keywords(self) -> dict[str, Any]:
        """The entry of `x-kubernetes-validations`."""
        optional = {"fieldPath": self.at, "reason": self.reason}
        written = {key: value for key, value in optional.items() if value}
        return {"rule": self.holds, **written, "message": f"{self.sentence} ({self.code})"}


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
