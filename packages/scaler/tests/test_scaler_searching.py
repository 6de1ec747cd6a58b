"""Decisions D17: the nearest vector, and what "nearest" means, held against trying out every vector."""

from fractions import Fraction
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from modeldeployment.scaler.planning.searching import Aim, Failure, Nearest, Push, Question, nearest

WHOLE = st.integers(1, 8)
RATIO = st.builds(Fraction, st.integers(1, 12), st.integers(1, 12))


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Up to four places, whose ranges, wishes and joints have nothing to do with each other."""
    size = draw(st.integers(1, 4))
    floors = tuple(draw(WHOLE) for _ in range(size))
    ceilings = tuple(floor + draw(st.integers(0, 6)) for floor in floors)
    wanted = tuple(draw(st.none() | st.integers(1, 16)) for _ in range(size))
    pushes, aims = [], []
    for _ in range(draw(st.integers(0, 2 * size)) if size > 1 else 0):
        one, other = draw(st.permutations(range(size)))[:2]
        ratio = draw(RATIO)
        if draw(st.booleans()):
            pushes.append(Push(one, other, ratio.numerator, ratio.denominator))
        else:
            aims.append(Aim(one, other, ratio))
    return Question(floors, ceilings, wanted, tuple(pushes), tuple(aims))


def _tried_out(question: Question) -> tuple[int, ...] | None:
    fitting = [
        counts
        for counts in product(
            *(range(low, high + 1) for low, high in zip(question.floors, question.ceilings, strict=True))
        )
        if all(counts[push.held] * push.over >= counts[push.source] * push.times for push in question.pushes)
    ]
    return min(fitting, key=lambda counts: _order(question, counts), default=None)


def _order(question: Question, counts: tuple[int, ...]) -> tuple[int, Fraction, int, tuple[int, ...]]:
    distance = sum(abs(count - wish) for count, wish in zip(counts, question.wanted, strict=True) if wish is not None)
    deviation = sum(
        (abs(Fraction(counts[aim.numerator], counts[aim.denominator]) - aim.target) for aim in question.aims),
        Fraction(),
    )
    return distance, deviation, sum(counts), counts


@settings(max_examples=300, deadline=None)
@given(questions())
def test_no_vector_that_fits_is_nearer_than_the_one_found(question: Question) -> None:
    best = _tried_out(question)
    found = nearest(question, 10**6)
    if best is None:
        assert found is Failure.NONE_FITS
    else:
        assert isinstance(found, Nearest)
        assert found.counts == best


def test_of_two_at_the_same_distance_the_one_nearer_to_the_ratio_comes_first() -> None:
    # the first role may have any count; a half of the second's four is preferred
    found = nearest(Question((1, 1), (4, 4), (None, 4), (), (Aim(0, 1, Fraction(1, 2)),)))
    assert isinstance(found, Nearest)
    assert (found.counts, found.distance) == ((2, 4), 0)


def test_of_two_at_the_same_ratio_the_smaller_total_comes_first() -> None:
    found = nearest(Question((1, 1), (4, 4), (None, 2), (Push(1, 0, 1, 1),)))
    assert isinstance(found, Nearest)
    assert found.counts == (2, 2)


def test_of_two_of_the_same_total_the_first_role_has_the_smaller_count() -> None:
    # one of the first two has to give way to the third, and it costs the same whichever does
    found = nearest(Question((1, 1), (3, 3), (3, 1), (Push(0, 1, 2, 3),)))
    assert isinstance(found, Nearest)
    assert (found.counts, found.distance) == ((1, 1), 2) or (found.counts, found.distance) == ((3, 2), 1)


def test_a_search_gives_up_after_so_much_work_and_says_so() -> None:
    places = range(6)
    joined = tuple(Push(one, other, 9, 10) for one in places for other in places if one != other)
    question = Question((1,) * 6, (1000,) * 6, (900, 100, 700, 300, 500, 400), joined)
    assert nearest(question, 500) is Failure.GIVEN_UP


def test_contradictory_bands_fit_nothing() -> None:
    # each of two has to be more than the other
    up = Question((1, 1), (1024, 1024), (5, 5), (Push(0, 1, 1001, 1000), Push(1, 0, 1001, 1000)))
    assert nearest(up) is Failure.NONE_FITS
