"""Every row of every table keeps what its page promises: its trigger, its near miss, its patch, its words."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from modeldeployment.admission import lints, patching, rules, schema, telling
from modeldeployment.admission.examples import Example
from modeldeployment.admission.facts import Facts
from modeldeployment.admission.gathering import from_manifests
from modeldeployment.admission.lints.cautioning import LONGEST
from modeldeployment.admission.reviewing import review
from modeldeployment.admission.rule import Row
from modeldeployment.admission.rules import others
from modeldeployment.admission.schema import rows as sorts
from modeldeployment.admission.verdict import Finding, Refusal, Verdict

REFUSING = (*rules.DEPLOYMENTS, *rules.SCALERS)
WARNING = (*lints.DEPLOYMENTS, *lints.SCALERS)
ROWS = (*REFUSING, *WARNING, *others.RULES, *sorts.TABLE)

CODE = re.compile(r"MD(W\d{2}|\d{3})")


def named(rows: tuple[Row[Any, Any], ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", rows, ids=[row.code for row in rows])


def reviewed(example: Example) -> Verdict:
    new, old = example.objects()
    return review(new, old, from_manifests(example.cluster(), example.policy), example.actor)


def findings(row: Row[Any, Any]) -> tuple[Finding, ...]:
    if row in sorts.TABLE:
        return schema.violations(row.trigger.objects()[0])
    if row in others.RULES:
        return held(row.trigger)
    verdict = reviewed(row.trigger)
    return (*verdict.refusals, *verdict.warnings)


def held(example: Example) -> tuple[Refusal, ...]:
    new, old = example.objects()
    assert schema.violations(new) == ()
    return others.refusals(schema.defaulted(new), None if old is None else schema.defaulted(old))


def modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield importlib.import_module(found.name)


@named(REFUSING)
def test_the_trigger_of_a_rule_is_refused_with_its_code_alone(row: Row[Any, Any]) -> None:
    verdict = reviewed(row.trigger)
    assert not verdict.allowed
    assert {each.code for each in verdict.refusals} <= {row.code}, verdict.refusals


@named(REFUSING)
def test_the_near_miss_of_a_rule_is_let_in(row: Row[Any, Any]) -> None:
    verdict = reviewed(row.near_miss)
    assert verdict.refusals == ()
    assert verdict.unready == ()


@named(REFUSING)
def test_the_patch_of_a_refusal_makes_its_rule_quiet(row: Row[Any, Any]) -> None:
    example = row.trigger
    new, old = example.objects()
    facts = from_manifests(example.cluster(), example.policy)
    patches = [each.patch for each in reviewed(example).refusals]
    if not patches or not all(patches):
        return
    # What stands later in a list goes first, so that one removal does not move what another means.
    operations = [operation for patch in reversed(patches) for operation in patch]
    after = review(patching.applied(new, operations), old, facts, example.actor)
    assert [each for each in after.refusals if each.code == row.code] == []


@named(WARNING)
def test_the_trigger_of_a_lint_is_let_in_with_that_one_warning(row: Row[Any, Any]) -> None:
    verdict = reviewed(row.trigger)
    assert verdict.allowed, verdict.refusals
    assert [each.code for each in verdict.warnings] == [row.code]


@named(WARNING)
def test_the_near_miss_of_a_lint_is_let_in_without_a_word(row: Row[Any, Any]) -> None:
    verdict = reviewed(row.near_miss)
    assert verdict.allowed, verdict.refusals
    assert verdict.warnings == ()


@named(WARNING)
def test_the_patch_of_a_warning_makes_its_lint_quiet(row: Row[Any, Any]) -> None:
    example = row.trigger
    new, old = example.objects()
    operations = [operation for each in reviewed(example).warnings for operation in each.patch]
    if not operations:
        return
    facts = from_manifests(example.cluster(), example.policy)
    after = review(patching.applied(new, operations), old, facts, example.actor)
    assert after.allowed, after.refusals
    assert [each.code for each in after.warnings if each.code == row.code] == []


@named(WARNING)
def test_a_warning_is_handed_on_whole_by_the_api_server(row: Row[Any, Any]) -> None:
    for each in reviewed(row.trigger).warnings:
        assert len(telling.caution(each)) <= LONGEST


@named(WARNING)
def test_a_lint_says_nothing_of_an_object_on_its_way_out(row: Row[Any, Any]) -> None:
    new, old = row.trigger.objects()
    new["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    verdict = review(new, old, from_manifests(row.trigger.cluster(), row.trigger.policy), row.trigger.actor)
    assert verdict.warnings == ()


@named(WARNING)
def test_a_lint_says_the_same_of_an_object_with_its_schema_defaults(row: Row[Any, Any]) -> None:
    new, old = row.trigger.objects()
    facts = from_manifests(row.trigger.cluster(), row.trigger.policy)
    stored = None if old is None else schema.defaulted(old)
    verdict = review(schema.defaulted(new), stored, facts, row.trigger.actor)
    assert [each.code for each in verdict.warnings] == [row.code]
    near, near_old = row.near_miss.objects()
    stored = None if near_old is None else schema.defaulted(near_old)
    known = from_manifests(row.near_miss.cluster(), row.near_miss.policy)
    assert review(schema.defaulted(near), stored, known, row.near_miss.actor).warnings == ()


@named((*REFUSING, *WARNING))
def test_a_row_says_nothing_else_of_a_cluster_nobody_looked_at(row: Row[Any, Any]) -> None:
    new, old = row.trigger.objects()
    verdict = review(new, old, Facts(policy=row.trigger.policy), row.trigger.actor)
    assert {each.code for each in verdict.refusals} <= {row.code}


@named(sorts.TABLE)
def test_the_trigger_of_a_schema_row_is_refused_with_its_code_alone(row: Row[Any, Any]) -> None:
    assert [each.code for each in schema.violations(row.trigger.objects()[0])] == [row.code]


@named(sorts.TABLE)
def test_the_near_miss_of_a_schema_row_is_let_in(row: Row[Any, Any]) -> None:
    assert schema.violations(row.near_miss.objects()[0]) == ()


@named(others.RULES)
def test_the_trigger_of_a_rule_of_another_kind_is_refused_with_its_code_alone(row: Row[Any, Any]) -> None:
    assert {each.code for each in held(row.trigger)} == {row.code}


@named(others.RULES)
def test_the_near_miss_of_a_rule_of_another_kind_is_let_in(row: Row[Any, Any]) -> None:
    assert held(row.near_miss) == ()


@named(ROWS)
def test_a_docstring_is_the_row_of_the_table(row: Row[Any, Any]) -> None:
    assert CODE.fullmatch(row.code)
    assert row.field
    assert row.sentence.endswith(".")
    assert row.page


@named(ROWS)
def test_findings_are_worded_to_be_joined(row: Row[Any, Any]) -> None:
    for each in findings(row):
        assert isinstance(each, Refusal) != each.code.startswith("MDW")
        assert each.why
        assert not each.why.endswith(".")
        assert not each.way_out.endswith(".")
        assert "\n" not in each.why + each.way_out


@named(ROWS)
def test_a_finding_names_a_field_of_the_row(row: Row[Any, Any]) -> None:
    for each in findings(row):
        assert each.code == row.code or row not in WARNING
        assert list(patching.steps(each.field))


def test_no_two_rows_share_a_code() -> None:
    codes = [row.code for row in ROWS]
    assert sorted(codes) == sorted(set(codes))


@pytest.mark.parametrize(
    "module", [*modules(rules), *modules(lints)], ids=lambda module: module.__name__.removeprefix("modeldeployment.")
)
def test_every_row_a_module_makes_is_in_the_tables(module: ModuleType) -> None:
    made = [
        value for value in vars(module).values() if isinstance(value, Row) and value.judge.__module__ == module.__name__
    ]
    assert [row.code for row in made if row not in ROWS] == []
