"""Who leaves in a pass: trim, surplus, broken replicas, and the rollout with its guards (facts reconcile §4)."""

from collections.abc import Iterable
from dataclasses import replace

from modeldeployment.reconcile import Advance, Ask, Blocked, Done, Member, PodPhase, Snapshot, Wait, Workload, decide
from modeldeployment.reconcile.deciding import slots, turnover
from modeldeployment.reconcile.deciding.steps import CreateReplica, DeletePod, DeleteWorkload
from modeldeployment.render import Rendering
from reconcile_worlds import (
    NOW,
    decision,
    deployment,
    pending,
    pod,
    proven,
    rendering,
    replica,
    service,
    snapshot,
    steps,
    workload,
)

THREE = deployment(replicas=3)
RENDERED = rendering(THREE)


def deleted(seen: Snapshot) -> list[str]:
    """Names of the Pods and Workloads deleted in the pass, in order."""
    asked = decide(seen, NOW)
    if isinstance(asked, Ask):
        seen = answered(seen)
    going = decision(seen).next
    made = going.steps if isinstance(going, Advance) else ()
    return [step.name for step in made if isinstance(step, DeletePod | DeleteWorkload)]


def retired(seen: Snapshot) -> list[list[str]]:
    """Names of the Pods that the spec wants gone by the protocol, operation by operation, in order."""
    assert isinstance(seen.rendering, Rendering)
    roles = slots.of(seen.members, seen.workloads, seen.rendering.roles)
    return [[each.name for each in gone.members] for role in roles for gone in turnover.retiring(role)]


def waits(seen: Snapshot) -> Wait:
    """What the pass waits for."""
    outcome = decision(seen).next
    assert isinstance(outcome, Blocked)
    return outcome.on


def server(ordinal: int, **fields: object) -> Member:
    """A Pod of the three declared replicas, named by its ordinal."""
    return pod(RENDERED, ordinal=ordinal, **{"name": f"p{ordinal}", **fields})  # type: ignore[arg-type]


def named(members: Iterable[Member]) -> list[Workload]:
    """Admitted Workloads named after their Pods, `w2` for `p2`."""
    return [workload(each, name=each.name.replace("p", "w")) for each in members]


def test_replicas_beyond_the_declared_count_leave_highest_ordinal_first_each_with_its_workload() -> None:
    members = [server(ordinal) for ordinal in range(6)]
    seen = snapshot(THREE, members, named(members))
    assert retired(seen) == [["p5"], ["p4"], ["p3"]]
    assert deleted(seen) == []
    assert deleted(proven(seen)) == ["p5", "w5"]


def test_every_member_of_a_trimmed_replica_leaves_before_its_workload() -> None:
    of = deployment(replicas=1, size=2)
    wanted = rendering(of)
    members = [*replica(wanted, 0), *replica(wanted, 1)]
    fronts = [service(body) for body in rendering(deployment(replicas=2, size=2)).services]
    seen = proven(snapshot(of, members, objects=fronts))
    assert deleted(seen) == ["chat-server-1-0", "chat-server-1-1", members[2].group]


def test_a_double_of_a_trimmed_replica_leaves_with_it() -> None:
    members = [*(server(ordinal) for ordinal in range(4)), server(3, name="again")]
    one = workload(members[3], members[4], name="w3")
    seen = snapshot(THREE, members, [*named(members[:3]), one])
    assert deleted(proven(seen)) == ["p3", "again", "w3"]


def test_replicas_of_a_role_that_the_spec_dropped_leave() -> None:
    members = [*(server(ordinal) for ordinal in range(3)), pod(role="ape", name="x"), pod(role="ape", ordinal=None)]
    seen = snapshot(THREE, members, named(members[:3]))
    assert retired(seen) == [["x"]]
    assert deleted(seen) == ["chat-ape-x-0"]


def test_a_replica_beyond_the_count_that_is_broken_leaves_without_the_protocol() -> None:
    members = [*(server(ordinal) for ordinal in range(3)), server(3, phase=PodPhase.FAILED), server(4)]
    seen = snapshot(THREE, members, named(members))
    assert retired(seen) == [["p4"]]
    assert deleted(seen) == ["p3", "w3"]


def test_a_trim_rolls_nothing_in_the_pass_that_deletes() -> None:
    members = [*(server(ordinal, outdated=True) for ordinal in range(3)), server(3)]
    assert deleted(proven(snapshot(THREE, members, named(members)))) == ["p3", "w3"]


def test_a_role_does_not_roll_while_one_of_its_replicas_retires() -> None:
    members = [*(server(ordinal, outdated=True) for ordinal in range(3)), server(3)]
    assert deleted(snapshot(THREE, members, named(members))) == []
    waiting = replace(proven(snapshot(THREE, members, named(members))), evidence=None)
    assert waits(waiting) is Wait.RETIREMENT


def test_a_rollout_steps_over_a_replica_that_is_retained() -> None:
    members = [*(server(ordinal, outdated=True) for ordinal in range(3)), server(3)]
    seen = proven(snapshot(THREE, members, named(members)))
    held = {**seen.status["retirement"], "state": "Aborted"}  # type: ignore[dict-item]
    assert deleted(replace(seen, status={"retirement": held})) == ["p2", "w2"]


def test_a_trim_creates_nothing_in_the_pass_that_deletes() -> None:
    members = [server(0), server(1), server(3)]
    made = steps(proven(snapshot(THREE, members)))
    assert not [step for step in made if isinstance(step, CreateReplica)]


def test_orphans_over_the_declared_count_leave_at_once_and_before_doubles() -> None:
    members = [*(server(ordinal) for ordinal in range(3)), server(1, name="a1"), pod(RENDERED, ordinal=None, name="o")]
    seen = snapshot(THREE, members, named(members[:3]))
    assert deleted(seen) == ["o"]
    assert retired(seen) == [["a1"]]


def test_of_two_pods_in_a_seat_the_outdated_one_is_shed_and_the_workload_stays() -> None:
    members = [*(server(ordinal) for ordinal in range(3)), server(2, name="z2", outdated=True)]
    seen = snapshot(THREE, members, [*named(members[:2]), workload(members[2], members[3], name="w2")])
    assert deleted(proven(seen)) == ["z2"]


def test_doubles_are_shed_as_one_operation_from_the_highest_ordinal() -> None:
    members = [*(server(ordinal) for ordinal in range(3)), server(0, name="a0"), server(2, name="a2")]
    assert retired(snapshot(THREE, members, named(members[:3]))) == [["a2", "a0"]]


def test_no_more_than_the_surplus_is_shed() -> None:
    members = [server(0), server(1), server(0, name="a0"), server(1, name="a1")]
    assert retired(snapshot(THREE, members, named(members[:2]))) == [["a1"]]


def test_a_double_is_not_shed_while_the_count_is_not_exceeded() -> None:
    members = [server(0), server(1), server(1, name="a1")]
    seen = answered(snapshot(THREE, members, named(members[:2])))
    assert steps(seen) == (CreateReplica("server", 2),)


def test_a_healthy_role_loses_nobody() -> None:
    members = [server(ordinal) for ordinal in range(3)]
    assert decision(snapshot(THREE, members, named(members))).next == Done()


def test_the_outdated_replica_of_the_highest_ordinal_rolls_first() -> None:
    members = [server(0, outdated=True), server(1, outdated=True), server(2)]
    assert deleted(snapshot(THREE, members, named(members))) == ["p1", "w1"]


def test_one_outdated_member_takes_its_whole_replica_along() -> None:
    of = deployment(replicas=2, size=2)
    wanted = rendering(of)
    members = [*replica(wanted, 0), pod(wanted, ordinal=1, outdated=True), pod(wanted, ordinal=1, index=1)]
    assert deleted(snapshot(of, members)) == ["chat-server-1-0", "chat-server-1-1", members[2].group]


def test_a_rollout_waits_until_every_declared_replica_is_admitted() -> None:
    members = [server(0, outdated=True), server(1, outdated=True), server(2, outdated=True, ready=False)]
    for held in (pending(members[2]), workload(members[2], admitted=False)):
        assert waits(snapshot(THREE, members, [*named(members[:2]), held])) is Wait.ADMISSION


def test_a_rollout_waits_for_a_workload_that_is_not_composed_yet() -> None:
    members = [server(0, outdated=True), server(1), server(2, ready=False)]
    assert waits(snapshot(THREE, members, named(members[:2]))) is Wait.ADMISSION


def test_the_workload_of_a_leaving_pod_does_not_count_for_the_guard() -> None:
    members = [server(0, outdated=True), server(1), server(2, ready=False), server(2, name="p9", leaving=True)]
    assert waits(snapshot(THREE, members, [*named(members[:2]), workload(members[3], leaving=True)])) is Wait.ADMISSION


def test_a_rollout_waits_until_the_replicas_that_match_are_ready() -> None:
    members = [server(0, outdated=True), server(1), server(2, ready=False)]
    assert waits(snapshot(THREE, members, named(members))) is Wait.READINESS


def test_a_rollout_does_not_wait_for_outdated_replicas_to_become_ready() -> None:
    members = [server(ordinal, outdated=True, ready=False) for ordinal in range(3)]
    assert deleted(snapshot(THREE, members, named(members))) == ["p2", "w2"]


def test_a_short_role_never_rolls() -> None:
    members = [server(0, outdated=True), server(2)]
    seen = answered(snapshot(THREE, members, named(members)))
    assert steps(seen) == (CreateReplica("server", 1),)


def test_a_role_with_a_slot_still_being_left_never_rolls() -> None:
    members = [server(0, outdated=True), server(1), server(2, leaving=True)]
    assert waits(snapshot(THREE, members, named(members[:2]))) is Wait.DEPARTURE


def test_an_incomplete_replica_leaves_whole_without_the_guard() -> None:
    of = deployment(replicas=2, size=2)
    wanted = rendering(of)
    members = [*replica(wanted, 0, ready=False), pod(wanted, ordinal=1, index=1, ready=False)]
    assert deleted(snapshot(of, members, [])) == ["chat-server-1-1"]


def test_an_incomplete_replica_leaves_before_an_outdated_one() -> None:
    of = deployment(replicas=2, size=2)
    wanted = rendering(of)
    members = [pod(wanted, ordinal=0), *replica(wanted, 1, outdated=True)]
    assert deleted(snapshot(of, members)) == ["chat-server-0-0", members[0].group]


def test_a_replica_in_a_strange_group_that_is_not_admitted_leaves_without_asking_the_guard() -> None:
    members = [server(0), server(1, group="group-stray", outdated=True), server(2)]
    assert deleted(snapshot(THREE, members, named([members[0], members[2]]))) == ["p1"]


def test_a_replica_in_a_strange_group_that_runs_waits_for_its_turn() -> None:
    members = [server(0, ready=False), server(1, group="group-stray", outdated=True), server(2)]
    assert waits(snapshot(THREE, members, named(members))) is Wait.READINESS


def test_an_incomplete_replica_leaves_with_the_doubles_of_its_seats() -> None:
    of = deployment(replicas=1, size=2)
    wanted = rendering(of)
    members = [pod(wanted, index=1, name="a"), pod(wanted, index=1, name="b")]
    assert deleted(snapshot(of, members)) == ["b", "a", members[0].group]


def test_a_replica_is_never_topped_up() -> None:
    of = deployment(replicas=1, size=2)
    seen = answered(snapshot(of, [pod(rendering(of))], []))
    assert not [step for step in steps(seen) if isinstance(step, CreateReplica)]


def test_a_terminal_replica_leaves_without_the_guard() -> None:
    members = [server(0, phase=PodPhase.FAILED), server(1), server(2, ready=False)]
    assert deleted(snapshot(THREE, members, [workload(members[0], name="w0"), pending(members[2])])) == ["p0", "w0"]


def test_of_two_broken_replicas_the_highest_ordinal_leaves_and_the_other_waits() -> None:
    members = [server(0, phase=PodPhase.FAILED), server(1, phase=PodPhase.SUCCEEDED), server(2)]
    assert deleted(snapshot(THREE, members, named(members))) == ["p1", "w1"]


def test_an_orphan_within_the_count_leaves_without_the_guard_after_broken_replicas() -> None:
    orphan = pod(RENDERED, ordinal=None, name="o", ready=False)
    assert deleted(snapshot(THREE, [server(0), server(1), orphan], named([server(0), server(1)]))) == ["o"]
    broken = server(1, phase=PodPhase.FAILED)
    assert deleted(snapshot(THREE, [server(0), broken, orphan], named([server(0), broken]))) == ["p1", "w1"]


def answered(seen: Snapshot) -> Snapshot:
    """The snapshot with the answer that no group is in use beyond those of the Pods seen."""
    groups = {"server": frozenset(each.group for each in seen.members)}
    return replace(seen, answers=replace(seen.answers, groups=groups))
