"""Two readings of the same things are told apart by what is in between of what they have in common."""

from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.reconcile.deciding import parting
from modeldeployment.reconcile.deciding.parting import Parting

MANY = tuple(range(200))

readings = st.lists(st.integers(0, 3), max_size=150).map(tuple)


def test_equal_readings_do_not_part() -> None:
    parted = parting.of(MANY, tuple(range(200)))
    assert parted == Parting(200, 200, 200)
    assert parted.alike
    assert parting.of((), ()).alike


def test_what_changed_in_its_place_is_in_between() -> None:
    now = (*MANY[:130], -1, *MANY[131:])
    parted = parting.of(MANY, now)
    assert (parted.went(MANY), parted.came(now)) == ((130,), (-1,))
    assert not parted.alike


def test_what_went_leaves_nothing_in_between_of_now() -> None:
    now = (*MANY[:70], *MANY[71:])
    parted = parting.of(MANY, now)
    assert (parted.went(MANY), parted.came(now)) == ((70,), ())


def test_what_came_at_the_end_is_in_between() -> None:
    now = (*MANY, 200)
    assert parting.of(MANY, now) == Parting(200, 200, 201)


def test_only_what_is_in_between_is_made_anew() -> None:
    made: list[int] = []

    def make(thing: int) -> str:
        made.append(thing)
        return f"made of {thing}"

    before = ("zero", "one", "two")
    assert parting.of((0, 1, 2), (0, 5, 2)).remade(before, (0, 5, 2), make) == ("zero", "made of 5", "two")
    assert made == [5]


@given(readings, readings)
def test_what_is_remade_is_what_is_made_anew(before: tuple[int, ...], now: tuple[int, ...]) -> None:
    parted = parting.of(before, now)
    assert parted.alike == (before == now)
    assert parted.remade(tuple(map(str, before)), now, str) == tuple(map(str, now))
