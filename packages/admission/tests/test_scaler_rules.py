"""What holds of every scaler and of every claim: reviews agree with themselves, patches help, nothing raises."""

from typing import Any

from admission_strategies import ANYTHING, scalers
from hypothesis import given, settings
from hypothesis import strategies as st
from modeldeployment.admission import patching
from modeldeployment.admission.claims import BINDING, DECISION
from modeldeployment.admission.defaulting.scalers import defaults
from modeldeployment.admission.examples import CLUSTER, DEPLOYMENT, SCALER, changed
from modeldeployment.admission.facts import Actor, Facts, Policy
from modeldeployment.admission.gathering import from_manifests
from modeldeployment.admission.reviewing import review

FACTS = from_manifests(CLUSTER, Policy())
FENCE = {"MD041", "MD050", "MD051", "MD052", "MD053", "MD054"}

targeted = st.builds(
    lambda body, target: changed(body, {"spec.targetRef.name": target}),
    scalers(),
    st.sampled_from(("qwen-72b", "qwen-pd", "qwen-epd", "later")),
)
texts = st.sampled_from(
    (
        None,
        "",
        "{}",
        "null",
        "[1]",
        '{"scalerName":"qwen-72b","scalerUID":"a","term":1}',
        '{"scalerName":"gone","scalerUID":"a","term":3}',
        '{"scalerName":"gone","scalerUID":"a","term":-1}',
        '{"decisionID":"d","term":1,"vector":{"server":4}}',
        '{"decisionID":"d","term":3,"vector":{"server":5}}',
    )
)
counts = st.sampled_from((4, 5))


def claimed(binding: str | None, decision: str | None, replicas: int) -> dict[str, Any]:
    said = {field: text for field, text in ((BINDING, binding), (DECISION, decision)) if text is not None}
    return changed(DEPLOYMENT, {**said, "spec.roles[0].replicas": replicas})


deployments = st.builds(claimed, texts, texts, counts)
actors = st.sampled_from(tuple(Actor))


@settings(max_examples=60, deadline=None)
@given(targeted)
def test_a_scaler_is_judged_alike_when_created_and_when_applied_again(body: dict[str, Any]) -> None:
    created = review(body, None, FACTS)
    assert review(created.defaulted, created.defaulted, FACTS).refusals == created.refusals


@settings(max_examples=60, deadline=None)
@given(targeted)
def test_the_patch_of_a_refusal_leaves_fewer_of_its_code(body: dict[str, Any]) -> None:
    verdict = review(body, None, FACTS)
    for refusal in verdict.refusals:
        if refusal.patch:
            after = review(patching.applied(verdict.defaulted, refusal.patch), None, FACTS).refusals
            before_and_after = [[each.code for each in said].count(refusal.code) for said in (verdict.refusals, after)]
            assert before_and_after[1] < before_and_after[0]


@settings(max_examples=100, deadline=None)
@given(targeted)
def test_a_target_nobody_looked_for_is_like_one_that_is_not_there(body: dict[str, Any]) -> None:
    missing = from_manifests((), Policy())
    assert review(body, None, Facts()).refusals == review(body, None, missing).refusals


@settings(max_examples=60, deadline=None)
@given(deployments, actors)
def test_no_claim_stands_in_the_way_of_writing_what_is_stored(body: dict[str, Any], actor: Actor) -> None:
    assert FENCE & {each.code for each in review(body, body, FACTS, actor).refusals} == set()


@settings(max_examples=100, deadline=None)
@given(deployments, deployments)
def test_a_user_never_changes_a_count_and_an_annotation_in_one_write(old: dict[str, Any], new: dict[str, Any]) -> None:
    said = [patching.found(old, field) != patching.found(new, field) for field in (BINDING, DECISION)]
    counted = patching.found(old, "spec.roles[0].replicas") != patching.found(new, "spec.roles[0].replicas")
    if counted and any(said):
        assert not review(new, old, FACTS, Actor.USER).allowed


@settings(max_examples=100, deadline=None)
@given(deployments, deployments)
def test_the_patches_of_a_fenced_write_quiet_the_fence(old: dict[str, Any], new: dict[str, Any]) -> None:
    verdict = review(new, old, FACTS, Actor.USER)
    patched = new
    for refusal in verdict.refusals:
        patched = patching.applied(patched, refusal.patch)
    assert review(patched, old, FACTS, Actor.USER).refusals == ()


@settings(max_examples=100, deadline=None)
@given(ANYTHING, ANYTHING, ANYTHING, ANYTHING)
def test_defaulting_takes_whatever_comes(spec: Any, algorithm: Any, behavior: Any, up: Any) -> None:
    for body in (
        {"spec": spec},
        {"metadata": spec, "spec": {"algorithm": algorithm, "behavior": behavior}},
        {"spec": {"algorithm": {"type": algorithm, "predictive": spec}, "behavior": {"scaleUp": up}}},
        {"spec": {"behavior": {"scaleUp": {"maxStepReplicas": up, "maxStepPercent": behavior}}}},
    ):
        once = defaults(body, Facts()).applied_to(body)
        assert defaults(once, Facts()).operations == ()


def test_an_object_on_its_way_out_is_not_defaulted() -> None:
    leaving = changed(SCALER, {"metadata.deletionTimestamp": "2030-01-01T00:00:00Z"})
    assert defaults(leaving, Facts()).operations == ()


def test_a_step_of_another_type_is_left_to_the_schema() -> None:
    body = changed(SCALER, {"spec.behavior": {"scaleUp": {"maxStepReplicas": False, "maxStepPercent": "0"}}})
    assert defaults(body, Facts()).operations == ()
