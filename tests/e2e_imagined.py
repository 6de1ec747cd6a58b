"""A scenario played on the fake cluster, with the namespace and the fleet of a real one."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import assert_never

import e2e_scenes as scenes
from e2e_queued import entrance, lender, outranks, shared
from e2e_worlds import JSON
from e2e_worlds import World as RealWorld
from modeldeployment.api import keys, kueue
from modeldeployment.lab.model import Outcome, World, conditions, patches


def imagined(real: RealWorld, scene: scenes.Scene, actions: Sequence[scenes.Action]) -> scenes.Result:
    """Play a scenario in a fake world."""
    with World(namespace=real.namespace) as world:
        world.stand(real.provision.fleet, scene.checks)
        world.start()
        player = _Player(real, world, scene)
        for action in actions:
            player.play(action)
        world.settle()
        seen = (*player.seen, player.outcomes())
        return scenes.Result(seen, world.ever("pods"), world.ever("workloads"), player.stopped())


class _Player:
    """Does in the fake world what a scenario asks, one action after the other."""

    def __init__(self, real: RealWorld, world: World, scene: scenes.Scene) -> None:
        self._real = real
        self._world = world
        self._scene = scene
        self._queue = real.provision.cluster_queue
        self.seen: list[tuple[Outcome, ...]] = []

    def outcomes(self) -> tuple[Outcome, ...]:
        return tuple(map(self._world.outcome, self._scene.names))

    def stopped(self) -> int:
        """How many Workloads were taken out of the queue."""
        return sum(
            entry.plural == "workloads"
            and entry.old is not None
            and entry.new is not None
            and entry.old["spec"].get("active") is not False
            and entry.new["spec"].get("active") is False
            for entry in self._world.story
        )

    def play(self, action: scenes.Action) -> None:
        world, named = self._world, self._scene.named
        first = named("")
        match action:
            case scenes.Create(name):
                world.create(self._scene.manifest(name))
            case scenes.Edit(path, value):
                world.edit(first, path, value)
            case scenes.Remove(path):
                world.remove(first, path)
            case scenes.Delete(name):
                world.delete(named(name))
            case scenes.DeletePod(role, ordinal, member):
                world.delete(scenes.name_of(world.pods(first), role, ordinal, member), "Pod")
            case scenes.DeleteWorkload(role, ordinal):
                pod = scenes.seated(world.pods(first), role, ordinal, 0)
                world.delete(pod["metadata"]["labels"][keys.GROUP_NAME], "Workload")
            case scenes.Drain(role, ordinal):
                world.drain(scenes.node_of(world.pods(first), role, ordinal))
            case scenes.LoseNode(role, ordinal):
                world.delete(scenes.node_of(world.pods(first), role, ordinal), "Node")
            case scenes.SilenceNode(role, ordinal):
                world.node_ready(scenes.node_of(world.pods(first), role, ordinal), ready=False)
            case scenes.Quota(cards):
                world.quota(self._real.instance_type, cards)
            case scenes.Outrank():
                self._change_queue(outranks())
                made = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1000}
                world.create({**made, "metadata": {"name": world.namespace}})
            case scenes.Lend():
                self._lend()
            case scenes.Enter():
                self._enter(action)
            case scenes.Leave():
                world.delete(scenes.STRANGER, "Pod")
                world.delete(scenes.STRANGER, "Workload")
            case scenes.Age(minutes):
                then = (world.clock.utc() - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")
                for workload in self._workloads():
                    self._patch(workload, scenes.aged(workload, then))
            case scenes.Activate():
                for workload in self._workloads():
                    active = {"spec": {"active": True}}
                    world.server.merge("workloads", workload["metadata"]["name"], world.namespace, active, by="user")
            case scenes.Until(holds, name):
                world.until(lambda: holds(world.outcome(named(name))))
            case scenes.Came(pods):
                world.until(lambda: world.ever("pods")[0] >= pods)
            case scenes.Stopped(workloads):
                world.until(lambda: self.stopped() >= workloads)
            case scenes.Queued(groups, name):
                world.until(lambda: len(found := self._workloads(name)) == groups and all(map(scenes.tried, found)))
            case scenes.Look():
                world.settle(still=scenes.STILL_SECONDS)
                self.seen.append(self.outcomes())
            case other:
                assert_never(other)

    def _workloads(self, name: str = "") -> list[JSON]:
        groups = scenes.groups_of(self._world.pods(), self._scene.named(name))
        found = self._world.server.items("workloads", self._world.namespace)
        return [each for each in found if each["metadata"]["name"] in groups]

    def _enter(self, action: scenes.Enter) -> None:
        world = self._world
        queue = "lender" if action.lender else self._real.provision.local_queue
        world.create(scenes.stranger(action.cards, queue, world.namespace if action.outranks else ""))
        world.until(
            lambda: (
                (found := world.server.find("workloads", scenes.STRANGER, world.namespace))
                and conditions.true(found, kueue.WorkloadCondition.ADMITTED)
            )
        )

    def _lend(self) -> None:
        world = self._world
        spec = world.server.get("clusterqueues", self._queue)["spec"]
        self._change_queue(shared(world.namespace, spec))
        made = lender(world.namespace, spec)
        world.create(made)
        world.create(entrance(made["metadata"]["name"]))

    def _change_queue(self, spec: JSON) -> None:
        self._world.server.merge("clusterqueues", self._queue, "", {"spec": spec}, by="admin")

    def _patch(self, workload: JSON, operations: list[JSON]) -> None:
        self._world.server.update(
            "workloads",
            workload["metadata"]["name"],
            self._world.namespace,
            partial(patches.edited, operations=operations),
            by="user",
            verb="patch",
            subresource="status",
        )
