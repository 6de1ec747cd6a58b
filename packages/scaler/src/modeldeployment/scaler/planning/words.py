"""Fields that hold a word of one of two kinds, which one `msgspec` union of string enums cannot say."""

from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from modeldeployment.api.scalerconditions import RebalanceReason, RoleReason, ScalerReason


class _Either(type):
    """What makes the members of two enums count as values of one type, which a decoder asks after its hook."""

    kinds: tuple[type[StrEnum], ...]

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.kinds)


if TYPE_CHECKING:
    RoleWord: TypeAlias = RoleReason | ScalerReason
    """Why a role has the count that it has: its algorithm's word, or that of what constrained it."""
    RebalanceWord: TypeAlias = RebalanceReason | ScalerReason
    """How far a move of capacity is, or why there is none."""
else:

    class RoleWord(metaclass=_Either):
        """A reason of a role or of a condition."""

        kinds: ClassVar[tuple[type[StrEnum], ...]] = (RoleReason, ScalerReason)

    class RebalanceWord(metaclass=_Either):
        """A reason of a rebalance or of a condition."""

        kinds: ClassVar[tuple[type[StrEnum], ...]] = (RebalanceReason, ScalerReason)


def word(text: str, kinds: tuple[type[StrEnum], ...]) -> StrEnum:
    """The first of the kinds that has that word; raises ValueError naming every word where none has it."""
    for kind in kinds:
        if text in {each.value for each in kind}:
            return kind(text)
    known = ", ".join(dict.fromkeys(each.value for kind in kinds for each in kind))
    raise ValueError(f"is none of {known}")
