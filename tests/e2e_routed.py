"""Routed deployments of the end-to-end tests: a pair behind a router, and its router's objects."""

import contextlib
import json
from collections.abc import Callable
from typing import Any, Final

from e2e_board import ready
from e2e_worlds import JSON, World
from modeldeployment.api import keys, names
from modeldeployment.kube import NotFound, PatchType
from modeldeployment.kube.shapes import Pod
from modeldeployment.reconcile import OWNED, OwnedKind

LLM_D: Final = "llm-d-router"


HARMS: Final[dict[OwnedKind, JSON]] = {
    OwnedKind.SERVICE_ACCOUNT: {"metadata": {"annotations": {keys.NOTE_ROUTER: "other"}}},
    OwnedKind.ROLE: {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
    OwnedKind.ROLE_BINDING: {"subjects": []},
    OwnedKind.CONFIG_MAP: {"data": {"epp.yaml": "other", "more": "theirs"}},
    OwnedKind.SERVICE: {"spec": {"selector": {"app": "theirs"}}},
    OwnedKind.DEPLOYMENT: {"spec": {"replicas": 2, "template": {"spec": {"serviceAccountName": "default"}}}},
}
"""A change of each kind that its router would suffer from."""


def pair(world: World, name: str = "qwen", *, router: JSON | None = None, **role: Any) -> JSON:
    """A Prefill and a Decode role behind `llm-d-router`; `role` are fields of both."""
    manifest = world.manifest(
        name, roles=[world.role(kind.lower(), kind=kind, **role) for kind in ("Prefill", "Decode")]
    )
    manifest["spec"]["router"] = router or {"name": LLM_D}
    return manifest


async def create(world: World, manifest: JSON) -> str:
    """Create a deployment with kubectl, as a user would, and return its name."""
    said = await world.apply(manifest)
    assert said.code == 0, said.err
    name: str = manifest["metadata"]["name"]
    return name


def router_pods(world: World, name: str = "qwen") -> list[Pod]:
    """The Pods of a deployment's router that are not leaving."""
    pods = [pod for pod in world.board.all_pods(name) if keys.ROUTER in pod.metadata.labels]
    return [pod for pod in pods if pod.metadata.deletion_timestamp is None]


async def served(world: World, name: str = "qwen") -> None:
    """Wait until a routed deployment is settled and its router is ready."""
    await world.settled(name)
    await world.board.until(
        lambda: world.board.says(name, "RouterReady", "True", "Ready") and any(map(ready, router_pods(world, name))),
        what="the router is ready",
    )


async def present(world: World, name: str = "qwen") -> set[OwnedKind]:
    """The kinds of which the router's object exists."""
    found = set()
    for kind in OwnedKind:
        with contextlib.suppress(NotFound):
            await world.client.get(OWNED[kind].partial(), names.router(name), world.namespace)
            found.add(kind)
    return found


async def whole(world: World, kind: OwnedKind, name: str = "qwen") -> JSON:
    """The router's object of one kind as the API server holds it."""
    return await world.whole(OWNED[kind], names.router(name))


async def became(world: World, kind: OwnedKind, holds: Callable[[JSON], object], name: str = "qwen") -> JSON:
    """Wait until the router's object of a kind is there and `holds`; return it."""
    seen: JSON = {}
    async for _ in world.asking():
        with contextlib.suppress(json.JSONDecodeError):  # it is not there
            seen = await whole(world, kind, name)
            if holds(seen):
                return seen
    raise AssertionError(f"not so of {kind} {name}: {seen}")


async def harmed(world: World, name: str = "qwen") -> None:
    """Change the router's object of every kind for the worse."""
    for kind, harm in HARMS.items():
        await world.client.patch(OWNED[kind], names.router(name), harm, world.namespace, how=PatchType.MERGE)


async def unrouted(world: World, name: str = "qwen") -> None:
    """Take the router out of a deployment and wait until all that it had is gone."""
    said = await world.kubectl("patch", "md", name, "--type=json", '-p=[{"op":"remove","path":"/spec/router"}]')
    assert said.code == 0, said.err
    async for _ in world.asking():
        if await present(world, name) == set():
            return
    raise AssertionError(f"left of {name}: {await present(world, name)}")
