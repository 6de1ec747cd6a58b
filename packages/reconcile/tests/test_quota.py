"""Every branch of `QuotaReserved`, in the order in which they win (facts reconcile §11)."""

from dataclasses import replace

from modeldeployment.api import RoleKind
from modeldeployment.reconcile import Snapshot
from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding import quota, slots
from modeldeployment.render import Rendering
from reconcile_worlds import composed, deployment, pending, pod, rendering, role, snapshot, workload

BOTH = deployment(roles=[role("first", replicas=1), role("last", replicas=2)])
ROLES = rendering(BOTH)


def finding(seen: Snapshot) -> found.Finding:
    """The quota finding of a pass over the snapshot."""
    assert isinstance(seen.rendering, Rendering)
    return quota.of(slots.of(seen.members, seen.workloads, seen.rendering.roles))


def test_nothing_created_yet_is_no_replicas() -> None:
    assert finding(snapshot(members=[])) == found.NoReplicas()


def test_every_replica_leaving_is_all_replicas_terminating() -> None:
    assert finding(snapshot(members=[pod(leaving=True)])) == found.AllReplicasTerminating()


def test_fewer_replicas_than_declared_is_an_incomplete_group_of_the_first_short_role() -> None:
    seen = snapshot(BOTH, [pod(ROLES, role="first"), pod(ROLES, role="last")], [])
    assert finding(seen) == found.PodGroupIncomplete("last", 1, 2, "entrance-a10")


def test_a_replica_short_of_a_member_is_not_counted_as_there() -> None:
    of = deployment(size=2, replicas=1)
    assert finding(snapshot(of, [pod(rendering(of))], [])) == found.PodGroupIncomplete("server", 0, 1, "entrance-a10")


def test_an_incomplete_group_names_the_cluster_queue_where_a_reservation_does() -> None:
    assert finding(snapshot(members=[pod()])) == found.PodGroupIncomplete("server", 1, 2, "a10")


def test_complete_groups_without_workloads_are_in_flight() -> None:
    members = [pod(), pod(ordinal=1)]
    assert finding(snapshot(members=members, workloads=composed(members[:1]))) == found.AdmissionInFlight(1)


def test_a_replica_that_waits_is_pending_with_kueues_sentence_on_the_first() -> None:
    members = [pod(), pod(ordinal=1, ready=False)]
    seen = snapshot(members=members, workloads=[workload(members[0]), pending(members[1], because="no room")])
    assert finding(seen) == found.Pending(1, 2, "server", "a10", "no room")


def test_pending_without_any_reservation_names_the_local_queue() -> None:
    members = [pod(ready=False), pod(ordinal=1, ready=False)]
    seen = snapshot(members=members, workloads=[pending(each, because="") for each in members])
    assert finding(seen) == found.Pending(2, 2, "server", "entrance-a10", "")


def test_a_reservation_is_enough_whatever_its_checks_say() -> None:
    members = [pod(ready=False), pod(ordinal=1, ready=False)]
    seen = snapshot(members=members, workloads=[workload(each, admitted=False) for each in members])
    assert finding(seen) == found.Reserved("a10")


def test_several_roles_hold_quota_in_no_single_queue() -> None:
    assert finding(snapshot(BOTH)) == found.Reserved("")


def test_a_preempted_replica_beside_an_admitted_one_is_preempted_in_part() -> None:
    members = [pod(), pod(ordinal=1, leaving=True)]
    seen = snapshot(members=members, workloads=[workload(members[0]), pending(members[1], preempted=True)])
    assert finding(seen) == found.PreemptedInPart(1, 1, ())


def test_preempted_in_part_wins_over_an_incomplete_group() -> None:
    of = deployment(replicas=4)
    members = [pod(), pod(ordinal=1, leaving=True)]
    seen = snapshot(of, members, [workload(members[0]), pending(members[1], preempted=True)])
    assert isinstance(finding(seen), found.PreemptedInPart)


def test_preempted_without_anything_admitted_is_not_in_part() -> None:
    members = [pod(ready=False), pod(ordinal=1, ready=False)]
    seen = snapshot(members=members, workloads=[pending(each, preempted=True) for each in members])
    assert isinstance(finding(seen), found.Pending)


def test_a_kind_with_an_admitted_replica_in_another_role_is_not_bare() -> None:
    members = [pod(ROLES, role="first"), pod(ROLES, role="last", leaving=True)]
    seen = snapshot(BOTH, members, [workload(members[0]), pending(members[1], preempted=True)])
    assert finding(seen) == found.PreemptedInPart(1, 1, ())


def test_a_kind_without_an_admitted_replica_is_named() -> None:
    seen = snapshot(BOTH)
    assert isinstance(seen.rendering, Rendering)
    first, last = seen.rendering.roles
    roles = (replace(first, kind=RoleKind.PREFILL), replace(last, kind=RoleKind.DECODE))
    lost = pod(ROLES, role="last", leaving=True)
    kept = pod(ROLES, role="first")
    workloads = [workload(kept), pending(lost, preempted=True)]
    assert quota.of(slots.of([kept, lost], workloads, roles)) == found.PreemptedInPart(1, 1, ("Decode",))


def test_replicas_beyond_the_declared_count_and_of_dropped_roles_are_not_asked_about() -> None:
    beyond = [pod(), pod(ordinal=1), pod(ordinal=2, ready=False), pod(role="ape", ready=False)]
    seen = snapshot(members=beyond, workloads=composed(beyond[:2]))
    assert finding(seen) == found.Reserved("a10")
