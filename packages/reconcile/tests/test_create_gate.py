"""When a replica is created: only where the API server holds no Pod of its group (facts reconcile §4.6)."""

from dataclasses import replace

from modeldeployment.reconcile import Answers, Ask, Blocked, Fact, Snapshot, Wait
from modeldeployment.reconcile.deciding.steps import SOON, CreateReplica
from reconcile_worlds import NOW, decision, deployment, pod, question, rendered_role, rendering, role, snapshot, steps

THREE = deployment(replicas=3)


def answered(seen: Snapshot, **groups: frozenset[str]) -> Snapshot:
    """The snapshot with the API server's answer on the groups in use."""
    return replace(seen, answers=Answers(groups=groups))


def test_empty_ordinals_ask_once_for_the_groups_of_their_role() -> None:
    assert question(snapshot(THREE, [])) == Ask(Fact.ROLE_GROUPS, ("server",))


def test_several_short_roles_are_asked_about_together() -> None:
    of = deployment(roles=[role("first"), role("full"), role("last")])
    members = [pod(rendering(of), role="full", ordinal=ordinal) for ordinal in (0, 1)]
    assert question(snapshot(of, members)) == Ask(Fact.ROLE_GROUPS, ("first", "last"))


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
    assert question(answered(snapshot(of, []), first=frozenset())) == Ask(Fact.ROLE_GROUPS, ("last",))
