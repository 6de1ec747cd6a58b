"""Marks of Pods, labels that say whose they are and where: put back where a hand changed them, and nobody leaves."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from modeldeployment.api import EventReason, keys
from modeldeployment.reconcile import Answers, Ask, Blocked, Decision, Done, Fact, Snapshot, Wait, decide
from modeldeployment.reconcile.deciding.passing import LATER
from modeldeployment.reconcile.deciding.seen import MARKS, Insisted, Lost
from modeldeployment.reconcile.deciding.steps import Advance, DeletePod, Reclaim
from modeldeployment.reconcile.insisting import FORGOTTEN, Insistence
from modeldeployment.render import Seat
from reconcile_stories import running
from reconcile_worlds import (
    NOW,
    decision,
    deployment,
    pair,
    patched,
    pod,
    question,
    relabelled,
    rendered_role,
    rendering,
    replica,
    settled,
    snapshot,
    steps,
)

THREE = deployment(replicas=3)
WIDE = deployment(replicas=2, size=2)
RENDERED = {keys.QUEUE_NAME, keys.GROUP_NAME}
"""Labels of a Pod that Kueue's webhook holds."""


def test_every_label_that_is_rendered_is_a_mark_or_held_by_kueue() -> None:
    for of in (THREE, WIDE, pair()):
        for role in rendering(of).roles:
            assert set(role.template.labels(Seat(0, 0))) - RENDERED <= set(MARKS)


@pytest.mark.parametrize("value", [None, "other", "1"])
@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("of", [THREE, WIDE], ids=["one", "wide"])
def test_a_mark_that_somebody_changed_is_put_back_in_one_pass_and_nobody_leaves(
    of: object, mark: str, value: str | None
) -> None:
    world = running(THREE if of is THREE else WIDE)
    before, place = world.uids(), 2
    victim = world.members()[place]
    changed = relabelled(victim, {mark: value})
    if changed.marks == victim.marks:
        return
    world.cluster.place(changed)
    story = world.play()
    assert story.steps == [f"reclaim {victim.name}"]
    assert world.uids() == before
    assert world.members()[place] == victim
    assert story.events == []


def test_all_marks_at_once_are_put_back_in_two_passes() -> None:
    world = running(WIDE)
    before, victim = world.uids(), world.members()[3]
    world.cluster.place(relabelled(victim, dict.fromkeys(MARKS)))
    story = world.play()
    assert story.steps == [f"reclaim {victim.name}", f"reclaim {victim.name}"]
    assert world.uids() == before


def test_a_settled_deployment_puts_nothing_back() -> None:
    for of in (THREE, WIDE, pair()):
        assert decision(settled(of)).next == Done()


def test_only_what_differs_is_written_and_a_label_that_is_not_ours_to_have_is_taken_off() -> None:
    odd = relabelled(pod(ordinal=1), {keys.MEMBER_INDEX: "4", keys.ROLE_KIND: None})
    seen = snapshot(members=[pod(ordinal=0), odd])
    assert steps(seen) == (Reclaim(odd.name, odd.uid, {keys.ROLE_KIND: "server", keys.MEMBER_INDEX: None}),)


def test_a_replica_of_an_older_spec_keeps_what_it_was_rendered_with() -> None:
    """A Pod that prefills must not be labelled as one that decodes, because the spec says by now that its role does."""
    older = relabelled(pod(ordinal=1, outdated=True), {keys.ROLE_KIND: "prefill", keys.INSTANCE: "other"})
    seen = snapshot(members=[pod(ordinal=0, ready=False), older])
    assert steps(seen) == (Reclaim(older.name, older.uid, {keys.INSTANCE: "chat"}),)


def test_members_of_another_size_turn_over_whole_and_none_of_them_is_a_double() -> None:
    older = [
        relabelled(replace(each, fingerprint="old", marks=(*each.marks[:-1], str(index)), index=index), {})
        for index, each in enumerate((pod(ordinal=0, name="a"), pod(ordinal=0, name="b")))
    ]
    deleted = [each.name for each in steps(snapshot(deployment(replicas=1), older)) if isinstance(each, DeletePod)]
    assert sorted(deleted) == ["a", "b"]


def test_one_whose_group_was_changed_is_where_its_labels_say() -> None:
    members = [pod(ordinal=0), pod(ordinal=1)]
    swapped = [replace(each, group=other.group) for each, other in zip(members, members[::-1], strict=True)]
    assert decision(settled_with(snapshot(members=swapped))).next == Done()


def test_one_that_leaves_gets_nothing_back() -> None:
    going = relabelled(pod(ordinal=1, leaving=True), {keys.INSTANCE: None})
    assert not any(isinstance(each, Reclaim) for each in written(snapshot(members=[pod(ordinal=0), going])))
    beyond = relabelled(pod(rendering(THREE), ordinal=2), {keys.INSTANCE: None})
    assert not any(
        isinstance(each, Reclaim) for each in steps(snapshot(members=[pod(ordinal=0), pod(ordinal=1), beyond]))
    )


# --- a member that is not watched any more ---


def test_a_replica_of_which_a_member_is_out_of_sight_is_asked_about_and_stays() -> None:
    wanted = rendering(WIDE)
    members = [*replica(wanted, 0), pod(wanted, ordinal=1)]
    seen, group = snapshot(WIDE, members), rendered_role(wanted).template.group(1)
    assert question(seen) == Ask(Fact.ROLE_GROUPS, ("server",), {"server": (group,)})
    lost = Answers(groups={"server": frozenset({group})}, lost=(Lost("m1", "uid-m1", group),))
    assert steps(replace(seen, answers=lost)) == (Reclaim("m1", "uid-m1", {keys.NAME: keys.NAME_VALUE}),)


def test_a_replica_of_which_a_member_is_gone_leaves_whole_once_that_is_known() -> None:
    wanted = rendering(WIDE)
    members = [*replica(wanted, 0), pod(wanted, ordinal=1)]
    group = rendered_role(wanted).template.group(1)
    seen = replace(snapshot(WIDE, members), answers=Answers(groups={"server": frozenset({group})}))
    assert [each.name for each in steps(seen) if isinstance(each, DeletePod)] == [members[2].name]


def test_a_replica_of_which_a_member_leaves_is_not_asked_about() -> None:
    wanted = rendering(WIDE)
    members = [*replica(wanted, 0), pod(wanted, ordinal=1), pod(wanted, ordinal=1, index=1, leaving=True)]
    assert isinstance(decide(snapshot(WIDE, members), NOW), Decision)


# --- marks that do not stay ---


def insisted(times: int, ago: timedelta = timedelta(), refused: str = "") -> Mapping[str, Insisted]:
    """So often the marks of the Pod `p1` were put back, the last time so long ago."""
    return {"uid-p1": Insisted(times, NOW - ago, refused)}


def drifted(known: Mapping[str, Insisted]) -> Snapshot:
    """A deployment of two of which one lost its instance label."""
    odd = relabelled(pod(ordinal=1, name="p1"), {keys.INSTANCE: None})
    return settled_with(snapshot(members=[pod(ordinal=0), odd], insisted=known))


@pytest.mark.parametrize(
    ("times", "pause"), [(1, 2), (2, 10), (3, 60), (4, 600), (50, 600)], ids=["once", "twice", "often", "more", "ever"]
)
def test_what_was_put_back_is_left_for_longer_each_time(times: int, pause: int) -> None:
    before = drifted(insisted(times, timedelta(seconds=pause - 1)))
    assert decision(before).next == Blocked(Wait.MARKS, NOW + timedelta(seconds=1))
    assert [type(each) for each in written(drifted(insisted(times, timedelta(seconds=pause))))] == [Reclaim]


@pytest.mark.parametrize(("times", "told"), [(1, 0), (2, 0), (3, 1), (9, 1)])
def test_that_marks_do_not_stay_is_told_after_three_times(times: int, told: int) -> None:
    events = decision(drifted(insisted(times))).events
    assert [each.reason for each in events] == [EventReason.OBJECT_REFUSED] * told
    assert all(each.about == "marks/p1" for each in events)


def test_a_refusal_is_told_in_the_api_servers_own_words() -> None:
    [event] = decision(drifted(insisted(3, refused="403 Forbidden: not allowed here"))).events
    assert event.note.startswith(
        f"labels {keys.INSTANCE} of Pod p1 cannot be put back: 403 Forbidden: not allowed here; "
    )


def test_a_pod_that_never_comes_to_sight_keeps_its_group_and_is_looked_for_seldom() -> None:
    group = rendered_role(rendering()).template.group(1)
    answers = Answers(groups={"server": frozenset({group})}, lost=(Lost("p1", "uid-p1", group),))
    seen = replace(snapshot(members=[pod(ordinal=0)]), answers=answers, insisted=insisted(5))
    decided = decision(seen)
    assert decided.next == Blocked(Wait.NAME_TAKEN, NOW + LATER)
    assert [each.about for each in decided.events] == ["marks/p1"]


def test_a_cluster_that_takes_marks_off_again_is_written_to_a_handful_of_times_in_an_hour() -> None:
    known, writes, now = Insistence(), 0, NOW
    while now < NOW + timedelta(hours=1):
        outcome = decide(replace(drifted({}), insisted=known.of("chat", now)), now)
        assert isinstance(outcome, Decision)
        if isinstance(outcome.next, Advance):
            writes += len(outcome.next.steps)
            known.noted("chat", "uid-p1", now, "")
            now += timedelta(seconds=2)
        else:
            assert isinstance(outcome.next, Blocked)
            assert outcome.next.until is not None
            now = outcome.next.until
    assert writes == 9


def test_what_was_put_back_long_ago_is_forgotten_and_so_is_a_deployment_that_went() -> None:
    known = Insistence()
    known.noted("chat", "a", NOW, "")
    known.noted("chat", "a", NOW, "no")
    assert known.of("chat", NOW) == {"a": Insisted(2, NOW, "no")}
    assert known.of("other", NOW) == {}
    assert known.of("chat", NOW + FORGOTTEN + timedelta(seconds=1)) == {}
    known.noted("chat", "a", NOW, "")
    known.forget("chat")
    assert known.of("chat", NOW) == {}


def settled_with(seen: Snapshot) -> Snapshot:
    """The snapshot with the status that a pass over it writes."""
    return replace(seen, status=patched(seen.status, decision(seen).status))


def written(seen: Snapshot, now: datetime = NOW) -> tuple[object, ...]:
    """The steps of a pass, none where it waits."""
    following = decision(seen, now).next
    return following.steps if isinstance(following, Advance) else ()
