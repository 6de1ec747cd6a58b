"""Whatever the schema of a kind admits is read, and what is written of it reads as the same object."""

import json

import pytest
from api_values import UNKNOWN, of_kind
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from modeldeployment.api.crds import KINDS, Kind
from pydantic import ValidationError


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@given(data=st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_the_schema_admits_is_read_and_written_without_loss(kind: Kind, data: st.DataObject) -> None:
    document = data.draw(of_kind(kind.name))
    read = kind.model.model_validate_json(json.dumps(document))
    assert kind.model.model_validate(read.body()) == read
    assert kind.model.model_validate_json(json.dumps(read.body())).body() == read.body()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@given(data=st.data())
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
def test_fields_of_a_later_release_change_nothing_that_is_read(kind: Kind, data: st.DataObject) -> None:
    document = data.draw(of_kind(kind.name))
    later = {**document, **UNKNOWN, "spec": document["spec"] | UNKNOWN, "status": document.get("status", {}) | UNKNOWN}
    expected = kind.model.model_validate({**document, "status": document.get("status", {})})
    assert kind.model.model_validate(later) == expected


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("spec", [None, [], "x", 1, {}])
def test_an_object_without_its_spec_is_refused_and_nothing_else_happens(kind: Kind, spec: object) -> None:
    with pytest.raises(ValidationError):
        kind.model.model_validate({"metadata": {"name": "a"}, "spec": spec})
