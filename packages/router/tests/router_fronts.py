"""Fronts with settled defaults: deployment `qwen` in `team-a`, the fixture of facts router-rendering §8."""

from typing import Any, Final

import yaml
from modeldeployment.api import keys
from modeldeployment.api.choices import EngineName, RoleKind, RouterName
from modeldeployment.api.modeldeployment import Router
from modeldeployment.api.routerstatus import KVEvents
from modeldeployment.router import Front, FrontedRole, Images, Metric, RouterRendering, front, render

OWNER: Final = {
    "apiVersion": "worker.gpustack.ai/v1",
    "kind": "ModelDeployment",
    "name": "qwen",
    "uid": "5f7c1f2e-0000-4000-8000-000000000001",
    "controller": True,
}
ELIGIBLE: Final = {
    "app.kubernetes.io/name": "model-deployment",
    "app.kubernetes.io/instance": "qwen",
    "modeldeployment.gpustack.ai/endpoint-eligible": "true",
}
VLLM: Final = front.Engine(
    EngineName.VLLM,
    "vllm",
    {
        Metric.QUEUED_REQUESTS: "vllm:num_requests_waiting",
        Metric.RUNNING_REQUESTS: "vllm:num_requests_running",
        Metric.KV_CACHE_UTILIZATION: "vllm:kv_cache_usage_perc",
    },
    {"cacheInfoSpec": "vllm:cache_config_info"},
    events=True,
    finds_encoders=False,
)
SGLANG: Final = front.Engine(
    EngineName.SGLANG,
    "sglang",
    {
        Metric.QUEUED_REQUESTS: "sglang:num_queue_reqs",
        Metric.RUNNING_REQUESTS: "sglang:num_running_reqs",
        Metric.KV_CACHE_UTILIZATION: "sglang:token_usage",
    },
    {"cacheBlockSizeSpec": "sglang:page_size", "cacheNumBlocksSpec": "sglang:num_pages"},
    events=False,
    finds_encoders=True,
)
LLM_D, VLLM_ROUTER, GATEWAY = RouterName.LLM_D, RouterName.VLLM, RouterName.SGLANG
ROUTERS_AND_ENGINES: Final = ((LLM_D, VLLM), (LLM_D, SGLANG), (VLLM_ROUTER, VLLM), (GATEWAY, SGLANG))


def fronted(kind: RoleKind, name: str = "", *, port: int = 8000, events: bool = False) -> FrontedRole:
    """A role named after its kind."""
    name = name or kind.label
    labels = {keys.COMPONENT: name, keys.ROLE_KIND: kind.label}
    identity = {key: ELIGIBLE[key] for key in (keys.NAME, keys.INSTANCE)} if kind is RoleKind.ENCODE else ELIGIBLE
    host = f"qwen-{name}.team-a.svc"
    return FrontedRole(
        name=name,
        kind=kind,
        selector={**identity, **labels},
        endpoint=f"http://{host}:{port}",
        port=port,
        kv_events=KVEvents(endpoint=f"tcp://{host}:5557", replay_endpoint=f"tcp://{host}:5558", topic="kv@")
        if events
        else None,
    )


def server(**fields: Any) -> FrontedRole:
    return fronted(RoleKind.SERVER, **fields)


def prefill(**fields: Any) -> FrontedRole:
    return fronted(RoleKind.PREFILL, **fields)


def decode(**fields: Any) -> FrontedRole:
    return fronted(RoleKind.DECODE, **fields)


def encode(**fields: Any) -> FrontedRole:
    return fronted(RoleKind.ENCODE, **fields)


def fronting(
    name: RouterName, *roles: FrontedRole, engine: front.Engine = VLLM, pool: str = "", **router: Any
) -> Front:
    """A front of these roles, a Server when none is given; `router` are further fields of `spec.router`."""
    return Front(
        deployment="qwen",
        namespace="team-a",
        owner_references=[OWNER],
        router=Router.model_validate({"name": name, **router}),
        engine=engine,
        model="Qwen/Qwen2.5-72B-Instruct",
        roles=roles or (server(),),
        selector=ELIGIBLE,
        images=Images("gpustack/llm-router:v0.1.0", "gpustack/mirrored-envoy:distroless-v1.33.2"),
        pool_endpoint=pool,
    )


def routed(name: RouterName, *roles: FrontedRole, **more: Any) -> RouterRendering:
    return render(fronting(name, *roles, **more))


def one(rendering: RouterRendering, kind: str) -> dict[str, Any]:
    """The only object of its kind."""
    (found,) = (each for each in rendering.objects if each["kind"] == kind)
    return found


def template(rendering: RouterRendering) -> dict[str, Any]:
    found: dict[str, Any] = one(rendering, "Deployment")["spec"]["template"]
    return found


def containers(rendering: RouterRendering) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in template(rendering)["spec"]["containers"]}


def config(rendering: RouterRendering) -> dict[str, str]:
    found: dict[str, str] = one(rendering, "ConfigMap")["data"]
    return found


def document(rendering: RouterRendering, key: str) -> Any:
    """A YAML document of the ConfigMap, read back."""
    return yaml.safe_load(config(rendering)[key])


def plugins(rendering: RouterRendering) -> dict[str, Any]:
    """The parameters of the picker's plugins by name, in the document's order; None where there are none."""
    return {
        each.get("name", each["type"]): each.get("parameters") for each in document(rendering, "epp.yaml")["plugins"]
    }


def profiles(rendering: RouterRendering) -> dict[str, list[tuple[str, int | None]]]:
    """The plugins of each scheduling profile with their weights."""
    return {
        each["name"]: [(entry["pluginRef"], entry.get("weight")) for entry in each["plugins"]]
        for each in document(rendering, "epp.yaml")["schedulingProfiles"]
    }


def arguments(rendering: RouterRendering) -> list[str]:
    """The command line of the one container of a router that has no documents."""
    (container,) = template(rendering)["spec"]["containers"]
    found: list[str] = container["args"]
    return found
