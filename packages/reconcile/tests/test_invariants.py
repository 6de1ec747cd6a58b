"""Random deployments, edits and faults: what must hold does hold in every pass, and every story ends settled.

The invariants of each pass are in reconcile_invariants; this module makes the worlds and judges where they end.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain, repeat

from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from modeldeployment.api import keys
from modeldeployment.reconcile import Done, Member, PodPhase
from modeldeployment.reconcile.deciding.seen import MARKS
from reconcile_invariants import broken, outdated
from reconcile_stories import World, new
from reconcile_worlds import decision, deployment, marks, relabelled, rendered_role, role

HAPPENINGS = (
    "scale",
    "roll",
    "delete",
    "fail",
    "finish",
    "evict",
    "restart",
    "double",
    "orphan",
    "unlabel",
    "hide",
    "unfront",
    "relabel",
    "mark",
    "deafen",
    "hear",
)

happenings = st.tuples(st.sampled_from(HAPPENINGS), st.integers(0, 20), st.integers(1, 4))


@dataclass(frozen=True)
class Era:
    """What happens, and how the passes after it go: moves of the cluster after each, requests before each dies."""

    happened: list[tuple[str, int, int]]
    pace: list[int]
    cuts: list[int | None]


eras = st.builds(
    Era,
    st.lists(happenings, max_size=4),
    st.lists(st.integers(0, 4), max_size=10),
    st.lists(st.one_of(st.none(), st.integers(0, 4)), max_size=5),
)


@settings(max_examples=150, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(
    shapes=st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), min_size=1, max_size=2),
    excess=st.sampled_from(("nothing", "newest", "group")),
    history=st.lists(eras, max_size=4),
    quota=st.one_of(st.just(1000), st.integers(1, 12)),
)
@example(  # an edit while one of three replicas waits for quota: only the guard keeps the others
    shapes=[(3, 1)], excess="newest", history=[Era([], [4] * 8, []), Era([("roll", 0, 2)], [], [])], quota=2
)
@example(  # two Pods of one strange group, each relabelled into a seat: nobody composes a Workload of them
    shapes=[(1, 1), (1, 1)],
    excess="nothing",
    history=[Era([("orphan", 0, 1), ("orphan", 1, 1), ("relabel", 0, 1), ("relabel", 1, 1)], [], [])],
    quota=1000,
)
@example(  # an orphan that the watch loses: it stays until the deployment goes, and then goes with it
    shapes=[(2, 1)],
    excess="nothing",
    history=[Era([], [4] * 8, []), Era([("orphan", 0, 1), ("mark", 8, 3)], [], [])],
    quota=1000,
)
def test_every_story_keeps_the_invariants_and_ends_settled(
    shapes: list[tuple[int, int]], excess: str, history: list[Era], quota: int
) -> None:
    names = [f"role-{place}" for place in range(len(shapes))]
    roles = [role(name, replicas=replicas, size=size) for name, (replicas, size) in zip(names, shapes, strict=True)]
    world = new(deployment(roles=roles, finalizers=()), quota=quota, excess=excess)
    for era in history:
        world.pace, world.cuts = chain(era.pace, repeat(None)), chain(era.cuts, repeat(None))
        for what, which, value in era.happened:
            happen(world, names, what, which, value)
        world.live(len(era.pace))
    world.witness = True
    world.edit(names[0]).play()
    check_rest(world, names, scarce=quota < 1000)
    world.delete().play()
    assert world.cluster.gone
    assert not world.cluster.pods


def happen(world: World, names: list[str], what: str, which: int, value: int) -> None:
    """Let one thing happen to the world, where there is something it can happen to."""
    name = names[which % len(names)]
    live = [each for each in world.cluster.pods.values() if not each.leaving]
    victim = live[which % len(live)] if live else None
    match what:
        case "scale":
            world.edit(name, replicas=value)
        case "roll":
            world.edit(name, image=f"engine:{value}")
        case "evict":
            _evict(world, which)
        case "orphan":
            number = len(world.cluster.pods) + which
            uid = f"uid-stray-{number}-{world.now:%H%M%S}"
            marked = marks(world.cluster.rendering, name, None)
            stray = Member(f"stray-{number}", uid, name, None, group="group-stray", marks=marked)
            if stray.name not in {each.name for each in world.cluster.pods.values()}:
                world.cluster.place(stray)
        case "deafen" | "hear":
            world.witness = what == "hear"
        case "relabel" if victim is not None:
            world.cluster.place(relabelled(victim, {keys.ORDINAL: str(value - 1)}))
        case "mark" if victim is not None:
            world.cluster.place(relabelled(victim, {MARKS[which % len(MARKS)]: (None, "0", "1", "other")[value - 1]}))
        case "unfront":
            for each in list(world.cluster.objects)[:which]:
                del world.cluster.objects[each]
        case "hide":
            world.unseen |= {each.uid for each in world.cluster.pods.values() if each.leaving}
        case _ if victim is not None:
            _harm(world, what, victim)


def _harm(world: World, what: str, victim: Member) -> None:
    match what:
        case "delete":
            world.cluster.delete(victim.uid)
        case "fail":
            world.cluster.place(replace(victim, phase=PodPhase.FAILED, ready=False))
        case "restart":
            world.cluster.place(replace(victim, restarts=victim.restarts + 1))
        case "finish":
            world.cluster.place(replace(victim, phase=PodPhase.SUCCEEDED, ready=False))
        case "unlabel":
            world.cluster.place(replace(victim, eligible=False))
        case "double":
            name = f"{victim.name}-again"
            if victim.ordinal is not None and name not in {each.name for each in world.cluster.pods.values()}:
                world.cluster.place(replace(victim, name=name, uid=f"{victim.uid}-again-{world.now:%H%M%S}"))


def _evict(world: World, which: int) -> None:
    """Kueue preempts a replica: its Workload loses quota and its Pods are deleted, the Workload stays."""
    reserved = [each for each in world.cluster.workloads.values() if each.reserved and not each.leaving]
    if reserved:
        taken = reserved[which % len(reserved)]
        world.cluster.workloads[taken.name] = replace(
            taken, reserved=False, admitted=False, preempted=True, cluster_queue="", flavors=()
        )
        for uid in taken.owners:
            world.cluster.delete(uid)


def check_rest(world: World, names: Iterable[str], *, scarce: bool) -> None:
    """Nothing is written, asked or said any more, and what is declared is there.

    An orphan that lost what it is watched by holds no seat, so nobody looks for it before the deployment goes.
    """
    seen, lost = world.seen(), {each.uid for each in world.lost()}
    settled = decision(seen)
    assert settled.status is None
    assert {(each.reason, each.about) for each in settled.events} <= world.said
    assert scarce or settled.next == Done(), settled.next
    for name in names:
        rendered = rendered_role(world.cluster.rendering, name)
        pods = [each for each in world.members(name) if each.ordinal is not None or each.uid not in lost]
        live = [each for each in pods if not each.leaving]
        assert {each.ordinal for each in live} == set(range(rendered.replicas))
        for ordinal in range(rendered.replicas):
            members = [each for each in live if each.ordinal == ordinal]
            assert not broken(rendered, members), members
            assert scarce or not outdated(rendered, ordinal, members), members
            assert all(each.eligible == (each.index == 0) for each in members)
            assert scarce or all(
                each.marks == marks(world.cluster.rendering, name, ordinal, each.index) for each in members
            )
            assert scarce or all(each.ready for each in members), members
