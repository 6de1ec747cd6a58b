"""Whatever stands in a document or a journal: it is planned, or refused in a sentence, and never anything else."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people.scalers import documents, reasons
from modeldeployment.scaler.errors import Undecodable
from modeldeployment.scaler.journal import decode, encode, repeat
from people_journals import planned

LINE: dict[str, Any] = json.loads(encode(planned(0)))
NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "server", "1e9", "2026-11-30T10:00:00Z", "9999-12-31T23:59:59Z", "Fresh", "-1", "\u2028"]),
    lambda more: st.lists(more, max_size=2) | st.dictionaries(st.sampled_from(["roles", "name", "server"]), more),
    max_leaves=4,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, each in below for place in places(each, (*path, key)))]


PLACES = places(LINE)


def put(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value at one place."""
    if not path:
        return value
    copy = dict(document) if isinstance(document, dict) else list(document)
    copy[path[0]] = put(copy[path[0]], path[1:], value)
    return copy


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(PLACES), VALUES)
def test_a_document_with_anything_anywhere_is_planned_or_refused(
    tmp_path_factory: pytest.TempPathFactory, path: tuple[Any, ...], value: Any
) -> None:
    file = tmp_path_factory.getbasetemp() / "strange.json"
    file.write_text(json.dumps(put(LINE, path, value)))
    try:
        line = documents.read(str(file), NOW)
        plan = repeat(line)
    except (UsageError, Undecodable):
        return
    assert list(reasons.of(line, plan, None, "here").lines())
    assert json.dumps(reasons.of(line, plan, None, "here").table())


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(PLACES), VALUES)
def test_a_line_with_anything_anywhere_is_read_or_refused(path: tuple[Any, ...], value: Any) -> None:
    data = json.dumps(put(LINE, path, value)).encode()
    try:
        line = decode(data)
        again = decode(encode(line))
    except Undecodable:
        return
    assert again == line
