"""Bounds and ratios: what is proved impossible, what is found, and what is left undecided."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modeldeployment.admission.feasibility import (
    LIMIT,
    Band,
    Impossible,
    Possible,
    Push,
    Span,
    Undecided,
    components,
    solve,
)

ROLES = ("a", "b", "c", "d")


def keeps(counts: Mapping[str, int], bands: Sequence[Band]) -> bool:
    ratios = [(band, Fraction(counts[band.numerator], counts[band.denominator])) for band in bands]
    return all(
        (band.least is None or ratio >= band.least) and (band.most is None or ratio <= band.most)
        for band, ratio in ratios
    )


def every_vector(spans: Mapping[str, Span], bands: Sequence[Band]) -> list[dict[str, int]]:
    ranges = (range(span.floor, span.ceiling + 1) for span in spans.values())
    vectors = (dict(zip(spans, counts, strict=True)) for counts in product(*ranges))
    return [counts for counts in vectors if keeps(counts, bands)]


spans = st.builds(lambda floor, more: Span(floor, floor + more), st.integers(1, 5), st.integers(0, 5))
ends = st.none() | st.builds(Fraction, st.integers(1, 9), st.integers(1, 9))
pairs = st.tuples(st.sampled_from(ROLES), st.sampled_from(ROLES)).filter(lambda pair: pair[0] != pair[1])
bands = st.lists(
    st.builds(lambda pair, least, most: Band(pair[0], pair[1], least, most), pairs, ends, ends), max_size=5
)


@settings(deadline=None)
@given(st.fixed_dictionaries(dict.fromkeys(ROLES, spans)), bands)
def test_the_answer_is_that_of_trying_every_vector(spans: Mapping[str, Span], bands: Sequence[Band]) -> None:
    fitting = every_vector(spans, bands)
    match solve(spans, bands):
        case Possible(counts):
            assert counts in fitting
            assert all(counts[role] <= other[role] for other in fitting for role in ROLES)
        case Impossible(last):
            assert fitting == []
            assert last.replicas > spans[last.role].ceiling
        case Undecided():
            pytest.fail("small bounds are always decided")


wide = st.builds(lambda floor, more: Span(floor, floor + more), st.integers(1, 30), st.integers(0, 12))
decimals = st.none() | st.builds(
    Fraction,
    st.integers(1, 3_000_000_000) | st.sampled_from((333_333_333, 333_333_334, 666_666_667, 500_000_000)),
    st.just(10**9),
)
awkward = st.lists(
    st.builds(
        lambda pair, least, most: Band(pair[0], pair[1], least, most),
        pairs.filter(lambda p: "d" not in p),
        decimals,
        decimals,
    ),
    min_size=1,
    max_size=6,
)


@settings(deadline=None)
@given(st.fixed_dictionaries(dict.fromkeys("abc", wide)), awkward)
def test_the_answer_is_exact_for_decimals_of_every_length(spans: Mapping[str, Span], bands: Sequence[Band]) -> None:
    fitting = every_vector(spans, bands)
    outcome = solve(spans, bands)
    assert isinstance(outcome, Possible if fitting else Impossible)
    assert not isinstance(outcome, Possible) or outcome.counts in fitting


@given(st.fixed_dictionaries(dict.fromkeys(ROLES, spans)), bands)
def test_every_push_of_a_proof_follows_from_the_one_before(spans: Mapping[str, Span], bands: Sequence[Band]) -> None:
    outcome = solve(spans, bands)
    if not isinstance(outcome, Impossible):
        return
    held = {role: span.floor for role, span in spans.items()}
    for push in outcome.last.chain:
        band = bands[push.band]
        assert held[push.source] >= push.given
        end = Fraction(push.replicas, push.given)
        one_less = Fraction(push.replicas - 1, push.given)
        if push.upper:
            assert (push.source, push.role) == (band.numerator, band.denominator)
            assert band.most is not None
            assert 1 / end <= band.most
            assert push.replicas == 1 or 1 / one_less > band.most
        else:
            assert (push.source, push.role) == (band.denominator, band.numerator)
            assert band.least is not None
            assert one_less < band.least <= end
        held[push.role] = push.replicas


def test_a_ratio_that_no_count_under_the_ceiling_reaches_is_impossible() -> None:
    outcome = solve({"p": Span(2, 6), "d": Span(4, 8)}, [Band("p", "d", least=Fraction(2))])
    assert outcome == Impossible(Push(0, False, "d", 4, "p", 8, None))


def test_the_upper_end_of_a_band_holds_up_its_denominator() -> None:
    outcome = solve({"p": Span(8, 16), "d": Span(1, 3)}, [Band("p", "d", most=Fraction(2))])
    assert outcome == Impossible(Push(0, True, "p", 8, "d", 4, None))


def test_a_band_exactly_at_both_ceilings_fits() -> None:
    half = Fraction(1, 2)
    assert solve({"p": Span(4, 4), "d": Span(8, 8)}, [Band("p", "d", half, half)]) == Possible({"p": 4, "d": 8})


def test_a_fixed_ratio_needs_counts_that_divide() -> None:
    third_more = Fraction(3, 2)
    bands = [Band("p", "d", third_more, third_more)]
    assert isinstance(solve({"p": Span(1, 2), "d": Span(1, 8)}, bands), Impossible)
    assert solve({"p": Span(1, 3), "d": Span(1, 8)}, bands) == Possible({"p": 3, "d": 2})


def test_ratios_that_contradict_each_other_in_a_ring_are_impossible() -> None:
    two = Fraction(2)
    bands = [Band("a", "b", two), Band("b", "c", two), Band("c", "a", two)]
    assert isinstance(solve(dict.fromkeys("abc", Span(1, 1024)), bands), Impossible)


def test_a_chain_of_bands_names_every_link() -> None:
    outcome = solve(
        {"e": Span(1, 4), "p": Span(1, 16), "d": Span(3, 16)},
        [Band("p", "d", least=Fraction(2)), Band("e", "p", least=Fraction(1))],
    )
    assert isinstance(outcome, Impossible)
    assert [(push.source, push.role, push.replicas) for push in outcome.last.chain] == [("d", "p", 6), ("p", "e", 6)]


def test_a_search_that_reaches_its_limit_decides_nothing() -> None:
    creeping = [Band("a", "b", least=Fraction(1)), Band("b", "a", least=Fraction(1025, 1024))]
    spans = dict.fromkeys("ab", Span(1, 1024))
    assert solve(spans, creeping, limit=100) == Undecided()
    assert isinstance(solve(spans, creeping), Impossible)


def test_ten_roles_in_a_chain_of_awkward_fixed_ratios_are_decided_within_the_limit() -> None:
    roles = [f"r{index}" for index in range(10)]
    awkward = Fraction(1023, 1024)
    bands = [Band(one, other, awkward, awkward) for one, other in pairwise(roles)]
    assert isinstance(solve(dict.fromkeys(roles, Span(1, 1024)), bands, LIMIT), Impossible)


@pytest.mark.parametrize("count", [2, 5, 10, 16])
@pytest.mark.parametrize("excess", [Fraction(1025, 1024), Fraction(10009, 10000), Fraction(1)])
def test_roles_that_all_hold_up_each_other_are_answered_within_the_limit(count: int, excess: Fraction) -> None:
    roles = [f"r{index}" for index in range(count)]
    bands = [Band(one, other, excess if one < other else Fraction(1)) for one, other in permutations(roles, 2)]
    outcome = solve(dict.fromkeys(roles, Span(1, 1024)), bands, LIMIT)
    assert isinstance(outcome, Possible if excess == 1 else Impossible | Undecided)


def test_a_third_is_between_its_nearest_decimals() -> None:
    spans = {"a": Span(1, 1), "b": Span(3, 3)}
    below, above = Fraction(333_333_333, 10**9), Fraction(333_333_334, 10**9)
    assert solve(spans, [Band("a", "b", below, above)]) == Possible({"a": 1, "b": 3})
    assert isinstance(solve(spans, [Band("a", "b", least=above)]), Impossible)
    assert isinstance(solve(spans, [Band("a", "b", most=below)]), Impossible)


def test_roles_without_a_band_keep_their_floors() -> None:
    assert solve({"a": Span(2, 3)}, []) == Possible({"a": 2})


def test_components_are_the_groups_that_bands_join() -> None:
    bands = [Band("a", "b"), Band("c", "d"), Band("e", "f"), Band("d", "a")]
    assert list(components(bands)) == [(frozenset("abcd"), (0, 1, 3)), (frozenset("ef"), (2,))]
