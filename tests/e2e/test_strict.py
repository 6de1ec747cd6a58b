"""Every rendered object is taken by the real API server, with unknown fields refused, and under Pod Security."""

import itertools
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

import pytest
from modeldeployment.api import ModelDeployment
from modeldeployment.api.choices import EngineName, RouterName
from modeldeployment.kube import Client, Kind, KubeError
from modeldeployment.kube.kinds import NAMESPACES, PODS
from modeldeployment.kube.requests import Verb, request_for
from modeldeployment.lab.pytest_plugin import await_account
from modeldeployment.reconcile import OWNED, OwnedKind
from modeldeployment.render import Policy, Rendering, RenderRefusal, RouterRendering, Seat, render
from modeldeployment.router import ROUTERS
from render_worlds import ASCEND, deployment, facts, instance_type, joined, role, store

pytestmark = pytest.mark.lab

JSON = dict[str, Any]

SHAPES: Final = {
    "server": ("Server",),
    "pair": ("Prefill", "Decode"),
    "epd": ("Encode", "Prefill", "Decode"),
}
MAKERS: Final = {"nvidia": ({}, "tcp"), "ascend": (ASCEND, "ascend")}


def cases(namespace: str, maker: str) -> Iterator[tuple[str, ModelDeployment, Rendering]]:
    """Every combination that one maker's hardware renders: engine, kinds, router, cache and Pods of a replica."""
    detail, transport = MAKERS[maker]
    routers: tuple[RouterName | None, ...] = (None, *RouterName)
    for engine, shape, router, cached, size in itertools.product(EngineName, SHAPES, routers, (False, True), (1, 2)):
        if router is not None and engine not in ROUTERS[router].engines:
            continue
        roles = [role(kind.lower(), kind=kind, size=1 if kind == "Encode" else size) for kind in SHAPES[shape]]
        spec = joined(router=router.value if router else None, cache=cached)
        of = deployment(*roles, engine=engine.value, spec=spec)
        of = of.model_copy(update={"metadata": of.metadata.model_copy(update={"namespace": namespace})})
        known = facts(instance_type(status=detail), store=store(transport) if cached else None)
        label = (
            f"{engine.value}/{shape}/{router.value if router else 'no-router'}/{'cache' if cached else 'plain'}/{size}"
        )
        try:
            yield label, of, render(of, known)
        except RenderRefusal:  # an engine on this hardware has no such shape; what is refused makes no object
            continue


def pods(rendering: Rendering) -> Iterator[JSON]:
    """The Pods of the first replica of every role."""
    for each in rendering.roles:
        yield from (each.template.pod(Seat(0, member)) for member in range(each.size))


def router_objects(rendering: Rendering) -> list[JSON]:
    """Everything that its router wants."""
    return list(rendering.router.objects) if isinstance(rendering.router, RouterRendering) else []


async def refused(client: Client, kind: Kind[Any], body: JSON, namespace: str) -> str:
    """What the API server has against an object, every field of which it must know; empty when it takes it."""
    query = {"dryRun": "All", "fieldValidation": "Strict"}
    try:
        await client.raw(request_for(Verb.CREATE, kind, namespace, body=body, query=query))
    except KubeError as error:
        return str(error)
    return ""


@pytest.fixture
async def secured(kube_client: Client, namespace: str) -> AsyncIterator[dict[str, str]]:
    """Return a namespace for each level of Pod Security, by level."""
    made = {}
    for level in ("baseline", "restricted"):
        made[level] = f"{namespace}-{level}"
        labels = {"pod-security.kubernetes.io/enforce": level}
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": made[level], "labels": labels}}
        await kube_client.create(NAMESPACES, body)
        await await_account(kube_client, made[level])
    yield made
    for name in made.values():
        await kube_client.delete(NAMESPACES, name)


@pytest.mark.parametrize("maker", MAKERS)
async def test_every_rendered_object_is_taken_with_unknown_fields_refused(
    kube_client: Client, namespace: str, maker: str
) -> None:
    against, judged = {}, 0
    for label, _, rendering in cases(namespace, maker):
        bodies: list[tuple[Kind[Any], JSON]] = [(PODS, body) for body in pods(rendering)]
        bodies += [(OWNED[OwnedKind(body["kind"])], body) for body in (*rendering.services, *router_objects(rendering))]
        for kind, body in bodies:
            judged += 1
            if why := await refused(kube_client, kind, body, namespace):
                against[f"{label} {body['kind']} {body['metadata'].get('name', '')}"] = why
    assert against == {}
    assert judged > 100


async def test_the_api_server_would_have_told_an_unknown_field(kube_client: Client, namespace: str) -> None:
    _, _, rendering = next(cases(namespace, "nvidia"))
    body = next(pods(rendering))
    body["spec"]["containers"][0]["livenesProbe"] = {}
    assert 'unknown field "spec.containers[0].livenesProbe"' in await refused(kube_client, PODS, body, namespace)


async def test_engine_pods_run_under_baseline(kube_client: Client, secured: dict[str, str]) -> None:
    home = secured["baseline"]
    against = {
        label: why
        for label, _, rendering in cases(home, "nvidia")
        for body in pods(rendering)
        if (why := await refused(kube_client, PODS, body, home))
    }
    assert against == {}


async def test_what_keeps_an_engine_pod_from_baseline_is_the_driver_of_its_maker_and_that_sysctl(
    kube_client: Client, secured: dict[str, str]
) -> None:
    home = secured["baseline"]
    told = {
        await refused(kube_client, PODS, body, home)
        for _, _, rendering in cases(home, "ascend")
        for body in pods(rendering)
    }
    reasons = {
        each.partition('violates PodSecurity "baseline:latest": ')[2].partition("\n")[0] for each in told if each
    }
    assert reasons == {'hostPath volumes (volume "gpustack-ascend-driver")'}

    of = deployment(
        *(role(kind.lower(), kind=kind) for kind in SHAPES["pair"]),
        engine="SGLang",
        spec=joined(router="sglang-gateway"),
    )
    of = of.model_copy(update={"metadata": of.metadata.model_copy(update={"namespace": home})})
    prefill = next(pods(render(of, facts(policy=Policy(reuse_time_wait=True)))))
    assert "forbidden sysctls (net.ipv4.tcp_tw_reuse)" in await refused(kube_client, PODS, prefill, home)


def router_pod(rendering: Rendering, namespace: str) -> JSON | None:
    """A Pod of the router, under the namespace's own account: its own does not exist here."""
    made = next((body for body in router_objects(rendering) if body["kind"] == "Deployment"), None)
    if made is None:
        return None
    template = made["spec"]["template"]
    spec = {key: value for key, value in template["spec"].items() if key != "serviceAccountName"}
    metadata = {**template["metadata"], "name": "router", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


async def test_router_pods_run_under_baseline_and_restricted_asks_for_a_security_context_they_lack(
    kube_client: Client, secured: dict[str, str]
) -> None:
    baseline, restricted = {}, set()
    for label, _, rendering in cases(secured["baseline"], "nvidia"):
        if (body := router_pod(rendering, secured["baseline"])) is not None:
            if why := await refused(kube_client, PODS, body, secured["baseline"]):
                baseline[label] = why
            body["metadata"]["namespace"] = secured["restricted"]
            restricted.add(await refused(kube_client, PODS, body, secured["restricted"]))
    assert baseline == {}
    lacking = {each.partition(": ")[0].partition(" (")[0] for why in restricted for each in _violations(why)}
    assert lacking == {
        "allowPrivilegeEscalation != false",
        "unrestricted capabilities",
        "runAsNonRoot != true",
        "seccompProfile",
    }
    assert "" not in restricted


def _violations(why: str) -> list[str]:
    """The single demands that a Pod does not meet, in the API server's words."""
    return re.split(r"(?<=\)), ", why.partition('violates PodSecurity "restricted:latest": ')[2].partition("\n")[0])
