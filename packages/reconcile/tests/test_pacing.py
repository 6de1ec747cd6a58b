"""Which status patches may wait: those that only count on; and the bound that is told as it is kept."""

from datetime import UTC, datetime, timedelta

import pytest
from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding import sentences
from modeldeployment.reconcile.deciding.pacing import LONGEST_YIELD, Untold, counts_on, due, rest
from modeldeployment.reconcile.sets import markers, messages

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
ROLE = {"name": "server", "desired": 9, "ready": 3, "quotaReserved": 4, "endpoints": {"eligible": 3}}
QUOTA = {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": "5 of 9 wait"}
STATUS: dict[str, object] = {"phase": "Degraded", "phaseMessage": "3 of 9", "roles": [ROLE], "conditions": [QUOTA]}


@pytest.mark.parametrize(
    "patch",
    [
        {"phaseMessage": "4 of 9", "roleSummary": "4S"},
        {"roles": [{**ROLE, "ready": 4, "quotaReserved": 5, "assignedFlavors": ["a"], "endpoints": {"eligible": 4}}]},
        {"conditions": [{**QUOTA, "message": "4 of 9 wait"}]},
    ],
)
def test_figures_and_the_messages_that_say_them_may_wait(patch: dict[str, object]) -> None:
    assert counts_on(STATUS, patch)


@pytest.mark.parametrize(
    "patch",
    [
        {"phase": "Ready"},
        {"endpoint": "http://chat"},
        {"roles": [{**ROLE, "desired": 10}]},
        {"roles": [ROLE, {**ROLE, "name": "other"}]},
        {"conditions": [{**QUOTA, "status": "True"}]},
        {"conditions": [{**QUOTA, "reason": "Parked"}]},
        {"conditions": [{**QUOTA, "observedGeneration": 2}]},
        {"conditions": [QUOTA, {"type": "Rendered"}]},
        {"phaseMessage": "4 of 9", "phase": "Ready"},
    ],
)
def test_everything_else_is_written_at_once(patch: dict[str, object]) -> None:
    assert not counts_on(STATUS, patch)


@pytest.mark.parametrize(
    ("milliseconds", "waiting", "seconds"),
    [(0, 1, 1.0), (500, 1, 1.0), (10, 100, 1.0), (20, 100, 1.0), (30, 100, 1.5), (100, 100, 5.0), (9000, 1, 4.5)],
)
def test_a_status_rests_a_second_or_as_long_as_all_that_wait_take_two_at_a_time_but_no_longer_than_five(
    milliseconds: int, waiting: int, seconds: float
) -> None:
    assert rest(timedelta(milliseconds=milliseconds), waiting) == timedelta(seconds=seconds)


def test_the_first_status_of_a_deployment_never_waits() -> None:
    assert not counts_on({}, STATUS)


def test_the_bound_of_a_yield_is_told_in_status_and_in_the_check_as_it_is_kept() -> None:
    older = markers.Yield("team", "other", 1, datetime(2026, 1, 1, tzinfo=UTC))
    assert timedelta(minutes=30) == LONGEST_YIELD
    assert sentences.of(found.Yielding(1, 2, ("team/other",))).endswith("after 30 minutes at the latest")
    assert messages.yielding(older).endswith("or after 30 minutes")


def test_a_flip_waits_only_while_sets_are_admitted_and_a_figure_longer() -> None:
    assert due(None, None, NOW, SECOND, figures=False, busy=False) == (NOW, Untold(NOW, figures=False))
    assert due(None, None, NOW, SECOND, figures=False, busy=True) == (NOW + SECOND, Untold(NOW, figures=False))
    assert due(None, None, NOW, SECOND, figures=True, busy=True) == (NOW + 5 * SECOND, Untold(NOW, figures=True))


def test_a_figure_waits_for_the_rest_of_the_last_status_and_a_flip_does_not() -> None:
    last = NOW - SECOND / 4
    assert due(None, last, NOW, SECOND, figures=True, busy=False) == (last + SECOND, None)
    assert due(None, last, NOW, SECOND, figures=False, busy=False)[0] == NOW


def test_what_waits_goes_on_waiting_and_a_flip_that_joins_figures_begins_anew() -> None:
    flip, figure = (Untold(NOW - 3 * SECOND, figures=figures) for figures in (False, True))
    assert due(flip, None, NOW, SECOND, figures=False, busy=True)[0] < NOW
    assert due(figure, None, NOW, SECOND, figures=True, busy=True)[0] == NOW + 2 * SECOND
    assert due(figure, None, NOW, SECOND, figures=False, busy=True) == (NOW + SECOND, Untold(NOW, figures=False))
