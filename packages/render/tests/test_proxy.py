"""The routing proxy beside a decoder; vectors J of facts rendering §14."""

from typing import Any

import pytest
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.render import Facts, Policy, RenderRefusal, Seat, Standing, render
from render_worlds import ASCEND, deployment, facts, instance_type, joined, pair, role

LLM_D = "llm-d-router"
SECURE = ["--enable-tls=decoder", "--tls-insecure-skip-verify=decoder"]


def pods(given: ModelDeployment, world: Facts | None = None) -> dict[str, dict[str, Any]]:
    """The first Pod of every role, by its name."""
    return {each.name: each.template.pod(Seat(0, 0)) for each in render(given, world or facts()).roles}


def decoder(world: Facts | None = None, engine: str = "vLLM", **fields: Any) -> dict[str, Any]:
    return pods(pair(router=LLM_D, engine=engine, decode=fields), world)["decode"]


def proxy(pod: dict[str, Any]) -> dict[str, Any]:
    (found,) = pod["spec"]["initContainers"]
    assert found["name"] == "routing-proxy"
    container: dict[str, Any] = found
    return container


def engine_of(pod: dict[str, Any]) -> dict[str, Any]:
    (found,) = (each for each in pod["spec"]["containers"] if each["name"] == "main")
    container: dict[str, Any] = found
    return container


def refused(**fields: Any) -> RenderRefusal:
    with pytest.raises(RenderRefusal) as refusal:
        decoder(**fields)
    assert (refusal.value.reason, refusal.value.role) == (RefusalReason.PORT_CONFLICT, "decode")
    assert not refusal.value.retryable
    return refusal.value


POD_IP = {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}


def test_the_proxy_is_a_native_sidecar_that_takes_the_serving_port() -> None:
    assert proxy(decoder()) == {
        "name": "routing-proxy",
        "image": "gpustack/mirrored-llm-d-router-disagg-sidecar:v0.10.0",
        "imagePullPolicy": "IfNotPresent",
        "args": [
            "--port=8000",
            "--model-server-port=8200",
            "--kv-connector=mooncake",
            "--mooncake-bootstrap-port=8998",
            "--secure-proxy=false",
        ],
        "env": [POD_IP],
        "ports": [{"name": "http", "containerPort": 8000, "protocol": "TCP"}],
        "securityContext": {"allowPrivilegeEscalation": False, "runAsNonRoot": True},
        "restartPolicy": "Always",
    }


@pytest.mark.parametrize(
    ("engine", "ascend", "handshake", "environment"),
    [
        pytest.param("vLLM", False, ["--kv-connector=mooncake", "--mooncake-bootstrap-port=8998"], [], id="J1"),
        pytest.param("vLLM", True, ["--kv-connector=nixlv2"], [], id="J2"),
        pytest.param(
            "SGLang",
            False,
            ["--kv-connector=sglang"],
            [{"name": "SGLANG_BOOTSTRAP_PORT", "value": "8998"}],
            id="J3",
        ),
        pytest.param(
            "SGLang",
            True,
            ["--kv-connector=sglang"],
            [{"name": "SGLANG_BOOTSTRAP_PORT", "value": "8998"}],
            id="J3-ascend",
        ),
    ],
)
def test_the_handshake_is_the_engines_on_its_hardware(
    engine: str, ascend: bool, handshake: list[str], environment: list[dict[str, str]]
) -> None:
    found = proxy(decoder(facts(instance_type(status=ASCEND)) if ascend else facts(), engine=engine))
    assert found["args"] == ["--port=8000", "--model-server-port=8200", *handshake, "--secure-proxy=false"]
    assert found["env"] == [POD_IP, *environment]


def test_j4_without_native_sidecars_the_proxy_is_the_first_container() -> None:
    pod = decoder(facts(native_sidecars=False))
    assert [each["name"] for each in pod["spec"]["containers"]] == ["routing-proxy", "main"]
    assert "initContainers" not in pod["spec"]
    assert [each for each in pod["spec"]["containers"] if "restartPolicy" in each] == []


@pytest.mark.parametrize("router", ["vllm-router", None], ids=["J5", "no-router"])
def test_j5_other_routers_put_nothing_before_a_decoder(router: str | None) -> None:
    pod = pods(pair(router=router))["decode"]
    assert "initContainers" not in pod["spec"]
    (main,) = pod["spec"]["containers"]
    assert main["command"][-2:] == ["--port", "8000"]
    assert main["ports"] == [{"name": "http", "containerPort": 8000, "protocol": "TCP"}]


def test_the_engine_moves_behind_the_proxy_and_is_named_for_it() -> None:
    pod = decoder()
    main = engine_of(pod)
    assert main["command"][-2:] == ["--port", "8200"]
    assert main["ports"] == [{"name": "model-server", "containerPort": 8200, "protocol": "TCP"}]
    assert "http://127.0.0.1:8200/metrics" in main["lifecycle"]["preStop"]["exec"]["command"]


def test_probes_go_through_the_proxy_and_scrapes_do_not() -> None:
    pod = decoder(extraArgs=["--host", "127.0.0.1", "--ssl-certfile", "x", "--ssl-cert-reqs", "2"])
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert engine_of(pod)[probe]["httpGet"] == {"path": "/v1/models", "port": 8000, "scheme": "HTTP"}
    annotations = pod["metadata"]["annotations"]
    assert (annotations["prometheus.io/port"], annotations["prometheus.io/scheme"]) == ("8200", "https")


def test_f7_an_own_port_moves_the_engine_alone() -> None:
    given = pair(router=LLM_D, decode={"extraArgs": ["--port", "9100"]})
    pod = pods(given)["decode"]
    assert proxy(pod)["args"][:2] == ["--port=8000", "--model-server-port=9100"]
    assert engine_of(pod)["ports"] == [{"name": "model-server", "containerPort": 9100, "protocol": "TCP"}]
    assert engine_of(pod)["readinessProbe"]["httpGet"] == {"path": "/v1/models", "port": 8000, "scheme": "HTTP"}
    assert "--port" in engine_of(pod)["command"]
    assert "8200" not in engine_of(pod)["command"]
    (service,) = (each for each in render(given, facts()).services if each["metadata"]["name"] == "qwen-decode")
    assert service["spec"]["ports"] == [{"name": "http", "protocol": "TCP", "port": 8000, "targetPort": 8000}]


def test_f8_a_declared_port_is_the_proxys() -> None:
    pod = pods(pair(router=LLM_D, ports=[{"port": 9000}]))["decode"]
    assert proxy(pod)["args"][:2] == ["--port=9000", "--model-server-port=8200"]
    assert proxy(pod)["ports"] == [{"name": "tcp-9000", "containerPort": 9000, "protocol": "TCP"}]
    assert engine_of(pod)["ports"] == [{"name": "model-server", "containerPort": 8200, "protocol": "TCP"}]
    assert engine_of(pod)["readinessProbe"]["httpGet"]["port"] == 9000
    assert pod["metadata"]["annotations"]["prometheus.io/port"] == "8200"


def test_further_declared_ports_stay_the_engines_and_push_it_to_the_next_free_one() -> None:
    pod = decoder(ports=[{"port": 8000}, {"port": 8200}, {"port": 8201, "protocol": "UDP"}])
    assert proxy(pod)["args"][:2] == ["--port=8000", "--model-server-port=8202"]
    assert engine_of(pod)["ports"] == [
        {"name": "model-server", "containerPort": 8202, "protocol": "TCP"},
        {"name": "tcp-8200", "containerPort": 8200, "protocol": "TCP"},
        {"name": "udp-8201", "containerPort": 8201, "protocol": "UDP"},
    ]


@pytest.mark.parametrize(
    ("fields", "number"),
    [
        pytest.param({"ports": [{"port": 8000}, {"port": 9100}], "extraArgs": ["--port", "9100"]}, 9100, id="F10"),
        pytest.param({"ports": [{"port": 9000}], "extraArgs": ["--port=9000"]}, 9000, id="the-proxys"),
        pytest.param({"extraArgs": ["--por", "8000"]}, 8000, id="the-proxys-undeclared"),
    ],
)
def test_f10_an_own_port_that_is_taken_is_refused(fields: dict[str, Any], number: int) -> None:
    assert refused(**fields).message == (
        f"spec.roles[decode].extraArgs: --port {number} is taken: the role is reached at {number} or declares it in "
        "ports, and the routing proxy stands before the engine; leave --port out, or write a port the role does not "
        "declare"
    )


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["--port", "many"], "'many'"),
        (["--port=65536"], "'65536'"),
        (["--port", "0"], "'0'"),
        (["--port"], "''"),
        (["--port", "9100", "--por=x"], "'x'"),
    ],
)
def test_an_own_port_that_is_none_is_refused_behind_the_proxy(arguments: list[str], value: str) -> None:
    assert refused(extraArgs=arguments).message == (
        f"spec.roles[decode].extraArgs: --port is {value}, which is no port from 1 to 65535, and the routing proxy "
        "before the engine must know where it listens; write a port, or leave --port out"
    )


@pytest.mark.parametrize("flag", ["--ssl-certfile", "--ssl-keyfile"])
def test_an_engine_that_speaks_tls_is_dialled_over_it(flag: str) -> None:
    assert proxy(decoder(extraArgs=[flag, "x"]))["args"][-3:] == ["--secure-proxy=false", *SECURE]


def test_beside_an_encode_role_the_proxy_fetches_encoder_output_on_vllm_alone() -> None:
    for engine, expected in (("vLLM", ["--ec-connector=ec-nixl"]), ("SGLang", [])):
        roles = [role(kind.lower(), kind=kind) for kind in ("Encode", "Prefill", "Decode")]
        found = proxy(pods(deployment(*roles, engine=engine, spec=joined(router=LLM_D)))["decode"])
        assert [each for each in found["args"] if each.startswith("--ec")] == expected
        assert found["args"][-1] == "--secure-proxy=false"


def test_a_lone_decoder_is_proxied_too_and_the_other_kinds_are_not() -> None:
    lone = pods(deployment(role("decode", kind="Decode"), spec=joined(router=LLM_D)))["decode"]
    assert proxy(lone)["args"][0] == "--port=8000"
    assert "initContainers" not in pods(pair(router=LLM_D))["prefill"]["spec"]
    assert "initContainers" not in pods(deployment(spec=joined(router=LLM_D)))["server"]["spec"]


def test_a_taken_over_decoder_listens_where_its_user_says() -> None:
    pod = decoder(command=["vllm", "serve", "m", "--port", "9100"])
    assert "initContainers" not in pod["spec"]
    assert engine_of(pod)["ports"] == [{"name": "http", "containerPort": 9100, "protocol": "TCP"}]
    assert "readinessProbe" not in engine_of(pod)


def test_the_proxys_image_is_a_setting_and_comes_through_the_mirror() -> None:
    policy = Policy(routing_sidecar_image="ours/proxy:1", registry="mirror.corp:5000", registry_namespace="hub")
    assert proxy(decoder(facts(policy=policy)))["image"] == "mirror.corp:5000/hub/proxy:1"


def test_every_value_of_the_proxy_is_the_operators() -> None:
    placed = render(pair(router=LLM_D), facts()).roles[1].placed
    proxys = {path: each for path, each in placed.items() if path[1:3] == ("initContainers", "routing-proxy")}
    assert {each.standing for each in proxys.values()} == {Standing.OWNED}
    assert {each.part for each in proxys.values()} == {"routing_proxy"}
    assert "resources" not in {path[3] for path in proxys}
    assert "readinessProbe" not in {path[3] for path in proxys}
