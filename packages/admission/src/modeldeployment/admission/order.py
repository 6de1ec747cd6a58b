"""The order in which findings are told: that of the fields in the schema, then of the entries in a list."""

from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar, get_args

from pydantic import BaseModel

from modeldeployment.admission import patching
from modeldeployment.admission.verdict import Finding
from modeldeployment.api.document import Document

_LAST = 1 << 30

Told = TypeVar("Told", bound=Finding)


def in_field_order(kind: type[Document], findings: Iterable[Told]) -> list[Told]:
    """Sort by the place of the field in `kind`; findings about one field keep the order in which they were made."""
    return sorted(findings, key=lambda finding: _place(kind, finding.field))


@cache
def _fields(model: type[BaseModel]) -> dict[str, tuple[int, Any]]:
    return {
        field.alias or name: (position, _model(field.annotation))
        for position, (name, field) in enumerate(model.model_fields.items())
    }


def _model(annotation: Any) -> Any:
    """The model an annotation is about, through optionals and lists; None where it is about none."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model(part))), None)


def _place(kind: type[BaseModel], field: str) -> tuple[int, ...]:
    place: list[int] = []
    model: Any = kind
    for step in patching.steps(field):
        if isinstance(step, int):
            place.append(step)
        elif model is None:
            place.append(_LAST)
        else:
            position, model = _fields(model).get(step, (_LAST, None))
            place.append(position)
    return tuple(place)
