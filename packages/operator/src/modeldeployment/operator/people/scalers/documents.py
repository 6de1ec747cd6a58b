"""The input of a single pass: a JSON document in the form of a journal's line, in which most may be left out."""

import json
import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from modeldeployment.admission import schema, telling
from modeldeployment.api.keys import API_VERSION
from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people.scalers.passes import spelt
from modeldeployment.scaler.errors import Undecodable
from modeldeployment.scaler.journal import Line
from modeldeployment.scaler.planning import coding

STDIN: Final = "-"


def read(source: str, now: datetime) -> Line:
    """Read and complete a document; raises UsageError naming what is wrong with it and where."""
    name, text = _text(source)
    document = _json(name, text)
    if not isinstance(document, dict):
        raise UsageError(f"{name} is {telling.value(document)}: it has to be an object with spec and target")
    try:
        line = coding.convert(completed(document, now), Line)
    except Undecodable as error:
        raise UsageError(f"{name}: {error}") from error
    for wrong in (*_unknown_roles(line), *_refused(line)):
        raise UsageError(f"{name}: {wrong}")
    return line


def completed(document: dict[str, Any], now: datetime) -> dict[str, Any]:
    """The document with everything that may be left out; what is there stays, right or wrong.

    The pass is at the latest reading, or now; every role was read whole at the pass, is Fresh, and has all its declared
    replicas ready and admitted; nothing is remembered; nothing is known of who asks.
    """
    roles = _mapping(_mapping(document.get("reading")).get("roles"))
    at = document.get("at") or max(_instants(roles), default=spelt(now))
    target = document.get("target")
    declared = _declared(target)
    made: dict[str, Any] = {"at": at, "namespace": "default", "scalerUID": "", "generation": 1}
    made |= {"decisionID": "planned", "term": 1, "reading": {"roles": {}}} | document
    if isinstance(target, dict):
        made["target"] = {"name": "deployment", "uid": "", "generation": 1} | target
        if isinstance(target.get("roles"), list):
            made["target"]["roles"] = [_role(each) for each in target["roles"]]
    made.setdefault("name", _mapping(made.get("target")).get("name", "scaler"))
    spec = document.get("spec")
    if isinstance(spec, dict):
        made["spec"] = {"targetRef": {"name": _mapping(made.get("target")).get("name", "")}} | spec
    if roles:
        made["reading"] = document["reading"] | {
            "roles": {name: _read(each, declared.get(name), at) for name, each in roles.items()}
        }
    return made


def _role(role: Any) -> Any:
    if not isinstance(role, dict):
        return role
    replicas = role.get("replicas")
    count = replicas if isinstance(replicas, int) and 0 <= replicas <= 10_000 else 0
    seats = [{"ordinal": ordinal, "admitted": True, "ready": True} for ordinal in range(count)]
    return {"kind": "Server", "seats": seats} | role


def _read(reading: Any, replicas: int | None, at: Any) -> Any:
    if not isinstance(reading, dict):
        return reading
    ready = {} if replicas is None else {"ready": replicas}
    return {"state": "Fresh", "complete": True, "at": at} | ready | reading


def _declared(target: Any) -> dict[str, int]:
    roles = _mapping(target).get("roles")
    found = [each for each in roles if isinstance(each, dict)] if isinstance(roles, list) else []
    return {str(each.get("name")): each["replicas"] for each in found if isinstance(each.get("replicas"), int)}


def _instants(roles: dict[str, Any]) -> Iterable[str]:
    return (each["at"] for each in roles.values() if isinstance(each, dict) and isinstance(each.get("at"), str))


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _unknown_roles(line: Line) -> Iterable[str]:
    names = [role.name for role in line.target.roles]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield f"target.roles[{index}].name is {name!r}: another role has that name\nhint: rename one of the two"
    for name in line.reading.roles:
        if name not in names:
            yield (
                f"reading.roles.{name}: the target has no such role; it has {', '.join(names) or 'none'}\n"
                "hint: write it in target.roles, or leave its reading out"
            )


def _refused(line: Line) -> Iterable[str]:
    """What the API server would refuse of the spec; the planner would pass over a misspelt field."""
    body = {
        "apiVersion": API_VERSION,
        "kind": "ModelDeploymentScaler",
        "metadata": {"name": "scaler"},
        "spec": line.spec,
    }
    for each in schema.violations(body):
        way = f"\nhint: {each.way_out}" if each.way_out else ""
        shown = f"{telling.value(each.value)}: " if each.value is not None else ""
        yield f"{each.field}: {shown}{each.why}{way}"


def _text(source: str) -> tuple[str, str]:
    try:
        if source == STDIN:
            return "<stdin>", sys.stdin.buffer.read().decode("utf-8")
        return source, Path(source).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{source} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{source} is no text: byte {error.start} is not UTF-8") from error


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_number)
    except json.JSONDecodeError as error:
        where = f"{name}:{error.lineno}:{error.colno}"
        if error.msg == "Extra data":
            raise UsageError(
                f"{where}: a second document begins here, and one pass is planned\n"
                "hint: give one line of a journal; kubectl md replay takes all of them"
            ) from error
        raise UsageError(f"{where}: not JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}: not JSON that can be read: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise ValueError(f"the key {key} is there twice, and one of the two would be dropped")
        made[key] = value
    return made


def _number(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")
