from typing import Any

from modeldeployment.render import Seat, render
from render_worlds import deployment, facts, joined, one_role, pair, rendered, role

IDENTITY = {
    "app.kubernetes.io/name": "model-deployment",
    "app.kubernetes.io/instance": "qwen",
    "app.kubernetes.io/component": "server",
}
ELIGIBLE = {"modeldeployment.gpustack.ai/endpoint-eligible": "true"}
LEADER = {"modeldeployment.gpustack.ai/member-index": "0"}


def by_name(services: tuple[dict[str, Any], ...]) -> dict[str, dict[str, Any]]:
    return {service["metadata"]["name"]: service["spec"] for service in services}


def test_i5_one_role_has_two_services_however_many_replicas() -> None:
    assert list(by_name(rendered(replicas=4).services)) == ["qwen", "qwen-server"]


def test_i6_the_deployments_service_fronts_the_first_role() -> None:
    services = by_name(render(deployment(role("b", ports=[{"port": 9000}]), role("a")), facts()).services)
    assert list(services) == ["qwen", "qwen-b", "qwen-a"]
    assert services["qwen"] == services["qwen-b"]
    assert services["qwen"]["selector"]["app.kubernetes.io/component"] == "b"
    assert services["qwen"]["ports"] == [{"name": "tcp-9000", "protocol": "TCP", "port": 9000, "targetPort": 9000}]


def test_i7_every_replica_of_several_pods_has_a_headless_service() -> None:
    services = by_name(rendered(size=2, replicas=3).services)
    assert list(services) == ["qwen", "qwen-server", "qwen-server-r0", "qwen-server-r1", "qwen-server-r2"]
    assert services["qwen-server"]["selector"] == IDENTITY | ELIGIBLE | LEADER
    assert services["qwen"]["selector"] == IDENTITY | ELIGIBLE | LEADER
    for ordinal in range(3):
        headless = services[f"qwen-server-r{ordinal}"]
        assert headless["clusterIP"] == "None"
        assert headless["publishNotReadyAddresses"] is True
        assert headless["selector"] == IDENTITY | {"modeldeployment.gpustack.ai/pod-ordinal": str(ordinal)}


def test_i9_a_replica_of_one_pod_is_selected_by_identity_and_eligibility() -> None:
    assert by_name(rendered().services)["qwen-server"]["selector"] == IDENTITY | ELIGIBLE


def test_a_moved_engine_moves_the_target_and_not_the_callers_port() -> None:
    ports = by_name(rendered(extraArgs=["--port=9100"]).services)["qwen"]["ports"]
    assert ports == [{"name": "http", "protocol": "TCP", "port": 8000, "targetPort": 9100}]


def test_a_headless_service_outlives_its_declaration() -> None:
    several, single = one_role(size=2, replicas=1), one_role(size=1)
    departed = several.headless(7)
    assert departed is not None
    assert departed["metadata"]["name"] == "qwen-server-r7"
    assert single.headless(0) is None


def test_a_service_says_whose_it_is() -> None:
    metadata = rendered().services[1]["metadata"]
    assert metadata["namespace"] == "team-a"
    assert metadata["labels"] == IDENTITY | {"resource.gpustack.ai/type": "modeldeployments"}
    assert metadata["annotations"] == {"note.gpustack.ai/role": "server"}
    (owner,) = metadata["ownerReferences"]
    assert (owner["controller"], owner["kind"], "blockOwnerDeletion" in owner) == (True, "ModelDeployment", False)


def test_the_endpoint_is_the_deployments_service_at_the_callers_port() -> None:
    assert rendered().endpoint == "http://qwen.team-a.svc:8000"
    assert rendered(ports=[{"port": 9000}]).endpoint == "http://qwen.team-a.svc:9000"
    assert rendered(extraArgs=["--port=9100"]).endpoint == "http://qwen.team-a.svc:8000"


def test_a_deployment_without_a_namespace_is_rendered_where_kubectl_would_put_it() -> None:
    named = deployment(role())
    nowhere = named.model_copy(update={"metadata": named.metadata.model_copy(update={"namespace": None})})
    rendering = render(nowhere, facts())
    assert rendering.endpoint == "http://qwen.default.svc:8000"
    assert {service["metadata"]["namespace"] for service in rendering.services} == {"default"}
    assert rendering.roles[0].template.pod(Seat(0, 0))["metadata"]["namespace"] == "default"


EVENTS = [
    {"name": "kv-events", "protocol": "TCP", "port": 5557, "targetPort": 5557},
    {"name": "kv-replay", "protocol": "TCP", "port": 5558, "targetPort": 5558},
]
HTTP = {"name": "http", "protocol": "TCP", "port": 8000, "targetPort": 8000}


def test_i6_a_pair_is_fronted_by_its_first_half() -> None:
    services = by_name(render(pair(), facts()).services)
    assert list(services) == ["qwen", "qwen-prefill", "qwen-decode"]
    assert services["qwen"]["selector"] == services["qwen-prefill"]["selector"]


def test_i8_a_publishing_roles_service_has_its_events_and_no_other_has() -> None:
    services = by_name(render(pair(router="llm-d-router"), facts()).services)
    assert services["qwen-prefill"]["ports"] == [HTTP, *EVENTS]
    assert services["qwen-decode"]["ports"] == [HTTP]
    assert services["qwen"]["ports"] == [HTTP]


def test_a_publishing_replica_of_several_pods_is_named_at_its_serving_port() -> None:
    services = by_name(render(deployment(role(size=2), spec=joined(router="llm-d-router")), facts()).services)
    assert services["qwen-server"]["ports"] == [HTTP, *EVENTS]
    assert services["qwen-server-r0"]["ports"] == [HTTP]


def test_an_encode_role_is_reached_by_its_own_service_alone() -> None:
    roles = [
        role("encode", kind="Encode"),
        role("prefill", kind="Prefill"),
        role("decode", kind="Decode"),
    ]
    rendering = render(deployment(*roles, spec=joined(router="llm-d-router")), facts())
    services = by_name(rendering.services)
    assert list(services) == ["qwen", "qwen-encode", "qwen-prefill", "qwen-decode"]
    assert services["qwen"]["selector"]["app.kubernetes.io/component"] == "prefill"
    assert services["qwen-encode"]["selector"] == IDENTITY | {"app.kubernetes.io/component": "encode"}
    assert services["qwen-prefill"]["selector"] == IDENTITY | ELIGIBLE | {"app.kubernetes.io/component": "prefill"}


def test_the_endpoint_is_the_first_roles_that_answers_callers() -> None:
    roles = [role("encode", kind="Encode"), role("decode", kind="Decode", ports=[{"port": 9000}])]
    roles += [role("prefill", kind="Prefill")]
    given = deployment(*roles, engine="SGLang", spec=joined(router="sglang-gateway"))
    assert render(given, facts()).endpoint == "http://qwen.team-a.svc:9000"


def test_behind_the_routing_proxy_callers_speak_plain_http() -> None:
    secure: dict[str, Any] = {"extraArgs": ["--ssl-certfile", "x"]}
    proxied = deployment(role("decode", kind="Decode", **secure), spec=joined(router="llm-d-router"))
    assert render(proxied, facts()).endpoint == "http://qwen.team-a.svc:8000"
    assert render(deployment(role(**secure)), facts()).endpoint == "https://qwen.team-a.svc:8000"
