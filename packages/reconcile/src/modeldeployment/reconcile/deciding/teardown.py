"""Taking a deployment down; nothing of it is rendered for that (facts reconcile §9)."""

from datetime import datetime

from modeldeployment.api import keys
from modeldeployment.reconcile.deciding import announcing, attaching, marking, status
from modeldeployment.reconcile.deciding.seen import Snapshot
from modeldeployment.reconcile.deciding.steps import (
    SOON,
    Advance,
    Ask,
    Blocked,
    Decision,
    DeleteObject,
    DeletePod,
    DeleteWorkload,
    Done,
    DropFinalizer,
    Fact,
    Step,
    Wait,
)


def of(snapshot: Snapshot, now: datetime) -> Decision | Ask:
    """Delete every Pod with its Workload, then all else it owns, and let the deployment go once no Pod of it is left.

    That no Pod is left is asked of the API server; the claim on the cache's binding is given back only then. The
    garbage collector would take the other objects too, but as much as half a minute later. A Pod that has lost what it
    is watched by gets it back, and goes like the others: nothing else would release its Workload.
    """
    if keys.FINALIZER not in snapshot.deployment.metadata.finalizers:
        return Decision(Done())
    live = [member for member in snapshot.members if not member.leaving]
    if snapshot.members:
        standing = [workload for workload in snapshot.workloads if not workload.leaving]
        steps: tuple[Step, ...] = (
            *(DeletePod(member.name, member.uid) for member in live),
            *(DeleteWorkload(workload.name, workload.uid) for workload in standing),
        )
        waiting = Advance(steps) if steps else Blocked(Wait.TEARDOWN, now + SOON)
        said = status.deleting(snapshot, len(snapshot.members))
        return Decision(waiting, said, announcing.departures(snapshot.members))
    if snapshot.answers.pods_left is None:
        return Ask(Fact.PODS_LEFT)
    if snapshot.answers.pods_left:
        if regained := marking.lost(snapshot, now):
            return Decision(Advance(tuple(regained)))
        told = announcing.undone(snapshot, marking.Marking((), {}))
        return Decision(Blocked(Wait.TEARDOWN, now + SOON), events=told)
    objects = tuple(DeleteObject(each.kind, each.name, each.uid) for each in snapshot.objects if each.managed)
    return Decision(Advance((*objects, *attaching.release(snapshot), DropFinalizer())))
