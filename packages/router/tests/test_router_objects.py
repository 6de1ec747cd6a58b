from dataclasses import replace
from typing import Any, cast

import pytest
from modeldeployment.api.choices import RouterName
from modeldeployment.router import FrontedRole, NotPlain, PortsDiffer, render
from router_fronts import (
    GATEWAY,
    LLM_D,
    OWNER,
    ROUTERS_AND_ENGINES,
    VLLM_ROUTER,
    config,
    containers,
    decode,
    encode,
    fronting,
    one,
    prefill,
    routed,
    server,
    template,
)

NAMES = (LLM_D, VLLM_ROUTER, GATEWAY)
LABELS = {"app.kubernetes.io/name": "model-deployment", "app.kubernetes.io/instance": "qwen"}


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        (LLM_D, ["ServiceAccount", "Role", "RoleBinding", "ConfigMap", "Service", "Deployment"]),
        (VLLM_ROUTER, ["ServiceAccount", "Role", "RoleBinding", "Service", "Deployment"]),
        (GATEWAY, ["ServiceAccount", "Role", "RoleBinding", "Service", "Deployment"]),
    ],
)
def test_whom_a_pod_runs_as_and_what_it_mounts_is_created_before_it(name: RouterName, kinds: list[str]) -> None:
    assert [each["kind"] for each in routed(name).objects] == kinds


@pytest.mark.parametrize("name", NAMES)
def test_every_object_has_one_name_one_owner_and_the_note_of_its_router(name: RouterName) -> None:
    for each in routed(name).objects:
        assert each["metadata"] == {
            "name": "qwen-router",
            "namespace": "team-a",
            "labels": {
                **LABELS,
                "modeldeployment.gpustack.ai/router": name.value,
                "resource.gpustack.ai/type": "modeldeployments",
            },
            "annotations": {"note.gpustack.ai/router": name.value},
            "ownerReferences": [OWNER],
        }


@pytest.mark.parametrize("name", NAMES)
def test_the_resource_note_is_in_no_selector_and_on_no_pod(name: RouterName) -> None:
    rendering, labels = routed(name), {**LABELS, "modeldeployment.gpustack.ai/router": name.value}
    assert template(rendering)["metadata"]["labels"] == labels
    assert one(rendering, "Deployment")["spec"]["selector"] == {"matchLabels": labels}
    assert one(rendering, "Service")["spec"] == {
        "selector": labels,
        "ports": [{"name": "http", "protocol": "TCP", "port": 8081, "targetPort": 8081}],
    }


@pytest.mark.parametrize("name", [pytest.param(name, id=f"R6-{name.value}") for name in NAMES])
def test_a_router_may_read_the_pods_of_its_namespace_and_nothing_else(name: RouterName) -> None:
    rendering = routed(name)
    assert one(rendering, "Role")["rules"] == [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}
    ]
    binding = one(rendering, "RoleBinding")
    assert binding["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "qwen-router"}
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "qwen-router", "namespace": "team-a"}]
    assert template(rendering)["spec"]["serviceAccountName"] == "qwen-router"


@pytest.mark.parametrize(
    ("name", "programs"),
    [
        pytest.param(LLM_D, {"envoy": None, "epp": ["epp"]}, id="R1"),
        pytest.param(VLLM_ROUTER, {"router": ["vllm-router"]}, id="R2-vllm-router"),
        pytest.param(GATEWAY, {"router": ["sgl-model-gateway"]}, id="R2-sglang-gateway"),
    ],
)
def test_one_image_carries_every_router_and_the_command_picks_one(
    name: RouterName, programs: dict[str, list[str] | None]
) -> None:
    found = containers(routed(name))
    assert list(found) == list(programs)
    assert {key: each.get("command") for key, each in found.items()} == programs


@pytest.mark.parametrize(
    ("name", "router", "images"),
    [
        pytest.param(
            LLM_D,
            {},
            {"envoy": "gpustack/mirrored-envoy:distroless-v1.33.2", "epp": "gpustack/llm-router:v0.1.0"},
            id="R3-llm-d-router",
        ),
        pytest.param(VLLM_ROUTER, {}, {"router": "gpustack/llm-router:v0.1.0"}, id="R3-vllm-router"),
        pytest.param(GATEWAY, {}, {"router": "gpustack/llm-router:v0.1.0"}, id="R3-sglang-gateway"),
        pytest.param(
            LLM_D,
            {"image": "registry.example/team/picker:v9"},
            {"envoy": "gpustack/mirrored-envoy:distroless-v1.33.2", "epp": "registry.example/team/picker:v9"},
            id="R4-llm-d-router",
        ),
        pytest.param(
            GATEWAY,
            {"image": "registry.example/team/picker:v9"},
            {"router": "registry.example/team/picker:v9"},
            id="R4-sglang-gateway",
        ),
    ],
)
def test_a_stated_image_is_taken_as_it_is_and_the_proxy_has_none_to_state(
    name: RouterName, router: dict[str, Any], images: dict[str, str]
) -> None:
    assert {key: each["image"] for key, each in containers(routed(name, **router)).items()} == images


@pytest.mark.parametrize(
    ("router", "policies"),
    [
        pytest.param({"imagePullPolicy": "Always"}, {"Always"}, id="R5-stated"),
        pytest.param({}, {"IfNotPresent"}, id="R5-unset"),
        pytest.param({"image": "registry:5000/picker"}, {"IfNotPresent", "Always"}, id="no-tag"),
        pytest.param({"image": "registry:5000/picker:latest"}, {"IfNotPresent", "Always"}, id="latest"),
        pytest.param({"image": "registry:5000/picker:v9"}, {"IfNotPresent"}, id="tag"),
        pytest.param({"image": "registry/picker@sha256:0f"}, {"IfNotPresent"}, id="digest"),
        pytest.param({"image": "registry/picker:latest@sha256:0f"}, {"IfNotPresent"}, id="latest-by-digest"),
        pytest.param({"image": "registry/picker:latest", "imagePullPolicy": "Never"}, {"Never"}, id="never"),
    ],
)
def test_a_pull_policy_is_never_left_to_the_api_server(router: dict[str, Any], policies: set[str]) -> None:
    assert {each["imagePullPolicy"] for each in containers(routed(LLM_D, **router)).values()} == policies


@pytest.mark.parametrize(
    ("name", "probes"),
    [
        pytest.param(
            LLM_D,
            {"envoy": {"tcpSocket": {"port": 8081}}, "epp": {"grpc": {"port": 9003, "service": ""}}},
            id="R15",
        ),
        *(
            pytest.param(
                name,
                {"router": {"httpGet": {"path": "/readiness", "port": 8081, "scheme": "HTTP"}}},
                id=f"D48-{name.value}",
            )
            for name in (VLLM_ROUTER, GATEWAY)
        ),
    ],
)
def test_a_router_is_ready_once_it_can_serve(name: RouterName, probes: dict[str, Any]) -> None:
    assert {key: each["readinessProbe"] for key, each in containers(routed(name)).items()} == probes


@pytest.mark.parametrize("name", [pytest.param(name, id=f"R16-{name.value}") for name in NAMES])
def test_a_router_stays_outside_quota(name: RouterName) -> None:
    rendering = routed(name)
    assert "kueue.x-k8s.io/queue-name" not in template(rendering)["metadata"]["labels"]
    assert not any("resources" in each for each in containers(rendering).values())


@pytest.mark.parametrize("name", NAMES)
def test_every_router_is_scraped_where_it_publishes_its_numbers(name: RouterName) -> None:
    rendering = routed(name)
    annotations = template(rendering)["metadata"]["annotations"]
    assert {key: value for key, value in annotations.items() if key.startswith("prometheus.io/")} == {
        "prometheus.io/scrape": "true",
        "prometheus.io/path": "/metrics",
        "prometheus.io/port": "9090",
        "prometheus.io/scheme": "http",
    }
    assert {"name": "metrics", "containerPort": 9090, "protocol": "TCP"} in list(containers(rendering).values())[-1][
        "ports"
    ]


def test_replicas_are_one_until_somebody_says_how_many() -> None:
    assert one(routed(LLM_D), "Deployment")["spec"]["replicas"] == 1
    scaled = routed(LLM_D, replicas=3)
    assert one(scaled, "Deployment")["spec"]["replicas"] == 3
    assert (template(scaled), config(scaled)) == (template(routed(LLM_D)), config(routed(LLM_D)))


def test_secrets_to_pull_with_are_those_of_the_router() -> None:
    secrets = [{"name": "registry"}, {"name": "mirror"}]
    assert template(routed(GATEWAY, imagePullSecrets=secrets))["spec"]["imagePullSecrets"] == secrets
    assert "imagePullSecrets" not in template(routed(GATEWAY))["spec"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("ports", "listed"),
    [
        pytest.param((8100, 8000), "[8000 8100]", id="R10"),
        pytest.param((8000, 8000, 9000, 8100), "[8000 8100 9000]", id="three"),
        pytest.param((10000, 9000), "[9000 10000]", id="by-number"),
    ],
)
def test_roles_at_several_ports_are_refused_with_every_port(
    name: RouterName, ports: tuple[int, ...], listed: str
) -> None:
    roles = [server(name=f"role-{number}", port=port) for number, port in enumerate(ports)]
    with pytest.raises(PortsDiffer) as refused:
        routed(name, *roles)
    message = str(refused.value)
    assert message.startswith(f"router requires every role to use the same serving port; got {listed}")
    assert "spec.roles[].ports" in message
    assert "--port" in message


@pytest.mark.parametrize(("name", "engine"), ROUTERS_AND_ENGINES)
@pytest.mark.parametrize(
    ("speech", "said"),
    [
        (
            {"scheme": "https"},
            (
                "HTTPS: leave --ssl-certfile and --ssl-keyfile out of spec.roles[server] and encrypt at a gateway in "
                "front of the router, or remove spec.router"
            ),
        ),
        (
            {"protocol": "UDP"},
            "on UDP port 8000: put a TCP port first in spec.roles[server].ports, or remove spec.router",
        ),
    ],
    ids=["https", "udp"],
)
def test_a_role_that_no_router_can_talk_to_is_refused(
    name: RouterName, engine: Any, speech: dict[str, str], said: str
) -> None:
    with pytest.raises(NotPlain) as refused:
        routed(name, replace(server(), **cast("Any", speech)), engine=engine)
    reached = f'router "{name}" reaches roles over plain HTTP on TCP alone, and role "server" serves'
    assert str(refused.value) == f"{reached} {said}"


@pytest.mark.parametrize(("name", "engine"), ROUTERS_AND_ENGINES)
@pytest.mark.parametrize(
    "roles", [(server(),), (prefill(), decode()), (prefill(), decode(), encode())], ids=["server", "pair", "encode"]
)
def test_what_comes_out_is_equal_to_the_byte_and_follows_no_order_of_roles(
    name: RouterName, engine: Any, roles: tuple[FrontedRole, ...]
) -> None:
    front = fronting(name, *roles, engine=engine)
    assert render(front) == render(front)
    assert render(front).objects == render(replace(front, roles=tuple(reversed(roles)))).objects
