"""What the mutating half does to a deployment, by the rows of table H and by objects the schema would refuse."""

from copy import deepcopy
from typing import Any

import pytest
from admission_case import Case
from admission_table_h_defaults import TABLE
from modeldeployment.admission import patching
from modeldeployment.admission.examples import CLUSTER, DEPLOYMENT, GONE, Change, changed
from modeldeployment.admission.facts import Facts, Policy
from modeldeployment.admission.gathering import from_manifests
from modeldeployment.admission.reviewing import mutate, review
from modeldeployment.api import InstanceType

FACTS = from_manifests(CLUSTER, Policy())
UNSET: Change = {"spec.roles[0].resources": GONE}


def deployment(changes: Change) -> dict[str, Any]:
    return changed(DEPLOYMENT, changes)


@pytest.mark.parametrize("case", TABLE, ids=[case.id for case in TABLE])
def test_a_row_of_table_h_is_defaulted_as_it_says(case: Case) -> None:
    new, _ = case.example.objects()
    before = deepcopy(new)
    outcome = mutate(new, from_manifests(case.example.cluster(), case.policy))
    for path, value in case.defaulted.items():
        assert patching.found(outcome.applied_to(new), path) == value
    assert bool(outcome.refusals) == (case.id == "H5")
    assert new == before


def test_a_missing_type_denies_naming_the_type_and_the_role_s_field() -> None:
    outcome = mutate(deployment({**UNSET, "spec.roles[0].instanceType": "h30"}), FACTS)
    (refusal,) = outcome.refusals
    assert (refusal.code, refusal.field, refusal.value) == ("MD049", "spec.roles[0].instanceType", "h30")
    assert 'there is no InstanceType "h30"' in refusal.why
    assert outcome.operations == ()


def test_a_type_that_nothing_is_read_from_is_not_missed_by_the_mutating_half() -> None:
    assert mutate(deployment({"spec.roles[0].instanceType": "h30"}), FACTS).refusals == ()


def test_a_type_nobody_looked_up_defaults_nothing() -> None:
    outcome = mutate(deployment(UNSET), Facts())
    assert (outcome.operations, outcome.refusals) == ((), ())


def test_one_role_of_a_missing_type_does_not_keep_the_others_from_their_default() -> None:
    new = deployment({**UNSET, "spec.roles[1]": {"name": "lost", "instanceType": "h30"}})
    outcome = mutate(new, FACTS)
    assert outcome.operations == ({"op": "add", "path": "/spec/roles/0/resources", "value": {"accelerator": 1}},)
    assert [each.field for each in outcome.refusals] == ["spec.roles[1].instanceType"]


def test_other_resources_of_a_role_stay_beside_the_default() -> None:
    new = deployment({"spec.roles[0].resources": {"interface": 1, "later": {"field": True}}})
    defaulted = mutate(new, FACTS).applied_to(new)
    assert defaulted["spec"]["roles"][0]["resources"] == {"interface": 1, "later": {"field": True}, "accelerator": 1}


def test_defaulting_a_second_time_changes_nothing() -> None:
    new = deployment(UNSET)
    assert mutate(mutate(new, FACTS).applied_to(new), FACTS).operations == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"spec": GONE},
        {"spec": "text"},
        {"spec.roles": GONE},
        {"spec.roles": {"server": {}}},
        {"spec.roles": ["server", None, 7]},
        {"spec.roles[0].instanceType": GONE},
        {"spec.roles[0].instanceType": None},
        {"spec.roles[0].instanceType": ["h20-8x"]},
        {"spec.roles[0].resources": []},
        {"spec.roles[0].resources": "one"},
        {"spec.roles[0].resources": {"accelerator": ""}},
        {"metadata": [], "spec.roles[0].resources": {"accelerator": {}}},
    ],
    ids=str,
)
def test_what_has_not_the_shape_expected_is_passed_over(changes: Change) -> None:
    outcome = mutate(deployment(changes), FACTS)
    assert (outcome.operations, outcome.refusals) == ((), ())


def test_a_review_says_a_missing_type_once_whether_or_not_a_default_hangs_on_it() -> None:
    for resources in (GONE, {"accelerator": 1}):
        new = deployment({"spec.roles[0].resources": resources, "spec.roles[0].instanceType": "h30"})
        assert [each.code for each in review(new, None, FACTS).refusals] == ["MD049"]


def test_an_object_the_schema_refuses_still_hears_of_its_missing_type() -> None:
    new = deployment({"spec.engine.name": "", "spec.roles[0].instanceType": "h30", "spec.roles[0].kind": "router"})
    assert [each.field for each in review(new, None, FACTS).refusals] == [
        "spec.engine.name",
        "spec.roles[0].kind",
        "spec.roles[0].instanceType",
    ]


def test_an_object_the_schema_refuses_is_let_go_when_it_is_being_deleted() -> None:
    deleted = {"metadata.deletionTimestamp": "2026-01-02T03:04:05Z", "spec.roles[0].kind": "Router"}
    assert review(deployment({**deleted, "spec.roles[0].instanceType": "h30"}), deployment(deleted), FACTS).allowed


def test_facts_of_one_lookup_judge_no_other_type() -> None:
    h20 = next(each for each in CLUSTER if each["metadata"]["name"] == "h20-8x")
    facts = Facts(instance_types={"h20-8x": InstanceType.model_validate(h20)})
    second = {"name": "second", "instanceType": "h30", "resources": {"accelerator": 99}}
    assert review(deployment({"spec.roles[1]": second}), None, facts).refusals == ()
