"""When a replica is created: only where the API server holds no Pod of its group (facts reconcile §4.6)."""

from dataclasses import replace

from modeldeployment.api import EventReason, keys
from modeldeployment.reconcile import Answers, Ask, Blocked, Fact, Snapshot, Wait
from modeldeployment.reconcile.deciding.passing import LATER
from modeldeployment.reconcile.deciding.seen import Lost
from modeldeployment.reconcile.deciding.steps import SOON, CreateReplica, Reclaim
from reconcile_worlds import NOW, decision, deployment, pod, question, rendered_role, rendering, role, snapshot, steps

THREE = deployment(replicas=3)


def answered(seen: Snapshot, **groups: frozenset[str]) -> Snapshot:
    """The snapshot with the API server's answer on the groups in use."""
    return replace(seen, answers=Answers(groups=groups))


def test_empty_ordinals_ask_once_for_the_groups_of_their_role() -> None:
    group = rendered_role(rendering(THREE)).template.group
    asked = {"server": (group(0), group(1), group(2))}
    assert question(snapshot(THREE, [])) == Ask(Fact.ROLE_GROUPS, ("server",), asked)


def test_several_short_roles_are_asked_about_together() -> None:
    of = deployment(roles=[role("first"), role("full"), role("last")])
    members = [pod(rendering(of), role="full", ordinal=ordinal) for ordinal in (0, 1)]
    ask = question(snapshot(of, members))
    assert (ask.fact, ask.roles) == (Fact.ROLE_GROUPS, ("first", "last"))
    assert {name: len(groups) for name, groups in ask.groups.items()} == {"first": 2, "last": 2}


def test_a_full_role_asks_nothing() -> None:
    assert decision(snapshot(THREE)).next.__class__.__name__ == "Done"


def test_empty_ordinals_are_created_lowest_first() -> None:
    seen = answered(snapshot(THREE, [pod(ordinal=1)]), server=frozenset())
    assert steps(seen) == (CreateReplica("server", 0), CreateReplica("server", 2))


def test_an_ordinal_taken_on_the_api_server_is_not_created_and_looked_at_again_soon() -> None:
    taken = rendered_role(rendering(THREE)).template.group(2)
    seen = answered(snapshot(THREE, [pod(ordinal=0), pod(ordinal=1)]), server=frozenset({taken}))
    assert decision(seen).next == Blocked(Wait.DEPARTURE, NOW + SOON)


def test_a_taken_ordinal_does_not_keep_its_free_neighbours_waiting() -> None:
    taken = rendered_role(rendering(THREE)).template.group(0)
    seen = answered(snapshot(THREE, []), server=frozenset({taken, "group-of-a-stranger"}))
    assert steps(seen) == (CreateReplica("server", 1), CreateReplica("server", 2))


def test_an_ordinal_whose_pod_is_still_leaving_waits_without_asking() -> None:
    members = [pod(ordinal=0), pod(ordinal=1), pod(ordinal=2, leaving=True)]
    seen = snapshot(THREE, members, [])
    assert decision(seen).next == Blocked(Wait.DEPARTURE, NOW + SOON)


def test_free_ordinals_are_created_while_another_one_is_being_left() -> None:
    members = [pod(ordinal=0), pod(ordinal=2, leaving=True)]
    seen = answered(snapshot(THREE, members, []), server=frozenset(each.group for each in members))
    assert steps(seen) == (CreateReplica("server", 1),)


def test_a_scale_up_is_immediate_while_the_role_below_is_untouched() -> None:
    seen = answered(snapshot(deployment(replicas=5), [pod(ordinal=each) for each in range(2)]), server=frozenset())
    assert steps(seen) == tuple(CreateReplica("server", ordinal) for ordinal in (2, 3, 4))


def test_an_orphan_is_removed_before_anything_is_created_beside_it() -> None:
    seen = snapshot(THREE, [pod(ordinal=0), pod(ordinal=1), pod(ordinal=None, name="o")], [])
    assert not any(isinstance(step, CreateReplica) for step in steps(seen))


def test_an_answer_for_one_role_does_not_open_the_gate_of_another() -> None:
    of = deployment(roles=[role("first"), role("last")])
    ask = question(answered(snapshot(of, []), first=frozenset()))
    assert (ask.fact, ask.roles, set(ask.groups)) == (Fact.ROLE_GROUPS, ("last",), {"last"})


def test_a_group_that_a_stranger_is_in_gets_no_replica_is_told_and_looked_at_again_later() -> None:
    group = rendered_role(rendering(THREE)).template.group(2)
    seen = snapshot(THREE, [pod(ordinal=0), pod(ordinal=1)])
    answers = Answers(groups={"server": frozenset({group})}, strangers={group: "stranger"})
    decided = decision(replace(seen, answers=answers))
    assert decided.next == Blocked(Wait.NAME_TAKEN, NOW + LATER)
    [told] = decided.events
    assert told.reason is EventReason.NAME_TAKEN
    assert told.note.startswith("replica server/2 is not created: Pod stranger, which this deployment does not own, ")


def test_a_stranger_in_one_group_keeps_no_other_ordinal_waiting() -> None:
    group = rendered_role(rendering(THREE)).template.group(0)
    answers = Answers(groups={"server": frozenset({group})}, strangers={group: "stranger"})
    assert steps(replace(snapshot(THREE, []), answers=answers)) == (
        CreateReplica("server", 1),
        CreateReplica("server", 2),
    )


def test_a_pod_that_lost_the_labels_it_is_watched_by_gets_them_back_and_no_twin() -> None:
    group = rendered_role(rendering(THREE)).template.group(1)
    seen = snapshot(THREE, [pod(ordinal=0), pod(ordinal=2)])
    answers = Answers(groups={"server": frozenset({group})}, lost=(Lost("chat-server-x", "uid-x", group),))
    wanted = {keys.NAME: keys.NAME_VALUE}
    assert steps(replace(seen, answers=answers)) == (Reclaim("chat-server-x", "uid-x", wanted),)
