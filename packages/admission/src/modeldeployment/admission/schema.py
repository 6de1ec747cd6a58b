"""A submitted object against the schema of its kind, with no API server at hand."""

from collections.abc import Mapping
from typing import Any

from modeldeployment.admission.verdict import Refusal


def violations(body: Mapping[str, Any]) -> tuple[Refusal, ...]:
    """TODO."""
    return ()
