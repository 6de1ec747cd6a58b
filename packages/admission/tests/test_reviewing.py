"""What a review does with objects that it can read only in part."""

from typing import Any

import pytest
from modeldeployment.admission import Facts, Refusal, patching, review
from modeldeployment.admission.examples import DEPLOYMENT, SCALER, changed
from modeldeployment.admission.telling import sentence
from modeldeployment.api import keys

BOUND: dict[str, Any] = {
    "metadata.annotations[modeldeployment.gpustack.ai/scaler-binding]": (
        '{"scalerName": "qwen-72b", "scalerUID": "s-1", "term": 1}'
    )
}


def codes(refusals: tuple[Refusal, ...]) -> list[tuple[str, str]]:
    return [(each.code, each.field) for each in refusals]


def test_a_stored_object_of_a_later_release_still_holds_its_binding() -> None:
    later = changed(DEPLOYMENT, BOUND | {"spec.roles[0].kind": "Speculate", "spec.roles[0].replicas": 2})
    known = changed(DEPLOYMENT, BOUND | {"spec.roles[0].replicas": 9})
    assert ("MD041", "spec.roles[0].replicas") in codes(review(known, later, Facts()).refusals)
    same = changed(DEPLOYMENT, BOUND | {"spec.roles[0].replicas": 2})
    assert review(same, later, Facts()).refusals == ()


def test_an_object_that_cannot_be_read_is_judged_by_its_schema_alone() -> None:
    assert codes(review(changed(DEPLOYMENT, {"spec.roles[0].replicas": "many"}), None, Facts()).refusals) == [
        ("MD903", "spec.roles[0].replicas")
    ]


@pytest.mark.parametrize("interface", ["0e100", "0e000", "0e0.5", "0e99999999"])
def test_no_spelling_of_an_amount_leads_past_the_fence(interface: str) -> None:
    bound = changed(DEPLOYMENT, BOUND)
    moved = changed(bound, {"spec.roles[0].replicas": 9, "spec.roles[0].resources.interface": interface})
    assert codes(review(moved, bound, Facts()).refusals) == [("MD906", "spec.roles[0].resources.interface")]


def test_an_entry_set_to_null_hides_nothing() -> None:
    bound = changed(DEPLOYMENT, BOUND)
    moved = changed(bound, {"spec.roles[0].replicas": 9, "metadata.labels": {"team": None}})
    assert codes(review(moved, bound, Facts()).refusals) == [("MD041", "spec.roles[0].replicas")]
    emptied = changed(moved, {"metadata.annotations": {keys.SCALER_BINDING: None}})
    assert codes(review(emptied, bound, Facts()).refusals) == [
        ("MD050", f"metadata.annotations[{keys.SCALER_BINDING}]"),
        ("MD041", "spec.roles[0].replicas"),
    ]


def test_what_the_schema_holds_nothing_against_and_nobody_can_read_is_refused() -> None:
    dated = changed(DEPLOYMENT, {"metadata.creationTimestamp": "yesterday"})
    (refusal,) = review(dated, None, Facts()).refusals
    assert (refusal.code, refusal.field, refusal.value) == ("MD906", "metadata.creationTimestamp", "yesterday")
    assert "cannot be read" in refusal.why


@pytest.mark.parametrize("status", ["gone", {"roles": 5}, {"conditions": [{}]}, {"conditions": "none", "later": {}}])
def test_no_status_hides_what_is_declared(status: Any) -> None:
    bound = changed(DEPLOYMENT, BOUND | {"status": status})
    moved = changed(bound, {"spec.roles[0].replicas": 9})
    assert codes(review(moved, bound, Facts()).refusals) == [("MD041", "spec.roles[0].replicas")]
    above = changed(SCALER, {"spec.roles[0].minReplicas": 17, "status": status})
    assert codes(review(above, above, Facts()).refusals) == [("MD102", "spec.roles[0].minReplicas")]
    assert review(above, None, Facts()).defaulted["status"] == status


def test_an_object_that_cannot_be_read_is_let_go() -> None:
    leaving = {"metadata.deletionTimestamp": "2030-01-01T00:00:00Z", "spec.roles[0].kind": "Speculate"}
    broken = changed(DEPLOYMENT, leaving)
    assert review(broken, broken, Facts()).allowed


def test_setting_members_shares_what_it_does_not_touch() -> None:
    operations = [patching.put("spec.algorithm.type", "Predictive"), patching.put("spec.behavior", {"scaleUp": {}})]
    outcome = patching.with_members(SCALER, operations)
    assert outcome == patching.applied(SCALER, operations)
    assert SCALER["spec"]["algorithm"]["type"] == "TokenThroughput"
    assert outcome["spec"]["roles"] is SCALER["spec"]["roles"]
    assert outcome["spec"]["algorithm"] is not SCALER["spec"]["algorithm"]


def test_a_manifest_that_does_not_know_of_a_deletion_takes_none_back() -> None:
    leaving = changed(DEPLOYMENT, {"metadata.deletionTimestamp": "2030-01-01T00:00:00Z"})
    forbidden = changed(DEPLOYMENT, {"spec.roles[0].extraArgs": ["--kv-cache-dtype=fp8"]})
    gone = Facts(instance_types={"h20-8x": None})
    verdict = review(forbidden, leaving, gone)
    assert (verdict.refusals, verdict.warnings) == ((), ())
    assert verdict.defaulted["metadata"]["deletionTimestamp"] == "2030-01-01T00:00:00Z"
    assert codes(review(forbidden, DEPLOYMENT, gone).refusals) == [
        ("MD049", "spec.roles[0].instanceType"),
        ("MD032", "spec.roles[0].extraArgs[0]"),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"spec.roles[0].extraArgs": ["-tp", "9" * 5000]},
        {"spec.roles[0].extraArgs": ["--kv-transfer-config." + "x" * 100_000]},
        {"spec.roles[0].extraArgs": ["--kv-cache-dtype." + "x" * 100_000]},
        {"spec.roles[0].extraArgs": ["--served-model-name", *["x"] * 20_000]},
        {"metadata.name": "q" * 100_000},
    ],
    ids=lambda change: next(iter(change)),
)
def test_no_value_makes_a_message_long(change: dict[str, Any]) -> None:
    refusals = review(changed(DEPLOYMENT, change), None, Facts()).refusals
    assert refusals
    assert [each.code for each in refusals if len(sentence(each)) > 600] == []


def test_far_too_many_roles_hear_of_the_operators_own_limit() -> None:
    roles = [{"name": f"role-{index}", "instanceType": "h20-8x"} for index in range(17)]
    (refusal,) = review(changed(DEPLOYMENT, {"spec.roles": roles}), None, Facts()).refusals
    assert (refusal.code, refusal.field) == ("MD908", "spec.roles")
    assert "keep at most 10 roles: that is this operator's own shape limit" in sentence(refusal)


def test_a_level_that_is_no_label_key_is_told_what_one_is() -> None:
    level = {"spec.roles[0].topology.requiredLevel": "topology/rack/3"}
    (refusal,) = review(changed(DEPLOYMENT, level), None, Facts()).refusals
    assert (refusal.code, refusal.field) == ("MD906", "spec.roles[0].topology.requiredLevel")
    assert "a label key such as topology.kubernetes.io/zone" in refusal.way_out
