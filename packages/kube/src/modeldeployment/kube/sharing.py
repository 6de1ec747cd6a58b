"""Keeps one copy of each text that many objects repeat: label keys, node names, reasons.

Thousands of Pods of one role say the same words; a decoder makes a new string each time it reads one.
"""

import typing
from collections.abc import Callable
from sys import intern
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import force_setattr

_LONGEST: Final = 64  # longer texts are hashes and messages, which do not repeat
# Texts that no other object says: a table entry would cost more than it saves.
_UNIQUE: Final = frozenset(
    {"uid", "resource_version", "container_id", "pod_ip", "creation_timestamp", "last_transition_time", "message"}
)

Share: TypeAlias = Callable[[Any], None]


def sharer(shape: type[msgspec.Struct]) -> Share:
    """Make the function that replaces, in place, the repeating texts inside one freshly decoded Struct of a shape.

    Only the owner of a Struct that nobody else has seen may call it: what changes is identity, never value.
    """
    texts: list[str] = []
    replaced: list[tuple[str, Callable[[Any], Any]]] = []
    inner: list[tuple[str, Share]] = []
    each: list[tuple[str, Share]] = []
    for field in msgspec.structs.fields(shape):
        kind, arguments = _parts(field.type)
        if field.name in _UNIQUE:
            continue
        if kind is str:
            texts.append(field.name)
        elif kind is dict:
            replaced.append((field.name, _words))
        elif kind is tuple and arguments[0] is str:
            replaced.append((field.name, lambda names: tuple(map(intern, names))))
        elif kind is tuple:
            each.append((field.name, sharer(arguments[0])))
        elif isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            inner.append((field.name, sharer(kind)))

    def share(struct: Any) -> None:
        for name in texts:
            text = getattr(struct, name)
            if text:
                force_setattr(struct, name, intern(text))
        for name, replace in replaced:
            if value := getattr(struct, name):
                force_setattr(struct, name, replace(value))
        for name, share_inner in inner:
            if (value := getattr(struct, name)) is not None:
                share_inner(value)
        for name, share_each in each:
            for item in getattr(struct, name):
                share_each(item)

    return share


def _words(texts: dict[str, str]) -> dict[str, str]:
    return {intern(key): intern(text) if len(text) <= _LONGEST else text for key, text in texts.items()}


def _parts(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """Split `tuple[X, ...]`, `dict[K, V]` and `X | None` into what it is and what it holds."""
    arguments = typing.get_args(annotation)
    if type(None) in arguments:
        return next(item for item in arguments if item is not type(None)), ()
    return typing.get_origin(annotation) or annotation, arguments
