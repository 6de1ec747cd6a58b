"""A latency is the bound that nineteen of twenty requests stayed within (spec 3 §Engine signals)."""

from math import inf

from modeldeployment.api import Quantity
from modeldeployment.scaler.sampling.growth import Waits
from modeldeployment.scaler.sampling.latency import milliseconds


def waits(seconds: float = 0, **fell: int) -> Waits:
    """Observations by bound: `upto_250` is what fell into the bucket that reaches to 250 ms, `above` into the last."""
    buckets = {inf if name == "above" else int(name.removeprefix("upto_")) / 1000: float(n) for name, n in fell.items()}
    return Waits(sum(fell.values()), seconds, {inf: 0, **buckets})


def said(*each: Waits) -> str | None:
    found = milliseconds(each)
    return None if found is None else str(found)


def test_the_bucket_that_covers_ninety_five_of_a_hundred_is_the_one() -> None:
    assert said(waits(upto_100=95, upto_250=5)) == "100"
    assert said(waits(upto_100=94, upto_250=6)) == "250"


def test_buckets_of_all_replicas_are_added_up() -> None:
    assert said(waits(upto_100=90), waits(upto_250=10)) == "250"
    assert said(waits(upto_100=190), waits(upto_250=10)) == "100"


def test_replicas_may_have_different_buckets() -> None:
    assert said(waits(upto_100=50, upto_500=0), waits(upto_200=50, upto_300=0)) == "200"


def test_an_order_of_bounds_is_that_of_numbers() -> None:
    assert said(waits(upto_10000=6, upto_9000=94)) == "10k"


def test_where_the_last_bucket_covers_it_the_mean_stands_in() -> None:
    assert said(waits(seconds=30.0, upto_100=90, above=10)) == "300"


def test_without_buckets_the_mean_stands_in() -> None:
    assert said(Waits(4, 1.0, {})) == "250"


def test_where_one_replica_that_served_has_no_buckets_the_mean_of_all_stands_in() -> None:
    assert said(waits(seconds=9.0, upto_100=90), Waits(10, 11.0, {})) == "200"


def test_a_replica_that_served_nobody_changes_nothing() -> None:
    assert said(waits(upto_100=10), Waits(), waits()) == "100"


def test_where_nobody_waited_there_is_no_latency() -> None:
    assert said() is None
    assert said(Waits(), waits()) is None


def test_a_bound_is_told_to_the_microsecond() -> None:
    assert milliseconds([Waits(1, 0, {0.0025: 1, inf: 0})]) == Quantity.parse("2500m")
    assert milliseconds([Waits(3, 0.1, {})]) == Quantity.parse("33333m")
