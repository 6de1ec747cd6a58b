"""One object judged, whatever it looks like."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modeldeployment.admission.examples import DEPLOYMENT, SCALER, changed
from modeldeployment.admission.facts import Actor, Facts
from modeldeployment.operator.people import knowing
from modeldeployment.operator.people.judging import judge

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
PLACES = (
    "metadata",
    "spec",
    "spec.roles",
    "spec.roles[0]",
    "spec.roles[0].name",
    "spec.roles[0].extraArgs",
    "spec.roles[0].resources",
    "spec.roles[0].env",
    "spec.engine",
    "spec.router",
    "spec.targetRef",
    "spec.algorithm",
    "status",
)


@given(st.sampled_from([DEPLOYMENT, SCALER]), st.sampled_from(PLACES), JSON, st.booleans())
@settings(max_examples=150, deadline=None)
def test_any_value_anywhere_is_answered(base: dict[str, Any], place: str, value: Any, update: bool) -> None:
    body = changed(base, {place: value})
    verdict = judge(body, base if update else None, Facts(), Actor.USER)
    assert verdict.allowed == (not verdict.refusals and not verdict.unready)
    knowing.asked(body, base)


@pytest.mark.parametrize("body", [{}, {"kind": 1}, {"kind": "ModelDeployment", "apiVersion": None, "spec": []}])
def test_what_is_no_kind_of_ours_is_refused_for_that(body: dict[str, Any]) -> None:
    assert [each.code for each in judge(body, None, Facts(), Actor.USER).refusals] == ["MD909"]


def test_nothing_changes_in_an_update_that_changes_nothing() -> None:
    for base in (DEPLOYMENT, SCALER):
        created, updated = (judge(base, old, Facts(), Actor.USER) for old in (None, base))
        assert created.refusals == updated.refusals == ()
