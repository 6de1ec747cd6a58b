from modeldeployment.lab.bench import accounts
from modeldeployment.lab.bench.figures import Rounds, differences, lists_beyond, medians


def test_rounds_know_their_median_and_both_ends() -> None:
    rounds = Rounds((300.0, 280.0, 310.0))
    assert (rounds.lowest, rounds.median, rounds.highest) == (280.0, 300.0, 310.0)


def test_the_median_of_two_rounds_lies_between_them() -> None:
    assert Rounds((200.0, 300.0)).median == 250.0


def test_a_restart_is_counted_in_lists_beyond_what_is_free() -> None:
    assert round(lists_beyond([2.9, 2.5, 9.0], [0.2, 0.3, 0.4], free=2.0), 6) == 3.0


def test_a_restart_that_needs_less_than_what_is_free_counts_as_nothing() -> None:
    assert lists_beyond([1.2], [0.2], free=2.0) == 0.0


def test_a_process_that_started_in_between_is_charged_from_nothing() -> None:
    assert differences({"etcd": 4.0}, {"etcd": 5.5, "operator": 1.25}) == {"etcd": 1.5, "operator": 1.25}


def test_medians_are_taken_by_process() -> None:
    assert medians([{"etcd": 1.0, "kwok": 2.0}, {"etcd": 3.0}]) == {"etcd": 2.0, "kwok": 2.0}


def test_processor_seconds_are_told_largest_first_and_without_the_trifles() -> None:
    assert accounts.told({"kwok": 0.05, "etcd": 1.0, "operator": 2.25}) == "operator 2.2, etcd 1.0"


def test_no_processor_seconds_are_told_as_none() -> None:
    assert accounts.told({"kwok": 0.0}) == "none"
