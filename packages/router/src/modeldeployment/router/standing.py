"""Whose a rendered value is."""

from enum import StrEnum


class Standing(StrEnum):
    """Whose a rendered value is: the operator's, its default until the user says otherwise, or the user's."""

    OWNED = "owned"
    DEFAULTED = "defaulted"
    USER = "user"
