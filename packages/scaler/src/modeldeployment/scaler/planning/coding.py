"""Plain values as JSON and back: the same bytes for the same value, and a sentence for what is none.

Amounts are written as Kubernetes writes them, instants in UTC, and a field that has its default is not written.
"""

from typing import Any, TypeVar

import msgspec

from modeldeployment.api import Quantity
from modeldeployment.scaler.errors import Undecodable
from modeldeployment.scaler.planning import checking, words

T = TypeVar("T")


def encode(value: object) -> bytes:
    """A plain value as one line of JSON; equal values whose vectors stand in one order have equal bytes."""
    return _ENCODER.encode(value)


def decode(data: bytes, kind: type[T]) -> T:
    """The value that JSON says; raises Undecodable naming the field, the value, why, and the way out."""
    try:
        return msgspec.json.decode(data, type=kind, dec_hook=hook)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Undecodable(_sentence(data, kind, error)) from error


def convert(value: Any, kind: type[T]) -> T:
    """The value that objects read from JSON or YAML say; raises Undecodable as `decode` does."""
    try:
        return msgspec.convert(value, kind, dec_hook=hook)
    except msgspec.ValidationError as error:
        raise Undecodable(checking.sentence(value, kind, hook) or str(error)) from error


def hook(kind: type, value: Any) -> Any:
    """Read what msgspec does not know: amounts, and words of two kinds."""
    if kind is Quantity:
        return Quantity.parse(_text(value))
    kinds = getattr(kind, "kinds", None)
    if kinds is not None:
        return words.word(_text(value), kinds)
    raise NotImplementedError(kind)


def _text(value: Any) -> str:
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise ValueError("is not a string")  # noqa: TRY004 (msgspec takes a ValueError for what is wrong with a value)
    return str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Quantity):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} has no place in a plain value")


_ENCODER = msgspec.json.Encoder(enc_hook=_plain)


def _sentence(data: bytes, kind: type, error: Exception) -> str:
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as broken:
        return f"it is not JSON: {broken}"
    return checking.sentence(value, kind, hook) or str(error)
