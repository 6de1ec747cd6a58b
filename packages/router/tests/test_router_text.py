"""The text of documents reads back as what was written, whatever it holds."""

import hashlib
import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.router import text

SCALARS = (
    st.booleans() | st.integers() | st.text() | st.sampled_from(["yes", "Off", "null", "12", "1e3", "a: b", "a #b"])
)
TABLES = st.recursive(
    SCALARS,
    lambda inner: (
        st.dictionaries(st.text(max_size=20), inner, max_size=4)
        | st.lists(SCALARS | st.dictionaries(st.text(max_size=20), inner, max_size=3), max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=20), TABLES, min_size=1, max_size=4))
def test_a_document_reads_back_as_it_was_written(document: dict[str, Any]) -> None:
    assert yaml.safe_load(text.yaml(document)) == document


def test_keys_come_in_order_and_only_what_must_be_quoted_is() -> None:
    document = {
        "b": [{"z": 1, "a": "kv@"}, "x", {"deep": {"er": []}}],
        "a": {"on": True, "address": "0.0.0.0", "seconds": "10s", "url": "http://qwen.team-a.svc:8000", "no": "no"},
        "c": {},
    }
    assert text.yaml(document) == (
        'a:\n  address: "0.0.0.0"\n  "no": "no"\n  "on": true\n  seconds: 10s\n  url: http://qwen.team-a.svc:8000\n'
        "b:\n- a: kv@\n  z: 1\n- x\n- deep:\n    er: []\n"
        "c: {}\n"
    )


@pytest.mark.parametrize("value", [None, 1.5, {"a": None}, [[1]]])
def test_a_value_no_router_has_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="no document of a router holds a"):
        text.yaml({"key": value})


def test_json_is_spelled_as_go_spells_it() -> None:
    assert text.json_line({"b": "<a>&é\u2028", "a": [1, None]}) == (
        '{"a":[1,null],"b":"\\u003ca\\u003e\\u0026é\\u2028"}'
    )
    assert json.loads(text.json_line({"b": "<a>&é\u2028"})) == {"b": "<a>&é\u2028"}


def test_the_digest_is_that_of_the_data_and_not_of_its_order() -> None:
    data = {"b": "2", "a": "<1>"}
    assert text.digest(data) == hashlib.sha256(b'{"a":"\\u003c1\\u003e","b":"2"}').hexdigest()
    assert text.digest(dict(reversed(data.items()))) == text.digest(data)
