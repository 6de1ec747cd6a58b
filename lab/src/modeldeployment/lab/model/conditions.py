"""Status conditions: read, and set as every controller sets them."""

from collections.abc import Mapping
from typing import Any

from modeldeployment.lab.model.resources import JSON


def of(thing: Mapping[str, Any], kind: str) -> JSON:
    """One condition of an object; empty where there is none."""
    conditions = (thing.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each["type"] == kind), {})


def true(thing: Mapping[str, Any], kind: str) -> bool:
    """Whether an object has a condition that is True."""
    return of(thing, kind).get("status") == "True"


def put(status: Mapping[str, Any], kind: str, value: bool, reason: str, message: str, now: str) -> JSON:
    """Return a status with a condition set; the time of its last transition moves only when its status flips."""
    said = "True" if value else "False"
    conditions = list(status.get("conditions") or ())
    old: JSON = next((each for each in conditions if each["type"] == kind), {})
    since = old["lastTransitionTime"] if old.get("status") == said else now
    new = {"type": kind, "status": said, "reason": reason, "message": message, "lastTransitionTime": since}
    rest = [new if each["type"] == kind else each for each in conditions]
    return {**status, "conditions": rest if old else [*conditions, new]}
