"""A deployment as its router sees it."""

from typing import Any

import pytest
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.render import Policy, RenderRefusal, render
from modeldeployment.router import RouterRendering
from render_worlds import ASCEND, deployment, facts, instance_type, joined, pair, role, store

EVENTS = {
    "endpoint": "tcp://qwen-prefill.team-a.svc:5557",
    "replayEndpoint": "tcp://qwen-prefill.team-a.svc:5558",
    "topic": "kv@",
}


def routed(declared: ModelDeployment, **known: Any) -> RouterRendering:
    rendered = render(declared, facts(**known)).router
    assert isinstance(rendered, RouterRendering)
    return rendered


def contract(declared: ModelDeployment, **known: Any) -> dict[str, Any]:
    found: dict[str, Any] = routed(declared, **known).contract.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found


def test_without_a_router_there_is_nothing_to_render() -> None:
    assert render(pair(), facts()).router is None


@pytest.mark.parametrize(
    ("prefill", "published"),
    [pytest.param({}, EVENTS, id="managed"), pytest.param({"command": ["/opt/serve"]}, None, id="R17")],
)
def test_events_are_said_of_roles_whose_pods_publish_them(prefill: dict[str, Any], published: object) -> None:
    roles = {each["name"]: each for each in contract(pair(router="llm-d-router", prefill=prefill))["roles"]}
    assert roles["prefill"].get("kvEvents") == published
    assert "kvEvents" not in roles["decode"]


def test_ascend_publishes_no_events() -> None:
    declared = pair(router="llm-d-router")
    rendered = render(declared, facts(instance_type(status=ASCEND))).router
    assert isinstance(rendered, RouterRendering)
    assert [role.kv_events for role in rendered.contract.roles] == [None, None]


def test_the_store_a_cache_leads_to_is_where_status_says_the_pool_is() -> None:
    found = contract(pair(router="llm-d-router", cache=True), store=store())
    assert found["poolEndpoint"] == "shared-kv-master.gpustack-system.svc:50051"
    assert "poolEndpoint" not in contract(pair(router="llm-d-router", cache=True))


def test_a_router_connects_to_the_port_the_engine_listens_on_and_callers_of_a_role_to_its_services() -> None:
    server = role(extraArgs=["--port=9100"])
    found = contract(deployment(server, spec=joined(router="llm-d-router")))
    assert found["metrics"]["port"] == 9100
    assert [each["endpoint"] for each in found["roles"]] == ["http://qwen-server.team-a.svc:8000"]


@pytest.mark.parametrize("router", ["llm-d-router", "vllm-router"])
def test_roles_at_two_ports_are_served_without_their_router_and_the_reason_is_told(router: str) -> None:  # R10
    declared = pair(router=router, decode={"ports": [{"port": 8100}]})
    rendered = render(declared, facts())
    assert len(rendered.roles) == 2
    assert isinstance(rendered.router, RenderRefusal)
    assert rendered.router.reason is RefusalReason.ROUTER_PORTS_DIFFER
    assert rendered.router.role is None
    assert str(rendered.router).startswith("router requires every role to use the same serving port; got [8000 8100]")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        pytest.param({"extraArgs": ["--ssl-keyfile", "k"]}, 'role "prefill" serves HTTPS', id="tls"),
        pytest.param(
            {"ports": [{"port": 8000, "protocol": "UDP"}]}, 'role "prefill" serves on UDP port 8000', id="udp"
        ),
    ],
)
@pytest.mark.parametrize("router", ["llm-d-router", "vllm-router"])
def test_a_role_no_router_can_talk_to_is_served_without_its_router(
    router: str, fields: dict[str, Any], said: str
) -> None:
    rendered = render(pair(router=router, prefill=fields), facts())
    assert len(rendered.roles) == 2
    assert isinstance(rendered.router, RenderRefusal)
    assert (rendered.router.reason, rendered.router.retryable) == (RefusalReason.ROUTER_UNSUPPORTED, False)
    assert said in rendered.router.message


def test_a_proxy_before_a_decoder_with_tls_speaks_plain_http_to_its_router() -> None:
    tls = {"extraArgs": ["--ssl-keyfile", "k"]}
    assert contract(pair(router="llm-d-router", decode=tls))["metrics"]["port"] == 8000
    assert isinstance(render(pair(router="vllm-router", decode=tls), facts()).router, RenderRefusal)


@pytest.mark.parametrize(("length", "fits"), [(56, True), (57, False)])
def test_a_router_whose_service_cannot_have_its_name_is_not_rendered(length: int, fits: bool) -> None:
    declared = deployment(role("a"), spec=joined(router="vllm-router"))
    named = declared.model_copy(update={"metadata": declared.metadata.model_copy(update={"name": "q" * length})})
    rendered = render(named, facts())
    assert len(rendered.roles) == 1
    if fits:
        assert isinstance(rendered.router, RouterRendering)
        return
    assert isinstance(rendered.router, RenderRefusal)
    assert rendered.router.reason is RefusalReason.NAME_TOO_LONG
    assert rendered.router.message == (
        f"spec.router: its Service would be called '{'q' * 57}-router', which has 64 characters, and a Service name "
        "has at most 63; remove spec.router, or create a deployment with a shorter name"
    )


def test_a_role_keeps_the_name_it_shares_with_its_router() -> None:
    rendered = render(deployment(role("router"), spec=joined(router="vllm-router")), facts())
    assert [service["metadata"]["name"] for service in rendered.services] == ["qwen", "qwen-router"]
    assert isinstance(rendered.router, RenderRefusal)
    assert rendered.router.reason is RefusalReason.ROUTER_UNSUPPORTED
    assert rendered.router.message == (
        "spec.router: its Service is called 'qwen-router', and so is that of spec.roles[router]; remove spec.router, "
        "or create a deployment with another name for the role"
    )


def test_a_moved_decoder_behind_its_proxy_is_told_how_roles_come_to_one_port() -> None:
    rendered = render(pair(router="llm-d-router", extraArgs=["--port", "9100"]), facts())
    assert isinstance(rendered.router, RenderRefusal)
    assert rendered.router.message.endswith(
        "give every role the same first entry in spec.roles[].ports, and leave --port out"
    )
    assert contract(pair(router="llm-d-router", ports=[{"port": 9100}]))["metrics"]["port"] == 9100


def test_only_the_operators_own_images_come_from_the_mirror() -> None:
    policy = Policy(registry="mirror.example:5000", registry_namespace="gpustack")
    spec = joined(router="llm-d-router")
    images = [_image(routed(deployment(spec=spec), policy=policy), name) for name in ("envoy", "epp")]
    assert images == [
        "mirror.example:5000/gpustack/mirrored-envoy:distroless-v1.33.2",
        "mirror.example:5000/gpustack/llm-router:v0.1.0",
    ]
    spec["router"]["image"] = "registry.example/team/picker:v9"
    assert _image(routed(deployment(spec=spec), policy=policy), "epp") == "registry.example/team/picker:v9"


def test_an_encoder_is_selected_by_what_it_is_since_it_never_answers() -> None:
    roles = [role(kind.lower(), kind=kind) for kind in ("Prefill", "Decode", "Encode")]
    found = contract(deployment(*roles, spec=joined(router="llm-d-router")))
    assert [each["selector"] for each in found["roles"] if each["name"] == "encode"] == [
        {
            "app.kubernetes.io/name": "model-deployment",
            "app.kubernetes.io/instance": "qwen",
            "app.kubernetes.io/component": "encode",
            "modeldeployment.gpustack.ai/role-kind": "encode",
        }
    ]


def _image(rendering: RouterRendering, container: str) -> str:
    (workload,) = (each for each in rendering.objects if each["kind"] == "Deployment")
    images = {each["name"]: each["image"] for each in workload["spec"]["template"]["spec"]["containers"]}
    found: str = images[container]
    return found
