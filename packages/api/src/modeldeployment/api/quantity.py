"""Kubernetes quantities, exact to a nano-unit, written the way Kubernetes writes them."""

# The kubernetes package's parse_quantity would do for reading, but a pure package cannot import it.

import re
from enum import StrEnum
from functools import lru_cache, total_ordering
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

PATTERN: Final = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,2}))?$"
"""What our schemas accept in a quantity that is a string: what is read here, so that nothing stored cannot be read."""

LONGEST: Final = 64
"""Characters a quantity may take in our schemas; far above any real amount, and what makes it cheap to compare."""

_NANO: Final = 10**9
_SPELLING: Final = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?P<suffix>[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?"
)
_BINARY: Final = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_LARGEST_BINARY: Final = tuple(reversed(_BINARY.items()))
_LARGEST_DECIMAL: Final = tuple((suffix, 10 ** (power + 9)) for suffix, power in reversed(_DECIMAL.items()))


class Format(StrEnum):
    """How a quantity's suffix counts: in thousands, in 1024s or as a power of ten."""

    DECIMAL = "DecimalSI"
    BINARY = "BinarySI"
    EXPONENT = "DecimalExponent"


# No dataclass: msgspec writes one as an object of its fields, and an amount is a string wherever it is written.
@total_ordering
class Quantity:
    """An exact amount in nano-units, with the format it was written in; nothing of it can be changed.

    Amounts compare by value alone: `1024Mi` equals `1Gi`. `str` gives Kubernetes' canonical spelling.
    Anything finer than a nano-unit is rounded away from zero, as Kubernetes does; Kubernetes' cap at
    2^63-1 is not applied, and an exponent has at most two digits.
    """

    __slots__ = ("format", "nanos")

    nanos: int
    format: Format

    def __init__(self, nanos: int, format: Format = Format.DECIMAL) -> None:  # noqa: A002 (the field's name)
        object.__setattr__(self, "nanos", nanos)
        object.__setattr__(self, "format", format)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an amount cannot be changed: {name} of {self} would become {value!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"an amount cannot be changed: {self} would lose {name}")

    def __eq__(self, other: object) -> bool:
        return self.nanos == other.nanos if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: "Quantity") -> bool:
        return self.nanos < other.nanos if isinstance(other, Quantity) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __repr__(self) -> str:
        return f"Quantity(nanos={self.nanos}, format={self.format!r})"

    def __reduce__(self) -> tuple[type["Quantity"], tuple[int, Format]]:
        return type(self), (self.nanos, self.format)

    @classmethod
    def parse(cls, text: str | float) -> Self:
        """Read a quantity; raises ValueError naming what was written when it is not one."""
        match = _SPELLING.fullmatch(str(text))
        if match is None or not (match["whole"] or match["part"]):
            raise ValueError(f"{text!r} is not a quantity: write a number such as 2, 500m or 16Gi")
        part, suffix = match["part"] or "", match["suffix"] or ""
        digits = int(match["whole"] + part)
        if suffix in _BINARY:
            over, amount = 10 ** len(part), digits * _BINARY[suffix] * _NANO
            written = Format.BINARY
        else:
            exponent = suffix not in _DECIMAL
            power = int(suffix[1:]) if exponent else _DECIMAL[suffix]
            shift = power + 9 - len(part)
            amount, over = digits * 10 ** max(shift, 0), 10 ** max(-shift, 0)
            written = Format.EXPONENT if exponent else Format.DECIMAL
        nanos = -(-amount // over)
        return cls(-nanos if match["sign"] == "-" else nanos, written)

    @classmethod
    def whole(cls, units: int, written: Format = Format.DECIMAL) -> Self:
        """Return `units` whole units, for example bytes or cores."""
        return cls(units * _NANO, written)

    @property
    def units(self) -> int:
        """Whole units, rounded up."""
        return -(-self.nanos // _NANO)

    @property
    def milli(self) -> int:
        """Thousandths, rounded up."""
        return -(-self.nanos // 10**6)

    @property
    def is_whole(self) -> bool:
        """Whether no fraction of a unit is left."""
        return self.nanos % _NANO == 0

    def times(self, factor: int, over: int = 1) -> "Quantity":
        """Return this amount times `factor / over`, rounded up to a nano-unit, in the same format."""
        return Quantity(-(-self.nanos * factor // over), self.format)

    def __str__(self) -> str:
        return _spelled(self.nanos, self.format)

    @classmethod
    def _read(cls, value: object) -> "Quantity":
        if isinstance(value, Quantity):
            return value
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return cls.parse(value)
        raise ValueError(f"{value!r} is not a quantity: write a number such as 2, 500m or 16Gi")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        from pydantic_core import core_schema  # amounts are reckoned with where no model is

        return core_schema.no_info_plain_validator_function(cls._read, serialization=core_schema.to_string_ser_schema())

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: "CoreSchema", handler: "GetJsonSchemaHandler") -> "JsonSchemaValue":
        return {
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "maxLength": LONGEST,
            "pattern": PATTERN,
            "x-kubernetes-int-or-string": True,
        }


@lru_cache(4096)  # a cluster speaks of few amounts, and of each of them all the time
def _spelled(nanos: int, written: Format) -> str:
    """Write an amount as Kubernetes does, in its own format."""
    magnitude, sign = abs(nanos), "-" if nanos < 0 else ""
    if magnitude == 0:
        return "0"
    match written:
        case Format.BINARY if magnitude >= 1024 * _NANO and magnitude % _NANO == 0:
            suffix, size = next(((s, n) for s, n in _LARGEST_BINARY if magnitude // _NANO % n == 0), ("", 1))
            return f"{sign}{magnitude // _NANO // size}{suffix}"
        case Format.EXPONENT:
            suffix, size = next((s, n) for s, n in _LARGEST_DECIMAL if magnitude % n == 0)
            power = _DECIMAL[suffix]
            return f"{sign}{magnitude // size}{f'e{power}' if power else ''}"
        case _:
            suffix, size = next((s, n) for s, n in _LARGEST_DECIMAL if magnitude % n == 0)
            return f"{sign}{magnitude // size}{suffix}"
