"""The annotation by which a user asks for an aborted operation once more: `role:ordinal:token`.

Source: facts reconcile §7 (Retry), facts shutdown §2 (Abort).
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

_PARTS: Final = 3


@dataclass(frozen=True, slots=True)
class Retry:
    """A request to retry; the token is the user's own and says which request it is."""

    role: str
    ordinal: int
    token: str


class Refused(Enum):
    """Why a request to retry is not heeded."""

    MALFORMED = auto()
    OTHER_TARGET = auto()
    NOT_ABORTED = auto()
    NOT_WANTED = auto()
    GONE = auto()


def parse(annotation: str) -> Retry | None:
    """Read the annotation; None where it has not exactly three parts, of which the middle one is plain digits."""
    parts = annotation.split(":")
    if len(parts) != _PARTS:
        return None
    role, ordinal, token = parts
    if not role or not token or not ordinal.isascii() or not ordinal.isdigit():
        return None
    return Retry(role, int(ordinal), token)
