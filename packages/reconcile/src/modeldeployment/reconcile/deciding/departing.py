"""Departures, turned into deletes: a replica's Pods and its own Workload go together.

A departure whose cause is a scale-down, a surplus or a dropped role comes here by the retirement protocol only;
turnover of a changed or broken replica comes directly (facts reconcile §7).
"""

from collections.abc import Collection, Iterable

from modeldeployment.reconcile.deciding.seen import Member, Workload
from modeldeployment.reconcile.deciding.steps import DeletePod, DeleteWorkload, SetEligibility, Step
from modeldeployment.reconcile.deciding.turnover import Departure


def steps_of(departures: Iterable[Departure], members: Iterable[Member]) -> list[Step]:
    """Delete the departing Pods, and their Workload as soon as it owns no other live Pod of the deployment.

    A Workload that also owns a Pod outside the departures stays: deleting it would stop that Pod too.
    """
    live = {member.uid for member in members if not member.leaving}
    steps: list[Step] = []
    for departure in departures:
        steps += [DeletePod(member.name, member.uid) for member in departure.members]
        live -= {member.uid for member in departure.members}
        workload = departure.workload
        if workload is not None and not workload.leaving and not workload.owners & live:
            steps.append(DeleteWorkload(workload.name, workload.uid))
    return steps


def retired(
    uids: Collection[str], workload: str, members: Iterable[Member], workloads: Iterable[Workload]
) -> list[Step]:
    """Delete what is left of a retired replica: its Pods, and its Workload unless that owns a Pod that stays."""
    live = [member for member in members if not member.leaving]
    staying = {member.uid for member in live if member.uid not in uids}
    return [
        *(DeletePod(member.name, member.uid) for member in live if member.uid in uids),
        *(
            DeleteWorkload(each.name, each.uid)
            for each in workloads
            if each.uid == workload and not each.leaving and not each.owners & staying
        ),
    ]


def relabelled(uids: Collection[str], members: Iterable[Member]) -> list[Step]:
    """Give the label back to the leader of a retired replica once it is being deleted.

    SGLang's gateway remembers whom it dropped without its label, and would never take a successor of that name and
    address; of a Pod that is being deleted the label clears that and adds nothing (facts routers-measured §3, §7).
    """
    return [
        SetEligibility(member.name, member.uid, True)
        for member in members
        if member.uid in uids and member.leaving and member.index == 0 and not member.eligible
    ]


def stranded(members: Iterable[Member], workloads: Iterable[Workload]) -> list[Step]:
    """Release the Workloads whose Pods are all leaving: nothing else frees a serving group's slot.

    Source: facts reconcile §6 (stranded release), spec 1 §Replica departures.
    """
    members = list(members)
    leaving = {member.uid for member in members if member.leaving}
    if not leaving:
        return []
    live = {member.uid for member in members if not member.leaving}
    return [
        DeleteWorkload(workload.name, workload.uid)
        for workload in sorted(workloads, key=lambda each: each.name)
        if not workload.leaving and workload.owners & leaving and not workload.owners & live
    ]
