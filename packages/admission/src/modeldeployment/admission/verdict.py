"""What a review answers: findings, and whether they refuse the object.

Source: facts admission §2.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from modeldeployment.admission.patching import Operation


class Cause(StrEnum):
    """What is wrong with a field, in the words of Kubernetes' own `status.details.causes`."""

    INVALID = "FieldValueInvalid"
    REQUIRED = "FieldValueRequired"
    FORBIDDEN = "FieldValueForbidden"
    DUPLICATE = "FieldValueDuplicate"
    NOT_SUPPORTED = "FieldValueNotSupported"
    NOT_FOUND = "FieldValueNotFound"
    TOO_LONG = "FieldValueTooLong"
    TOO_MANY = "FieldValueTooMany"


def brief(text: str, longest: int = 24) -> str:
    """A name or value of a user's, cut so that the sentence around it stays whole."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing said about one field.

    `code` is stable and has a page; `field` is a Kubernetes field path; `value` is the JSON value found there, None
    where there is none; `why` and `way_out` are sentences without a capital or a full stop, made to be joined. `patch`
    makes the object acceptable to this rule; it is empty where no one edit is right.
    """

    code: str
    field: str
    value: Any
    why: str
    way_out: str
    cause: Cause = Cause.INVALID
    patch: tuple[Operation, ...] = ()


class Refusal(Finding):
    """A finding that keeps the object out."""

    __slots__ = ()


class Caution(Finding):
    """A finding that lets the object in and says what will surprise its owner."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Unready:
    """What cannot be judged yet, because something in the cluster has not been observed; asking again may help."""

    field: str
    why: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to one review.

    `patch` is what defaulting adds and `defaulted` the object with it. `refusals` and `warnings` stand in field order.
    `unready` says what stands in the way of judging; `unread` names facts that were not given, so that rules which
    hang on them said nothing.
    """

    defaulted: dict[str, Any]
    patch: tuple[Operation, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    warnings: tuple[Caution, ...] = ()
    unready: tuple[Unready, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def allowed(self) -> bool:
        """Whether the object is let in."""
        return not self.refusals and not self.unready
