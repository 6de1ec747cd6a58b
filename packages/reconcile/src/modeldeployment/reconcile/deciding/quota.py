"""The `QuotaReserved` finding, over all Workloads of a deployment, in the branch order of facts reconcile §11."""

from collections.abc import Sequence

from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding.slots import RoleSlots, Slot


def of(roles: Sequence[RoleSlots]) -> found.Finding:
    """Judge the declared roles' quota; surplus replicas beyond the declared count are not asked about."""
    declared = [role for role in roles if role.role is not None]
    slots = [(role, slot) for role in declared for slot in role.kept()]
    occupied = [(role, slot) for role, slot in slots if slot.occupied]
    preempted = [slot for _, slot in slots if slot.workload is not None and slot.workload.preempted]
    admitted = [slot for _, slot in occupied if slot.admitted]
    if preempted and admitted:
        return found.PreemptedInPart(len(preempted), len(admitted), _bare_kinds(declared))
    if not occupied:
        leaving = any(slot.leaving for role in roles for slot in role.slots.values())
        return found.AllReplicasTerminating() if leaving else found.NoReplicas()
    short = next((role for role in declared if _complete(role) < role.declared), None)
    if short is not None:
        return found.PodGroupIncomplete(short.name, _complete(short), short.declared, _queue(short))
    uncomposed = [slot for _, slot in occupied if slot.workload is None]
    if uncomposed:
        return found.AdmissionInFlight(len(uncomposed))
    waiting = [(role, slot) for role, slot in occupied if not slot.reserved]
    if waiting:
        return _pending(waiting, len(occupied))
    return found.Reserved(_cluster_queue(declared))


def _pending(waiting: list[tuple[RoleSlots, Slot]], total: int) -> found.Pending:
    role, slot = waiting[0]
    because = slot.workload.waits_because if slot.workload is not None else ""
    return found.Pending(len(waiting), total, role.name, _queue(role), because)


def _complete(role: RoleSlots) -> int:
    return sum(1 for slot in role.kept() if len(slot.live) == role.size)


def _queue(role: RoleSlots) -> str:
    """The role's ClusterQueue where a reservation names it, else its LocalQueue."""
    workloads = [slot.workload for slot in role.kept() if slot.workload is not None]
    named = next((each.cluster_queue for each in workloads if each.cluster_queue), "")
    return named or next((each.queue for each in workloads if each.queue), role.role.queue if role.role else "")


def _cluster_queue(declared: list[RoleSlots]) -> str:
    return _queue(declared[0]) if len(declared) == 1 else ""


def _bare_kinds(declared: list[RoleSlots]) -> tuple[str, ...]:
    kinds = {role.role.kind for role in declared if role.role is not None}
    held = {role.role.kind for role in declared if role.role is not None and any(slot.admitted for slot in role.kept())}
    return tuple(sorted(kind.value for kind in kinds - held))
