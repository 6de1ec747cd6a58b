"""A Pod that a router gave up on is shown anew, ever less often (facts routers-measured §1)."""

from datetime import timedelta
from itertools import pairwise

from modeldeployment.router.withdrawal import LIST, Heard, missed
from withdrawal_stories import GOES, START, STAYS, listing

ONE = Heard(LIST, 200, listing({STAYS: "regular"}))
BOTH = Heard(LIST, 200, listing({GOES: "regular", STAYS: "regular"}))
READY = ("10.0.0.1", "10.0.0.2")


def after(
    seen: missed.Missed, seconds: float, heard: Heard = ONE, ready: tuple[str, ...] = READY
) -> tuple[missed.Missed, tuple[str, ...]]:
    return missed.due(seen, heard, ready, START + timedelta(seconds=seconds), by_id=False)


def test_a_pod_that_is_missed_for_thirty_seconds_is_shown_and_then_after_pauses_that_double() -> None:
    seen, shown = missed.Missed(), []
    for second in range(0, 3600, 10):
        seen, due = after(seen, second)
        shown += [second] * len(due)
    assert shown[:5] == [30, 90, 210, 450, 930]
    assert {late - early for early, late in pairwise(shown[5:])} == {600}


def test_one_that_was_listed_meanwhile_or_was_not_ready_has_its_thirty_seconds_anew() -> None:
    for meanwhile in ({"heard": BOTH}, {"ready": READY[1:]}):
        seen, _ = after(missed.Missed(), 0)
        seen, _ = after(seen, 20, **meanwhile)
        seen, due = after(seen, 40)
        assert due == ()
        assert after(seen, 70)[1] == READY[:1]


def test_what_cannot_be_read_shows_nobody_and_forgets_nothing() -> None:
    seen, _ = after(missed.Missed(), 0)
    for heard in (Heard(LIST, 500), Heard(LIST, None), Heard(LIST, 200, b"[]"), Heard(LIST, 200, BOTH.body[:-2])):
        assert after(seen, 95, heard) == (seen, ())
    assert after(seen, 95, ready=("not an address",)) == (seen, ())
