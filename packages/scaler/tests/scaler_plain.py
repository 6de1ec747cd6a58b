"""Any plain value, for tests that hold of all of them: a strategy made of the types of its fields."""

import functools
import types
from datetime import UTC, datetime
from enum import Enum
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from hypothesis import strategies as st
from modeldeployment.api import Quantity

INSTANTS = st.integers(0, 10**9).map(lambda seconds: datetime.fromtimestamp(1_500_000_000 + seconds, UTC))
AMOUNTS = st.integers(0, 10**15).map(Quantity)
COUNTS = st.integers(0, 10**6)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=4)

_LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    Quantity: AMOUNTS,
    datetime: INSTANTS,
    int: COUNTS,
    str: TEXTS,
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    type(None): st.none(),
    Any: st.recursive(TEXTS | COUNTS | st.booleans(), lambda more: st.lists(more, max_size=2), max_leaves=4),
}


@functools.cache
def values(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a plain type."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return values(arguments[0])
    if origin in (Union, types.UnionType):
        return st.one_of(*(values(each) for each in arguments))
    if origin is tuple:
        return st.lists(values(arguments[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(values(arguments[0]), values(arguments[1]), max_size=2)
    if kind in _LEAVES:
        return _LEAVES[kind]
    if hasattr(kind, "kinds"):
        return st.sampled_from([each for words in kind.kinds for each in words])
    if issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    return st.builds(kind, **{each.name: values(each.type) for each in msgspec.structs.fields(kind)})
