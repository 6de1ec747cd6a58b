"""Circles of sets that wait for each other: who gives way, when, and for how long (decisions D18)."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from modeldeployment.reconcile.sets import counting, yielding
from modeldeployment.reconcile.sets.markers import Yield, yielded
from modeldeployment.reconcile.sets.seen import Set
from modeldeployment.reconcile.sets.yielding import Standing
from sets_worlds import NOW, activated, admitted, ago, entry, pair, reserved, shelved, workload


def stuck(name: str, age: int, *, holds: str = "pool", waits: str = "pool", seconds: float = 31) -> Standing:
    """A set of so many minutes that holds quota in one pool and waits in another, since so many seconds."""
    at = ago(seconds=seconds)
    return Standing("default", name, ago(minutes=age), f"uid-{name}", 1, waits={waits: at}, holds={holds: at})


def standing(of: Set) -> Standing:
    return yielding.standing(of, counting.count(of))


def youngest(*standings: Standing, now: datetime = NOW) -> set[str]:
    """Who gives way, by what each of them decides."""
    turns = [yielding.turn(each, standings, now) for each in standings]
    return {turn.youngest.name for turn in turns if turn is not None and turn.at <= now}


def test_a_set_waits_where_its_settled_groups_queue_and_holds_where_it_is_reserved_and_not_admitted() -> None:
    of = pair(
        reserved("p0", since=ago(seconds=40)),
        workload("d0", queue="other", since=ago(seconds=50)),
        workload("d1", queue="other", since=ago(seconds=20)),
        admitted("p1", queue="other"),
        prefill=2,
        decode=2,
    )
    assert standing(of).waits == {"pool-b": ago(seconds=50)}
    assert standing(of).holds == {"pool": ago(seconds=40)}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"active": False}, id="deactivated"),
        pytest.param({"leaving": True}, id="leaving"),
        pytest.param({"finished": True}, id="finished"),
    ],
)
def test_what_takes_no_free_quota_waits_for_none(other: dict[str, Any]) -> None:
    assert standing(pair(reserved("p0"), workload("d0", **other))).waits == {}


def test_a_complete_set_waits_for_nobody() -> None:
    done = standing(pair(admitted("p0"), reserved("d0")))
    assert (done.waits, done.holds, done.admitted) == ({}, {}, False)
    assert standing(pair(admitted("p0"), admitted("d0"))).admitted


def test_of_two_sets_in_one_pool_the_younger_gives_way() -> None:
    assert youngest(stuck("old", 5), stuck("new", 2)) == {"new"}


def test_sets_of_one_age_are_told_apart_by_their_uid() -> None:
    assert youngest(stuck("a", 5), stuck("b", 5)) == {"b"}


def test_a_circle_over_two_queues_is_found() -> None:
    assert youngest(stuck("old", 5, holds="x", waits="y"), stuck("new", 2, holds="y", waits="x")) == {"new"}


def test_a_circle_of_three_is_broken_at_its_youngest() -> None:
    ring = (
        stuck("a", 9, holds="x", waits="y"),
        stuck("b", 3, holds="y", waits="z"),
        stuck("c", 5, holds="z", waits="x"),
    )
    assert youngest(*ring) == {"b"}


def test_one_that_only_waits_for_a_circle_is_none_of_it() -> None:
    ring = (stuck("old", 5), stuck("new", 2))
    assert youngest(*ring, stuck("newest", 1, holds="elsewhere")) == {"new"}


def test_a_chain_is_no_circle() -> None:
    assert youngest(stuck("a", 5, holds="x", waits="y"), stuck("b", 2, holds="y", waits="z")) == set()


@pytest.mark.parametrize("part", ["holds", "waits"])
def test_a_circle_must_have_stood_for_thirty_seconds(part: str) -> None:
    fresh: dict[str, Any] = {part: {"pool": ago(seconds=29)}}
    forming = replace(stuck("new", 2), **fresh)
    assert youngest(stuck("old", 5), forming) == set()
    assert yielding.next_look(forming, NOW) == NOW + timedelta(seconds=1)
    assert youngest(stuck("old", 5), stuck("new", 2, seconds=30)) == {"new"}


def test_the_next_set_of_a_circle_waits_until_the_freed_quota_is_assigned() -> None:
    gone = Standing("default", "c", ago(minutes=1), "uid-c", 1, gives_way=Yield("default", "a", 1, ago(seconds=1)))
    pending = yielding.turn(stuck("b", 2), [stuck("a", 5), stuck("b", 2), gone], NOW)
    assert pending is not None
    assert pending.at == NOW + timedelta(seconds=2)
    settled = replace(gone, gives_way=Yield("default", "a", 1, ago(seconds=3)))
    assert youngest(stuck("a", 5), stuck("b", 2), settled) == {"b"}


def test_giving_way_takes_everything_out_that_is_not_admitted_and_names_the_oldest_set() -> None:
    of = pair(admitted("p0"), reserved("p1"), workload("d0"), workload("d1", entries=()), prefill=2, decode=2)
    turn = yielding.turn(stuck("new", 2), [stuck("old", 5), stuck("mid", 3)], NOW)
    assert turn is not None
    to = yielding.begin(turn, NOW)
    assert to == Yield("default", "old", 1, NOW)
    message = (
        "yielding to default/old (generation 1) since 2026-03-01T12:00:00Z: each of the two sets held quota that the "
        "other waits for, and the older goes first; this Workload is made active again when the older set is "
        "admitted, gone or edited, or after 30 minutes"
    )
    assert shelved(yielding.shelved(of, to, NOW)) == {"p1": message, "d0": message}
    assert yielded(message) == to


def gave_way(to: Yield) -> Set:
    """A set of which one half was deactivated before the process ended, and a replica came since."""
    [done] = yielding.shelved(pair(reserved("p0")), to, NOW)
    out = replace(done.workload, entries=done.entries, active=False, reserved=False)
    return pair(out, reserved("d0"), workload("d1"), decode=2)


OLDER = Yield("default", "old", 1, ago(seconds=10))


def test_half_a_set_that_gave_way_gives_way_as_a_whole() -> None:
    of = gave_way(OLDER)
    assert yielding.given_way(of) == OLDER
    assert set(shelved(yielding.shelved(of, OLDER, NOW))) == {"d0", "d1"}


def test_words_without_the_deed_are_no_yield_yet_and_the_deed_follows() -> None:
    [said] = yielding.shelved(pair(reserved("p0")), OLDER, NOW)
    of = pair(replace(said.workload, entries=said.entries), workload("d0"))
    assert yielding.given_way(of) is None
    again = yielding.shelved(of, OLDER, NOW)
    assert [(each.workload.name, each.said) for each in again] == [("p0", True), ("d0", False)]


def test_the_reason_stands_while_the_older_set_waits_for_the_quota() -> None:
    assert not yielding.ends(OLDER, stuck("old", 5), NOW)


@pytest.mark.parametrize(
    "older",
    [
        pytest.param(None, id="gone"),
        pytest.param(replace(stuck("old", 5), created=NOW), id="another object of its name"),
        pytest.param(replace(stuck("old", 5), generation=2), id="edited"),
        pytest.param(replace(stuck("old", 5), admitted=True), id="admitted"),
    ],
)
def test_the_reason_is_gone_with_the_older_set(older: Standing | None) -> None:
    assert yielding.ends(OLDER, older, NOW)


def test_after_half_an_hour_a_set_tries_again_whatever_became_of_the_older_one() -> None:
    assert not yielding.ends(replace(OLDER, since=ago(minutes=30)), stuck("old", 50), NOW)
    assert yielding.ends(replace(OLDER, since=ago(minutes=30, seconds=1)), stuck("old", 50), NOW)


def test_what_gave_way_comes_back_and_what_was_parked_or_taken_out_by_a_person_does_not() -> None:
    parked = workload("d0", active=False, entries=(entry("Pending", "parked rather than held: …"),))
    by_hand = workload("d1", active=False)
    of = gave_way(OLDER)
    mixed = replace(of, workloads=(of.workloads[0], parked, by_hand))
    assert activated(yielding.returning(mixed)) == ["p0"]
