"""Departures, turned into deletes: a replica's Pods and its own Workload go together.

A departure whose cause is a scale-down, a surplus or a dropped role comes here by the retirement protocol only;
turnover of a changed or broken replica comes directly (facts reconcile §7).
"""

from collections.abc import Collection, Iterable

from modeldeployment.reconcile.deciding.roster import Roster
from modeldeployment.reconcile.deciding.seen import Member
from modeldeployment.reconcile.deciding.steps import DeletePod, DeleteWorkload, SetEligibility, Step
from modeldeployment.reconcile.deciding.turnover import Departure


def steps_of(departures: Iterable[Departure], members: Iterable[Member]) -> list[Step]:
    """Delete the departing Pods, and their Workload as soon as it owns no other live Pod of the deployment.

    A Workload that also owns a Pod outside the departures stays: deleting it would stop that Pod too.
    """
    going = tuple(departures)
    if not going:
        return []
    live = {member.uid for member in members if not member.leaving}
    steps: list[Step] = []
    for departure in going:
        steps += [DeletePod(member.name, member.uid) for member in departure.members]
        live -= {member.uid for member in departure.members}
        workload = departure.workload
        if workload is not None and not workload.leaving and not workload.owners & live:
            steps.append(DeleteWorkload(workload.name, workload.uid))
    return steps


def retired(uids: Collection[str], workload: str, roster: Roster) -> list[Step]:
    """Delete what is left of a retired replica: its Pods, and its Workload unless that owns a Pod that stays."""
    steps: list[Step] = [DeletePod(member.name, member.uid) for member in roster.among(uids) if not member.leaving]
    standing = roster.workload(workload)
    if standing is not None and not standing.leaving and not roster.stays(standing.owners.difference(uids)):
        steps.append(DeleteWorkload(standing.name, standing.uid))
    return steps


def relabelled(uids: Collection[str], roster: Roster) -> list[Step]:
    """Give the label back to the leader of a retired replica once it is being deleted.

    SGLang's gateway remembers whom it dropped without its label, and would never take a successor of that name and
    address; of a Pod that is being deleted the label clears that and adds nothing (facts routers-measured §3, §7).
    """
    return [
        SetEligibility(member.name, member.uid, True)
        for member in roster.among(uids)
        if member.leaving and member.index == 0 and not member.eligible
    ]


def stranded(roster: Roster) -> list[Step]:
    """Release the Workloads whose Pods are all leaving: nothing else frees a serving group's slot.

    Source: facts reconcile §6 (stranded release), spec 1 §Replica departures.
    """
    return [
        DeleteWorkload(workload.name, workload.uid)
        for workload in sorted(roster.left, key=lambda each: each.name)
        if not workload.leaving and not roster.stays(workload.owners)
    ]
