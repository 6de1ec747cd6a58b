"""The command lines of `vllm-router` and `sglang-gateway`."""

from typing import Any

import pytest
from modeldeployment.api.choices import RouterName
from modeldeployment.router import ROUTERS, Front, FrontedRole, Standing, render
from router_fronts import (
    GATEWAY,
    LLM_D,
    ROUTERS_AND_ENGINES,
    SGLANG,
    VLLM_ROUTER,
    arguments,
    containers,
    decode,
    encode,
    fronting,
    prefill,
    routed,
    server,
)

LISTENS = ["--host=0.0.0.0", "--port=8081", "--prometheus-host=0.0.0.0", "--prometheus-port=9090"]
MOONCAKE = [
    "--kv-connector=mooncake",
    "--worker-startup-timeout-secs=10",
    "--worker-startup-check-interval=1",
]
DISCOVERS = ["--service-discovery", "--service-discovery-namespace=team-a", "--service-discovery-port=8000"]
ANSWERING = [
    "app.kubernetes.io/instance=qwen",
    "app.kubernetes.io/name=model-deployment",
    "modeldeployment.gpustack.ai/endpoint-eligible=true",
]
KIND = "modeldeployment.gpustack.ai/role-kind"


def half(kind: str) -> list[str]:
    return [f"--{kind}-selector", f"app.kubernetes.io/component={kind}", *ANSWERING, f"{KIND}={kind}"]


PAIR = (prefill(), decode())


@pytest.mark.parametrize(
    ("name", "roles", "expected"),
    [
        pytest.param(VLLM_ROUTER, (server(),), [*LISTENS, *MOONCAKE, *DISCOVERS, "--selector", *ANSWERING], id="R23"),
        pytest.param(
            VLLM_ROUTER,
            PAIR,
            [*LISTENS, *MOONCAKE, *DISCOVERS, "--vllm-pd-disaggregation", *half("prefill"), *half("decode")],
            id="R24",
        ),
        pytest.param(
            VLLM_ROUTER, (prefill(),), [*LISTENS, *MOONCAKE, *DISCOVERS, "--selector", *ANSWERING], id="R25-prefill"
        ),
        pytest.param(
            VLLM_ROUTER, (decode(),), [*LISTENS, *MOONCAKE, *DISCOVERS, "--selector", *ANSWERING], id="R25-decode"
        ),
        pytest.param(GATEWAY, (server(),), [*LISTENS, *DISCOVERS, "--selector", *ANSWERING], id="gateway-server"),
        pytest.param(
            GATEWAY,
            PAIR,
            [*LISTENS, *DISCOVERS, "--pd-disaggregation", *half("prefill"), *half("decode")],
            id="gateway-pair",
        ),
    ],
)
def test_a_router_finds_replicas_by_labels_that_are_arguments_of_their_own(
    name: RouterName, roles: tuple[FrontedRole, ...], expected: list[str]
) -> None:
    assert arguments(routed(name, *roles)) == expected


def test_the_two_differ_by_the_connector_the_patience_and_the_switch() -> None:  # R26, decisions D48
    vllm, gateway = (set(arguments(routed(name, *PAIR))) for name in (VLLM_ROUTER, GATEWAY))
    assert vllm - gateway == {*MOONCAKE, "--vllm-pd-disaggregation"}
    assert gateway - vllm == {"--pd-disaggregation"}


@pytest.mark.parametrize("roles", [(server(),), PAIR], ids=["R27-server", "R27-pair"])
def test_no_router_is_told_the_model(roles: tuple[FrontedRole, ...]) -> None:
    for name in (VLLM_ROUTER, GATEWAY):
        line = " ".join(arguments(routed(name, *roles)))
        assert "Qwen" not in line
        assert "--model" not in line
        assert "--tokenizer" not in line


@pytest.mark.parametrize("name", [VLLM_ROUTER, GATEWAY])
def test_every_command_line_says_a_namespace_a_port_and_labels(name: RouterName) -> None:
    # R28: a front has a namespace, at least one role and so a port; what remains is that none is ever left out.
    for roles in ((server(),), PAIR, (*PAIR, encode()) if name is GATEWAY else PAIR):
        line = arguments(routed(name, *roles, engine=SGLANG))
        assert [each for each in line if each.startswith("--service-discovery")] == DISCOVERS
        flags = [each for each in line if each.endswith("selector")]
        assert flags
        assert all("=" in line[line.index(flag) + 1] for flag in flags)


@pytest.mark.parametrize("name", [VLLM_ROUTER, GATEWAY])
def test_a_timeout_is_rendered_when_it_is_said(name: RouterName) -> None:  # R30
    assert not [each for each in arguments(routed(name)) if "timeout-secs" in each and "startup" not in each]
    line = arguments(routed(name, requestTimeoutSeconds=120))
    assert line[: len(LISTENS) + 1] == [*LISTENS, "--request-timeout-secs=120"]


@pytest.mark.parametrize(
    ("given", "kept", "dropped"),
    [
        (["--worker-startup-timeout-secs=60"], "--worker-startup-timeout-secs=60", "--worker-startup-timeout-secs=10"),
        (["--worker-startup-timeout-secs", "60"], "60", "--worker-startup-timeout-secs=10"),
        (["--request-timeout-secs=5"], "--request-timeout-secs=5", "--request-timeout-secs=120"),
    ],
)
def test_a_users_own_value_stands_alone(given: list[str], kept: str, dropped: str) -> None:
    line = arguments(routed(VLLM_ROUTER, extraArgs=given, requestTimeoutSeconds=120))
    assert kept in line
    assert dropped not in line


@pytest.mark.parametrize(("name", "engine"), ROUTERS_AND_ENGINES)
def test_what_the_user_adds_comes_last_and_is_the_users(name: RouterName, engine: Any) -> None:
    rendering = routed(name, engine=engine, extraArgs=["--policy", "round_robin"])
    last = rendering.runs[-1]
    assert (last.tokens, last.standing) == (("--policy", "round_robin"), Standing.USER)
    assert list(containers(rendering).values())[-1]["args"][-2:] == ["--policy", "round_robin"]


@pytest.mark.parametrize(("name", "engine"), ROUTERS_AND_ENGINES)
def test_the_runs_are_the_command_line_and_each_says_why(name: RouterName, engine: Any) -> None:
    for roles in ((server(),), PAIR, (*PAIR, encode())):
        rendering = routed(name, *roles, engine=engine, requestTimeoutSeconds=9, extraArgs=["--verbose"])
        line = list(containers(rendering).values())[-1]["args"]
        assert [token for run in rendering.runs for token in run.tokens] == line
        assert all(run.why.endswith(".") for run in rendering.runs)


STATIC = {"--prefill", "--decode"}
"""Rendered beside an Encode role alone, and owned nowhere: the document's list does not have them, and further URLs
beside the derived ones only add workers (facts router-rendering §6, facts encode §6)."""


@pytest.mark.parametrize(("name", "engine"), ROUTERS_AND_ENGINES)
def test_every_flag_that_is_the_operators_alone_is_refused_in_the_users_arguments(
    name: RouterName, engine: Any
) -> None:
    rendered = {
        token.partition("=")[0]
        for roles in ((server(),), PAIR, (*PAIR, encode()))
        for run in routed(name, *roles, engine=engine, requestTimeoutSeconds=9).runs
        if run.standing is Standing.OWNED
        for token in run.tokens
        if token.startswith("--")
    }
    assert rendered - STATIC == ROUTERS[name].owned_arguments


@pytest.mark.parametrize("name", [VLLM_ROUTER, GATEWAY])
def test_replicas_are_found_at_the_port_they_serve(name: RouterName) -> None:
    assert "--service-discovery-port=8100" in arguments(routed(name, prefill(port=8100), decode(port=8100)))


def test_two_roles_of_one_kind_are_found_by_what_their_pods_share() -> None:
    line = arguments(routed(GATEWAY, prefill(name="a"), prefill(name="b"), decode(), engine=SGLANG))
    start = line.index("--prefill-selector")
    assert line[start : line.index("--decode-selector")] == ["--prefill-selector", *ANSWERING, f"{KIND}=prefill"]


# Beside an Encode role.


def encoded(**router: Any) -> Front:
    return fronting(VLLM_ROUTER, *PAIR, encode(), **router)


def test_vllm_router_is_given_services_since_it_cannot_discover_beside_encoders() -> None:
    assert arguments(render(encoded())) == [
        *LISTENS,
        "--kv-connector=nixl",
        "--vllm-pd-disaggregation",
        "--prefill",
        "http://qwen-prefill.team-a.svc:8000",
        "--decode",
        "http://qwen-decode.team-a.svc:8000",
        '--epd-config={"encoder_urls":["http://qwen-encode.team-a.svc:8000"]}',
    ]


def test_the_gateway_does_not_know_of_encoders() -> None:
    with_one = routed(GATEWAY, *PAIR, encode(), engine=SGLANG)
    assert arguments(with_one) == arguments(routed(GATEWAY, *PAIR, engine=SGLANG))


def test_what_waits_for_discovered_pods_is_not_rendered_where_nothing_is_discovered() -> None:
    assert not any("worker-startup" in each for each in arguments(render(encoded())))
    assert not any("worker-startup" in each for each in containers(routed(LLM_D))["epp"]["args"])
