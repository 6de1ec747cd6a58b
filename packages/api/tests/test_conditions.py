import re
from itertools import chain

from modeldeployment.api.conditions import (
    REASONS,
    ConditionStatus,
    ConditionType,
    EventReason,
    Reason,
    RefusalReason,
)

API_REASON = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")


def test_every_condition_has_its_reasons() -> None:
    assert set(REASONS) == set(ConditionType)
    assert all(reasons for by_status in REASONS.values() for reasons in by_status.values())


def test_every_reason_is_said_by_some_condition() -> None:
    said = set(chain.from_iterable(reasons for row in REASONS.values() for reasons in row.values()))
    assert said == set(Reason) | set(RefusalReason)


def test_a_reason_tells_the_status_of_its_condition() -> None:
    for condition, by_status in REASONS.items():
        said = list(chain.from_iterable(by_status.values()))
        assert len(said) == len(set(said)), condition


def test_every_word_is_one_the_api_server_takes_as_a_reason() -> None:
    words = [*Reason, *RefusalReason, *EventReason, *ConditionType]
    assert [word for word in words if not API_REASON.fullmatch(word)] == []


def test_a_set_that_yields_is_not_reserved() -> None:
    assert Reason.YIELDING in REASONS[ConditionType.QUOTA_RESERVED][ConditionStatus.FALSE]


def test_a_refused_render_says_why_in_its_own_condition() -> None:
    assert REASONS[ConditionType.RENDERED] == {
        ConditionStatus.TRUE: (Reason.RENDERED,),
        ConditionStatus.FALSE: tuple(RefusalReason),
    }
