"""Which groups of a set hold their quota, and which the others wait for (facts atomic-admission §4)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from modeldeployment.reconcile.sets.seen import Set, Workload


class Slot(StrEnum):
    """How one group of a set counts."""

    PRESENT = "Present"
    WAITING = "Waiting"
    ASSEMBLING = "Assembling"


@dataclass(frozen=True, slots=True)
class Count:
    """How many groups of a set are declared and how many hold quota; roles in the order of the deployment."""

    total: int
    present: int
    waiting: tuple[str, ...]
    assembling: tuple[str, ...]
    queued: tuple[Workload, ...]
    """Workloads of settled waiting groups that take the next free quota."""

    @property
    def complete(self) -> bool:
        """Whether no group is waited for."""
        return not self.waiting

    @property
    def settled(self) -> bool:
        """Whether something waits and every group has its Pods, so that only quota is missing."""
        return bool(self.waiting) and not self.assembling


def count(of: Set) -> Count:
    """Count every declared group; Workloads are found by the Pods they were composed of, never by a name."""
    owned = by_owner(of.workloads)
    total = present = 0
    waiting: list[str] = []
    assembling: list[str] = []
    queued: list[Workload] = []
    for role in of.roles:
        slots = [_slot(of, group, owned) for group in role.groups]
        total += len(slots)
        present += slots.count(Slot.PRESENT)
        if slots.count(Slot.PRESENT) < len(slots):
            waiting.append(role.name)
        if Slot.ASSEMBLING in slots:
            assembling.append(role.name)
        for group, slot in zip(role.groups, slots, strict=True):
            if slot is Slot.WAITING:
                queued += [each for each in _workloads(of, group, owned) if each.queues]
    return Count(total, present, tuple(waiting), tuple(assembling), tuple(queued))


def by_owner(workloads: Iterable[Workload]) -> Mapping[str, tuple[Workload, ...]]:
    """Workloads by the UID of each Pod that they were composed of."""
    found: dict[str, tuple[Workload, ...]] = {}
    for workload in workloads:
        for uid in workload.owners:
            found[uid] = (*found.get(uid, ()), workload)
    return found


def _slot(of: Set, group: str, owned: Mapping[str, tuple[Workload, ...]]) -> Slot:
    pods = of.pods.get(group, ())
    workloads = _workloads(of, group, owned)
    # One that is not active is losing what it holds: another group may have that quota before its status says so.
    if any(each.reserved and each.active for each in workloads):
        return Slot.PRESENT
    # We deleted the Workload of a replica that is replaced; one that Kueue preempted keeps its own.
    if not of.deleting and not workloads and any(pod.leaving for pod in pods):
        return Slot.PRESENT
    return Slot.WAITING if any(not pod.leaving for pod in pods) else Slot.ASSEMBLING


def _workloads(of: Set, group: str, owned: Mapping[str, tuple[Workload, ...]]) -> tuple[Workload, ...]:
    return tuple(each for pod in of.pods.get(group, ()) for each in owned.get(pod.uid, ()))
