"""Whatever is submitted, an answer comes back; and a review agrees with itself."""

from typing import Any

import pytest
from admission_strategies import damaged, deployments, scalers
from hypothesis import given, settings
from hypothesis import strategies as st
from modeldeployment.admission import schema
from modeldeployment.admission.examples import CLUSTER, DEPLOYMENT, SCALER, changed
from modeldeployment.admission.facts import Actor, Facts, Policy
from modeldeployment.admission.gathering import from_manifests
from modeldeployment.admission.reviewing import review

FACTS = from_manifests(CLUSTER, Policy())
ACTORS = st.sampled_from(tuple(Actor))
STORED = st.one_of(deployments(), scalers())


@settings(max_examples=400, deadline=None)
@given(STORED, ACTORS)
def test_what_is_let_in_is_let_in_again_unchanged(body: dict[str, Any], actor: Actor) -> None:
    first = review(body, None, FACTS, actor)
    if first.allowed:
        again = review(first.defaulted, first.defaulted, FACTS, actor)
        assert again.refusals == ()
        assert again.unready == ()


@settings(max_examples=200, deadline=None)
@given(STORED)
def test_defaulting_twice_changes_nothing_more(body: dict[str, Any]) -> None:
    once = review(body, None, FACTS).defaulted
    assert review(once, None, FACTS).patch == ()


@settings(max_examples=200, deadline=None)
@given(STORED)
def test_one_review_answers_alike_twice(body: dict[str, Any]) -> None:
    assert review(body, None, FACTS) == review(body, None, FACTS)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from((DEPLOYMENT, SCALER)).flatmap(damaged), ACTORS)
def test_a_damaged_object_is_answered(body: dict[str, Any], actor: Actor) -> None:
    review(body, None, FACTS, actor)
    base = DEPLOYMENT if body["kind"] == "ModelDeployment" else SCALER
    review(body, base, FACTS, actor)
    review(base, body, FACTS, actor)


@settings(max_examples=200, deadline=None)
@given(STORED.flatmap(damaged), ACTORS)
def test_damage_to_any_shape_is_answered(body: dict[str, Any], actor: Actor) -> None:
    review(body, None, FACTS, actor)


@settings(max_examples=150, deadline=None)
@given(deployments(), deployments(), ACTORS)
def test_any_edit_is_answered(new: dict[str, Any], old: dict[str, Any], actor: Actor) -> None:
    review(new, old, FACTS, actor)


@settings(max_examples=150, deadline=None)
@given(STORED)
def test_without_any_lookup_no_rule_speaks_of_the_cluster(body: dict[str, Any]) -> None:
    known = {(each.code, each.field) for each in review(body, None, FACTS).refusals}
    assert {(each.code, each.field) for each in review(body, None, Facts()).refusals} <= known


@settings(max_examples=150, deadline=None)
@given(deployments())
def test_an_object_on_its_way_out_is_held_by_no_lookup(body: dict[str, Any]) -> None:
    leaving = {**body, "metadata": {**body["metadata"], "deletionTimestamp": "2030-01-01T00:00:00Z"}}
    nothing = from_manifests((), Policy())
    with_nothing = review(leaving, leaving, nothing)
    assert with_nothing.unready == ()
    assert with_nothing.refusals == review(leaving, leaving, Facts()).refusals


def test_the_largest_shape_is_let_in() -> None:
    shape = {"instanceType": "h20-8x", "replicas": 1024, "size": 64, "resources": {"accelerator": 1}}
    largest = [{"name": f"role-{index}", **shape} for index in range(10)]
    verdict = review(changed(DEPLOYMENT, {"spec.roles": largest}), None, FACTS)
    assert verdict.refusals == ()
    assert [(each.code, each.field) for each in verdict.warnings] == [("MDW22", "spec.roles[0].replicas")]


@pytest.mark.parametrize("length", [63, 64])
def test_a_name_is_judged_to_the_character(length: int) -> None:
    role = "r" * (length - len("qwen-72b-"))
    refusals = review(changed(DEPLOYMENT, {"spec.roles[0].name": role}), None, FACTS).refusals
    assert [each.code for each in refusals] == ([] if length == 63 else ["MD003"])


@pytest.mark.parametrize("text", ["模型", "é", "\u202e", "\x00", "🙂" * 10])
def test_any_script_is_a_model_name_and_none_but_one_is_a_roles(text: str) -> None:
    assert review(changed(DEPLOYMENT, {"spec.model.name": text}), None, FACTS).allowed
    assert schema.violations(changed(DEPLOYMENT, {"spec.roles[0].name": text}))[0].code == "MD906"
