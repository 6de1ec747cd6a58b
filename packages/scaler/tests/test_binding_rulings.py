"""Who may own a target: every row of the table, and what holds in every situation there is."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.api.binding import Binding, Decision
from modeldeployment.api.scalerconditions import REASONS, ScalerCondition, ScalerReason
from modeldeployment.scaler.binding import (
    TABLE,
    Acquire,
    Claimed,
    Hold,
    Known,
    Owner,
    Release,
    Stay,
    Watch,
    ruling,
)

ACTIVE = Owner("chat", "uid-s", 4, active=True)
SHADOW = replace(ACTIVE, active=False)
FREE = Claimed("uid-t")
OURS = '{"scalerName":"chat","scalerUID":"uid-s","term":3}'
THEIRS = '{"scalerName":"other","scalerUID":"uid-o","term":9}'
NAMESAKE = '{"scalerName":"chat","scalerUID":"uid-before","term":9}'
SPOILT = '{"scalerName":"chat"'
DECIDED = '{"decisionID":"d-7","term":7,"vector":{"server":2}}'

Expected = tuple[object, str, str]
CASES: dict[str, tuple[Owner, Claimed | None, Expected]] = {
    "a free target is bound under the first term": (ACTIVE, FREE, (Acquire(1), "Bound", "Active")),
    "the next term is above the last one of the scaler": (
        replace(ACTIVE, known=Known("uid-t", 5)),
        FREE,
        (Acquire(6), "Bound", "Active"),
    ),
    "the next term is above the last decision on the target": (
        ACTIVE,
        replace(FREE, decision=DECIDED),
        (Acquire(8), "Bound", "Active"),
    ),
    "a decision that cannot be read tells no term": (
        ACTIVE,
        replace(FREE, decision="spoilt"),
        (Acquire(1), "Bound", "Active"),
    ),
    "its own binding is held": (ACTIVE, replace(FREE, binding=OURS), (Hold(3), "Bound", "Active")),
    "its own binding is held when status knows it": (
        replace(ACTIVE, known=Known("uid-t", 3)),
        replace(FREE, binding=OURS),
        (Hold(3), "Bound", "Active"),
    ),
    "its own binding of an earlier term is taken anew": (
        replace(ACTIVE, known=Known("uid-t", 5)),
        replace(FREE, binding=OURS),
        (Acquire(6), "Bound", "Active"),
    ),
    "another's binding stays": (
        ACTIVE,
        replace(FREE, binding=THEIRS),
        (Stay(), "AlreadyBound", "AlreadyBound"),
    ),
    "a namesake of before is another": (
        ACTIVE,
        replace(FREE, binding=NAMESAKE),
        (Stay(), "AlreadyBound", "AlreadyBound"),
    ),
    "a binding that cannot be read leaves everything": (
        ACTIVE,
        replace(FREE, binding=SPOILT),
        (Stay(), "InvalidBinding", "InvalidBinding"),
    ),
    "an empty binding cannot be read": (
        ACTIVE,
        replace(FREE, binding=""),
        (Stay(), "InvalidBinding", "InvalidBinding"),
    ),
    "no target": (ACTIVE, None, (Stay(), "TargetNotFound", "TargetNotFound")),
    "a target that goes is none": (
        ACTIVE,
        replace(FREE, leaving=True, binding=OURS),
        (Stay(), "TargetNotFound", "TargetNotFound"),
    ),
    "another target of the same name": (
        replace(ACTIVE, known=Known("uid-before", 5)),
        FREE,
        (Stay(), "TargetReplaced", "TargetReplaced"),
    ),
    "an edit before the report acknowledges nothing": (
        replace(ACTIVE, known=Known("uid-before", 5), replaced_at=4),
        FREE,
        (Stay(), "TargetReplaced", "TargetReplaced"),
    ),
    "an acknowledged target is bound under the first term": (
        replace(ACTIVE, known=Known("uid-before", 5), replaced_at=3),
        FREE,
        (Acquire(1), "Bound", "Active"),
    ),
    "shadow plans without owning": (SHADOW, FREE, (Watch(), "Bound", "ShadowMode")),
    "shadow gives back what it owned": (
        SHADOW,
        replace(FREE, binding=OURS),
        (Release(3), "Bound", "ShadowMode"),
    ),
    "shadow plans beside an owner": (
        SHADOW,
        replace(FREE, binding=THEIRS),
        (Watch(), "AlreadyBound", "ShadowMode"),
    ),
    "shadow plans nothing beside a binding that cannot be read": (
        SHADOW,
        replace(FREE, binding=SPOILT),
        (Stay(), "InvalidBinding", "InvalidBinding"),
    ),
    "shadow without a target": (SHADOW, None, (Stay(), "TargetNotFound", "TargetNotFound")),
    "suspended gives back": (
        replace(ACTIVE, suspended=True),
        replace(FREE, binding=OURS),
        (Release(3), "Suspended", "Suspended"),
    ),
    "suspended with nothing to give back": (
        replace(ACTIVE, suspended=True),
        FREE,
        (Stay(), "Suspended", "Suspended"),
    ),
    "suspended beside an owner": (
        replace(ACTIVE, suspended=True),
        replace(FREE, binding=THEIRS),
        (Stay(), "Suspended", "Suspended"),
    ),
    "suspended shadow": (replace(SHADOW, suspended=True), FREE, (Stay(), "Suspended", "Suspended")),
    "suspended without a target": (replace(ACTIVE, suspended=True), None, (Stay(), "Suspended", "Suspended")),
    "deleted gives back": (
        replace(ACTIVE, leaving=True),
        replace(FREE, binding=OURS),
        (Release(3), "Suspended", "Suspended"),
    ),
    "deleted leaves another's alone": (
        replace(ACTIVE, leaving=True),
        replace(FREE, binding=THEIRS),
        (Stay(), "Suspended", "Suspended"),
    ),
    "deleted together with its target": (
        replace(ACTIVE, leaving=True),
        replace(FREE, leaving=True, binding=OURS),
        (Stay(), "Suspended", "Suspended"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_table(case: str) -> None:
    owner, target, (next_, bound, active) = CASES[case]
    ruled = ruling(owner, target)
    assert (ruled.next, ruled.bound.value, ruled.active.value) == (next_, bound, active)


def test_an_edit_after_the_report_acknowledges_also_while_suspended() -> None:
    owner = replace(ACTIVE, known=Known("uid-before", 5), replaced_at=3)
    assert ruling(owner, FREE).acknowledged
    assert ruling(replace(owner, suspended=True), FREE).acknowledged
    assert not ruling(replace(owner, generation=3), FREE).acknowledged
    assert not ruling(replace(owner, known=Known("uid-t", 5)), FREE).acknowledged


def test_who_owns_a_target_is_told() -> None:
    assert ruling(ACTIVE, replace(FREE, binding=THEIRS)).by == Binding.parse(THEIRS)


def test_a_finalizer_stands_as_long_as_there_is_something_to_release() -> None:
    needed = {case: ruling(owner, target).needs_finalizer for case, (owner, target, _) in CASES.items()}
    assert {case for case, needs in needed.items() if needs} == {
        "a free target is bound under the first term",
        "the next term is above the last one of the scaler",
        "the next term is above the last decision on the target",
        "a decision that cannot be read tells no term",
        "its own binding is held",
        "its own binding is held when status knows it",
        "its own binding of an earlier term is taken anew",
        "an acknowledged target is bound under the first term",
        "shadow gives back what it owned",
        "suspended gives back",
        "deleted gives back",
    }


owners = st.builds(
    Owner,
    name=st.just("chat"),
    uid=st.just("uid-s"),
    generation=st.integers(1, 3),
    active=st.booleans(),
    suspended=st.booleans(),
    leaving=st.booleans(),
    known=st.none() | st.builds(Known, st.sampled_from(("uid-t", "uid-before")), st.integers(0, 4)),
    replaced_at=st.none() | st.integers(1, 3),
)
bindings = (
    st.none()
    | st.sampled_from((THEIRS, NAMESAKE, SPOILT, ""))
    | st.integers(1, 5).map(lambda term: Binding(scaler_name="chat", scaler_uid="uid-s", term=term).text())
)
decisions = (
    st.none()
    | st.just("spoilt")
    | st.integers(1, 5).map(lambda term: Decision(decision_id="d", term=term, vector={"server": 1}).text())
)
targets = st.none() | st.builds(Claimed, st.just("uid-t"), st.booleans(), bindings, decisions)


@given(owners, targets)
def test_nobody_is_robbed_and_no_term_is_used_twice(owner: Owner, target: Claimed | None) -> None:
    ruled = ruling(owner, target)
    stored = Binding.parse(target.binding) if target is not None and target.binding is not None else None
    match ruled.next:
        case Acquire(term):
            assert target is not None
            assert target.binding is None or (stored is not None and stored.scaler_uid == owner.uid)
            decided = Decision.parse(target.decision) if target.decision else None
            assert term > (decided.term if decided else 0)
            assert term > (stored.term if stored else 0) or owner.known is not None
            if owner.known is not None and owner.known.uid == target.uid:
                assert term > owner.known.term
        case Hold(term) | Release(term):
            assert stored is not None
            assert stored.scaler_uid == owner.uid
            assert stored.term == term
        case Watch():
            assert not owner.active
        case Stay():
            pass
    assert owner.active or not isinstance(ruled.next, Acquire | Hold)
    assert not owner.suspended or isinstance(ruled.next, Release | Stay)


@given(owners, targets)
def test_every_ruling_has_a_reason_that_its_condition_knows(owner: Owner, target: Claimed | None) -> None:
    ruled = ruling(owner, target)
    bound = {reason for reasons in REASONS[ScalerCondition.BOUND].values() for reason in reasons}
    active = {reason for reasons in REASONS[ScalerCondition.ACTIVE].values() for reason in reasons}
    assert ruled.bound in bound
    assert ruled.active in active
    if isinstance(ruled.next, Acquire | Hold):
        assert (ruled.bound, ruled.active) == (ScalerReason.BOUND, ScalerReason.ACTIVE)


def test_every_row_says_what_it_knows() -> None:
    assert [row.__name__ for row in TABLE if not row.__doc__] == []
