"""Rounds in which somebody makes the Pods of one deployment: a raw sender, the operator, or a peer.

In each of them the ClusterQueue is held, so that no Pod is ever admitted: no scheduler and no kubelet mix in, and a
round is taken away in seconds. Source: facts peers-measured §1, §2 and its traps.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.lab.bench import accounts, audits, manifests
from modeldeployment.lab.bench.accounts import Account
from modeldeployment.lab.bench.arrivals import Arrivals, arrivals, until_count
from modeldeployment.lab.bench.clearing import clear
from modeldeployment.lab.bench.errors import Unexpected
from modeldeployment.lab.bench.operating import operator
from modeldeployment.lab.bench.peering import STATEFUL_SETS, Peer
from modeldeployment.lab.bench.wire import Connection, connections, post_all
from modeldeployment.lab.bench.worlds import DEPLOYED, NAMESPACE, PODS, World
from modeldeployment.render import RoleRendering

CONNECTIONS: Final = 32
_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True)
class Shape:
    """A role: so many replicas of so many members."""

    replicas: int
    size: int = 1

    @property
    def pods(self) -> int:
        """How many Pods it has."""
        return self.replicas * self.size


@dataclass(frozen=True, slots=True)
class Round:
    """Pods made: Pods a second, processor seconds by process, and what the operator asked for.

    All until the last Pod was seen; `asked` is empty where no operator ran.
    """

    who: str
    rate: float
    used: Mapping[str, float]
    asked: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def __str__(self) -> str:
        asked = f"; requests: {audits.told(self.asked)}" if self.asked else ""
        return f"{self.who}: {self.rate:.0f} Pods/s; CPU s: {accounts.told(self.used)}{asked}"


async def raw(world: World, name: str, shape: Shape) -> Round:
    """POST the bodies of a deployment that exists, so that its Pods have an owner and are not collected."""
    async with connections(world.driver, CONNECTIONS) as senders:
        role = await owner(world, senders[0], name, shape)
        bodies = manifests.bodies(role)
        async with arrivals(world.driver, PODS) as seen:
            with Account(world.processes()) as account:
                began = time.perf_counter()
                await post_all(senders, f"{PODS}?fieldManager=modeldeployment-operator", bodies)
                ended = await seen.until(shape.pods, _SECONDS)
    await clear(world)
    return Round("raw", shape.pods / (ended - began), account.used)


async def ours(world: World, name: str, shape: Shape) -> Round:
    """Create a deployment while the operator runs and has nothing to do."""
    body = manifests.compact(_deployment(world, name, shape))
    async with operator(world) as running, connections(world.driver, 1) as (sender,):
        await running.until_ready()
        audit = world.audit()
        async with arrivals(world.driver, PODS) as seen:
            with Account({**world.processes(), "operator": running.process.pid}) as account:
                ended_after = await _posted(sender, DEPLOYED, body, seen, shape.pods)
        asked = audit.since_last()
    await clear(world)
    return Round("operator", shape.pods / ended_after, account.used, asked)


async def peer(
    world: World, asked: Peer, name: str, shape: Shape, *, queued: bool, pids: Mapping[str, int] | None = None
) -> Round:
    """Let another controller make Pods like ours; `pids` are processes of its own beside the control plane's.

    Its client limits are raised so that they limit nothing. `queued`: through our queue, a Workload each; else held by
    a gate of their own, and Kueue leaves them alone.
    """
    async with connections(world.driver, 1) as (sender,):
        role = await owner(world, sender, name, shape)
        body = manifests.compact(dict(asked.body(name, role, queued=queued)))
        async with arrivals(world.driver, PODS) as seen:
            with Account({**world.processes(), **(pids or {})}) as account:
                ended_after = await _posted(sender, asked.path, body, seen, shape.pods)
        await sender.call("DELETE", f"{asked.path}/{name}?propagationPolicy=Background")
    # What makes Pods anew must be gone before they go.
    await until_count(world.driver, asked.path, 0, _SECONDS)
    await until_count(world.driver, STATEFUL_SETS, 0, _SECONDS)
    await clear(world)
    return Round(asked.name, shape.pods / ended_after, account.used)


async def owner(world: World, sender: Connection, name: str, shape: Shape) -> RoleRendering:
    """Create a deployment that no operator looks after and render it as the operator would."""
    status, stored = await sender.call("POST", DEPLOYED, manifests.compact(_deployment(world, name, shape)))
    if status != 201:
        raise Unexpected(f"deployment {name} was not created: {stored[:300].decode(errors='replace')}")
    return manifests.rendered(ModelDeployment.model_validate_json(stored), await world.instance_type())


async def _posted(sender: Connection, path: str, body: bytes, seen: Arrivals, pods: int) -> float:
    """POST an owner and wait for its last Pod: the seconds between."""
    began = time.perf_counter()
    await post_all([sender], path, [body])
    return await seen.until(pods, _SECONDS) - began


def _deployment(world: World, name: str, shape: Shape) -> dict[str, object]:
    instance_type = world.provision.instance_type
    return manifests.deployment(name, NAMESPACE, instance_type, replicas=shape.replicas, size=shape.size)
