"""Every row of the case tables, through `review()`."""

import pytest
from admission_case import Case
from admission_tables import TABLES
from modeldeployment.admission import patching
from modeldeployment.admission.gathering import from_manifests
from modeldeployment.admission.reviewing import review

CASES = [case for table in TABLES for case in table]


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_a_case_comes_out_as_its_row_says(case: Case) -> None:
    new, old = case.example.objects()
    verdict = review(new, old, from_manifests(case.example.cluster(), case.policy), case.actor)
    said = {(each.code, each.field): f"{each.value} {each.why}; {each.way_out}" for each in verdict.refusals}
    assert sorted(said) == sorted((each.code, each.field) for each in case.refused)
    for each in case.refused:
        sentence = said[each.code, each.field]
        assert [word for word in each.names if word not in sentence] == [], sentence
        assert [word for word in each.spares if word in sentence] == [], sentence
    held = " ".join(f"{each.field}: {each.why}" for each in verdict.unready)
    assert bool(held) == bool(case.unready)
    assert [word for word in case.unready if word not in held] == [], held
    for path, value in case.defaulted.items():
        assert patching.found(verdict.defaulted, path) == value


def test_no_two_cases_share_an_id() -> None:
    assert len({case.id for case in CASES}) == len(CASES)
