"""What `kubectl md diff` foretells of an edit is what the controller does, Pod by Pod."""

import asyncio
import json
import random
from pathlib import Path
from typing import Any, Final

import pytest
from e2e_editing import JSON, edited
from e2e_worlds import MakeWorld, World
from modeldeployment.api import keys, names
from modeldeployment.operator.people import foretelling
from modeldeployment.operator.people.foretelling import Foretold
from modeldeployment.operator.people.rendering import Sources
from modeldeployment.reconcile import DEPLOYMENTS

pytestmark = pytest.mark.lab

SEED: Final = 20_260
EDITS: Final = 10
"""Edits of each of the five deployments."""

Seats = dict[tuple[str, int, int], str]
"""UIDs by role, ordinal and member."""


def seats(world: World, manifest: JSON) -> Seats:
    """Who sits where now."""
    name = manifest["metadata"]["name"]
    return {
        (role["name"], ordinal, int(pod.metadata.labels.get(keys.MEMBER_INDEX, "0"))): pod.metadata.uid
        for role in manifest["spec"]["roles"]
        for ordinal, pods in world.board.replicas(name, role["name"]).items()
        for pod in pods
    }


def fates(told: Foretold, what: str) -> set[tuple[str, int, int]]:
    """The seats that are foretold one fate."""
    assert told.foreseen is not None
    return {(role.name, seat.ordinal, seat.member) for role in told.foreseen.roles for seat in getattr(role, what)}


async def foretold(asking: asyncio.Lock, world: World, old: JSON, new: JSON, folder: Path) -> Foretold:
    """Ask `diff`, with the facts of the cluster."""
    files = []
    for name, body in (("old", old), ("new", new)):
        files.append(folder / f"{new['metadata']['name']}-{name}.json")
        files[-1].write_text(json.dumps(body))
    sources = Sources(cluster=True, kubeconfig=world.control_plane.kubeconfig, namespace=world.namespace)
    async with asking:  # the command has a process to itself, and so it has a thread
        return await asyncio.to_thread(foretelling.foretell, str(files[0]), str(files[1]), sources)


async def applied(world: World, manifest: JSON) -> None:
    """Apply a manifest and wait until it is served."""
    name = manifest["metadata"]["name"]
    said = await world.apply(manifest)
    assert said.code == 0, said.err
    version = int((await world.whole(DEPLOYMENTS, name))["metadata"]["resourceVersion"])
    await world.board.until(lambda: world.board.deployments.revision >= version, what="the board saw the edit")
    await world.settled(name)


async def router_template(world: World, name: str) -> JSON | None:
    """The template of a router's Pods, None where there is no router."""
    said = await world.kubectl("get", "deployments.v1.apps", names.router(name), "--ignore-not-found", "-o", "json")
    template: JSON | None = json.loads(said.out)["spec"]["template"] if said.out else None
    return template


async def routed(world: World, told: Foretold, name: str, before: JSON | None, what: str) -> JSON | None:
    """Wait until the router is as foretold: there or not, with another template or the same."""
    router = told.foreseen.router if told.foreseen else None
    wanted, restarts = (router.replicas[1] > 0, router.restarts) if router else (False, False)
    async for _ in world.asking():
        now = await router_template(world, name)
        if (now is not None) == wanted and (not (before and now) or (before != now) == restarts):
            return now
    pytest.fail(f"{what}: the router is not as foretold: {router}")


async def story(asking: asyncio.Lock, world: World, manifest: JSON, seed: int, folder: Path) -> list[str]:
    """Edit one deployment again and again; every edit goes as foretold. Returns what was foretold, edit by edit."""
    chance, outcomes = random.Random(seed), []
    await applied(world, manifest)
    name, before = manifest["metadata"]["name"], seats(world, manifest)
    template = await router_template(world, name)
    for number in range(EDITS):
        kind, after = edited(chance, manifest)
        stored = await world.whole(DEPLOYMENTS, name)
        told = await foretold(asking, world, stored, after, folder)
        what = f"{name}, seed {seed}, edit {number} ({kind})"
        assert not told.refused, (what, told.judged.verdict.refusals, told.refusal)
        await applied(world, after)
        now = seats(world, after)
        # Against what was there after the last edit, not just before this one: a Pod that went late is a Pod that went.
        assert {seat for seat in before.keys() & now.keys() if before[seat] == now[seat]} == fates(told, "kept"), what
        assert {seat for seat in before.keys() & now.keys() if before[seat] != now[seat]} == fates(told, "replaced"), (
            what
        )
        assert now.keys() - before.keys() == fates(told, "created"), what
        assert before.keys() - now.keys() == fates(told, "deleted"), what
        if len(after["spec"]["roles"]) > 1:
            template = await routed(world, told, name, template, what)
        outcomes += [role.outcome.value for role in told.foreseen.roles] if told.foreseen else []
        manifest, before = after, now
    return outcomes


def pair(world: World, name: str, router: str, engine: str = "vLLM") -> JSON:
    """A Prefill and a Decode role behind a router."""
    roles = [world.role(kind.lower(), kind=kind, image="lab/one") for kind in ("Prefill", "Decode")]
    manifest = world.manifest(name, roles=roles)
    manifest["metadata"]["annotations"] = {"router": router}
    manifest["spec"] |= {"router": {"name": router}, "engine": {"name": engine, "image": "lab/four"}}
    return manifest


async def test_fifty_random_edits_do_to_every_pod_what_diff_foretells(make_world: MakeWorld, tmp_path: Path) -> None:
    world = await make_world(nodes=4)
    sglang: dict[str, Any] = {"name": "SGLang", "version": "0.5.4"}
    plain = world.manifest("gateway", replicas=2)
    plain["spec"]["engine"] = sglang
    manifests = [
        world.manifest("chat", replicas=2),
        plain,
        world.manifest("wide", replicas=2, size=2),
        pair(world, "picked", "llm-d-router"),
        pair(world, "routed", "vllm-router"),
    ]
    asking = asyncio.Lock()
    told = await asyncio.gather(
        *(story(asking, world, manifest, SEED + place, tmp_path) for place, manifest in enumerate(manifests))
    )
    outcomes = [outcome for each in told for outcome in each]
    assert {"nothing", "scale", "rolls"} <= set(outcomes)
