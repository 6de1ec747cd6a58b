"""Waiting grows, stays bounded, and spreads."""

from hypothesis import given
from hypothesis import strategies as st
from kube_worlds import UNHURRIED
from modeldeployment.kube import backoff
from modeldeployment.kube.requests import micro_time


@UNHURRIED
@given(st.integers(1, 1000), st.integers(0, 2**32))
def test_a_pause_lies_between_half_and_whole_of_a_doubling_bounded_time(attempt: int, seed: int) -> None:
    whole = min(8.0, 0.5 * 2.0 ** min(attempt - 1, 60))
    assert whole / 2 <= backoff(attempt, seed, first=0.5, most=8.0) <= whole


def test_the_same_attempt_and_seed_give_the_same_pause() -> None:
    assert backoff(3, 7) == backoff(3, 7)


def test_different_seeds_spread() -> None:
    assert len({backoff(5, seed) for seed in range(50)}) == 50


def test_times_are_spelt_with_microseconds_in_utc() -> None:
    assert micro_time(1_795_980_193.25) == "2026-11-29T19:23:13.250000Z"
