"""What set admission has seen of a set and of its Workloads, reduced to the fields that some verdict reads.

Plain frozen data and nothing else; the rim fills it (`reconcile.gathering`), tests build it by hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from modeldeployment.api.kueue import CheckState


@dataclass(frozen=True, slots=True)
class Entry:
    """What one of our checks says on one Workload; `since` is when its state last changed, None where nobody knows."""

    name: str
    state: str
    message: str = ""
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """One Kueue Workload as set admission reads it.

    `owners` are the UIDs of the Pods that it was composed of, `queue` is its LocalQueue. `since` is when it came to
    hold its reservation, or to wait for one. `entries` are those of our checks alone.
    """

    name: str
    uid: str
    version: str
    created: datetime
    since: datetime
    owners: frozenset[str] = frozenset()
    queue: str = ""
    reserved: bool = False
    admitted: bool = False
    evicted: bool = False
    finished: bool = False
    active: bool = True
    leaving: bool = False
    entries: tuple[Entry, ...] = ()

    @property
    def open(self) -> bool:
        """Whether a verdict may still be given: it holds its reservation, and waits for its checks (facts §2)."""
        return (
            self.reserved
            and not self.evicted
            and not self.finished
            and self.active
            and not self.admitted
            and not self.leaving
            and all(each.state in _ANSWERABLE for each in self.entries)
            and bool(self.entries)
        )

    @property
    def holds(self) -> bool:
        """Whether it keeps quota from others and does not run."""
        return self.reserved and self.active and not self.admitted and not self.evicted and not self.finished

    @property
    def queues(self) -> bool:
        """Whether it takes the next quota that comes free."""
        return self.active and not self.reserved and not self.finished and not self.leaving


# Whoever wrote another state by hand is answered by Kueue, which evicts or deactivates.
_ANSWERABLE = frozenset({CheckState.PENDING.value, CheckState.READY.value})


@dataclass(frozen=True, slots=True)
class Pod:
    """One Pod of a set."""

    uid: str
    leaving: bool = False


@dataclass(frozen=True, slots=True)
class Role:
    """A role, and the name of each of its groups by ordinal."""

    name: str
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Set:
    """A deployment with everything that its admission is judged by.

    `pods` are those of each group, terminating ones included. `shared` are Workloads that Pods of another set are part
    of too: they count for neither, and neither answers them. `pools` maps a LocalQueue to what its quota is shared in.
    """

    namespace: str
    name: str
    uid: str
    generation: int
    created: datetime
    deleting: bool = False
    roles: tuple[Role, ...] = ()
    pods: Mapping[str, tuple[Pod, ...]] = field(default_factory=dict)
    workloads: tuple[Workload, ...] = ()
    shared: tuple[Workload, ...] = ()
    pools: Mapping[str, str] = field(default_factory=dict)

    @property
    def exempt(self) -> bool:
        """Whether nothing holds it: it has fewer than two roles, and counts of replicas do not matter (facts §4)."""
        return len(self.roles) < 2


class Stranger(Enum):
    """Whose a Workload is when it is no set's: nobody's of ours, or not known yet."""

    FOREIGN = "Foreign"
    UNDECIDED = "Undecided"


@dataclass(frozen=True, slots=True)
class Shared:
    """A Workload that is no set's, since Pods of several deployments are part of it; `sets` as people write them."""

    sets: tuple[str, ...]
