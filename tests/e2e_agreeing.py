"""One scenario played on a real cluster and on the fake one, and what came of it on either."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, assert_never

import pytest
from e2e_board import PATIENCE
from e2e_worlds import JSON
from e2e_worlds import World as RealWorld
from modeldeployment.api import keys, kueue
from modeldeployment.kube import Kind, PatchType
from modeldeployment.kube.kinds import CLUSTER_QUEUES, PODS, SERVICES, WORKLOADS
from modeldeployment.kube.requests import Verb, request_for
from modeldeployment.lab.model import Outcome, World, outcome_of
from modeldeployment.reconcile import DEPLOYMENTS

_STILL_SECONDS: Final = 3.0


@dataclass(frozen=True, slots=True)
class Create:
    """Create the deployment."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Put a value at a path of the deployment."""

    path: str
    value: Any


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete the deployment."""


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Delete one member by hand."""

    role: str
    ordinal: int
    member: int = 0


@dataclass(frozen=True, slots=True)
class DeleteWorkload:
    """Delete the Workload of one replica by hand."""

    role: str
    ordinal: int


@dataclass(frozen=True, slots=True)
class Drain:
    """Drain the node of one replica's leader."""

    role: str
    ordinal: int


@dataclass(frozen=True, slots=True)
class Remove:
    """Take a field out of the deployment."""

    path: str


@dataclass(frozen=True, slots=True)
class Quota:
    """Give the queue so many cards."""

    cards: int


@dataclass(frozen=True, slots=True)
class Until:
    """Wait until this holds of the outcome."""

    holds: Callable[[Outcome], bool]


Action: TypeAlias = Create | Edit | Remove | Delete | DeletePod | DeleteWorkload | Drain | Quota | Until


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a scenario; the last two say how many came and how many were deleted."""

    outcome: Outcome
    pods: tuple[int, int]
    workloads: tuple[int, int]


def settled(outcome: Outcome) -> bool:
    """Whether the deployment is served as its present spec says."""
    return (
        outcome.observed
        and outcome.phase == "Ready"
        and ("ReplicasUpToDate", "True", "UpToDate") in outcome.conditions
        and all(desired == ready for _, desired, ready, _ in outcome.roles)
        and all(seat.ready and not seat.leaving for seat in outcome.seats)
        and all(group.admitted for group in outcome.groups)
    )


def gone(outcome: Outcome) -> bool:
    """Whether nothing of the deployment is left."""
    return not outcome.exists and not outcome.seats and not outcome.groups


def waits(ready: int) -> Callable[[Outcome], bool]:
    """Whether so many replicas are ready and one Workload waits."""

    def holds(outcome: Outcome) -> bool:
        waiting = sum(not group.reserved for group in outcome.groups)
        return outcome.observed and sum(each[2] for each in outcome.roles) == ready and waiting == 1

    return holds


def held(outcome: Outcome) -> bool:
    """Whether one group has quota, another waits for it, and nobody runs."""
    reserved = [group.reserved for group in outcome.groups]
    return outcome.observed and sorted(reserved) == [False, True] and not any(seat.ready for seat in outcome.seats)


# --- on the fake cluster ---


def imagined(real: RealWorld, manifest: JSON, actions: Sequence[Action], checks: tuple[str, ...] = ()) -> Result:
    """Play the scenario in a fake world with the real one's namespace and fleet."""
    name = manifest["metadata"]["name"]
    with World(namespace=real.namespace) as world:
        world.stand(real.provision.fleet, checks)
        world.start()
        for action in actions:
            match action:
                case Create():
                    world.create(manifest)
                case Edit(path, value):
                    world.edit(name, path, value)
                case Remove(path):
                    world.remove(name, path)
                case Drain():
                    world.drain(_seated(world.pods(name), action.role, action.ordinal, 0)["spec"]["nodeName"])
                case Delete():
                    world.delete(name)
                case DeletePod():
                    world.delete(_name_of(world.pods(name), action.role, action.ordinal, action.member), "Pod")
                case DeleteWorkload():
                    pod = _seated(world.pods(name), action.role, action.ordinal, 0)
                    world.delete(pod["metadata"]["labels"][keys.GROUP_NAME], "Workload")
                case Quota(cards):
                    world.quota(real.instance_type, cards)
                case Until(holds):
                    world.until(lambda holds=holds: holds(world.outcome(name)))  # type: ignore[misc]
                case other:
                    assert_never(other)
        world.settle()
        return Result(world.outcome(name), world.ever("pods"), world.ever("workloads"))


# --- on the real cluster ---


async def lived(real: RealWorld, manifest: JSON, actions: Sequence[Action]) -> Result:
    """Play the scenario on the real cluster, whose operator runs."""
    name = manifest["metadata"]["name"]
    for action in actions:
        match action:
            case Create():
                await real.client.create(DEPLOYMENTS, manifest, real.namespace)
            case Edit(path, value):
                await real.edit(name, path, value)
            case Remove(path):
                change = [{"op": "remove", "path": path}]
                await real.client.patch(
                    DEPLOYMENTS, name, json.dumps(change).encode(), real.namespace, how=PatchType.JSON
                )
            case Drain():
                node = _seated(await _items(real, PODS), action.role, action.ordinal, 0)["spec"]["nodeName"]
                said = await real.kubectl("drain", node, "--force", "--grace-period=-1", f"--timeout={PATIENCE:.0f}s")
                assert said.code == 0, said.err
            case Delete():
                await real.delete(name)
            case DeletePod():
                pods = await _items(real, PODS)
                found = _name_of(pods, action.role, action.ordinal, action.member)
                await real.client.delete(PODS, found, real.namespace)
            case DeleteWorkload():
                pod = _seated(await _items(real, PODS), action.role, action.ordinal, 0)
                await real.client.delete(WORKLOADS, pod["metadata"]["labels"][keys.GROUP_NAME], real.namespace)
            case Quota(cards):
                path = "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota"
                change = [{"op": "replace", "path": path, "value": str(cards * kueue.CREDITS_PER_CARD)}]
                await real.client.patch(
                    CLUSTER_QUEUES, real.provision.cluster_queue, json.dumps(change).encode(), how=PatchType.JSON
                )
            case Until(holds):
                await _until(real, name, holds)
            case other:
                assert_never(other)
    outcome = await _still(real, name)
    return Result(outcome, _ever(real, PODS), _ever(real, WORKLOADS))


async def _until(real: RealWorld, name: str, holds: Callable[[Outcome], bool]) -> None:
    seen = None
    async for _ in real.asking():
        seen = await _outcome(real, name)
        if holds(seen):
            return
    pytest.fail(f"not so within {PATIENCE:.0f} s: {seen}\n{real.board.picture()}")


async def _still(real: RealWorld, name: str) -> Outcome:
    """The outcome once it has stood for a while."""
    loop = asyncio.get_running_loop()
    seen, since = await _outcome(real, name), loop.time()
    async for _ in real.asking():
        now = await _outcome(real, name)
        if now != seen:
            seen, since = now, loop.time()
        if loop.time() - since > _STILL_SECONDS:
            break
    return seen


async def _outcome(real: RealWorld, name: str) -> Outcome:
    found = [each for each in await _items(real, DEPLOYMENTS) if each["metadata"]["name"] == name]
    pods, workloads, services = [await _items(real, kind) for kind in (PODS, WORKLOADS, SERVICES)]
    return outcome_of(found[0] if found else None, pods, workloads, services, name)


async def _items(real: RealWorld, kind: Kind[Any]) -> list[JSON]:
    listing = json.loads(await real.client.raw(request_for(Verb.LIST, kind, real.namespace)))
    items: list[JSON] = listing["items"]
    return items


def _ever(real: RealWorld, kind: Kind[Any]) -> tuple[int, int]:
    def seated(thing: Any) -> bool:
        return kind is not PODS or keys.ORDINAL in thing.metadata.labels

    came, deleted = real.board.came(kind), real.board.deleted(kind)
    return sum(map(seated, came)), sum(map(seated, deleted))


# --- both ---


def _name_of(pods: Sequence[JSON], role: str, ordinal: int, member: int) -> str:
    return str(_seated(pods, role, ordinal, member)["metadata"]["name"])


def _seated(pods: Sequence[JSON], role: str, ordinal: int, member: int) -> JSON:
    wanted = {keys.COMPONENT: role, keys.ORDINAL: str(ordinal)}
    for pod in pods:
        labels = pod["metadata"].get("labels") or {}
        index = labels.get(keys.MEMBER_INDEX, "0")
        if wanted.items() <= labels.items() and index == str(member) and "deletionTimestamp" not in pod["metadata"]:
            return pod
    raise LookupError(f"no Pod sits at {role}/{ordinal}/{member}")
