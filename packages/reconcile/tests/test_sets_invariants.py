"""What holds of every pass over any set, and of every circle, however they came about."""

from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.reconcile.sets import counting, yielding
from modeldeployment.reconcile.sets.markers import Yield
from modeldeployment.reconcile.sets.seen import Pod, Set, Workload
from modeldeployment.reconcile.sets.verdicts import Activate, Answer, Shelve
from modeldeployment.reconcile.sets.yielding import Standing
from sets_worlds import NOW, ago, entry, group, judged, pair, workload

ages = st.integers(0, 3600).map(lambda seconds: ago(seconds=seconds))
entries = st.builds(
    entry,
    st.sampled_from(["Pending", "Ready", "Retry", "Rejected"]),
    st.sampled_from(["", "parked rather than held: x", Yield("default", "old", 1, NOW).marker()]),
    st.none() | ages,
)


@st.composite
def workloads(draw: st.DrawFn, name: str) -> Workload:
    """Draw a Workload in any state that Kueue can bring it into."""
    reserved = draw(st.booleans())
    return workload(
        name,
        since=draw(ages),
        queue=draw(st.sampled_from(["queue", "other", "unknown"])),
        reserved=reserved,
        admitted=reserved and draw(st.booleans()),
        evicted=draw(st.booleans()),
        finished=draw(st.booleans()),
        active=draw(st.booleans()),
        leaving=draw(st.booleans()),
        entries=draw(st.lists(entries, max_size=2).map(tuple)),
    )


@st.composite
def sets(draw: st.DrawFn) -> Set:
    """Draw a pair of up to three groups a role, with Pods and Workloads or without."""
    prefill, decode = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    names = [*(f"p{n}" for n in range(prefill)), *(f"d{n}" for n in range(decode))]
    pods = {
        name: tuple(Pod(f"pod-{name}", leaving) for leaving in draw(st.lists(st.booleans(), max_size=1)))
        for name in names
    }
    held = [draw(workloads(name)) for name in names if draw(st.booleans())]
    return pair(*held, prefill=prefill, decode=decode, pods=pods, deleting=draw(st.booleans()))


@given(sets())
def test_what_is_admitted_gone_or_inactive_is_never_answered(of: Set) -> None:
    for move in judged(of).moves:
        of_it = move.workload
        assert (of_it.reserved, of_it.active) == (True, True)
        assert (of_it.admitted, of_it.evicted, of_it.finished) == (False, False, False)


@given(sets())
def test_only_ready_and_pending_are_ever_written(of: Set) -> None:
    moves = (*judged(of).moves, *yielding.shelved(of, Yield("default", "old", 1, NOW), NOW))
    written = {each.state for move in moves if isinstance(move, Answer | Shelve) for each in move.entries}
    assert written <= {"Ready", "Pending"}


@given(sets())
def test_a_complete_set_is_ready_whatever_else_and_no_other_is(of: Set) -> None:
    count = counting.count(of)
    states = {each.state for move in judged(of).moves if isinstance(move, Answer) for each in move.entries}
    assert states <= ({"Ready"} if count.complete else {"Pending"})
    assert count.present == count.total or count.waiting
    if count.complete:
        left = {each.uid for each in of.workloads if each.open and any(one.state == "Pending" for one in each.entries)}
        assert {move.workload.uid for move in judged(of).moves} >= left


@given(sets())
def test_what_was_written_is_not_written_again(of: Set) -> None:
    said = {move.workload.uid: move.entries for move in judged(of).moves if isinstance(move, Answer)}
    after = replace(
        of, workloads=tuple(replace(each, entries=said.get(each.uid, each.entries)) for each in of.workloads)
    )
    assert [move for move in judged(after).moves if isinstance(move, Answer)] == []


@given(sets(), st.randoms(use_true_random=False))
def test_a_verdict_does_not_depend_on_the_order_in_which_workloads_are_read(of: Set, random: object) -> None:
    shuffled = list(of.workloads)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    other = replace(of, workloads=tuple(shuffled))

    def key(move: Answer | Shelve | Activate) -> str:
        return move.workload.uid

    assert sorted(judged(of).moves, key=key) == sorted(judged(other).moves, key=key)
    assert judged(of).again == judged(other).again


@given(sets())
def test_giving_way_never_touches_what_is_admitted_and_coming_back_only_what_gave_way(of: Set) -> None:
    to = Yield("default", "old", 1, NOW)
    assert not any(move.workload.admitted for move in yielding.shelved(of, to, NOW))
    for move in yielding.returning(of):
        assert any("yielding to" in each.message for each in move.workload.entries)
        assert not move.workload.active
    shelved = {move.workload.uid: move.entries for move in yielding.shelved(of, to, NOW)}
    out = replace(
        of,
        workloads=tuple(
            replace(each, active=False, reserved=False, entries=shelved[each.uid]) if each.uid in shelved else each
            for each in of.workloads
        ),
    )
    assert yielding.shelved(out, to, NOW) == ()
    assert {move.workload.uid for move in yielding.returning(out)} >= set(shelved)
    assert yielding.standing(out, counting.count(out)).waits == {} or not shelved or _left(out)


def _left(of: Set) -> bool:
    """Whether Workloads without a check of ours are left queueing."""
    return any(each.queues and not each.entries for each in of.workloads)


pools = st.dictionaries(st.sampled_from("xyz"), st.integers(0, 90).map(lambda seconds: ago(seconds=seconds)))


@st.composite
def crowds(draw: st.DrawFn) -> list[Standing]:
    """Draw up to six sets that wait and hold in three pools."""
    return [
        Standing(
            "default", f"s{n}", ago(minutes=draw(st.integers(1, 9))), f"uid-{n}", 1, False, draw(pools), draw(pools)
        )
        for n in range(draw(st.integers(1, 6)))
    ]


@given(crowds())
def test_every_set_of_a_circle_names_the_same_one_and_each_circle_has_one(crowd: list[Standing]) -> None:
    turns = {each.uid: yielding.turn(each, crowd, NOW) for each in crowd}
    for uid, turn in turns.items():
        if turn is None:
            continue
        circle = {turn.youngest.uid, *(each.uid for each in turn.others)}
        assert uid in circle
        assert turn.oldest.uid in circle - {turn.youngest.uid}
        for other in circle:
            same = turns[other]
            assert same is not None
            assert (same.youngest.uid, same.oldest.uid) == (turn.youngest.uid, turn.oldest.uid)


@given(crowds())
def test_a_circle_is_exactly_two_sets_that_reach_each_other_over_edges_of_thirty_seconds(
    crowd: list[Standing],
) -> None:
    formed = NOW - timedelta(seconds=30)
    edges = {
        (a.uid, b.uid)
        for a in crowd
        for b in crowd
        if a is not b and any(max(since, b.holds[pool]) <= formed for pool, since in a.waits.items() if pool in b.holds)
    }
    reach = set(edges)
    for middle in crowd:
        reach |= {(a, c) for a, b in reach for d, c in reach if b == d == middle.uid}
    for _ in crowd:
        reach |= {(a, c) for a, b in reach for d, c in reach if b == d}
    for each in crowd:
        inside = {other.uid for other in crowd if {(each.uid, other.uid), (other.uid, each.uid)} <= reach} - {each.uid}
        turn = yielding.turn(each, crowd, NOW)
        found = set() if turn is None else {turn.youngest.uid, *(one.uid for one in turn.others)} - {each.uid}
        assert found == inside


@given(sets())
def test_groups_are_counted_once(of: Set) -> None:
    count = counting.count(of)
    assert count.total == sum(len(role.groups) for role in of.roles)
    assert set(count.assembling) <= set(count.waiting)
    assert group("p0") in of.pods
