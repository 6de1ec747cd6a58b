"""One run: a scenario is played with one fault, every write is judged as it happens, and the end is kept."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from modeldeployment.api import keys
from modeldeployment.kube import ApiError
from modeldeployment.lab.crashes import faults, promises
from modeldeployment.lab.crashes.faults import Fault, Hurry, Kill, Lose, Refuse, Undisturbed
from modeldeployment.lab.crashes.resting import upset
from modeldeployment.lab.crashes.scenarios import Scenario
from modeldeployment.lab.crashes.scenes import Pod, Scene, owner
from modeldeployment.lab.model import Entry, Event, Outcome, Process, World, Write
from modeldeployment.lab.model.resources import JSON

_RESTART: Final = 2.0
"""Seconds until a process that was killed is followed by another."""

_WITHIN: Final = 900.0
_STILL: Final = 65.0
_STEPS: Final = 3000

_GARBAGE: Final = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")


@dataclass(slots=True)
class Run:
    """What became of a scenario.

    `outcomes` are by deployment, `objects` what stands beside the Pods, `survivors` the seats whose Pods stood at the
    start and stand in the end.

    `created`, `deleted` count the operator's writes that did something, `idle` those that changed nothing, `composed`
    the Workloads that Kueue made. `left` are the replicas it let go, in order. `broken` are promises, in words;
    `failures` passes that failed. `writes`, `events` and, after each act, `marks` are those of the first process.
    """

    scenario: Scenario
    fault: Fault
    hit: Write | Event | None = None
    broken: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    outcomes: tuple[Outcome, ...] = ()
    objects: tuple[JSON, ...] = ()
    survivors: frozenset[str] = frozenset()
    created: Counter[str] = field(default_factory=Counter)
    deleted: Counter[str] = field(default_factory=Counter)
    idle: int = 0
    composed: int = 0
    left: list[str] = field(default_factory=list)
    writes: int = 0
    marks: tuple[int, ...] = ()
    events: int = 0

    def __str__(self) -> str:
        return f"{self.scenario.name}, {self.fault}"


def play(scenario: Scenario, fault: Fault) -> Run:
    """Play a scenario to its end; a promise that breaks ends it there."""
    run = Run(scenario, fault)
    seed = fault.seed if isinstance(fault, Undisturbed) else 0
    with World(seed or None) as world:
        scenario.begin(world)
        _Stage(world, run).play()
    return run


class _Stage:
    """A world and the run that is made in it."""

    def __init__(self, world: World, run: Run) -> None:
        self._world = world
        self._run = run
        rough = isinstance(run.fault, Kill | Lose | Refuse)
        self._scene = Scene(world.server, hurried=isinstance(run.fault, Hurry), rough=rough)
        self._acts = list(run.scenario.acts)
        self._processes: list[Process] = []
        self._stood = {pod.uid for pod in self._scene.pods() if pod.live}
        self._strangers = [_plain(each) for each in self._foreign()]
        self._from = len(world.story)
        world.server.watchers.append(self._see)

    def play(self) -> None:
        run, world = self._run, self._world
        first = self._start()
        armed = faults.arm(run.fault, world, first, self._act)
        marks: list[int] = []
        self._settle()
        while self._acts:
            self._act()
            self._settle()
            marks.append(first.client.writes)
            if run.broken:
                break
        run.hit, run.marks = armed.hit, tuple(marks)
        run.writes, run.events = first.client.writes, first.wire.events
        if not run.broken:
            self._end()
            self._rest()

    # --- what happens ---

    def _start(self) -> Process:
        process = self._world.start()
        self._scene.follow(process)
        self._processes.append(process)
        return process

    def _act(self) -> None:
        """What people do next; one who hurries and is refused tries again when all is still."""
        if self._acts:
            act = self._acts.pop(0)
            try:
                act(self._world)
            except ApiError:
                if not isinstance(self._run.fault, Hurry):
                    raise
                self._acts.insert(0, act)

    def _settle(self) -> None:
        """Run until nothing changes; a process that dies is followed by another."""
        world, server = self._world, self._world.server
        end, since, revision = world.clock.seconds + _WITHIN, world.clock.seconds, server.revision
        steps = 0
        while self._soon() - since <= _STILL and (world.step() is not None or self._dead()):
            steps += 1
            if self._run.broken:
                return
            if self._dead():
                world.run(_RESTART)
                self._start()
                since = world.clock.seconds
            if server.revision != revision:
                revision, since = server.revision, world.clock.seconds
            elif world.clock.seconds - since > _STILL:
                return
            if world.clock.seconds > end or steps > _STEPS:
                self._run.broken.append("never comes to rest: " + "; ".join(map(str, world.story[-6:])))
                return

    def _soon(self) -> float:
        """When something can happen next; at once where a process has to be started."""
        now = self._world.clock.seconds
        return now if self._dead() else max(now, min((move.at for move in self._world.moves()), default=now))

    def _dead(self) -> bool:
        return self._world.process is None or not self._world.process.alive

    # --- what is seen ---

    def _see(self, entry: Entry) -> None:
        self._run.broken += promises.judge(self._scene, entry)

    def _end(self) -> None:
        run, world = self._run, self._world
        names = run.scenario.deployments
        run.broken += upset(world.server)
        run.outcomes = tuple(world.outcome(each) for each in names)
        run.objects = tuple(
            sorted(map(_plain, self._owned()), key=lambda each: (each["kind"], each["metadata"]["name"]))
        )
        run.survivors = frozenset(pod.seat for pod in self._scene.pods() if pod.live and pod.uid in self._stood)
        after = [_plain(each) for each in self._foreign()]
        if changed := [each["metadata"]["name"] for each in self._strangers if each not in after]:
            run.broken.append(f"somebody else's objects are changed: {', '.join(changed)}")
        if len(after) != len(self._strangers) + run.scenario.strangers:
            run.broken.append(f"{len(after)} objects of others stand in the end")
        run.failures = [f"{each.key}: {each.error!r}" for process in self._processes for each in process.failures]
        story = world.story[self._from :]
        mine = [each for each in story if each.by.startswith("operator-") and each.plural != "events"]
        theirs = {_uid(each) for each in world.story if not each.by.startswith("operator-") and _begins_to_leave(each)}
        # What somebody else had begun to delete may well be deleted again by one who had not heard of it.
        run.idle = sum(1 for each in mine if not each.changed and not (each.verb == "delete" and _uid(each) in theirs))
        run.composed = sum(1 for each in story if each.plural == "workloads" and each.verb == "create")
        run.created = Counter(each.plural for each in mine if each.changed and each.verb == "create")
        run.deleted = Counter(each.plural for each in mine if each.changed and each.verb == "delete")
        gone = [
            Pod(each.old)
            for each in mine
            if each.plural == "pods" and each.verb == "delete" and each.old and each.changed
        ]
        run.left = list(dict.fromkeys(f"{pod.role}/{pod.ordinal} {pod.group}" for pod in gone))

    def _rest(self) -> None:
        """A world that is at rest stays so: this process and a new one look at everything once more."""
        world = self._world
        for again in (False, True):
            before = len(world.story)
            if again:
                self._start()
            assert world.process is not None
            world.process.watched.wake_all()
            self._settle()
            mine = [each for each in world.story[before:] if each.by == world.process.name and each.plural != "events"]
            if mine:
                self._run.broken.append(f"no write when settled: {mine[0]}")

    def _owned(self) -> list[JSON]:
        server = self._world.server
        return [each for plural in sorted(Scene.OWNED - {"pods"}) for each in server.items(plural) if owner(each)]

    def _foreign(self) -> list[JSON]:
        """What is no deployment's, or hangs on one and does not say that it was rendered for it."""
        server = self._world.server
        return [
            each
            for plural in sorted(Scene.OWNED)
            for each in server.items(plural)
            if not owner(each) or (plural != "pods" and _unnoted(each))
        ]


def _uid(entry: Entry) -> str:
    return str(entry.thing["metadata"]["uid"])


def _begins_to_leave(entry: Entry) -> bool:
    return entry.verb == "delete" and entry.changed


def _unnoted(thing: JSON) -> bool:
    return keys.RESOURCE_TYPE not in (thing["metadata"].get("labels") or {})


def _plain(thing: JSON) -> JSON:
    """An object without what differs between equal ones."""
    meta = {key: value for key, value in thing["metadata"].items() if key not in _GARBAGE}
    references = [{k: v for k, v in each.items() if k != "uid"} for each in meta.pop("ownerReferences", ())]
    spec = {key: value for key, value in (thing.get("spec") or {}).items() if not key.startswith("clusterIP")}
    return {**thing, "metadata": {**meta, "ownerReferences": references}, "spec": spec, "status": None}
