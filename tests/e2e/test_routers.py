"""A router in front of a pair: it comes, stays as rendered, and goes without touching a replica."""

import asyncio
import contextlib
from typing import Any

import pytest
from e2e_board import uids
from e2e_operators import Operator, Start
from e2e_routed import LLM_D, became, create, harmed, pair, present, router_pods, served, unrouted, whole
from e2e_worlds import World, annotated_pods, mutated
from modeldeployment.api import keys
from modeldeployment.kube import NotFound, PatchType, custom
from modeldeployment.kube.kinds import CONFIG_MAPS, PODS
from modeldeployment.reconcile import OWNED, OwnedKind

pytestmark = pytest.mark.lab

NAME = "qwen-router"
QUOTAS = custom("", "v1", "resourcequotas", "ResourceQuota")


async def test_a_routed_pair_comes_up_and_says_where_it_is_reached_and_what_its_router_was_told(world: World) -> None:
    await create(world, pair(world, replicas=2))
    await served(world)

    assert await present(world) == set(OwnedKind)
    status, home = world.board.status("qwen"), world.namespace
    endpoint = f"http://qwen-router.{home}.svc:8081"
    assert (status["phase"], status["roleSummary"], status["endpoint"]) == ("Ready", "1R2P2D", endpoint)
    router = status["router"]
    assert {key: router[key] for key in ("name", "endpoint", "metrics")} == {
        "name": LLM_D,
        "endpoint": endpoint,
        "metrics": {
            "port": 8000,
            "queuedRequests": "vllm:num_requests_waiting",
            "runningRequests": "vllm:num_requests_running",
            "kvCacheUtilization": "vllm:kv_cache_usage_perc",
        },
    }
    assert [(each["name"], each["kind"], each["endpoint"], "kvEvents" in each) for each in router["roles"]] == [
        ("prefill", "Prefill", f"http://qwen-prefill.{home}.svc:8000", True),
        ("decode", "Decode", f"http://qwen-decode.{home}.svc:8000", False),
    ]
    for role in router["roles"]:
        chosen = [
            pod for pod in world.board.all_pods("qwen") if role["selector"].items() <= pod.metadata.labels.items()
        ]
        assert set(uids(chosen)) == set(uids(pod for [pod] in world.board.replicas("qwen", role["name"]).values()))
    for kind, reason in (("RouterReady", "Ready"), ("KVEventsPublishing", "Publishing")):
        assert world.board.says("qwen", kind, "True", reason)
    row = (await world.kubectl("get", "md", "--no-headers")).out.split()
    assert row == ["qwen", "vLLM", "1R2P2D", "Ready", endpoint]


def _rendered(found: dict[str, Any]) -> dict[str, Any]:
    """What an object says, without what the API server and others add to its metadata."""
    own = {key: found["metadata"].get(key) for key in ("labels", "annotations")}
    own["annotations"] = {key: text for key, text in own["annotations"].items() if "kubernetes.io/revision" not in key}
    return own | {key: found.get(key) for key in ("spec", "data", "rules", "subjects")}


async def test_a_change_of_any_of_its_objects_is_repaired_and_a_lost_one_comes_back(world: World) -> None:
    await create(world, pair(world))
    await served(world)
    before = {kind: _rendered(await whole(world, kind)) for kind in OwnedKind}

    await harmed(world)
    for kind in OwnedKind:
        await became(world, kind, lambda found, kind=kind: _rendered(found) == before[kind])  # type: ignore[misc]

    unmarked = {"metadata": {"labels": {keys.NAME: None, keys.ROUTER: None}}}
    for kind in OwnedKind:
        await world.client.patch(OWNED[kind], NAME, unmarked, world.namespace, how=PatchType.MERGE)
    for kind in OwnedKind:
        await became(world, kind, lambda found, kind=kind: _rendered(found) == before[kind])  # type: ignore[misc]

    known = {kind: (await whole(world, kind))["metadata"]["uid"] for kind in OwnedKind}
    for kind in OwnedKind:
        await world.client.delete(OWNED[kind], NAME, world.namespace)
    for kind in OwnedKind:
        await became(world, kind, lambda found, kind=kind: found["metadata"]["uid"] != known[kind])  # type: ignore[misc]
    await served(world)
    assert len([pod for pod in world.board.deleted(PODS) if keys.ROUTER not in pod.metadata.labels]) == 0


async def test_r19_removing_the_router_takes_its_objects_and_gives_the_endpoint_back(world: World) -> None:
    await create(world, pair(world))
    await served(world)

    await unrouted(world)
    await world.board.until(lambda: "router" not in world.board.status("qwen"), what="the contract is gone")
    await world.settled("qwen")
    status = world.board.status("qwen")
    assert status["endpoint"] == f"http://qwen.{world.namespace}.svc:8000"
    assert status["roleSummary"] == "1P1D"
    assert world.board.says("qwen", "RouterReady", "True", "NotApplicable")
    assert world.board.says("qwen", "KVEventsPublishing", "False", "NoRouter")


async def test_a_deleted_deployment_takes_its_router_along(world: World) -> None:
    await create(world, pair(world))
    await served(world)
    await world.delete("qwen")
    await world.board.until(lambda: not world.board.deployments.get(world.namespace, "qwen"), what="it is gone")
    assert await present(world) == set()
    await world.gone("qwen")


async def test_r18_a_name_that_somebody_else_holds_is_left_alone_and_named(world: World) -> None:
    theirs = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}, "data": {"a": "b"}}
    made = await world.client.create(CONFIG_MAPS, theirs, world.namespace)
    await create(world, pair(world))
    sentence = f"configmap {world.namespace}/qwen-router is not owned by this deployment"
    await world.board.until(lambda: _judged(world, "RouterReady", sentence), what="it is said")
    await world.board.until(lambda: world.board.status("qwen").get("phase") == "Degraded", what="replicas are ready")
    status = world.board.status("qwen")
    assert sentence in status["phaseMessage"]
    assert "endpoint" not in status
    assert world.board.notes("NameTaken") == [f"{sentence}; delete or rename it, and the router is brought up"]
    assert await present(world) == {OwnedKind.CONFIG_MAP}
    held = await world.client.get(CONFIG_MAPS, NAME, world.namespace)
    assert held.metadata.resource_version == made.metadata.resource_version

    await world.client.delete(CONFIG_MAPS, NAME, world.namespace)
    await world.scale("qwen", 2)
    await served(world)
    assert await present(world) == set(OwnedKind)


async def test_a_router_that_the_api_server_refuses_is_told_and_stops_no_replica(world: World) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "no-deployments"},
        "spec": {"hard": {"count/deployments.apps": "0"}},
    }
    await world.client.create(QUOTAS, quota, world.namespace)
    async for _ in world.asking():
        if "hard" in (await world.whole(QUOTAS, "no-deployments")).get("status", {}):
            break
    await create(world, pair(world))
    await world.board.until(lambda: world.board.notes("ObjectRefused"), what="the refusal is told")
    await world.scale("qwen", 2)
    await world.board.until(lambda: world.board.status("qwen").get("roleSummary") == "0R2P1D", what="replicas go on")
    assert world.board.says("qwen", "RouterReady", "Unknown", "NotDeployed")
    for note in world.board.notes("ObjectRefused"):
        assert note.startswith("Deployment qwen-router cannot be created: 403 Forbidden: ")
        assert "exceeded quota: no-deployments" in note

    await world.client.delete(QUOTAS, "no-deployments", world.namespace)
    await world.scale("qwen", 3)
    await served(world)


async def test_r20_the_endpoint_waits_for_a_ready_router_and_goes_with_the_last(world: World) -> None:
    manifest = pair(world, router={"name": LLM_D, "image": "lab/router"})
    async with annotated_pods(world, "lab/router", {"lab/never-ready": "true"}):
        await create(world, manifest)
        waits = "2 of 2 replicas ready; the router is not ready: none of 1 router replica is ready"
        await world.board.until(
            lambda: world.board.status("qwen").get("phaseMessage") == waits, what="the pair is up and its router is not"
        )
        status = world.board.status("qwen")
        assert status["phase"] == "Degraded"
        assert world.board.says("qwen", "RouterReady", "False", "NoReadyReplicas")
        assert status["roleSummary"] == "0R1P1D"
        assert "endpoint" not in status
        assert "endpoint" not in status["router"]

        await world.edit("qwen", "/spec/router/image", "lab/good")
        await served(world)
        endpoint = f"http://qwen-router.{world.namespace}.svc:8081"
        assert world.board.status("qwen")["endpoint"] == world.board.status("qwen")["router"]["endpoint"] == endpoint

        lost = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
        for pod in router_pods(world):
            await world.client.patch(
                PODS, pod.metadata.name, lost, world.namespace, how=PatchType.MERGE, subresource="status"
            )
        await world.board.until(lambda: "endpoint" not in world.board.status("qwen"), what="the endpoint is gone")
        assert "endpoint" not in world.board.status("qwen")["router"]
        assert world.board.says("qwen", "RouterReady", "False", "NoReadyReplicas")


async def test_a_scale_of_a_role_restarts_no_router_pod(world: World) -> None:
    await create(world, pair(world))
    await served(world)
    before, pods = await whole(world, OwnedKind.DEPLOYMENT), uids(router_pods(world))
    config = await whole(world, OwnedKind.CONFIG_MAP)

    await world.edit("qwen", "/spec/roles/1/replicas", 3)
    await world.board.until(lambda: world.board.status("qwen")["roleSummary"] == "1R1P3D", what="three decoders")
    await world.settled("qwen")
    after = await whole(world, OwnedKind.DEPLOYMENT)
    assert after["metadata"]["generation"] == before["metadata"]["generation"]
    assert (await whole(world, OwnedKind.CONFIG_MAP))["metadata"]["resourceVersion"] == (
        config["metadata"]["resourceVersion"]
    )
    assert uids(router_pods(world)) == pods


async def test_r14_an_argument_more_is_two_updates_and_then_none(breakable: World, start_operator: Start) -> None:
    operator = start_operator()
    await create(breakable, pair(breakable))
    await served(breakable)
    await operator.until(lambda: operator.metric("modeldeployment_passes_busy") == 0, "the passes are over")
    before = operator.writes()
    old = await whole(breakable, OwnedKind.DEPLOYMENT)

    await breakable.edit("qwen", "/spec/router/extraArgs", ["--zap-log-level=debug"])
    new = await became(
        breakable,
        OwnedKind.DEPLOYMENT,
        lambda found: (
            found["metadata"]["generation"] > old["metadata"]["generation"]
            and found["status"].get("observedGeneration") == found["metadata"]["generation"]
            and found["status"].get("updatedReplicas") == found["status"].get("readyReplicas") == 1
        ),
    )
    await served(breakable)
    hashes = [each["spec"]["template"]["metadata"]["annotations"][keys.ROUTER_CONFIG_HASH] for each in (old, new)]
    assert hashes[0] != hashes[1]
    assert new["metadata"]["generation"] == old["metadata"]["generation"] + 1
    assert _steps(operator.writes(), before) == {'modeldeployment_steps_total{step="AlignObject"}': 2.0}

    await _looked_at(breakable, operator, 1)
    settled = operator.writes()
    await _looked_at(breakable, operator, 2)
    assert operator.writes() == settled


async def _looked_at(world: World, operator: Operator, time: int) -> None:
    """Let the operator take one more pass over the deployment."""
    passes = operator.metric("modeldeployment_passes_total")
    await world.kubectl("annotate", "--overwrite", "md", "qwen", f"somebody/looked={time}")
    await operator.until(lambda: operator.metric("modeldeployment_passes_total") > passes, "it is looked at again")
    await operator.until(lambda: operator.metric("modeldeployment_passes_busy") == 0, "the passes are over")


@pytest.mark.parametrize(
    ("router", "engine"),
    [(LLM_D, "vLLM"), (LLM_D, "SGLang"), ("vllm-router", "vLLM"), ("sglang-gateway", "SGLang")],
)
async def test_what_others_do_to_a_router_is_kept_or_set_back_once_and_then_nothing_is_written(
    breakable: World, start_operator: Start, router: str, engine: str
) -> None:
    operator = start_operator()
    manifest = pair(breakable, router={"name": router})
    manifest["spec"]["engine"] = {"name": engine, "image": "lab/engine"}
    await create(breakable, manifest)
    await served(breakable)
    await _looked_at(breakable, operator, 0)
    settled = operator.writes()
    await _looked_at(breakable, operator, 1)
    assert operator.writes() == settled

    said = await breakable.kubectl("rollout", "restart", f"deployment/{NAME}")
    assert said.code == 0, said.err
    theirs = {"metadata": {"labels": {"team": "blue"}, "annotations": {"team": "blue"}}}
    for kind in OwnedKind:
        if not (kind is OwnedKind.CONFIG_MAP and router != LLM_D):
            await breakable.client.patch(OWNED[kind], NAME, theirs, breakable.namespace, how=PatchType.MERGE)
    restarted = await became(breakable, OwnedKind.DEPLOYMENT, _rolled)
    await _looked_at(breakable, operator, 2)
    assert _steps(operator.writes(), settled) == {}
    assert "kubectl.kubernetes.io/restartedAt" in restarted["spec"]["template"]["metadata"]["annotations"]

    template = restarted["spec"]["template"]
    sidecar = {"name": "theirs", "image": "lab/sidecar"}
    pod = {"containers": [*template["spec"]["containers"], sidecar]}
    harm = {"spec": {"replicas": 3, "template": {"spec": pod}}}
    await breakable.client.patch(OWNED[OwnedKind.DEPLOYMENT], NAME, harm, breakable.namespace, how=PatchType.MERGE)
    back = await became(breakable, OwnedKind.DEPLOYMENT, lambda found: found["spec"] == restarted["spec"])
    await served(breakable)
    await _looked_at(breakable, operator, 3)
    assert _steps(operator.writes(), settled) == {'modeldeployment_steps_total{step="AlignObject"}': 1.0}
    assert back["metadata"]["labels"]["team"] == back["metadata"]["annotations"]["team"] == "blue"


async def test_a_change_that_a_policy_of_the_cluster_undoes_is_told_and_not_sent_without_end(world: World) -> None:
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"], "operations": ["*"]}
    of = "Object.spec.template.spec"
    sidecar = f"{of}.containers{{name: 'theirs', image: 'lab/sidecar'}}"
    patch = f"Object{{spec: Object.spec{{template: Object.spec.template{{spec: {of}{{containers: [{sidecar}]}}}}}}}}"
    pods = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "main", "image": "lab/good"}]}}
    probe = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": f"{NAME}-probe"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": pods},
    }

    def joined(made: dict[str, Any]) -> bool:
        return "theirs" in [each["name"] for each in made["spec"]["template"]["spec"]["containers"]]

    async with mutated(world, rule, f"object.metadata.name.startsWith('{NAME}')", patch, probe, joined):
        await create(world, pair(world))
        await world.board.until(lambda: world.board.notes("ObjectRefused"), what="it is told")
    assert world.board.notes("ObjectRefused")[0].startswith(
        "Deployment qwen-router cannot be brought back to its render: the API server takes the change and something in "
        "the cluster undoes it"
    )
    await world.board.until(lambda: world.board.status("qwen").get("phase") == "Ready", what="it serves all the same")


def _rolled(found: dict[str, Any]) -> bool:
    """Whether a restarted Deployment has only Pods of its newest template, all ready."""
    status = found.get("status", {})
    annotated = "kubectl.kubernetes.io/restartedAt" in found["spec"]["template"]["metadata"]["annotations"]
    return (
        annotated
        and status.get("observedGeneration") == found["metadata"]["generation"]
        and status.get("updatedReplicas") == status.get("readyReplicas") == status.get("replicas") == 1
    )


@pytest.mark.parametrize("kind", [OwnedKind.ROLE, OwnedKind.CONFIG_MAP, OwnedKind.DEPLOYMENT])
async def test_an_operator_that_dies_between_two_router_objects_is_followed_by_one_that_makes_the_rest(
    breakable: World, start_operator: Start, kind: OwnedKind
) -> None:
    first = start_operator()
    await first.leading()
    await create(breakable, pair(breakable))
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(NotFound):
                await breakable.client.get(OWNED[kind].partial(), NAME, breakable.namespace)
                break
    first.kill()

    start_operator()
    await served(breakable)
    assert await present(breakable) == set(OwnedKind)
    assert len(router_pods(breakable)) == 1
    replicas = [pod for pod in breakable.board.came(PODS) if keys.ROUTER not in pod.metadata.labels]
    assert len(replicas) == 2


def _steps(after: dict[str, float], before: dict[str, float]) -> dict[str, float]:
    """What was written in between, without status."""
    return {
        name: count - before.get(name, 0)
        for name, count in after.items()
        if name.startswith("modeldeployment_steps_total") and count != before.get(name, 0)
    }


def _judged(world: World, kind: str, part: str) -> bool:
    return part in str(world.board.condition("qwen", kind).get("message", ""))
