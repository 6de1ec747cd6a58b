"""Keeps one copy of each text that many objects repeat: label keys, node names, reasons.

Thousands of Pods of one role say the same words; a decoder makes a new string each time it reads one.
"""

import sys
from typing import Any, Final

import msgspec

_LONGEST: Final = 64  # longer texts are hashes and messages, which do not repeat
# Texts that no other object says: a table entry would cost more than it saves.
_UNIQUE: Final = frozenset(
    {"uid", "resource_version", "container_id", "pod_ip", "creation_timestamp", "last_transition_time", "message"}
)


def share(shape: msgspec.Struct) -> None:
    """Replace, in place, the repeating texts inside a freshly decoded Struct by the one copy of each.

    Only the owner of a Struct that nobody else has seen may do this: what changes is identity, never value.
    """
    for field in shape.__struct_fields__:
        value = getattr(shape, field)
        if not value or field in _UNIQUE:
            continue
        kept = _kept(value)
        if kept is not value:
            msgspec.structs.force_setattr(shape, field, kept)


def _kept(value: Any) -> Any:
    match value:
        case str():
            return sys.intern(value) if len(value) <= _LONGEST else value
        case dict():
            return {sys.intern(key): _kept(item) for key, item in value.items()}
        case tuple():
            return tuple([_kept(item) for item in value])
        case msgspec.Struct():
            share(value)
            return value
        case _:
            return value
