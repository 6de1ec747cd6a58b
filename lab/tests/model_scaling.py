"""One scaler's controller against the fake API server, pass by pass; engines say what a test lets them say."""

# ruff: noqa: ARG002 (engines here answer the same, whatever they are asked)

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import msgspec
from modeldeployment.api import keys
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.kube import Recorder, Store, shapes
from modeldeployment.lab.model import World
from modeldeployment.lab.model.client import ModelClient, Write
from modeldeployment.lab.model.clock import Clock
from modeldeployment.lab.model.errors import Killed
from modeldeployment.lab.model.resources import JSON
from modeldeployment.lab.model.server import Entry, Server
from modeldeployment.scaler import Key, ScalerController, Watched
from modeldeployment.scaler.journal import Line
from modeldeployment.scaler.planning import Reading, RoleReading
from modeldeployment.scaler.sampling import Engine

TEAM: Final = "team"
KEY: Final = Key(TEAM, "chat")
INTERVAL: Final = 15


@dataclass(slots=True)
class Engines:
    """Answers for all engines: so many requests wait."""

    waiting: int = 0
    asked: list[datetime] = field(default_factory=list)
    meanwhile: Callable[[], object] = lambda: None
    """What happens while engines are read."""

    async def sample(
        self,
        scaler: str,
        interval_seconds: int,
        members: Sequence[Engine],
        now: datetime,
        *,
        ready: Mapping[str, int],
        standing: Callable[[Engine], bool],
    ) -> Reading:
        """Read them."""
        self.asked.append(now)
        self.meanwhile()
        return Reading(
            roles={
                name: RoleReading(
                    state=SignalState.FRESH,
                    ready=count,
                    complete=True,
                    at=now,
                    running_requests=0,
                    waiting_requests=self.waiting,
                )
                for name, count in ready.items()
            }
        )

    def rest(self, scaler: str, interval_seconds: int) -> float:
        """They may always be read."""
        return 0.0

    def forget(self, scaler: str) -> None:
        """Nothing is kept."""


@dataclass(slots=True)
class Journal:
    """Keeps every line."""

    lines: list[Line] = field(default_factory=list)

    def append(self, line: Line) -> None:
        """Keep it."""
        self.lines.append(line)

    def forget(self, namespace: str, name: str) -> None:
        """Keep it all the same."""


class Scene:
    """A server with one deployment and its replicas, and a process that scales it; `start` begins another one."""

    def __init__(self, replicas: int = 2, world: World | None = None) -> None:
        self.clock = Clock() if world is None else world.clock
        self.server = Server(self.clock) if world is None else world.server
        self.engines = Engines()
        self.journal = Journal()
        self.deaf = False
        """Whether the stores hear of nothing."""
        self._numbers = itertools.count(1)
        self.server.watchers.append(self._hear)
        self.deploy(replicas)
        self.start()

    # --- the process ---

    def start(self) -> None:
        """Begin a process; the one before is over, whatever it remembered."""
        self.client = ModelClient(self.server, keys.FIELD_MANAGER)
        self.woken: list[Key] = []
        self.watched = Watched(self.woken.append)
        for store, kind in self._stores():
            things = [self._read(each, store) for each in self.server.items(kind)]
            store.replace(things, str(self.server.revision))
        self.recorder = Recorder(self.client, "scaler", "test", clock=self.clock.epoch)
        self.controller = ScalerController(
            self.client,
            self.watched,
            self.recorder,
            self.engines,
            self.journal,
            self.clock.utc,
            lambda: f"d-{next(self._numbers)}",
        )

    def lead(self) -> None:
        """Let the process take the lead."""
        run(self.controller.begin())

    def look(self) -> float | None:
        """Take one pass; a process that is killed in it answers nothing."""
        try:
            after: float | None = run(self.controller.reconcile(KEY))
        except Killed:
            return None
        return after

    def settle(self) -> None:
        """Take passes until the binding stands and everything is told; planning is one of them."""
        for _ in range(5):
            after = self.look()
            if after is None or after > 1:
                return

    def later(self, seconds: float = INTERVAL) -> None:
        """Let time go by, and take the passes that are due then."""
        self.clock.advance(self.clock.seconds + seconds)
        self.settle()

    # --- the world ---

    def deploy(self, replicas: int) -> None:
        """Make the deployment, with replicas that are ready and admitted."""
        role = {"name": "server", "replicas": replicas, "instanceType": "a10"}
        body = {"metadata": {"name": "chat"}, "spec": {"engine": {"name": "vLLM"}, "roles": [role]}}
        self.server.create("modeldeployments", body, TEAM)
        self.serve()

    def serve(self) -> None:
        """Let every declared replica be ready and admitted, and no other be there."""
        target = self.target
        replicas = target["spec"]["roles"][0]["replicas"]
        owner = {"kind": "ModelDeployment", "name": "chat", "uid": target["metadata"]["uid"], "controller": True}
        for ordinal in range(16):
            name = f"chat-server-{ordinal}"
            there = self.server.find("pods", name, TEAM)
            if ordinal >= replicas and there is not None:
                self.server.delete("pods", name, TEAM)
                self.server.delete("workloads", name, TEAM)
            elif ordinal < replicas and there is None:
                labels = {keys.COMPONENT: "server", keys.ORDINAL: str(ordinal)}
                pod = {"metadata": {"name": name, "labels": labels, "ownerReferences": [owner]}, "spec": {}}
                made = self.server.create("pods", pod, TEAM)
                ready = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
                self.server.merge("pods", name, TEAM, ready, by="kubelet", subresource="status")
                member = {"kind": "Pod", "apiVersion": "v1", "name": name, "uid": made["metadata"]["uid"]}
                self.server.create("workloads", {"metadata": {"name": name, "ownerReferences": [member]}}, TEAM)
                admitted = {"status": {"conditions": [{"type": "Admitted", "status": "True"}]}}
                self.server.merge("workloads", name, TEAM, admitted, by="kueue", subresource="status")

    def scale(self, **spec: Any) -> None:
        """Make the scaler: one replica for eight requests."""
        wanted = {
            "targetRef": {"name": "chat"},
            "mode": "Active",
            "sampling": {"intervalSeconds": INTERVAL},
            "roles": [{"name": "server", "minReplicas": 1, "maxReplicas": 8}],
            "algorithm": {
                "type": "Proportional",
                "proportional": {"metric": "QueueDepth", "roleTargets": [{"name": "server", "target": "8"}]},
            },
            **spec,
        }
        self.server.create("modeldeploymentscalers", {"metadata": {"name": "chat"}, "spec": wanted}, TEAM)

    def edit(self, patch: Mapping[str, Any], *, status: bool = False) -> None:
        """Let somebody merge something into the deployment."""
        where = "status" if status else ""
        self.server.merge("modeldeployments", "chat", TEAM, patch, by="user", subresource=where)

    # --- what is there ---

    @property
    def target(self) -> JSON:
        """The deployment."""
        return self.server.get("modeldeployments", "chat", TEAM)

    @property
    def replicas(self) -> int:
        """The declared count."""
        return int(self.target["spec"]["roles"][0]["replicas"])

    @property
    def status(self) -> JSON:
        """What the scaler's status says."""
        found: JSON = self.server.get("modeldeploymentscalers", "chat", TEAM).get("status", {})
        return found

    def annotation(self, key: str) -> JSON:
        """A claim on the deployment; empty where there is none."""
        text = self.target["metadata"].get("annotations", {}).get(key, "{}")
        read: JSON = msgspec.json.decode(text)
        return read

    def notes(self, reason: str) -> list[str]:
        """What events of this reason say."""
        run(self.recorder.flush())
        return [each["note"] for each in self.server.items("events") if each["reason"] == reason]

    # --- hearing ---

    def _stores(self) -> list[tuple[Store[Any], str]]:
        return [(store, plural) for plural, store in self.watched.stores().items()]

    def _read(self, thing: JSON, store: Store[Any]) -> Any:
        shape = {"pods": shapes.Pod, "workloads": shapes.Workload}
        plural = next(plural for kept, plural in self._stores() if kept is store)
        return msgspec.json.decode(msgspec.json.encode(thing), type=shape.get(plural, shapes.Custom))

    def _hear(self, entry: Entry) -> None:
        watched = getattr(self, "watched", None)
        store = watched.stores().get(entry.plural) if watched is not None else None
        if store is None or self.deaf:
            return
        if entry.new is None:
            gone = {**entry.thing, "metadata": {**entry.thing["metadata"], "resourceVersion": str(entry.revision)}}
            store.remove(self._read(gone, store))
        else:
            store.put(self._read(entry.new, store))


def commits(write: Write) -> bool:
    """Whether a write is one of counts."""
    body = write.request.body or b""
    return write.plural == "modeldeployments" and keys.SCALER_DECISION.replace("/", "~1").encode() in body


def run(work: Any) -> Any:
    """Run a coroutine in which nothing waits."""
    return asyncio.run(work)
