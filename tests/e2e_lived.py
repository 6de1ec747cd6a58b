"""A scenario played on the real cluster, whose operator runs."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, assert_never

import e2e_scenes as scenes
import pytest
from e2e_board import PATIENCE
from e2e_nodes import silence
from e2e_queued import lending, outranking, serves
from e2e_worlds import JSON, World
from modeldeployment.api import keys, kueue
from modeldeployment.kube import Forbidden, Kind, PatchType
from modeldeployment.kube.kinds import CLUSTER_QUEUES, NODES, PODS, SERVICES, WORKLOADS
from modeldeployment.kube.requests import Verb, request_for
from modeldeployment.kube.shapes import Workload
from modeldeployment.lab.model import Outcome, outcome_of
from modeldeployment.reconcile import DEPLOYMENTS

_LONG: Final = 180.0
"""Seconds for what takes its time: Pods without a node are given up after most of a minute."""


async def lived(world: World, scene: scenes.Scene, actions: Sequence[scenes.Action]) -> scenes.Result:
    """Play a scenario on the real cluster."""
    async with contextlib.AsyncExitStack() as stack:
        player = _Player(world, scene, stack)
        for action in actions:
            await player.play(action)
        seen = (*player.seen, await player.still())
        return scenes.Result(seen, _ever(world, PODS), _ever(world, WORKLOADS), _stopped(world))


class _Player:
    """Does on the real cluster what a scenario asks, one action after the other."""

    def __init__(self, world: World, scene: scenes.Scene, stack: contextlib.AsyncExitStack) -> None:
        self._world = world
        self._scene = scene
        self._stack = stack
        self._priority = ""
        self._lender = ""
        self.seen: list[tuple[Outcome, ...]] = []

    async def play(self, action: scenes.Action) -> None:
        world, named = self._world, self._scene.named
        first = named("")
        match action:
            case scenes.Create(name):
                await world.client.create(DEPLOYMENTS, self._scene.manifest(name), world.namespace)
            case scenes.Edit(path, value):
                await world.edit(first, path, value)
            case scenes.Remove(path):
                change = json.dumps([{"op": "remove", "path": path}]).encode()
                await world.client.patch(DEPLOYMENTS, first, change, world.namespace, how=PatchType.JSON)
            case scenes.Delete(name):
                await world.delete(named(name))
            case scenes.DeletePod(role, ordinal, member):
                pod = scenes.name_of(await _items(world, PODS), role, ordinal, member)
                await world.client.delete(PODS, pod, world.namespace)
            case scenes.DeleteWorkload(role, ordinal):
                found = scenes.seated(await _items(world, PODS), role, ordinal, 0)
                await world.client.delete(WORKLOADS, found["metadata"]["labels"][keys.GROUP_NAME], world.namespace)
            case scenes.Drain(role, ordinal):
                node = scenes.node_of(await _items(world, PODS), role, ordinal)
                said = await world.kubectl("drain", node, "--force", "--grace-period=-1", f"--timeout={PATIENCE:.0f}s")
                assert said.code == 0, said.err
            case scenes.LoseNode(role, ordinal):
                await world.client.delete(NODES, scenes.node_of(await _items(world, PODS), role, ordinal))
            case scenes.SilenceNode(role, ordinal):
                pods = await _items(world, PODS)
                await silence(world, scenes.node_of(pods, role, ordinal), scenes.name_of(pods, role, ordinal, 0))
            case scenes.Quota(cards):
                await self._quota(cards)
            case scenes.Outrank():
                self._priority = await self._stack.enter_async_context(outranking(world))
            case scenes.Lend():
                self._lender = await self._stack.enter_async_context(lending(world))
            case scenes.Enter():
                queue = self._lender if action.lender else world.provision.local_queue
                body = scenes.stranger(action.cards, queue, self._priority if action.outranks else "")
                async for _ in world.asking():  # a priority is known a moment after it was made
                    with contextlib.suppress(Forbidden):
                        await world.client.create(PODS, json.dumps(body).encode(), world.namespace)
                        break
                await serves(world, scenes.STRANGER)
            case scenes.Leave():
                await world.client.delete(PODS, scenes.STRANGER, world.namespace)
                await world.client.delete(WORKLOADS, scenes.STRANGER, world.namespace)
            case scenes.Age(minutes):
                for name in [each["metadata"]["name"] for each in await self._workloads()]:
                    await self._aged(name, timedelta(minutes=minutes))
            case scenes.Activate():
                for each in await self._workloads():
                    active = {"spec": {"active": True}}
                    group = each["metadata"]["name"]
                    await world.client.patch(WORKLOADS, group, active, world.namespace, how=PatchType.MERGE)
            case scenes.Until(holds, name):
                await self._until(named(name), holds)
            case scenes.Came(pods):
                await world.board.until(
                    lambda: _ever(world, PODS)[0] >= pods, within=_LONG, what=f"{pods} Pods have come"
                )
            case scenes.Stopped(workloads):
                await world.board.until(lambda: _stopped(world) >= workloads, what=f"{workloads} are stopped")
            case scenes.Queued(groups, name):
                await self._queued(groups, name)
            case scenes.Look():
                self.seen.append(await self.still())
            case other:
                assert_never(other)

    async def still(self) -> tuple[Outcome, ...]:
        """The deployments once they have stood for a while."""
        loop = asyncio.get_running_loop()
        seen, since = await self._outcomes(), loop.time()
        async for _ in self._world.asking():
            now = await self._outcomes()
            if now != seen:
                seen, since = now, loop.time()
            if loop.time() - since > scenes.STILL_SECONDS:
                break
        return seen

    async def _outcomes(self) -> tuple[Outcome, ...]:
        return tuple([await _outcome(self._world, name) for name in self._scene.names])

    async def _until(self, name: str, holds: Callable[[Outcome], bool]) -> None:
        seen = None
        async for _ in self._world.asking():
            seen = await _outcome(self._world, name)
            if holds(seen):
                return
        pytest.fail(f"not so within {PATIENCE:.0f} s: {seen}\n{self._world.board.picture()}")

    async def _queued(self, groups: int, name: str) -> None:
        found: list[JSON] = []
        async for _ in self._world.asking():
            found = await self._workloads(name)
            if len(found) == groups and all(map(scenes.tried, found)):
                return
        pytest.fail(f"not so within {PATIENCE:.0f} s: {groups} groups are tried: {found}")

    async def _workloads(self, name: str = "") -> list[JSON]:
        groups = scenes.groups_of(await _items(self._world, PODS), self._scene.named(name))
        return [each for each in await _items(self._world, WORKLOADS) if each["metadata"]["name"] in groups]

    async def _quota(self, cards: int) -> None:
        path = "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota"
        change = [{"op": "replace", "path": path, "value": str(cards * kueue.CREDITS_PER_CARD)}]
        queue = self._world.provision.cluster_queue
        await self._world.client.patch(CLUSTER_QUEUES, queue, json.dumps(change).encode(), how=PatchType.JSON)

    async def _aged(self, name: str, by: timedelta) -> None:
        """Set the clocks of a Workload back; whoever wrote to it in between is answered by another try."""
        then = (datetime.now(UTC) - by).strftime("%Y-%m-%dT%H:%M:%SZ")
        world = self._world
        async for _ in world.asking():
            found: JSON = await world.whole(WORKLOADS, name)
            change = json.dumps(scenes.aged(found, then)).encode()
            made = await world.client.patch(
                WORKLOADS, name, change, world.namespace, how=PatchType.JSON, subresource="status"
            )
            if made.status.admission_checks[0].last_transition_time == then:
                return
        pytest.fail(f"the clock of {name} cannot be set back")


async def _outcome(world: World, name: str) -> Outcome:
    found = [each for each in await _items(world, DEPLOYMENTS) if each["metadata"]["name"] == name]
    pods, workloads, services = [await _items(world, kind) for kind in (PODS, WORKLOADS, SERVICES)]
    return outcome_of(found[0] if found else None, pods, workloads, services, name)


async def _items(world: World, kind: Kind[Any]) -> list[JSON]:
    listing = json.loads(await world.client.raw(request_for(Verb.LIST, kind, world.namespace)))
    items: list[JSON] = listing["items"]
    return items


def _ever(world: World, kind: Kind[Any]) -> tuple[int, int]:
    def seated(thing: Any) -> bool:
        return kind is not PODS or keys.ORDINAL in thing.metadata.labels

    came, deleted = world.board.came(kind), world.board.deleted(kind)
    return sum(map(seated, came)), sum(map(seated, deleted))


def _stopped(world: World) -> int:
    """How many Workloads were taken out of the queue."""
    return sum(
        isinstance(change.old, Workload)
        and isinstance(change.new, Workload)
        and change.old.spec.active is not False
        and change.new.spec.active is False
        for change in world.board.story
    )
