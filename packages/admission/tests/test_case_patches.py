"""Every patch a refusal of the case tables carries does what it is there for."""

import pytest
from admission_case import Case
from admission_tables import TABLES
from modeldeployment.admission import patching
from modeldeployment.admission.gathering import from_manifests
from modeldeployment.admission.reviewing import review

CASES = [case for table in TABLES for case in table if case.refused]


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_a_patch_takes_its_refusal_away(case: Case) -> None:
    new, old = case.example.objects()
    facts = from_manifests(case.example.cluster(), case.policy)
    refusals = review(new, old, facts, case.actor).refusals
    for refusal in refusals:
        if refusal.patch:
            after = review(patching.applied(new, refusal.patch), old, facts, case.actor).refusals
            assert len([each for each in after if each.code == refusal.code]) < len(
                [each for each in refusals if each.code == refusal.code]
            )
