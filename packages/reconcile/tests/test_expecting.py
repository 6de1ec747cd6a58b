"""A pass waits until the stores have seen what this controller last wrote."""

from dataclasses import dataclass

from modeldeployment.reconcile.expecting import Expectations


@dataclass(frozen=True)
class At:
    """A store that has seen a version."""

    revision: int


def pods(revision: int) -> dict[str, At]:
    """The stores, where that of Pods has seen a version."""
    return {"pods": At(revision)}


def test_without_writes_nothing_is_expected() -> None:
    assert Expectations().met("a", pods(0))


def test_a_write_is_expected_until_its_store_has_seen_it() -> None:
    expected = Expectations()
    expected.wrote("a", "pods", "12")
    assert not expected.met("a", pods(11))
    assert expected.met("a", pods(12))


def test_the_newest_write_counts_whatever_order_the_answers_come_in() -> None:
    expected = Expectations()
    expected.wrote("a", "pods", "12")
    expected.wrote("a", "pods", "9")
    assert not expected.met("a", pods(11))
    assert expected.met("a", pods(13))


def test_versions_are_compared_as_numbers() -> None:
    expected = Expectations()
    expected.wrote("a", "pods", "100")
    assert not expected.met("a", pods(99))


def test_every_store_must_have_caught_up() -> None:
    expected = Expectations()
    expected.wrote("a", "pods", "12")
    expected.wrote("a", "services", "15")
    assert not expected.met("a", pods(12) | {"services": At(14)})
    assert expected.met("a", pods(0) | {"services": At(15)})


def test_what_was_met_once_is_not_asked_for_again() -> None:
    expected = Expectations()
    expected.wrote("a", "pods", "12")
    assert expected.met("a", pods(12))
    assert expected.met("a", pods(0))


def test_deployments_do_not_wait_for_each_other() -> None:
    expected = Expectations()
    expected.wrote("a", "pods", "12")
    assert expected.met("b", pods(0))


def test_a_version_that_is_no_number_is_not_expected() -> None:
    expected = Expectations()
    expected.wrote("a", "pods", "opaque")
    assert expected.met("a", pods(0))


def test_a_deployment_that_is_gone_is_forgotten() -> None:
    expected = Expectations()
    expected.wrote("a", "pods", "12")
    expected.forget("a")
    assert expected.met("a", pods(0))
