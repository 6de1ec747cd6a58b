"""Fleets on a cluster: put, read back, wait for, remove."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from modeldeployment.kube import Client, NotFound, PatchType
from modeldeployment.kube.kinds import NODES
from modeldeployment.kube.shapes import Node

from . import keys
from .errors import FleetNotFound, NodesNotReady
from .fleet import Fleet, decode, encode
from .nodes import node_manifests, node_names

WRITERS: Final = 8
"""Writes in flight at once; more make a small API server slower (facts control-plane §9)."""


@dataclass(frozen=True, slots=True)
class Put:
    """What putting a fleet changed, in numbers of nodes."""

    created: int
    changed: int
    removed: int
    kept: int


@dataclass(frozen=True, slots=True)
class Standing:
    """A fleet as it stands on a cluster; `ready` counts its nodes that are Ready."""

    fleet: Fleet
    ready: int


async def put_fleet(client: Client, fleet: Fleet) -> Put:
    """Make the cluster's nodes of that name be exactly this fleet; putting it again changes nothing.

    Raises the client's errors.
    """
    standing = {node.metadata.name: node for node in await _nodes(client, fleet.name)}
    wanted = {manifest["metadata"]["name"]: manifest for manifest in node_manifests(fleet)}
    shape = encode(fleet)
    missing = [name for name in wanted if name not in standing]
    outdated = [
        name
        for name in wanted
        if name in standing and standing[name].metadata.annotations.get(keys.FLEET_SHAPE) != shape
    ]
    surplus = [name for name in standing if name not in wanted]
    await _each(missing, lambda name: _apply(client, wanted[name]))
    await _each(outdated, lambda name: _apply_with_status(client, wanted[name]))
    await _each(surplus, lambda name: _delete(client, name))
    return Put(len(missing), len(outdated), len(surplus), len(wanted) - len(missing) - len(outdated))


async def standing_fleets(client: Client) -> tuple[Standing, ...]:
    """Return every fleet the cluster's nodes belong to, ordered by name; raises the client's errors."""
    by_fleet: dict[str, list[Node]] = defaultdict(list)
    for node in (await client.list(NODES, labels=keys.FLEET)).items:
        by_fleet[node.metadata.labels[keys.FLEET]].append(node)
    return tuple(
        Standing(
            fleet=decode(nodes[0].metadata.annotations[keys.FLEET_SHAPE], nodes=len(nodes)),
            ready=sum(map(is_ready, nodes)),
        )
        for _, nodes in sorted(by_fleet.items())
    )


async def remove_fleet(client: Client, name: str) -> int:
    """Delete the nodes of a fleet and return how many there were; raises FleetNotFound and the client's errors."""
    nodes = await _nodes(client, name)
    if not nodes:
        known = ", ".join(standing.fleet.name for standing in await standing_fleets(client)) or "none"
        raise FleetNotFound(f"no node belongs to a fleet {name!r}; fleets here: {known}")
    await _each([node.metadata.name for node in nodes], lambda node: _delete(client, node))
    return len(nodes)


async def wait_until_ready(client: Client, fleet: Fleet, *, within: float = 120.0) -> None:
    """Return once every node of the fleet is Ready; raises NodesNotReady after `within` seconds."""
    wanted = set(node_names(fleet))
    ready: set[str] = set()
    try:
        async with asyncio.timeout(within):
            while not wanted <= ready:
                ready = {node.metadata.name for node in await _nodes(client, fleet.name) if is_ready(node)}
                if not wanted <= ready:
                    await asyncio.sleep(0.1 + fleet.nodes / 2000)
    except TimeoutError as error:
        raise NodesNotReady(
            f"{len(wanted & ready)} of {fleet.nodes} nodes of fleet {fleet.name!r} are Ready after {within:.0f} s; "
            "see whether kwok is running"
        ) from error


def is_ready(node: Node) -> bool:
    """Say whether a node's Ready condition is True."""
    return any(condition.type == "Ready" and condition.status == "True" for condition in node.status.conditions)


async def _nodes(client: Client, fleet: str) -> tuple[Node, ...]:
    return (await client.list(NODES, labels=f"{keys.FLEET}={fleet}")).items


async def _apply(client: Client, manifest: Mapping[str, Any]) -> None:
    await client.patch(NODES, manifest["metadata"]["name"], manifest, how=PatchType.APPLY, force=True)


async def _apply_with_status(client: Client, manifest: Mapping[str, Any]) -> None:
    # An existing object's status is ignored by the main resource.
    await _apply(client, manifest)
    status = {**manifest, "metadata": {"name": manifest["metadata"]["name"]}}
    await client.patch(
        NODES, manifest["metadata"]["name"], status, how=PatchType.APPLY, subresource="status", force=True
    )


async def _delete(client: Client, name: str) -> None:
    try:
        await client.delete(NODES, name)
    except NotFound:
        return


async def _each(names: Iterable[str], write: Callable[[str], Awaitable[None]]) -> None:
    writers = asyncio.Semaphore(WRITERS)

    async def one(name: str) -> None:
        async with writers:
            await write(name)

    try:
        async with asyncio.TaskGroup() as group:
            for name in names:
                group.create_task(one(name))
    except ExceptionGroup as failures:
        # One cause is enough to read: what one node is refused for, its siblings are too.
        raise failures.exceptions[0] from failures
