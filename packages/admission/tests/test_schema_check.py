"""A submitted object against the schema of its kind, with no API server."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modeldeployment.admission import patching
from modeldeployment.admission.examples import DEPLOYMENT, changed
from modeldeployment.admission.schema import defaulted, structure, violations
from modeldeployment.admission.schema import rows as sorts
from modeldeployment.api.crds import crds
from schema_cases import CASES, VALID, SchemaCase

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


def schema_of(kind: str) -> Any:
    """The schema of a kind in its CustomResourceDefinition."""
    definition = next(each for each in crds() if each["spec"]["names"]["kind"] == kind)
    return definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


@pytest.mark.parametrize("kind", VALID)
def test_what_is_checked_is_the_schema_of_the_definition(kind: str) -> None:
    found = structure.of(kind)
    assert found is not None
    assert {**found.node["properties"], "metadata": {"type": "object"}} == schema_of(kind)["properties"]


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_an_object_is_refused_as_its_row_says(case: SchemaCase) -> None:
    assert [(each.code, each.field) for each in violations(case.body)] == ([case.refused] if case.refused else [])


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_a_refusal_with_a_patch_is_settled_by_it(case: SchemaCase) -> None:
    for each in violations(case.body):
        if each.patch:
            assert violations(patching.applied(case.body, each.patch)) == ()


@pytest.mark.parametrize("row", sorts.TABLE, ids=[row.code for row in sorts.TABLE])
def test_a_row_is_shown_by_its_two_objects(row: Any) -> None:
    refused, _ = row.trigger.objects()
    spared, _ = row.near_miss.objects()
    assert {each.code for each in violations(refused)} == {row.code}
    assert violations(spared) == ()


@given(st.sampled_from(sorted(VALID)), JSON, st.data())
@settings(max_examples=150, deadline=None)
def test_nothing_is_raised_whatever_stands_in_a_field(kind: str, value: Any, data: st.DataObject) -> None:
    places = [("spec",), *((("spec", name)) for name in VALID[kind]["spec"])]
    place = data.draw(st.sampled_from(places))
    body = changed(VALID[kind], {".".join(place): value})
    for each in violations(body):
        assert each.field
        assert each.why


@given(JSON)
@settings(max_examples=50, deadline=None)
def test_nothing_is_raised_whatever_is_submitted(body: Any) -> None:
    assert [each.code for each in violations(body)] == ["MD909"]


@given(st.dictionaries(st.text(max_size=4), JSON, max_size=3))
@settings(max_examples=100, deadline=None)
def test_unknown_fields_of_any_name_are_refused_each_for_itself(extra: dict[str, Any]) -> None:
    body = {**DEPLOYMENT, "spec": {**extra, **DEPLOYMENT["spec"]}}
    known = set(schema_of("ModelDeployment")["properties"]["spec"]["properties"])
    assert len(violations(body)) == len(set(extra) - known)


def said(changes: dict[str, Any], kind: str = "ModelDeployment") -> str:
    (refusal,) = violations(changed(VALID[kind], changes))
    return f"{refusal.why}; {refusal.way_out}"


def test_a_misspelt_field_is_told_the_name_it_was_meant_to_be() -> None:
    assert said({"spec.roles[0].replica": 1}) == "spec.roles[0] has no field replica; write replicas"
    assert said({"spec.roles[0].extra_args": []}) == "spec.roles[0] has no field extra_args; write extraArgs"


def test_a_misspelt_field_whose_right_name_is_free_comes_with_the_move() -> None:
    (refusal,) = violations(changed(DEPLOYMENT, {"spec.roles[0].extra_args": ["--a"]}))
    assert patching.applied(changed(DEPLOYMENT, {"spec.roles[0].extra_args": ["--a"]}), refusal.patch) == changed(
        DEPLOYMENT, {"spec.roles[0].extraArgs": ["--a"]}
    )


def test_a_field_that_belongs_elsewhere_is_told_where() -> None:
    assert said({"spec.instanceType": "h20-8x"}) == (
        "spec has no field instanceType; take it out, or write it where it belongs: spec.roles[*].instanceType"
    )


def test_a_template_on_a_role_is_told_that_the_block_is_gone() -> None:
    assert "is gone" in said({"spec.roles[0].template": {}})


def test_a_pool_in_another_namespace_is_told_that_a_binding_is_of_this_one() -> None:
    sentence = said({"spec.kvCache.poolRef.namespace": "b"})
    assert "KVCachePoolBinding in this namespace" in sentence


def test_a_version_that_yaml_reads_as_a_number_is_told_of_quotes() -> None:
    assert said({"spec.engine.version": 0.29}) == (
        'it must be a text, not a fraction; put it in quotes, as YAML reads it otherwise: "…"'
    )


def test_a_choice_in_small_letters_is_told_the_right_spelling() -> None:
    assert said({"spec.engine.name": "vllm"}) == "it must be vLLM or SGLang; write vLLM"


def test_a_bound_is_named_with_its_other_end() -> None:
    assert said({"spec.roles[0].replicas": 1025}) == "it must be from 1 to 1024; write 1024 or less"


def test_a_length_is_named_beside_what_it_must_be() -> None:
    assert said({"spec.model.name": "m" * 254}) == (
        "it has 254 and must have at most 253 characters; write a shorter one"
    )
    assert said({"spec.roles": []}) == "it is empty; give it at least 1 entry"


def test_refusals_stand_in_the_order_of_the_fields() -> None:
    body = changed(
        DEPLOYMENT,
        {"spec.roles[0].size": 0, "spec.roles[0].name": "A", "spec.engine.name": "x", "metadata.labels": 1, "zzz": 1},
    )
    assert [each.field for each in violations(body)] == [
        "metadata.labels",
        "spec.engine.name",
        "spec.roles[0].name",
        "spec.roles[0].size",
        "zzz",
    ]


def test_an_object_with_ten_thousand_arguments_is_read_in_one_pass() -> None:
    body = changed(DEPLOYMENT, {"spec.roles[0].extraArgs": ["--a"] * 10_000 + [1]})
    assert [each.field for each in violations(body)] == ["spec.roles[0].extraArgs[10000]"]


def test_defaults_are_written_out_as_the_api_server_stores_them() -> None:
    stored = defaulted(changed(DEPLOYMENT, {"spec.roles[0].command": None, "spec.roles[0].ports": [{"port": 80}]}))
    assert stored["spec"]["kvCache"]["connector"] == "Mooncake"
    assert stored["spec"]["roles"] == [
        {
            "name": "server",
            "kind": "Server",
            "replicas": 4,
            "size": 1,
            "instanceType": "h20-8x",
            "resources": {"accelerator": 1},
            "ports": [{"port": 80, "protocol": "TCP"}],
        }
    ]
