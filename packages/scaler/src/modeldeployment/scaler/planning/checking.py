"""What exactly is wrong with a document: the field, its value, why, and the way out.

Decoders name a place within a mapping or a list only as `[...]`; this walks the type beside the value and finds it.
"""

import difflib
import types
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

Hook = Callable[[type, Any], Any]

_LONGEST = 60


def sentence(value: Any, kind: Any, hook: Hook) -> str | None:
    """The first thing that keeps the value from being of that kind, as a sentence; None where nothing does."""
    return next(_wrong(value, kind, "", hook), None)


def _wrong(value: Any, kind: Any, path: str, hook: Hook) -> Iterator[str]:
    kind = _bare(kind, value)
    origin, arguments = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield from _struct(value, kind, path, hook)
    elif origin is dict and isinstance(value, dict):
        for key, each in value.items():
            yield from _wrong(each, arguments[1], _joined(path, key), hook)
    elif origin is tuple and isinstance(value, list):
        for index, each in enumerate(value):
            yield from _wrong(each, arguments[0], f"{path}[{index}]", hook)
    else:
        try:
            msgspec.convert(value, kind, dec_hook=hook)
        except msgspec.ValidationError as error:
            yield f"{path or 'the document'} is {shown(value)}: {_why(str(error), kind)}"


def _struct(value: Any, kind: type[msgspec.Struct], path: str, hook: Hook) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path or 'the document'} is {shown(value)}: it has to be an object"
        return
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    for name in value:
        if name not in fields:
            close = difflib.get_close_matches(name, fields, 1)
            hint = f"write {close[0]}" if close else f"known here: {', '.join(fields)}"
            yield f"{_joined(path, name)} is unknown\nhint: {hint}"
    for name, field in fields.items():
        if name in value:
            yield from _wrong(value[name], field.type, _joined(path, name), hook)
        elif field.required:
            yield f"{_joined(path, name)} is missing\nhint: it has no default; write it"


def _bare(kind: Any, value: Any) -> Any:
    """The type without its optional None, where the value is not null; constraints stay."""
    if get_origin(kind) in (Union, types.UnionType) and value is not None:
        others = [each for each in get_args(kind) if each is not type(None)]
        return others[0] if len(others) == 1 else kind
    if get_origin(kind) is Annotated and get_origin(get_args(kind)[0]) in (dict, tuple):
        return get_args(kind)[0]
    return kind


def _joined(path: str, name: object) -> str:
    return f"{path}.{name}" if path else str(name)


def _why(told: str, kind: Any) -> str:
    """What msgspec says, as our sentences say it; of a word that is none, which there are."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return f"it is none of {', '.join(each.value for each in kind)}"
    told = told.split(" - at `")[0]
    return told[:1].lower() + told[1:].replace("`", "")


def shown(value: Any) -> str:
    """The value as it stands in the document, cropped."""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
