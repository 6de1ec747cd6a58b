"""A submitted object against the schema of its kind, with no API server at hand: the same verdict, in our words.

What is refused and at which field is the API server's own sense (a create with strict field validation): `structure`
finds it, `rows` word it.
"""

from collections.abc import Mapping
from typing import Any

from modeldeployment.admission.schema import rows, structure, suggesting
from modeldeployment.admission.verdict import Refusal
from modeldeployment.api.keys import API_VERSION, GROUP


def violations(body: Mapping[str, Any]) -> tuple[Refusal, ...]:
    """Refuse what the API server's schema of the kind refuses, in field order, at most one refusal for a field.

    `body` is an object of one of our kinds as JSON, without defaults or with them; any JSON value is answered.
    Cross-field rules of a schema are not judged here. Source: decisions D20 and D45, spec 1 §Admission refusals.
    """
    found = body if isinstance(body, Mapping) else {}
    kind = structure.of(suggesting.text(found.get("kind")))
    if kind is None or found.get("apiVersion") != API_VERSION:
        return tuple(rows.unknown_kind.judge(found))
    subject = structure.Submitted(kind, dict(found))
    told = {refusal.field: refusal for each in reversed(rows.RULES) for refusal in each.judge(subject)}
    places = {structure.spelled(fault.path): place for place, fault in enumerate(subject.faults)}
    return tuple(sorted(told.values(), key=lambda refusal: places[refusal.field]))


def is_ours(body: Any) -> bool:
    """Whether an object claims to be of our API group, whatever its version or kind."""
    return isinstance(body, Mapping) and suggesting.text(body.get("apiVersion")).partition("/")[0] == GROUP


def defaulted(body: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of an object with its schema's defaults written out, as the API server stores it; others only copied."""
    kind = structure.of(suggesting.text(body.get("kind")))
    return dict(body) if kind is None else kind.defaulted(body)
