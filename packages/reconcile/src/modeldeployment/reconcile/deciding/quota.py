"""The `QuotaReserved` finding, over all Workloads of a deployment, in the branch order of facts reconcile §11.

Yielding stands right after parked: both say that replicas wait for nothing (decisions D18).
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding.seen import Queue, Workload
from modeldeployment.reconcile.deciding.slots import RoleSlots, Slot

RESERVED_NAMESPACES: Final = ("kube-*", "kueue-system", "gpustack-system")
"""Namespaces that get no LocalQueue; a star stands for the rest of a name (facts status §10)."""

Placed: TypeAlias = tuple[RoleSlots, Slot]


def of(roles: Sequence[RoleSlots], namespace: str, queues: Mapping[str, Queue]) -> found.Finding | found.Remarked:
    """Judge the declared roles' quota, and remark on queues that keep them from it or from starting together.

    `queues` says where the LocalQueues of the roles lead; one that is left out was not looked at. Surplus replicas
    beyond the declared count are not asked about.
    """
    declared = [role for role in roles if role.role is not None]
    finding = _finding(roles, declared, namespace, queues)
    remarks = () if isinstance(finding, found.NoQueueInReservedNamespace) else _remarks(declared, queues)
    return found.Remarked(finding, remarks) if remarks else finding


def reserved(namespace: str) -> bool:
    """Whether a namespace belongs to the cluster itself."""
    return any(
        namespace.startswith(each[:-1]) if each.endswith("*") else namespace == each for each in RESERVED_NAMESPACES
    )


def _finding(
    roles: Sequence[RoleSlots], declared: Sequence[RoleSlots], namespace: str, queues: Mapping[str, Queue]
) -> found.Finding:
    slots = [(role, slot) for role in declared for slot in role.kept()]
    occupied = [(role, slot) for role, slot in slots if slot.occupied]
    halted = _halted(slots)
    if halted is not None:
        return halted
    preempted = [slot for _, slot in slots if _losing(slot)]
    admitted = [slot for _, slot in occupied if _stays(slot)]
    if preempted and admitted:
        return found.PreemptedInPart(len(preempted), len(admitted), _bare_kinds(declared))
    if not occupied:
        leaving = any(slot.leaving for role in roles for slot in role.slots.values())
        return found.AllReplicasTerminating() if leaving else found.NoReplicas()
    short = next((role for role in declared if _complete(role) < role.declared), None)
    if short is not None:
        return found.PodGroupIncomplete(short.name, _complete(short), short.declared, _queue(short, queues))
    uncomposed = [(role, slot) for role, slot in occupied if slot.workload is None]
    if uncomposed:
        shut_out = [role for role, _ in uncomposed if reserved(namespace) and _leads_nowhere(role, queues)]
        if shut_out:
            return found.NoQueueInReservedNamespace(namespace, shut_out[0].name, len(shut_out))
        return found.AdmissionInFlight(len(uncomposed))
    waiting = [(role, slot) for role, slot in occupied if not slot.reserved or _losing(slot)]
    if waiting:
        return _pending(waiting, occupied, queues)
    alone = _queue(declared[0], queues) if len(declared) == 1 else ""
    return found.Reserved(alone, checks=len(admitted) < len(occupied))


def _halted(slots: Sequence[Placed]) -> found.Finding | None:
    """What set admission deactivated: parked for good, or given way for a while."""
    held = [(role, slot.workload) for role, slot in slots if slot.workload is not None and not slot.workload.leaving]
    parked = [role.name for role, workload in held if workload.parked]
    if parked:
        return found.Parked(len(parked), len(slots), tuple(dict.fromkeys(parked)))
    older = [workload.yields_to for _, workload in held if workload.yields_to]
    return found.Yielding(len(older), len(slots), tuple(sorted(set(older)))) if older else None


def _pending(waiting: Sequence[Placed], occupied: Sequence[Placed], queues: Mapping[str, Queue]) -> found.Pending:
    queued = [(role, slot) for role, slot in waiting if not _stopped(slot)]
    stopped = [slot.workload for _, slot in waiting if slot.workload is not None and _stopped(slot)]
    role, slot = (queued or waiting)[0]
    because = slot.workload.waits_because if slot.workload is not None and queued else ""
    together = len({each.name for each, _ in occupied}) > 1
    holding = sum(1 for _, each in occupied if together and each.reserved and not each.admitted)
    name = stopped[0].name if stopped else ""
    return found.Pending(
        len(waiting), len(occupied), role.name, _queue(role, queues), because, holding, name, len(stopped)
    )


def _stopped(slot: Slot) -> bool:
    """Whether somebody deactivated the Workload who is not set admission."""
    workload: Workload | None = slot.workload
    return workload is not None and not (workload.active or workload.parked or workload.yields_to)


def _losing(slot: Slot) -> bool:
    """Whether the replica's quota was reclaimed; Kueue takes admission and reservation from its Workload after that."""
    return slot.workload is not None and slot.workload.preempted


def _stays(slot: Slot) -> bool:
    return slot.admitted and not _losing(slot)


def _complete(role: RoleSlots) -> int:
    return sum(1 for slot in role.kept() if len(slot.live) == role.size)


def _leads_nowhere(role: RoleSlots, queues: Mapping[str, Queue]) -> bool:
    """Whether the role's LocalQueue was looked for and is not there."""
    led = queues.get(role.role.queue) if role.role is not None else None
    return led is not None and not led.cluster_queue


def _queue(role: RoleSlots, queues: Mapping[str, Queue]) -> str:
    """The role's ClusterQueue where anything names it, else its LocalQueue."""
    own = role.role.queue if role.role is not None else ""
    if own in queues and queues[own].cluster_queue:
        return queues[own].cluster_queue
    workloads = [slot.workload for slot in role.kept() if slot.workload is not None]
    named = next((each.cluster_queue for each in workloads if each.cluster_queue), "")
    return named or next((each.queue for each in workloads if each.queue), own)


def _remarks(declared: Sequence[RoleSlots], queues: Mapping[str, Queue]) -> tuple[found.Remark, ...]:
    missing = next((role for role in declared if role.role is not None and _leads_nowhere(role, queues)), None)
    led = [queues[role.role.queue] for role in declared if role.role is not None and role.role.queue in queues]
    absent = sorted({each.cluster_queue for each in led if each.cluster_queue and each.missing})
    unchecked = sorted(
        {each.cluster_queue for each in led if each.cluster_queue and not (each.checked or each.missing)}
    )
    return (
        *((found.NoLocalQueue(missing.name, missing.role.queue),) if missing is not None and missing.role else ()),
        *((found.NoClusterQueue(tuple(absent)),) if absent else ()),
        *((found.QueueUnchecked(tuple(unchecked)),) if unchecked and len(declared) > 1 else ()),
    )


def _bare_kinds(declared: Sequence[RoleSlots]) -> tuple[str, ...]:
    kinds = {role.role.kind for role in declared if role.role is not None}
    held = {role.role.kind for role in declared if role.role is not None and any(_stays(slot) for slot in role.kept())}
    return tuple(sorted(kind.value for kind in kinds - held))
