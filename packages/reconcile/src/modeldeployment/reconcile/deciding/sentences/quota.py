"""The sentences of what a pass found out of quota, and of what it remarks on queues."""

from typing import assert_never

from modeldeployment.api import kueue
from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding.pacing import LONGEST_YIELD, MINUTE
from modeldeployment.reconcile.deciding.sentences import words


def of(
    finding: found.Parked
    | found.Yielding
    | found.PreemptedInPart
    | found.PodGroupIncomplete
    | found.NoQueueInReservedNamespace
    | found.AdmissionInFlight
    | found.Reserved
    | found.Pending,
) -> str:
    """The sentence of a finding."""
    match finding:
        case found.Parked(parked=parked, total=total, roles=roles):
            return (
                f"{parked} of {words.replicas(total)} {words.are(parked)} parked, of {words.roles(roles)}: the set did "
                "not get quota for all of its replicas in time, so it holds none any more; make room and set "
                "spec.active of its Workloads to true, or delete the deployment and create it again (applying it again "
                "changes nothing)"
            )
        case found.Yielding(yielding=yielding, total=total, older=older):
            return (
                f"{yielding} of {words.replicas(total)} gave way to {', '.join(older)}, an older set that waits for "
                "quota which this one held, as this one waits for its; they come back by themselves once it is "
                f"admitted, gone or changed, after {LONGEST_YIELD // MINUTE} minutes at the latest"
            )
        case found.PreemptedInPart() as part:
            return _preempted(part)
        case found.PodGroupIncomplete(role=role, have=have, want=want, queue=queue):
            return f'role "{role}" has {have}/{want} replicas; no Workload enters queue {queue} before its Pods exist'
        case found.NoQueueInReservedNamespace(namespace=namespace, role=role):
            return (
                f'no replica of role "{role}" can be admitted: namespace {namespace} is reserved for the cluster and '
                "has no LocalQueue; create the deployment in another namespace"
            )
        case found.AdmissionInFlight(replicas=replicas):
            theirs = "its Workload" if replicas == 1 else "their Workloads"
            return f"{words.replicas(replicas)} complete, waiting for Kueue to compose {theirs}"
        case found.Reserved(cluster_queue=queue, checks=checks):
            where = f" in ClusterQueue {queue}" if queue else ""
            waits = "; some are not admitted yet, since a check of their queue has not answered" if checks else ""
            return f"every replica holds quota{where}{waits}"
        case found.Pending() as pending:
            return _pending(pending)
        case other:
            assert_never(other)


def remark(remark: found.Remark) -> str:
    """What is said of a queue beside the finding."""
    match remark:
        case found.NoLocalQueue(role=role, local_queue=name):
            return (
                f'role "{role}" enters LocalQueue {name}, and the namespace has none of that name; create it, leading '
                "to the ClusterQueue that it is to draw from"
            )
        case found.NoClusterQueue(cluster_queues=queues):
            return (
                f"ClusterQueue {', '.join(queues)} does not exist, and a LocalQueue that a role enters leads there; "
                "create it, or have the LocalQueue made anew to lead to one that exists"
            )
        case found.QueueUnchecked(cluster_queues=queues):
            return (
                f"ClusterQueue {', '.join(queues)} does not ask for AdmissionCheck {kueue.JOINT_CHECK}, so replicas "
                f"admitted there start without waiting for the other roles; add {kueue.JOINT_CHECK} to its "
                "spec.admissionChecksStrategy.admissionChecks"
            )
        case other:
            assert_never(other)


def _preempted(part: found.PreemptedInPart) -> str:
    bare = f"; no admitted replica is left of kind {', '.join(part.bare_kinds)}" if part.bare_kinds else ""
    return (
        f"quota of {words.replicas(part.preempted)} was reclaimed by a workload of higher priority while "
        f"{part.admitted} {'stays' if part.admitted == 1 else 'stay'} admitted{bare}; "
        "it comes back by itself when capacity does"
    )


def _pending(pending: found.Pending) -> str:
    because = f": {pending.because}" if pending.because else ""
    wait = "waits" if pending.total == 1 else "wait"
    said = (
        f'{pending.waiting} of {words.replicas(pending.total)} {wait} for quota, role "{pending.role}" first, '
        f"in queue {pending.queue}{because}"
    )
    if pending.holding:
        hold = "holds quota and opens" if pending.holding == 1 else "hold quota and open"
        said += f"; {pending.holding} of {pending.total} {hold} together with them once all of the set have it"
    if pending.stopped:
        said += (
            f"; {pending.stopped_count} of {pending.total} {words.are(pending.stopped_count)} not in the queue at all, "
            f"since somebody set spec.active of a Workload to false (first {pending.stopped}); set it to true, or "
            "delete the Workload and Kueue makes it anew"
        )
    return said
