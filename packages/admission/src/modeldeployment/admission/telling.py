"""Findings in words and as JSON: the same sentence and the same keys for the webhook and the command line."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from modeldeployment.admission.verdict import Cause, Finding

WORDS: Final[Mapping[Cause, str]] = {
    Cause.INVALID: "Invalid value",
    Cause.REQUIRED: "Required value",
    Cause.FORBIDDEN: "Forbidden",
    Cause.DUPLICATE: "Duplicate value",
    Cause.NOT_SUPPORTED: "Unsupported value",
    Cause.NOT_FOUND: "Not found",
    Cause.TOO_LONG: "Too long",
    Cause.TOO_MANY: "Too many",
}
"""How Kubernetes itself spells each cause in front of a message."""

_SILENT: Final = (Cause.REQUIRED, Cause.FORBIDDEN)
"""Causes whose value says nothing: it is missing, or it is not what is wrong."""

_LONGEST: Final = 120


def sentence(finding: Finding) -> str:
    """`Invalid value: "x": why; way out (MD012)`: everything about a finding but its field."""
    shown = "" if finding.value is None or finding.cause in _SILENT else f"{value(finding.value)}: "
    way_out = f"; {finding.way_out}" if finding.way_out else ""
    return f"{WORDS[finding.cause]}: {shown}{finding.why}{way_out} ({finding.code})"


def caution(finding: Finding) -> str:
    """`MDW03 spec.router: why; way out`: a whole warning on one line."""
    way_out = f"; {finding.way_out}" if finding.way_out else ""
    return f"{finding.code} {finding.field}: {finding.why}{way_out}"


def value(of: Any) -> str:
    """A JSON value as JSON spells it, cropped where it is long."""
    text = msgspec.json.encode(of).decode()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def as_json(finding: Finding) -> dict[str, Any]:
    """A finding for programs: code, field, value, message, wayOut, patch."""
    return {
        "code": finding.code,
        "field": finding.field,
        "value": finding.value,
        "message": finding.why,
        "wayOut": finding.way_out,
        "patch": [dict(operation) for operation in finding.patch],
    }
