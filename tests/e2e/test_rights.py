"""The operator asks for what it was granted, all of it, and nothing else: told by the API server's own audit log."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import e2e_routed as routed
import e2e_sets as sets
import pytest
from e2e_accounts import user
from e2e_installed import Hooks
from e2e_worlds import WHOLE_PODS, WHOLE_SERVICES, World
from modeldeployment.admission.webhook.configurations import Half
from modeldeployment.api import keys, kueue, names
from modeldeployment.kube import NotFound, PatchType, custom
from modeldeployment.kube.kinds import CLUSTER_QUEUES, PODS
from modeldeployment.lab.bench import audits
from modeldeployment.lab.controlplane import Component
from modeldeployment.operator import rbac
from modeldeployment.operator.process import Hat
from modeldeployment.reconcile.deciding.drifting import covers
from modeldeployment.reconcile.sets.markers import Yield

pytestmark = pytest.mark.lab

EVERYBODYS = {("create", "selfsubjectreviews"), ("get", "/version")}
"""What any account may ask."""

UNSEEN = {
    # An applied patch that makes its object needs this right too, and is told as a patch.
    ("create", "mutatingwebhookconfigurations"),
    ("create", "validatingwebhookconfigurations"),
}
"""What is held and not asked for."""

BINDINGS = custom(keys.GROUP, keys.VERSION, "kvcachepoolbindings", "KVCachePoolBinding")
POOLS = custom(keys.GROUP, keys.VERSION, "kvcachepools", "KVCachePool", namespaced=False)
BACKENDS = custom(keys.GROUP, keys.VERSION, "kvcachebackends", "KVCacheBackend", namespaced=False)
SCALERS = custom(keys.GROUP, keys.VERSION, "modeldeploymentscalers", "ModelDeploymentScaler")


@pytest.fixture
async def audit(breakable: World, tmp_path: Path) -> AsyncIterator[Path]:
    """Return the audit log of every service account of the test's namespace."""
    policy, log = tmp_path / "policy.json", tmp_path / "audit.log"
    policy.write_text(json.dumps(audits.policy(f"system:serviceaccounts:{breakable.namespace}")))
    plane = breakable.control_plane
    await asyncio.to_thread(plane.restart, Component.API_SERVER, audits.arguments(policy, log))
    yield log
    await asyncio.to_thread(plane.restart, Component.API_SERVER)


@pytest.mark.usefixtures("breakable_serving")
async def test_every_grant_is_used_and_nothing_is_asked_beyond_them(
    breakable: World, hooks: Hooks, audit: Path
) -> None:
    await sets.take_check_away(breakable)  # whoever ran on this control plane before has installed it
    operator = await hooks.called(*Hat, GPUSTACK_WEBHOOK_CERTIFICATE_SECONDS="10", GPUSTACK_WEBHOOK_SETTLE_SECONDS="1")
    waiting = hooks.start(*Hat)  # it looks at the Leases and waits for them
    await waiting.ready()
    await _a_life(breakable)
    await _a_route(breakable)
    await _a_set(breakable)
    await _a_cache(breakable)
    await _a_scaler(breakable)
    bundle = (await hooks.configuration(Half.VALIDATE)).webhooks[0]["clientConfig"]["caBundle"]
    await hooks.until(lambda: _rotated(hooks, bundle), what="the certificate was rotated")
    assert await operator.stop() == 0

    lines = await asyncio.to_thread(lambda: audit.read_bytes().splitlines())
    asked = audits.requests(lines, user(breakable.namespace))
    granted = {(verb, grant.resource) for grant in rbac.grants() for verb in grant.verbs}
    assert _denied(lines) == Counter()
    assert set(asked) - granted - EVERYBODYS == set()
    assert granted - set(asked) == UNSEEN


async def _a_life(world: World) -> None:
    """A deployment comes, grows, shrinks twice alike, rolls, loses a Pod and a Service, and goes."""
    await world.create("chat", replicas=1, size=2)
    await world.settled("chat")
    for replicas in (2, 1, 2, 1, 2, 1):  # alike, so that their events become series
        await world.scale("chat", replicas)
        await world.settled("chat")
    await world.edit("chat", "/spec/roles/0/image", "registry/own:next")
    await world.settled("chat")
    leader = names.member_pod("chat", "server", 0, 0)
    unlabelled = {"metadata": {"labels": {keys.ELIGIBLE: None}}}
    await world.client.patch(PODS, leader, unlabelled, world.namespace, how=PatchType.MERGE)
    async for _ in world.asking():
        if keys.ELIGIBLE in (await world.whole(WHOLE_PODS, leader))["metadata"]["labels"]:
            break
    await world.client.delete(PODS, leader, world.namespace)
    await world.settled("chat")
    crooked = {"spec": {"selector": {"app": "other"}}}
    await world.client.patch(WHOLE_SERVICES, "chat-server", crooked, world.namespace, how=PatchType.MERGE)
    async for _ in world.asking():
        if "app" not in (await world.whole(WHOLE_SERVICES, "chat-server"))["spec"]["selector"]:
            break
    await world.delete("chat")
    await world.gone("chat")


async def _a_route(world: World) -> None:
    """A pair comes up behind a router, whose objects are harmed, put right, and taken away."""
    await routed.create(world, routed.pair(world))
    await routed.served(world)
    before = {kind: (await routed.whole(world, kind))["metadata"]["resourceVersion"] for kind in routed.HARMS}
    await routed.harmed(world)
    for kind, harm in routed.HARMS.items():
        await routed.became(
            world,
            kind,
            lambda found, kind=kind, harm=harm: (  # type: ignore[misc]
                found["metadata"]["resourceVersion"] != before[kind] and not covers(harm, found)
            ),
        )
    await routed.unrouted(world)


async def _a_set(world: World) -> None:
    """A stranger passes a checked queue, and a pair waits in it; one replica had given way to a set that is no more."""
    asks = {"spec": {"admissionChecksStrategy": {"admissionChecks": [{"name": kueue.JOINT_CHECK}]}}}
    await world.client.patch(CLUSTER_QUEUES, world.provision.cluster_queue, asks, how=PatchType.MERGE)
    await sets.stranger(world, cards=1)
    await sets.create(world, sets.pair(world, "joint", 1, 3, resources={"accelerator": 8}))
    await sets.gave_way(world, "joint", Yield("default", "none", 1, datetime(2026, 1, 1, tzinfo=UTC)))
    await world.delete("joint")
    await world.gone("joint")


async def _a_cache(world: World) -> None:
    """A deployment is attached to a cache: the webhook follows its binding to the pool and the backend."""
    named: dict[str, Any] = {"metadata": {"name": world.namespace}}
    backend = {"connection": {"external": {"endpoints": [{"name": "Client", "address": "10.0.0.1:50051"}]}}}
    await world.client.create(BACKENDS, _body(BACKENDS, named, backend))
    pool = {"backends": [{"name": world.namespace}], "quota": {"total": "1Ti"}}
    await world.client.create(POOLS, _body(POOLS, named, pool))
    binding = {
        "poolRef": {"name": world.namespace},
        "quota": {"ceiling": "1Gi"},
        "domain": {"name": "team", "blockSize": 16, "dtype": "bfloat16"},
    }
    await world.client.create(BINDINGS, _body(BINDINGS, named, binding), world.namespace)
    manifest = world.manifest("cached")
    manifest["spec"]["kvCache"] = {"poolRef": {"name": world.namespace}}
    said = await world.apply(manifest)
    assert said.code == 0, said.err


async def _a_scaler(world: World) -> None:
    """A scaler looks at its target, an orphaned binding is taken off, and the scaler binds it and lets it go."""
    spec = {"targetRef": {"name": "cached"}, "roles": [{"name": "server", "maxReplicas": 4}]}
    algorithm = {"type": "TokenThroughput", "tokenThroughput": {"serverTargetTokensPerSecond": "2000"}}
    named = {"metadata": {"name": "cached"}}
    await world.client.create(SCALERS, _body(SCALERS, named, {**spec, "algorithm": algorithm}), world.namespace)
    binding = json.dumps({"scalerName": "gone", "scalerUID": "s-1", "term": 1})
    written = ("annotate", "modeldeployment", "cached", f"{keys.SCALER_BINDING}={binding}")
    said = await world.kubectl(*written)
    assert "MD050" in said.err
    said = await world.kubectl(*written, f"--as={user(world.namespace)}")
    assert said.code == 0, said.err
    said = await world.kubectl("annotate", "modeldeployment", "cached", f"{keys.SCALER_BINDING}-")
    assert said.code == 0, said.err
    await world.client.patch(SCALERS, "cached", {"spec": {"mode": "Active"}}, world.namespace, how=PatchType.MERGE)
    async for _ in world.asking():
        said = await world.kubectl("get", "mds", "cached", "-o", "jsonpath={.status.binding.term}")
        if said.out:
            break
    await world.client.delete(SCALERS, "cached", world.namespace)
    async for _ in world.asking():
        if (await world.kubectl("get", "mds", "cached")).code:
            break


def _body(kind: Any, named: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": kind.api_version, "kind": kind.kind, **named, "spec": spec}


async def _rotated(hooks: Hooks, bundle: str) -> bool:
    try:
        found = await hooks.configuration(Half.VALIDATE)
    except NotFound:
        return False
    return bool(found.webhooks[0]["clientConfig"]["caBundle"] != bundle)


def _denied(lines: list[bytes]) -> Counter[str]:
    """Requests that were answered 403, by path."""
    entries = [json.loads(line) for line in lines]
    return Counter(each["requestURI"] for each in entries if each.get("responseStatus", {}).get("code") == 403)
