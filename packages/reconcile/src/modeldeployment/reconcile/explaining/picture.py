"""Everything that an explanation reads: a snapshot, and of Pods, Workloads and queues what no other decision needs.

Plain frozen data; whoever explains fills it, tests build it by hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from modeldeployment.reconcile.deciding.seen import Snapshot
from modeldeployment.reconcile.sets.counting import Count


@dataclass(frozen=True, slots=True)
class PodDetails:
    """What keeps one Pod from running, or from going.

    `gates` hold it back from the scheduler, `unscheduled` is the scheduler's own sentence, `waiting` are containers
    that wait and why. `node_ready` is None where nobody can tell. `scraped_at` is where its numbers are read, empty
    where it does not say.
    """

    gates: tuple[str, ...] = ()
    unscheduled: str = ""
    waiting: tuple[str, ...] = ()
    node_ready: bool | None = None
    finalizers: tuple[str, ...] = ()
    scraped_at: str = ""


@dataclass(frozen=True, slots=True)
class RouterProcess:
    """One Pod of the router, and the version of its program; empty where its image does not tell."""

    name: str
    version: str = ""
    running: bool = True


@dataclass(frozen=True, slots=True)
class Check:
    """What one admission check says of a Workload."""

    name: str
    state: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class WorkloadDetails:
    """Checks of one Workload, and Kueue's sentence on its last eviction."""

    checks: tuple[Check, ...] = ()
    evicted: str = ""


@dataclass(frozen=True, slots=True)
class Flavor:
    """How much of one flavor a ClusterQueue gives and how much of it is taken, in `unit`."""

    name: str
    total: Fraction
    taken: Fraction
    unit: str

    @property
    def free(self) -> Fraction:
        """What is left; quota that is lent beyond the queue's own counts as none."""
        return max(Fraction(0), self.total - self.taken)


@dataclass(frozen=True, slots=True)
class QueueDetails:
    """One ClusterQueue: whether it is there and admits, why not, and its flavors."""

    name: str
    active: bool = True
    because: str = ""
    cohort: str = ""
    flavors: tuple[Flavor, ...] = ()
    there: bool = True


@dataclass(frozen=True, slots=True)
class Lease:
    """The Lease of the operators; `holder` is empty where nobody holds it, `live` says that it was renewed in time."""

    name: str
    holder: str = ""
    live: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """A snapshot and the details of what is in it, by UID; queues by the name of their ClusterQueue.

    `count` is that of the deployment's set, None for one role. `ours` are the checks that the operator answers.
    `lease` is None where it could not be read, `routers` where nobody has looked. `blind` says why the rendering is not
    the operator's: something that it is made of could not be read. `unread` says what else could not be read, and why.
    """

    snapshot: Snapshot
    pods: Mapping[str, PodDetails] = field(default_factory=dict)
    workloads: Mapping[str, WorkloadDetails] = field(default_factory=dict)
    queues: Mapping[str, QueueDetails] = field(default_factory=dict)
    count: Count | None = None
    ours: frozenset[str] = frozenset()
    lease: Lease | None = None
    routers: tuple[RouterProcess, ...] | None = None
    blind: str = ""
    unread: tuple[str, ...] = ()
