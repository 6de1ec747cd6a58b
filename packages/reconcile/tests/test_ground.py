"""A ground beside an earlier one is what a first one is: only what changed is worked out."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.api import Retirement, RetirementState
from modeldeployment.reconcile import Member, PodPhase, Snapshot, Workload
from modeldeployment.reconcile.deciding import ground as grounds
from modeldeployment.reconcile.deciding import slots
from reconcile_worlds import deployment, pod, rendering, role, snapshot, workload

SPEC = deployment(roles=[role("server", replicas=2), role("wide", replicas=2, size=2)])
BASE = snapshot(SPEC)
ANYBODY = pod()
RENDERED = rendering(SPEC)

seats = st.one_of(
    st.tuples(st.just("server"), st.one_of(st.none(), st.integers(0, 4)), st.just(0)),
    st.tuples(st.just("wide"), st.one_of(st.none(), st.integers(0, 4)), st.integers(0, 1)),
    st.tuples(st.just("dropped"), st.integers(0, 1), st.just(0)),
)
conditions = st.fixed_dictionaries(
    {
        "ready": st.booleans(),
        "leaving": st.booleans(),
        "outdated": st.booleans(),
        "eligible": st.booleans(),
        "phase": st.sampled_from((PodPhase.RUNNING, PodPhase.FAILED)),
    }
)
pods = st.dictionaries(st.integers(0, 7), st.tuples(seats, conditions), max_size=8)
groups = st.dictionaries(
    st.integers(0, 3),
    st.tuples(st.sets(st.integers(0, 7), min_size=1, max_size=3), st.booleans(), st.booleans()),
    max_size=4,
)
reserved = st.sets(st.integers(0, 7), max_size=2)
World = tuple[
    dict[int, tuple[tuple[str, int | None, int], dict[str, Any]]],
    dict[int, tuple[set[int], bool, bool]],
    set[int],
]
worlds = st.lists(st.tuples(pods, groups, reserved), min_size=2, max_size=4)


def member(number: int, seat: tuple[str, int | None, int], condition: dict[str, Any]) -> Member:
    """One Pod; its name and UID are its number's, whatever seat it has."""
    name, ordinal, index = seat
    seated: dict[str, Any] = {"role": name, "ordinal": ordinal, "index": index}
    return pod(RENDERED, name=f"pod-{number}", uid=f"uid-{number}", **seated, **condition)


def composed(number: int, owners: set[int], *, admitted: bool, leaving: bool) -> Workload:
    """One Workload of Pods that may be gone by now."""
    name = f"workload-{number}"
    flavor = f"flavor-{number % 2}"
    made = workload(ANYBODY, name=name, uid=f"uid-{name}", admitted=admitted, leaving=leaving, flavors=(flavor,))
    return replace(made, owners=frozenset(f"uid-{each}" for each in owners))


def seen(world: World) -> Snapshot:
    """A reading of a world."""
    there, composed_of, held = world
    kept = Retirement.model_validate(
        {
            "roleName": "server",
            "replicaOrdinal": 0,
            "observedGeneration": 1,
            "targetMemberUIDs": [f"uid-{each}" for each in sorted(held)],
            "state": RetirementState.DRAINING.value,
        }
    )
    return replace(
        BASE,
        rendering=RENDERED,
        members=tuple(member(number, *each) for number, each in sorted(there.items())),
        workloads=tuple(
            composed(number, owners, admitted=admitted, leaving=leaving)
            for number, (owners, admitted, leaving) in sorted(composed_of.items())
        ),
        status={"retirement": kept.model_dump(mode="json", by_alias=True)} if held else {},
    )


@given(worlds)
def test_whatever_changed_in_between_a_ground_is_what_a_first_one_is(passed: list[World]) -> None:
    before = None
    for world in passed:
        now = seen(world)
        before = grounds.of(now, before)
        assert before == grounds.of(now)


def test_slots_of_what_did_not_change_are_the_very_same() -> None:
    first = replace(BASE, rendering=RENDERED)
    before = grounds.of(first)
    changed = tuple(replace(each, ready=False) if each.name == "chat-server-1-0" else each for each in first.members)
    now = grounds.of(replace(first, members=changed), before)
    assert before is not None
    assert now is not None
    server, wide = now.roles
    assert wide is before.roles[1]
    assert server.slots[0] is before.roles[0].slots[0]
    assert server.serving == {0}
    assert before.roles[0].serving == {0, 1}


def test_a_ground_of_which_nothing_changed_is_the_very_same() -> None:
    first = replace(BASE, rendering=RENDERED)
    before = grounds.of(first)
    assert grounds.of(replace(first, status={"phase": "Ready"}), before) is before


def test_what_is_counted_follows_from_slots_that_come_and_go() -> None:
    stays, goes = pod(RENDERED, ordinal=0), pod(RENDERED, ordinal=1)
    first, second = (slots.of([each], [workload(each)], RENDERED.roles)[0] for each in (stays, goes))
    both = slots.of([stays, goes], [workload(stays), workload(goes)], RENDERED.roles)[0]
    assert both.counts.renewed(second.slots.values(), (), 1) == first.counts
    assert first.counts.renewed((), second.slots.values(), 1) == both.counts
