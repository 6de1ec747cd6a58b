"""What a review does with objects that it can read only in part."""

from typing import Any

from modeldeployment.admission import Facts, Refusal, patching, review
from modeldeployment.admission.examples import DEPLOYMENT, SCALER, changed

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
