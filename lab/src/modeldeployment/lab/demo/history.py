"""What was seen of a deployment: every version of every object, in the order in which the API server committed them.

Revisions of all kinds are numbers of one sequence, so a history merged from several watches is the true order of
things, and a claim about "before" is not one about when somebody happened to look (facts control-plane).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar


@dataclass(frozen=True, slots=True)
class PodSeen:
    """One version of a replica's Pod; `ordinal` is -1 where its label holds no number.

    `sidecars` are the names of the containers that run beside the engine.
    """

    uid: str
    name: str
    ordinal: int
    role: str = "server"
    image: str = ""
    node: str = ""
    ready: bool = False
    leaving: bool = False
    sidecars: tuple[str, ...] = ()

    @property
    def seat(self) -> tuple[str, int]:
        """Its role and ordinal."""
        return self.role, self.ordinal

    @property
    def serving(self) -> bool:
        """Whether it is Ready and nobody asked it to go."""
        return self.ready and not self.leaving


@dataclass(frozen=True, slots=True)
class WorkloadSeen:
    """One version of a Workload; `owners` are Pod UIDs, `flavors` the flavor assigned for each charged resource."""

    uid: str
    name: str
    owners: frozenset[str] = frozenset()
    admitted: bool = False
    flavors: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ServiceSeen:
    """One version of a Service in front of replicas."""

    uid: str
    name: str


@dataclass(frozen=True, slots=True)
class RouterSeen:
    """One version of an object of a router, its Pods included; those that cannot be Ready are by being there."""

    uid: str
    kind: str
    name: str
    ready: bool = True


@dataclass(frozen=True, slots=True)
class ConditionSeen:
    """One condition of the deployment."""

    type: str
    status: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class RetirementSeen:
    """The replica that is on its way out, and how far it has come."""

    role: str
    ordinal: int
    state: str

    def __str__(self) -> str:
        return f"{self.role}/{self.ordinal} {self.state}"


@dataclass(frozen=True, slots=True)
class DeploymentSeen:
    """One version of the deployment; `current` says whether its status speaks of the spec it stands beside.

    `router` is the name of the router it declares, empty without one. `retirement` is None while nothing retires.
    """

    uid: str
    name: str
    role: str = "server"
    replicas: int = 0
    phase: str = ""
    message: str = ""
    ready: int = 0
    reserved: int = 0
    current: bool = False
    conditions: tuple[ConditionSeen, ...] = ()
    router: str = ""
    summary: str = ""
    endpoint: str = ""
    retirement: RetirementSeen | None = None

    def condition(self, type_: str) -> ConditionSeen:
        """Return a condition by type; one that was never observed is Unknown."""
        unknown = ConditionSeen(type_, "Unknown", "", "")
        return next((each for each in self.conditions if each.type == type_), unknown)


Seen: TypeAlias = PodSeen | WorkloadSeen | ServiceSeen | RouterSeen | DeploymentSeen
S = TypeVar("S", PodSeen, WorkloadSeen, ServiceSeen, RouterSeen, DeploymentSeen)


@dataclass(frozen=True, slots=True)
class Change:
    """An object's new version, committed at `revision`; `now` is None when it went."""

    revision: int
    uid: str
    now: Seen | None


@dataclass(frozen=True, slots=True)
class World:
    """Everything that existed at one moment, by UID."""

    objects: Mapping[str, Seen] = field(default_factory=dict)

    def of(self, kind: type[S]) -> tuple[S, ...]:
        """All objects of one kind, in no promised order."""
        return tuple(each for each in self.objects.values() if isinstance(each, kind))

    @property
    def deployment(self) -> DeploymentSeen | None:
        """The deployment, if it exists."""
        return next(iter(self.of(DeploymentSeen)), None)

    @property
    def pods(self) -> tuple[PodSeen, ...]:
        """The replicas' Pods by role, ordinal, then name."""
        return tuple(sorted(self.of(PodSeen), key=lambda pod: (*pod.seat, pod.name)))

    def workloads_of(self, pod: PodSeen) -> tuple[WorkloadSeen, ...]:
        """The Workloads that a Pod owns."""
        return tuple(each for each in self.of(WorkloadSeen) if pod.uid in each.owners)

    def after(self, change: Change) -> "World":
        """The world once a change is committed."""
        objects = dict(self.objects)
        if change.now is None:
            objects.pop(change.uid, None)
        else:
            objects[change.uid] = change.now
        return World(objects)


@dataclass(frozen=True, slots=True)
class Arrival(Generic[S]):
    """An object's first version and the revision it was created at."""

    revision: int
    seen: S


@dataclass(frozen=True, slots=True)
class Window:
    """One step of the story: the world it found, and everything that changed until its goal was reached, in order.

    `told` are the lines that whoever acted was told.
    """

    before: World
    changes: tuple[Change, ...]
    told: tuple[str, ...] = ()

    def worlds(self) -> Iterator[World]:
        """Every state there was, the first and the last included."""
        world = self.before
        yield world
        for change in self.changes:
            world = world.after(change)
            yield world

    @property
    def after(self) -> World:
        """The world the step left behind."""
        return latest(self.worlds())

    def came(self, kind: type[S]) -> tuple[Arrival[S], ...]:
        """The objects of one kind that were created, in order."""
        known = set(self.before.objects)
        arrivals: list[Arrival[S]] = []
        for change in self.changes:
            if isinstance(change.now, kind) and change.uid not in known:
                arrivals.append(Arrival(change.revision, change.now))
            known.add(change.uid)
        return tuple(arrivals)

    def went(self) -> Mapping[str, int]:
        """The revision at which each object that went was gone from the API server, by UID."""
        return {change.uid: change.revision for change in self.changes if change.now is None}


def latest(worlds: Iterable[World]) -> World:
    """The last of some worlds; an empty one if there is none."""
    last = World()
    for last in worlds:  # noqa: B007 - the loop variable is the result
        pass
    return last
