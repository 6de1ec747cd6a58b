"""The control routes of a fake engine: who drives it from another process changes it under `/lab/` of its port."""

import dataclasses
import json
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, TypeVar

from modeldeployment.lab.engines.behaviour import Behaviour
from modeldeployment.lab.engines.fake import FakeEngine
from modeldeployment.lab.engines.telling import Telling

PREFIX: Final = "/lab/"
"""What the path of every control route begins with."""

Fields = TypeVar("Fields", Behaviour, Telling)


class Misdirected(ValueError):
    """What was asked for is nothing an engine can be told; the message says what is."""


def changed(current: Fields, changes: Any) -> Fields:
    """Answer a behaviour or a telling with some fields changed to JSON values. Raises Misdirected."""
    if not isinstance(changes, Mapping):
        raise Misdirected("the body is no JSON object of fields")
    known = [each.name for each in dataclasses.fields(current)]
    fields: dict[str, Any] = {}
    for name, value in changes.items():
        if name not in known:
            raise Misdirected(f"{name!r} is no field; the fields are {', '.join(known)}")
        present = getattr(current, name)
        try:
            fields[name] = type(present)(value) if isinstance(present, Enum | frozenset | float) else value
        except (TypeError, ValueError) as error:
            raise Misdirected(f"{name} cannot be {json.dumps(value)}: {error}") from error
    return dataclasses.replace(current, **fields)


def shown(engine: FakeEngine) -> dict[str, Any]:
    """Answer what an engine is and everything it was sent, as a JSON tree."""
    model = engine.model
    return {
        "engine": engine.engine.value,
        "address": engine.address,
        "phase": engine.phase.value,
        "life": engine.life,
        "underWay": model.under_way,
        "requests": [{**dataclasses.asdict(each), "outcome": each.outcome.value} for each in engine.ledger.entries],
    }
