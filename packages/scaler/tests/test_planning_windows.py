"""Windows over a history, and how a history goes on (decisions D12, D37, D38)."""

from datetime import timedelta
from fractions import Fraction

import pytest
from modeldeployment.api import Quantity
from modeldeployment.scaler.planning import windows
from modeldeployment.scaler.planning.memory import Demanded, Recommended
from modeldeployment.scaler.planning.windows import Window
from planning_worlds import NOON, amount, at, demanded, flowing, recommended

HOUR = 3600


def window(history: tuple[Demanded, ...], seconds: int, until: int = 0) -> Window:
    """One window that ends so many seconds after noon."""
    (only,) = windows.windows(history, at(until), seconds)
    return only


def sampled(history: tuple[Demanded, ...], seconds: int, rate: str | float, *, now: int | None = None) -> list[int]:
    """Add a sample; the instants that are remembered then, in seconds after noon."""
    sample = Demanded(at=at(seconds), tokens_per_second=amount(rate))
    found = windows.sampled(history, sample, now=at(seconds if now is None else now), seconds=180, interval_seconds=15)
    return [(each.at - NOON) // timedelta(seconds=1) for each in found]


def noted(
    history: tuple[Recommended, ...], seconds: int, replicas: int, *, now: int | None = None, keep: int = 300
) -> list[tuple[int, int]]:
    """Add a recommendation; what is remembered then, as (seconds after noon, replicas)."""
    found = windows.noted(
        history,
        Recommended(at=at(seconds), replicas=replicas),
        now=at(seconds if now is None else now),
        seconds=keep,
        interval_seconds=15,
    )
    return [((each.at - NOON) // timedelta(seconds=1), each.replicas) for each in found]


def test_a_sample_weighs_as_long_as_it_covers() -> None:
    """100 for ten seconds, 400 for fifty: a plain mean would say 250."""
    found = window(demanded((-60, 7), (-50, 100), (0, 400)), 60)
    assert (found.covered, found.rate) == (60, Fraction(350 * 10**9))


def test_the_first_sample_covers_nothing() -> None:
    found = window(demanded((-30, 1000), (0, 10)), 180)
    assert (found.covered, found.rate) == (30, Fraction(10 * 10**9))
    assert window(demanded((0, 1000)), 180) == Window(180, 0, 0)
    assert window((), 180) == Window(180, 0, 0)


def test_a_sample_that_reaches_over_the_left_edge_weighs_what_lies_within() -> None:
    found = window(demanded((-100, 5), (-40, 100), (0, 200)), 60)
    assert (found.covered, found.nanos) == (60, (20 * 100 + 40 * 200) * 10**9)


def test_the_sample_on_the_left_edge_is_excluded() -> None:
    found = window(demanded((-75, 5), (-60, 9000), (0, 200)), 60)
    assert (found.covered, found.rate) == (60, Fraction(200 * 10**9))


@pytest.mark.parametrize(("span", "established"), [(89, False), (90, True)])
def test_a_window_is_established_when_samples_span_half_of_it(span: int, established: bool) -> None:
    assert window(demanded((-span, 1), (0, 1)), 180).established is established


def test_a_window_that_no_sample_lies_in_is_not_established() -> None:
    found = window(demanded((-300, 5), (-200, 5)), 180)
    assert (found.covered, found.established, found.rate) == (0, False, Fraction(0))


def test_a_window_ends_with_the_newest_sample_if_that_is_later() -> None:
    assert window(demanded((-60, 5), (0, 200)), 60, until=-30) == window(demanded((-60, 5), (0, 200)), 60)


def test_the_same_instant_is_the_same_sample() -> None:
    history = demanded((-15, 5), (0, 7))
    again = Demanded(at=at(0), tokens_per_second=Quantity.whole(9))
    for now in (0, 5):
        assert windows.sampled(history, again, now=at(now), seconds=180, interval_seconds=15) is history


def test_a_sample_that_comes_late_is_left_out() -> None:
    history = demanded((-30, 5), (0, 7))
    late = Demanded(at=at(-15), tokens_per_second=Quantity.whole(9))
    assert windows.sampled(history, late, now=at(5), seconds=180, interval_seconds=15) is history


def test_what_lies_before_the_window_is_forgotten_but_for_where_its_oldest_sample_begins() -> None:
    assert sampled(demanded((-240, 1), (-210, 1), (-180, 1), (-90, 1)), 0, 1) == [-180, -90, 0]
    assert sampled(demanded((-240, 1), (-210, 1), (-170, 1), (-90, 1)), 0, 1) == [-210, -170, -90, 0]


def test_no_more_than_256_samples_are_kept() -> None:
    history = demanded(*((each, 1) for each in range(-257, -1)))
    assert sampled(history, 0, 1) == [*range(-180, -1), 0]
    kept = windows.sampled(
        history, Demanded(at=at(0), tokens_per_second=Quantity(1)), now=at(0), seconds=600, interval_seconds=5
    )
    assert (len(kept), kept[0].at, kept[-1].at) == (256, at(-256), at(0))


def test_a_clock_that_was_set_back_begins_a_history_anew() -> None:
    assert sampled(demanded((HOUR - 15, 5), (HOUR, 5)), 15, 5) == [15]
    assert noted(recommended((HOUR - 300, 9), (HOUR, 9)), 15, 3) == [(15, 3)]


def test_a_clock_that_was_set_forward_begins_a_history_anew() -> None:
    """An hour that nobody saw neither covers a window nor spans one."""
    assert sampled(demanded((-15, 5), (0, 5)), HOUR, 5) == [HOUR]
    assert noted(recommended((-300, 9), (0, 9)), HOUR, 3) == [(HOUR, 3)]


def test_a_hole_longer_than_a_rate_can_cover_begins_a_history_anew() -> None:
    assert sampled(demanded((-15, 5), (0, 5)), 300, 5) == [0, 300]
    assert sampled(demanded((-15, 5), (0, 5)), 301, 5) == [301]


def test_two_slow_intervals_are_no_hole() -> None:
    sample = Demanded(at=at(600), tokens_per_second=Quantity(1))
    kept = windows.sampled(demanded((0, 5)), sample, now=at(600), seconds=600, interval_seconds=300)
    assert [each.at for each in kept] == [at(0), at(600)]
    later = Demanded(at=at(601), tokens_per_second=Quantity(1))
    kept = windows.sampled(demanded((0, 5)), later, now=at(601), seconds=600, interval_seconds=300)
    assert [each.at for each in kept] == [at(601)]


def test_another_recommendation_of_the_same_instant_takes_the_place_of_the_first() -> None:
    assert noted(recommended((-15, 4), (0, 5)), 0, 6, now=7) == [(-15, 4), (0, 6)]
    assert noted(recommended((-15, 4), (0, 5)), 0, 5, now=7) == [(-15, 4), (0, 5)]


def test_a_recommendation_that_repeats_is_kept_where_it_begins_and_where_it_ends() -> None:
    assert noted(recommended((-30, 4), (-15, 4)), 0, 4) == [(-30, 4), (0, 4)]
    assert noted(recommended((-30, 4), (-15, 5)), 0, 4) == [(-30, 4), (-15, 5), (0, 4)]


def test_256_recommendations_span_half_an_hour_of_five_second_samples_however_they_jump() -> None:
    """1800 seconds are 360 samples: were the oldest merely dropped, nothing could ever shrink."""
    history: tuple[Recommended, ...] = ()
    jumps = [3 + 7 * each % 11 for each in range(400)]
    for each, replicas in enumerate(jumps):
        entry = Recommended(at=at(5 * each), replicas=replicas)
        history = windows.noted(history, entry, now=entry.at, seconds=1800, interval_seconds=5)
        assert len(history) <= 256
        seen = jumps[max(0, each - 360) : each + 1]
        found = [one.replicas for one in windows.within(history, 1800, entry.at)]
        assert (min(found), max(found)) == (min(seen), max(seen))
        assert windows.spans(history, 1800, entry.at) is (each >= 360)


def test_a_recommendation_at_the_edge_of_its_window_still_counts() -> None:
    history = recommended((-300, 9), (-15, 4), (0, 3))
    assert [each.replicas for each in windows.within(history, 300, NOON)] == [9, 4, 3]
    assert [each.replicas for each in windows.within(history, 299, NOON)] == [4, 3]
    assert (windows.spans(history, 300, NOON), windows.spans(history, 301, NOON)) == (True, False)


def test_a_long_flow_is_what_it_is_at_any_instant() -> None:
    found = window(flowing(4100, seconds=600), 180, until=-15)
    assert (found.covered, found.established, found.rate) == (180, True, Fraction(4100 * 10**9))
