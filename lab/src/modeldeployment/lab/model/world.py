"""The world: the server, everybody who acts on it, and the one clock."""

import asyncio
import contextlib
import random
from collections.abc import Callable, Mapping
from typing import Any, Final, Self

from modeldeployment.api import keys, kueue
from modeldeployment.lab.fleets.fleet import Fleet
from modeldeployment.lab.model import conditions, patches
from modeldeployment.lab.model.clock import Clock
from modeldeployment.lab.model.collecting import Collector
from modeldeployment.lab.model.defaults import defaulted
from modeldeployment.lab.model.errors import ModelError, Unsettled
from modeldeployment.lab.model.furnishing import put_fleets
from modeldeployment.lab.model.kubelet import Kubelet
from modeldeployment.lab.model.kueue.groups import Groups
from modeldeployment.lab.model.kueue.lifecycle import Lifecycle
from modeldeployment.lab.model.kueue.queues import Queues
from modeldeployment.lab.model.kueue.webhook import admit
from modeldeployment.lab.model.moves import Actor, Move
from modeldeployment.lab.model.nodes import NodeController
from modeldeployment.lab.model.outcome import Outcome, outcome_of
from modeldeployment.lab.model.process import Process
from modeldeployment.lab.model.resources import BY_KIND, JSON
from modeldeployment.lab.model.routers import DeploymentStatus
from modeldeployment.lab.model.scheduler import Scheduler
from modeldeployment.lab.model.server import Entry, Server

_WINDOW: Final = 1.0
"""With a seed, moves that are due within so many seconds are made in any order."""

_MOST: Final = 100_000
"""Moves after which a world that does not settle is going in circles."""

_STILL: Final = 65.0
"""Seconds without a change after which a world counts as settled although somebody still looks now and then."""


class World:
    """A cluster with Kueue in one namespace, and perhaps an operator; use it as a context manager.

    Without a seed moves are made in the order in which they are due, events before all else. With one, any move that is
    due soon may come next, and Workloads of one age get quota in any order.
    """

    def __init__(self, seed: int | None = None, *, namespace: str = "team") -> None:
        self.namespace: Final = namespace
        self.clock: Final = Clock()
        self.server: Final = Server(self.clock, seed or 0)
        self.kueue_runs = True
        """Whether Kueue does; without it no Pod can be created."""
        self._chance = None if seed is None else random.Random(seed)
        self._seed = seed or 0
        self._loop = asyncio.new_event_loop()
        self._processes = 0
        self._fleets: dict[str, list[Fleet]] = {}
        self.process: Process | None = None
        self.killed: list[Process] = []
        self.proves = True
        """Whether routers let go of replicas and engines can be read; else no retirement gets past that."""
        self.busy = False
        """Whether engines never run empty."""
        self.server.mutating += [defaulted(self._priority), admit(lambda: self.kueue_runs)]
        self._kueue: tuple[Actor, ...] = (Lifecycle(self.server), Groups(self.server), Queues(self.server, seed))
        self._others: tuple[Actor, ...] = (
            Scheduler(self.server),
            Kubelet(self.server),
            DeploymentStatus(self.server),
            NodeController(self.server),
            Collector(self.server),
        )
        self._known: tuple[object, list[Move]] = (None, [])
        self.server.create("namespaces", {"metadata": {"name": namespace}}, by="admin")

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the operator and the loop."""
        self.kill()
        self._loop.close()

    @property
    def story(self) -> list[Entry]:
        """Every write so far."""
        return self.server.story

    # --- the operator ---

    def start(self) -> Process:
        """Start an operator; one that still runs is killed."""
        _require_no_loop()
        self.kill()
        self._processes += 1
        name = f"operator-{self._processes}"
        self.process = Process(
            self.server, self._loop, name, seed=self._seed, proves=lambda: self.proves, busy=lambda: self.busy
        )
        return self.process

    def kill(self) -> None:
        """Kill the operator, if one runs."""
        if self.process is not None:
            self.killed.append(self.process)
            self.process.kill()
            self.process = None

    # --- time ---

    def moves(self) -> list[Move]:
        """Everything that can happen next, now or later, the operator's moves first."""
        process = self._standing()
        mine = list(process.moves()) + list(process.wire.moves()) if process is not None else []
        state = (self.server.revision, self.kueue_runs)
        if self._known[0] != state:
            actors = (*self._kueue, *self._others) if self.kueue_runs else self._others
            self._known = (state, [move for actor in actors for move in actor.moves()])
        return [*mine, *self._known[1]]

    def step(self) -> Move | None:
        """Make one move, later if nothing can happen now; None where nothing ever will by itself."""
        move = self._next()
        if move is not None:
            self.make(move)
        return move

    def _next(self) -> Move | None:
        process = self._standing()
        if process is not None and self._chance is None:
            process.wire.flush()
        moves = self.moves()
        if not moves:
            return None
        first = min(moves, key=lambda move: move.at)
        if self._chance is None:
            return first
        soon = max(first.at, self.clock.seconds) + _WINDOW
        return self._chance.choice([move for move in moves if move.at <= soon])

    def make(self, move: Move) -> None:
        """Make a move of one's own choice among `moves()`."""
        self.clock.advance(move.at)
        move.run()

    def run(self, seconds: float) -> None:
        """Let so much time pass."""
        until = self.clock.seconds + seconds
        while (move := self._next()) is not None and move.at <= until:
            self.make(move)
        self.clock.advance(until)

    def settle(self, *, within: float = 3600.0, still: float = _STILL) -> None:
        """Run until nothing changes any more: nothing can, or nothing would for `still` seconds. Raises Unsettled.

        Somebody who looks again every half minute keeps no world from being settled, and what takes longer than
        `still` (a bound of minutes, a node's Pods that are collected) is waited for only if that is made longer.
        """
        end = self.clock.seconds + within
        revision, since, made = self.server.revision, self.clock.seconds, 0
        while (move := self._next()) is not None and move.at - since <= still:
            self.make(move)
            made += 1
            if self.server.revision != revision:
                revision, since = self.server.revision, self.clock.seconds
            if self.clock.seconds > end or made > _MOST:
                raise Unsettled(f"still moving: {self._latest()}")

    def until(self, holds: Callable[[], object], *, within: float = 600.0) -> None:
        """Run until something holds. Raises Unsettled."""
        end = self.clock.seconds + within
        while not holds():
            if self.step() is None or self.clock.seconds > end:
                raise Unsettled(f"never so: {self._latest()}")

    def _latest(self) -> str:
        failures = self.process.failures[-2:] if self.process is not None else []
        return "\n".join([*map(str, self.story[-12:]), *map(repr, failures)])

    def _standing(self) -> Process | None:
        if self.process is not None and not self.process.alive:
            self.kill()
        return self.process

    # --- what people do ---

    def fleet(self, *, checks: tuple[str, ...] = (), **fields: Any) -> str:
        """Put a fleet there (`fields` of `Fleet`: maker, nodes, cards…) with its queues; the InstanceType's name."""
        return self.stand(Fleet(**{"maker": "nvidia", "nodes": 2, **fields}), checks)

    def stand(self, fleet: Fleet, checks: tuple[str, ...] = ()) -> str:
        """Put this very fleet there with its queues; the InstanceType's name."""
        standing = self._fleets.setdefault(fleet.instance_type, [])
        standing[:] = [each for each in standing if each.name != fleet.name] + [fleet]
        return put_fleets(self.server, standing, self.namespace, checks)

    def quota(self, instance_type: str, cards: int) -> None:
        """Give a queue quota for so many cards, whatever its nodes hold."""
        operations = [
            {
                "op": "replace",
                "path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota",
                "value": str(cards * kueue.CREDITS_PER_CARD),
            }
        ]
        self.server.update(
            "clusterqueues", instance_type, "", lambda old: patches.edited(old, operations), by="admin", verb="patch"
        )

    def manifest(self, name: str = "chat", *, roles: list[JSON] | None = None, router: str = "", **role: Any) -> JSON:
        """A deployment on the world's first InstanceType; `role` are fields of its one role `server`."""
        spec: JSON = {
            "model": {"name": "Qwen/Qwen2.5-7B-Instruct"},
            "engine": {"name": "vLLM", "version": "0.29.0"},
            "roles": roles if roles is not None else [self.role(**role)],
        }
        if router:
            spec["router"] = {"name": router}
        metadata = {"name": name, "namespace": self.namespace}
        return {"apiVersion": keys.API_VERSION, "kind": "ModelDeployment", "metadata": metadata, "spec": spec}

    def role(self, name: str = "server", **fields: Any) -> JSON:
        """One role that asks for one accelerator."""
        asks = {"instanceType": next(iter(self._fleets), ""), "resources": {"accelerator": 1}}
        return {"name": name, "replicas": 1, "size": 1, **asks, **fields}

    def pair(self, name: str = "qwen", *, router: str = "llm-d-router", **role: Any) -> JSON:
        """A Prefill and a Decode role behind a router; `role` are fields of both."""
        roles = [self.role(kind.lower(), kind=kind, **role) for kind in ("Prefill", "Decode")]
        return self.manifest(name, roles=roles, router=router)

    def create(self, manifest: Mapping[str, Any]) -> str:
        """Create any object; its name."""
        of = BY_KIND[manifest["kind"]]
        made = self.server.create(of.plural, manifest, self.namespace if of.namespaced else "")
        return str(made["metadata"]["name"])

    def apply(self, manifest: Mapping[str, Any]) -> None:
        """Apply any object."""
        of = BY_KIND[manifest["kind"]]
        namespace = self.namespace if of.namespaced else ""
        self.server.apply(of.plural, manifest["metadata"]["name"], namespace, manifest, by="user")

    def edit(self, name: str, path: str, value: Any) -> None:
        """Put a value at a path of a deployment, such as `/spec/roles/0/replicas`."""
        operations = [{"op": "add", "path": path, "value": value}]
        self.server.update(
            "modeldeployments",
            name,
            self.namespace,
            lambda old: patches.edited(old, operations),
            by="user",
            verb="patch",
        )

    def remove(self, name: str, path: str) -> None:
        """Take a field out of a deployment."""
        operations = [{"op": "remove", "path": path}]
        self.server.update(
            "modeldeployments",
            name,
            self.namespace,
            lambda old: patches.edited(old, operations),
            by="user",
            verb="patch",
        )

    def delete(self, name: str, kind: str = "ModelDeployment") -> None:
        """Delete an object by hand."""
        of = BY_KIND[kind]
        self.server.delete(of.plural, name, self.namespace if of.namespaced else "", by="user")

    def drain(self, node: str) -> None:
        """Cordon a node and evict its Pods."""
        self.server.merge("nodes", node, "", {"spec": {"unschedulable": True}}, by="user")
        for pod in list(self.server.items("pods")):
            if pod["spec"].get("nodeName") == node and "deletionTimestamp" not in pod["metadata"]:
                self.evict(pod["metadata"]["name"])

    def evict(self, pod: str) -> None:
        """Evict a Pod through the API."""
        now = self.clock.stamp()

        def told(held: JSON) -> JSON:
            message = "Eviction API: evicting"
            status = conditions.put(held["status"], "DisruptionTarget", True, "EvictionByEvictionAPI", message, now)
            return {**held, "status": status}

        self.server.update("pods", pod, self.namespace, told, by="user", subresource="status")
        self.server.delete("pods", pod, self.namespace, by="user")

    def node_ready(self, node: str, *, ready: bool) -> None:
        """Let a node say that it is ready, or not."""
        now = self.clock.stamp()

        def said(held: JSON) -> JSON:
            return {**held, "status": conditions.put(held["status"], "Ready", ready, "", "", now)}

        self.server.update("nodes", node, "", said, by="user", subresource="status")

    # --- what is there ---

    def pods(self, name: str = "") -> list[JSON]:
        """The Pods of a deployment, or all; leaving ones included."""
        return [
            pod
            for pod in self.server.items("pods", self.namespace)
            if not name or (pod["metadata"].get("labels") or {}).get(keys.INSTANCE) == name
        ]

    def ever(self, plural: str, name: str = "") -> tuple[int, int]:
        """How many objects of a kind ever came and how many were ever deleted; of Pods, those that hold a seat."""
        came = left = 0
        for entry in self.story:
            labels = entry.thing["metadata"].get("labels") or {}
            if entry.plural != plural or (plural == "pods" and keys.ORDINAL not in labels):
                continue
            if name and labels.get(keys.INSTANCE) != name:
                continue
            came += entry.old is None
            left += (
                entry.old is not None
                and "deletionTimestamp" not in entry.old["metadata"]
                and (entry.new is None or "deletionTimestamp" in entry.new["metadata"])
            )
        return came, left

    def status(self, name: str) -> JSON:
        """The status of a deployment; empty where there is none."""
        found = self.server.find("modeldeployments", name, self.namespace)
        return (found or {}).get("status") or {}

    def outcome(self, name: str) -> Outcome:
        """What a person sees of a deployment now."""
        where = self.namespace
        return outcome_of(
            self.server.find("modeldeployments", name, where),
            self.server.items("pods", where),
            self.server.items("workloads", where),
            self.server.items("services", where),
            name,
        )

    def _priority(self, name: str) -> int:
        found = self.server.find("priorityclasses", name)
        return int(found["value"]) if found is not None else 0


def _require_no_loop() -> None:
    with contextlib.suppress(RuntimeError):
        asyncio.get_running_loop()
        raise ModelError("a fake world runs its own event loop; inside of another one call it by asyncio.to_thread")
