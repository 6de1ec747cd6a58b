"""Every branch of `QuotaReserved`, in the order in which they win (facts reconcile §11)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from modeldeployment.api import RoleKind
from modeldeployment.reconcile import Queue, Snapshot
from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding import quota, slots
from modeldeployment.render import Rendering
from reconcile_worlds import composed, condition, deployment, pending, pod, rendering, role, snapshot, workload

BOTH = deployment(roles=[role("first", replicas=1), role("last", replicas=2)])
ROLES = rendering(BOTH)


def finding(
    seen: Snapshot, namespace: str = "team", queues: Mapping[str, Queue] | None = None
) -> found.Finding | found.Remarked:
    """The quota finding of a pass over the snapshot."""
    assert isinstance(seen.rendering, Rendering)
    return quota.of(slots.of(seen.members, seen.workloads, seen.rendering.roles), namespace, queues or {})


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
    assert finding(seen) == found.Reserved("a10", checks=True)


def test_several_roles_hold_quota_in_no_single_queue() -> None:
    assert finding(snapshot(BOTH)) == found.Reserved("")


def test_a_preempted_replica_beside_an_admitted_one_is_preempted_in_part() -> None:
    members = [pod(), pod(ordinal=1, leaving=True)]
    seen = snapshot(members=members, workloads=[workload(members[0]), pending(members[1], preempted=True)])
    assert finding(seen) == found.PreemptedInPart(1, 1, ())


def test_a_victim_that_still_counts_as_admitted_is_not_among_those_that_stay() -> None:
    members = [pod(), pod(ordinal=1)]
    seen = snapshot(members=members, workloads=[workload(members[0]), workload(members[1], preempted=True)])
    assert finding(seen) == found.PreemptedInPart(1, 1, ())


def test_where_all_are_victims_they_wait_for_quota_from_the_first_moment() -> None:
    members = [pod(), pod(ordinal=1)]
    seen = snapshot(members=members, workloads=[workload(each, preempted=True) for each in members])
    assert finding(seen) == found.Pending(2, 2, "server", "a10", "")


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
    assert quota.of(slots.of([kept, lost], workloads, roles), "team", {}) == found.PreemptedInPart(1, 1, ("Decode",))


def test_replicas_beyond_the_declared_count_and_of_dropped_roles_are_not_asked_about() -> None:
    beyond = [pod(), pod(ordinal=1), pod(ordinal=2, ready=False), pod(role="ape", ready=False)]
    seen = snapshot(members=beyond, workloads=composed(beyond[:2]))
    assert finding(seen) == found.Reserved("a10")


def waiting(count: int = 2, **fields: Any) -> Snapshot:
    """Replicas of one role, each with a Workload that waits for quota."""
    members = [pod(ordinal=each, ready=False) for each in range(count)]
    return snapshot(members=members, workloads=[pending(each, **fields) for each in members])


def test_parked_workloads_are_told_with_their_roles_before_everything_else() -> None:
    members = [pod(ROLES, role="first"), *(pod(ROLES, role="last", ordinal=each, ready=False) for each in (0, 1))]
    workloads = [
        pending(members[0], preempted=True),
        pending(members[1], active=False, parked=True),
        pending(members[2], active=False, yields_to="team-b/other"),
    ]
    assert finding(snapshot(BOTH, members, workloads)) == found.Parked(1, 3, ("last",))


def test_a_set_that_gives_way_names_the_older_one_and_wins_over_preemption() -> None:
    members = [pod(ROLES, role="first"), *(pod(ROLES, role="last", ordinal=each, ready=False) for each in (0, 1))]
    workloads = [
        workload(members[0]),
        pending(members[1], active=False, yields_to="team-b/other"),
        pending(members[2], preempted=True),
    ]
    assert finding(snapshot(BOTH, members, workloads)) == found.Yielding(1, 3, ("team-b/other",))


def test_a_parked_workload_that_is_being_deleted_is_over() -> None:
    member = pod(leaving=True)
    seen = snapshot(members=[member], workloads=[pending(member, active=False, parked=True, leaving=True)])
    assert finding(seen) == found.AllReplicasTerminating()


def test_a_workload_that_somebody_else_deactivated_is_pending_and_named() -> None:
    members = [pod(ready=False), pod(ordinal=1, ready=False)]
    seen = snapshot(
        members=members,
        workloads=[
            pending(members[0], name="first", active=False, because="The workload is deactivated"),
            pending(members[1], because="no room"),
        ],
    )
    assert finding(seen) == found.Pending(2, 2, "server", "entrance-a10", "no room", 0, "first", 1)


def test_where_all_that_wait_are_deactivated_kueues_sentence_says_nothing_more() -> None:
    assert finding(waiting(1, active=False, name="w")) == found.PodGroupIncomplete("server", 1, 2, "entrance-a10")
    seen = waiting(active=False)
    first = seen.workloads[0].name
    assert finding(seen) == found.Pending(2, 2, "server", "entrance-a10", "", 0, first, 2)


def test_replicas_of_a_set_that_hold_quota_while_others_wait_are_counted() -> None:
    members = [pod(ROLES, role="first"), *(pod(ROLES, role="last", ordinal=each, ready=False) for each in (0, 1))]
    workloads = [workload(members[0]), workload(members[1], admitted=False), pending(members[2], because="no room")]
    assert finding(snapshot(BOTH, members, workloads)) == found.Pending(1, 3, "last", "a10", "no room", holding=1)


def test_replicas_of_one_role_wait_for_no_sibling() -> None:
    members = [pod(ready=False), pod(ordinal=1, ready=False)]
    seen = snapshot(members=members, workloads=[workload(members[0], admitted=False), pending(members[1])])
    assert finding(seen) == found.Pending(1, 2, "server", "a10", "insufficient quota")


def test_a_local_queue_that_is_there_names_the_cluster_queue_before_any_reservation() -> None:
    queues = {"entrance-a10": Queue("pool-a10")}
    assert finding(waiting(), queues=queues) == found.Pending(2, 2, "server", "pool-a10", "insufficient quota")
    assert finding(snapshot(members=[pod()]), queues=queues) == found.PodGroupIncomplete("server", 1, 2, "pool-a10")


@pytest.mark.parametrize("namespace", ["kube-system", "kube-public", "kueue-system", "gpustack-system"])
def test_a_reserved_namespace_whose_queue_leads_nowhere_admits_nobody(namespace: str) -> None:
    members = [pod(ready=False), pod(ordinal=1, ready=False)]
    seen = snapshot(members=members, workloads=[])
    nowhere = {"entrance-a10": Queue("")}
    assert finding(seen, namespace, nowhere) == found.NoQueueInReservedNamespace(namespace, "server", 2)
    assert finding(seen, namespace, {"entrance-a10": Queue("a10")}) == found.AdmissionInFlight(2)


@pytest.mark.parametrize("namespace", ["team", "kubernetes", "kueue-system-2", "gpustack"])
def test_elsewhere_a_missing_local_queue_is_remarked_on(namespace: str) -> None:
    members = [pod(ready=False), pod(ordinal=1, ready=False)]
    seen = snapshot(members=members, workloads=[])
    missing = (found.NoLocalQueue("server", "entrance-a10"),)
    assert finding(seen, namespace, {"entrance-a10": Queue("")}) == found.Remarked(found.AdmissionInFlight(2), missing)


def test_a_queue_that_does_not_carry_the_check_is_remarked_on_where_there_is_a_set() -> None:
    queues = {"entrance-a10": Queue("a10", checked=False)}
    assert finding(snapshot(BOTH), queues=queues) == found.Remarked(
        found.Reserved(""), (found.QueueUnchecked(("a10",)),)
    )
    assert finding(snapshot(), queues=queues) == found.Reserved("a10")


def test_a_cluster_queue_that_does_not_exist_is_called_missing_and_not_unchecked() -> None:
    queues = {"entrance-a10": Queue("typo", checked=False, missing=True)}
    missing = (found.NoClusterQueue(("typo",)),)
    assert finding(snapshot(BOTH), queues=queues) == found.Remarked(found.Reserved(""), missing)
    assert finding(snapshot(), queues=queues) == found.Remarked(found.Reserved("typo"), missing)


def test_remarks_stand_in_the_message_of_the_condition() -> None:
    seen = replace(snapshot(BOTH), queues={"entrance-a10": Queue("a10", checked=False)})
    said = condition(seen, "QuotaReserved")
    assert (said["status"], said["reason"]) == ("True", "Reserved")
    assert said["message"].startswith("every replica holds quota; ClusterQueue a10 does not ask for")
