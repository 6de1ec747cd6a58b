"""Every state of a slot, by its evidence, and who sits in it (facts reconcile §5)."""

from dataclasses import replace

from modeldeployment.reconcile import PodPhase, SlotState
from modeldeployment.reconcile.deciding import slots
from reconcile_worlds import (
    composed,
    deployment,
    pending,
    pod,
    rendered_role,
    rendering,
    replica,
    role_slots,
    slot,
    snapshot,
    workload,
)

TWO = deployment(replicas=1, size=2)
PAIR = rendering(TWO)


def test_a_slot_that_nobody_claims_is_empty() -> None:
    assert slot(snapshot(members=[])).state is SlotState.EMPTY


def test_a_complete_replica_without_a_workload_is_gated() -> None:
    assert slot(snapshot(members=[pod(ready=False)], workloads=[])).state is SlotState.GATED


def test_a_replica_whose_workload_waits_for_quota_is_gated() -> None:
    waiting = pod(ready=False)
    assert slot(snapshot(members=[waiting], workloads=[pending(waiting)])).state is SlotState.GATED


def test_a_replica_with_quota_whose_checks_are_pending_is_reserved() -> None:
    member = pod(ready=False)
    assert slot(snapshot(members=[member], workloads=[workload(member, admitted=False)])).state is SlotState.RESERVED


def test_an_admitted_replica_that_is_not_ready_is_admitted() -> None:
    member = pod(ready=False)
    assert slot(snapshot(members=[member], workloads=[workload(member)])).state is SlotState.ADMITTED


def test_a_replica_with_one_member_not_ready_is_not_ready() -> None:
    members = [pod(PAIR), pod(PAIR, index=1, ready=False)]
    assert slot(snapshot(TWO, members)).state is SlotState.ADMITTED


def test_a_replica_with_all_members_ready_is_ready() -> None:
    assert slot(snapshot(TWO)).state is SlotState.READY


def test_a_replica_short_of_a_member_is_incomplete() -> None:
    assert slot(snapshot(TWO, [pod(PAIR, index=1)])).state is SlotState.INCOMPLETE


def test_a_replica_with_a_leaving_member_is_incomplete() -> None:
    assert slot(snapshot(TWO, [pod(PAIR), pod(PAIR, index=1, leaving=True)])).state is SlotState.INCOMPLETE


def test_a_replica_with_one_member_of_another_render_is_outdated() -> None:
    assert slot(snapshot(TWO, [pod(PAIR), pod(PAIR, index=1, outdated=True)])).state is SlotState.OUTDATED


def test_a_pod_that_carries_the_fingerprint_of_another_seat_is_outdated() -> None:
    stray = replace(pod(ordinal=0), fingerprint=pod(ordinal=1).fingerprint)
    assert slot(snapshot(members=[stray])).state is SlotState.OUTDATED


def test_a_failed_or_succeeded_member_makes_its_replica_terminal() -> None:
    for phase in (PodPhase.FAILED, PodPhase.SUCCEEDED):
        assert slot(snapshot(TWO, [pod(PAIR), pod(PAIR, index=1, phase=phase)])).state is SlotState.TERMINAL


def test_leaving_pods_that_no_workload_holds_are_departing() -> None:
    assert slot(snapshot(members=[pod(leaving=True)], workloads=[])).state is SlotState.DEPARTING


def test_leaving_pods_whose_workload_is_going_are_departing() -> None:
    member = pod(leaving=True)
    assert slot(snapshot(members=[member], workloads=[workload(member, leaving=True)])).state is SlotState.DEPARTING


def test_leaving_pods_whose_workload_stands_are_stranded() -> None:
    member = pod(leaving=True)
    assert slot(snapshot(members=[member], workloads=[workload(member)])).state is SlotState.STRANDED


def test_a_failed_pod_that_is_leaving_departs_and_is_not_terminal() -> None:
    gone = pod(leaving=True, phase=PodPhase.FAILED)
    assert slot(snapshot(members=[gone], workloads=[])).state is SlotState.DEPARTING


def test_a_leaving_pod_does_not_occupy_its_slot() -> None:
    held = slot(snapshot(members=[pod(leaving=True)]))
    assert (held.occupied, held.reserved, held.admitted) == (False, False, False)


def test_a_live_replica_without_a_workload_does_not_borrow_that_of_a_leaving_pod() -> None:
    newcomer, left = pod(ready=False), pod(name="left", leaving=True)
    seen = slot(snapshot(members=[newcomer, left], workloads=[workload(left)]))
    assert (seen.state, seen.workload, seen.admitted) == (SlotState.GATED, None, False)


def test_an_orphan_claims_no_slot() -> None:
    seen = role_slots(snapshot(members=[pod(ordinal=None)]))
    assert (dict(seen.slots), [each.name for each in seen.orphans]) == ({}, ["chat-server-x-0"])


def test_a_seat_that_is_not_rendered_matches_nothing() -> None:
    server = rendered_role(rendering())
    assert slots.matches(pod(ordinal=1), 1, server)
    assert not slots.matches(pod(ordinal=2), 2, server)
    assert not slots.matches(replace(pod(), index=1), 0, server)
    assert not slots.matches(pod(), 0, None)


def test_of_two_pods_in_a_seat_the_current_one_is_kept() -> None:
    current, old = pod(name="a"), pod(name="b", outdated=True)
    seen = role_slots(snapshot(members=[old, current]))
    assert (seen.slot(0).live, seen.surplus) == ((current,), (old,))


def test_of_two_equal_pods_in_a_seat_the_greatest_name_is_kept() -> None:
    for outdated in (False, True):
        first, last = pod(name="a", outdated=outdated), pod(name="b", outdated=outdated)
        seen = role_slots(snapshot(members=[last, first]))
        assert (seen.slot(0).live, seen.surplus) == ((last,), (first,))


def test_a_pod_owned_by_two_workloads_belongs_to_the_first_by_name() -> None:
    member = pod()
    later, first = workload(member, name="z", uid="1"), workload(member, name="a", uid="2")
    assert slot(snapshot(members=[member], workloads=[later, first])).workload == first


def test_a_workload_is_found_by_owner_and_never_by_name() -> None:
    member, other = pod(ready=False), pod(ordinal=1)
    misnamed = workload(other, name=member.group)
    seen = snapshot(members=[member, other], workloads=[misnamed])
    assert (slot(seen, 0).workload, slot(seen, 1).workload) == (None, misnamed)


def test_roles_come_in_spec_order_and_dropped_ones_after_them() -> None:
    seen = snapshot(members=[pod(role="zebra"), pod(role="ape"), pod()])
    dropped = role_slots(seen, "ape")
    assert (dropped.role, dropped.declared, dropped.kept()) == (None, 0, ())


def test_a_dropped_roles_replica_is_never_outdated() -> None:
    assert slot(snapshot(members=[pod(role="ape", outdated=True)]), role="ape").state is SlotState.READY


def test_a_replica_beyond_the_declared_count_is_never_outdated() -> None:
    assert slot(snapshot(members=[pod(ordinal=7, outdated=True)]), 7).state is SlotState.READY


def test_replicas_keep_their_own_workloads() -> None:
    of = deployment(replicas=2, size=2)
    members = [*replica(rendering(of), 0), *replica(rendering(of), 1)]
    seen = snapshot(of, members, composed(members))
    assert [slot(seen, ordinal).workload for ordinal in (0, 1)] == composed(members)
