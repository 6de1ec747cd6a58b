"""What an Encode role and the two roles beside it run, per engine and router."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.api import EngineName, RoleKind, RouterName
from modeldeployment.render import ENGINES, Seat, Standing, encoding, render
from modeldeployment.render.parts.vllm_encode import CACHE_BYTES, SHARED_BYTES
from modeldeployment.router import ROUTERS
from render_worlds import deployment, facts, joined, main, role

PRODUCES = '{"ec_connector":"ECCPUConnector","ec_role":"ec_producer","ec_connector_extra_config":{"ec_enable_nixl":true,"ec_cpu_bytes":4294967296}}'  # noqa: E501 -- one token of a command line
CONSUMES = PRODUCES.replace("producer", "consumer")
SHARED = {"name": "encoder-output", "emptyDir": {"medium": "Memory", "sizeLimit": "5Gi"}}
MOUNTED = {"name": "encoder-output", "mountPath": "/dev/shm"}
HERE = {"valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
LISTENS = ["--host", "0.0.0.0", "--port", "8000"]
MODEL = "Qwen/Qwen2.5-72B-Instruct"
KINDS = ("Encode", "Prefill", "Decode")


def staged(
    router: str, engine: str = "vLLM", *, kinds: tuple[str, ...] = KINDS, **fields: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """The Pod of every role, by the role's name; `fields` are those of the role of that name."""
    roles = [role(kind.lower(), kind=kind, **fields.get(kind.lower(), {})) for kind in kinds]
    rendering = render(deployment(*roles, engine=engine, spec=joined(router=router)), facts())
    return {each.name: each.template.pod(Seat(0, 0)) for each in rendering.roles}


def gone(pod: dict[str, Any], without: dict[str, Any]) -> list[str]:
    """What stands on the first engine's command line and not on the second's."""
    rest = list(main(without)["command"])
    return [token for token in main(pod)["command"] if token not in rest]


vllm_routers = pytest.mark.parametrize("router", ["llm-d-router", "vllm-router"])
sglang_routers = pytest.mark.parametrize("router", ["llm-d-router", "sglang-gateway"])


@vllm_routers
def test_a_vllm_encoder_encodes_and_nothing_else(router: str) -> None:
    pod = staged(router)["encode"]
    engine = main(pod)
    assert engine["command"] == [
        "vllm",
        "serve",
        MODEL,
        "--mm-encoder-only",
        "--ec-transfer-config",
        PRODUCES,
        "--enforce-eager",
        "--no-enable-prefix-caching",
        *LISTENS,
    ]
    assert engine["env"] == [
        {"name": "VLLM_EC_SIDE_CHANNEL_HOST", **HERE},
        {"name": "VLLM_EC_SIDE_CHANNEL_PORT", "value": "5601"},
    ]
    assert pod["spec"]["volumes"] == [SHARED]
    assert engine["volumeMounts"] == [MOUNTED]
    assert engine["startupProbe"]["httpGet"] == {"path": "/health", "port": 8000, "scheme": "HTTP"}
    assert "initContainers" not in pod["spec"]


@vllm_routers
def test_vllm_prefill_reads_encoder_output_into_shared_memory(router: str) -> None:
    pod = staged(router)["prefill"]
    plain = staged(router, kinds=("Prefill", "Decode"))["prefill"]
    command = main(pod)["command"]
    assert command[command.index("--ec-transfer-config") + 1] == CONSUMES
    assert "--mm-encoder-only" not in command
    assert pod["spec"]["volumes"] == [SHARED]
    assert main(pod)["volumeMounts"] == [MOUNTED]
    assert "volumes" not in plain["spec"]
    assert [entry["name"] for entry in main(pod)["env"] if "VLLM_EC" in entry["name"]] == []


def test_vllm_decode_reads_encoder_output_where_its_proxy_may_send_it_some() -> None:
    pod = staged("llm-d-router")["decode"]
    plain = staged("llm-d-router", kinds=("Prefill", "Decode"))["decode"]
    assert gone(pod, plain) == ["--ec-transfer-config", CONSUMES]
    assert pod["spec"]["volumes"] == [SHARED]


def test_behind_a_router_that_embeds_both_halves_accept_embeddings_and_decode_reads_no_output() -> None:
    pods = staged("vllm-router")
    assert [name for name in pods if "--enable-mm-embeds" in main(pods[name])["command"]] == ["prefill", "decode"]
    assert "--ec-transfer-config" not in main(pods["decode"])["command"]
    assert "volumes" not in pods["decode"]["spec"]
    behind_the_other = staged("llm-d-router")
    assert [name for name in pods if "--enable-mm-embeds" in main(behind_the_other[name])["command"]] == []


@pytest.mark.parametrize(
    "given",
    [
        "--enforce-eager",
        "--no-enforce-eager",
        "--enable-prefix-caching",
        "--no-enable-prefix-caching",
    ],
)
def test_how_an_encoder_computes_is_the_roles_choice(given: str) -> None:
    command = main(staged("llm-d-router", encode={"extraArgs": [given]})["encode"])["command"]
    stem = given.removeprefix("--no-").removeprefix("--")
    assert [token for token in command if token.endswith(stem)] == [given]
    other = "--no-enable-prefix-caching" if "eager" in given else "--enforce-eager"
    assert command.count(other) == 1


def test_only_how_an_encoder_computes_is_a_default() -> None:
    roles = [role(kind.lower(), kind=kind) for kind in KINDS]
    encode, *_ = render(deployment(*roles, spec=joined(router="llm-d-router")), facts()).roles
    placed = {path[-1]: each.standing for path, each in encode.placed.items() if each.part == "encoder_document"}
    assert placed == {
        "mm-encoder-only": Standing.OWNED,
        "ec-transfer-config": Standing.OWNED,
        "enforce-eager": Standing.DEFAULTED,
        "prefix-caching": Standing.DEFAULTED,
    }


@sglang_routers
def test_an_sglang_encoder_encodes_for_whoever_asks_once(router: str) -> None:
    pod = staged(router, "SGLang")["encode"]
    engine = main(pod)
    assert engine["command"] == [
        "python3",
        "-m",
        "sglang.launch_server",
        "--model-path",
        MODEL,
        "--enable-metrics",
        "--encoder-only",
        "--encoder-transfer-backend",
        "zmq_to_tokenizer",
        *LISTENS,
    ]
    assert "env" not in engine
    assert "volumes" not in pod["spec"]
    assert engine["livenessProbe"]["httpGet"] == {"path": "/health", "port": 8000, "scheme": "HTTP"}


@sglang_routers
@pytest.mark.parametrize(
    ("encode", "url"),
    [
        ({}, "http://qwen-encode:8000"),
        ({"ports": [{"name": "api", "port": 9000}]}, "http://qwen-encode:9000"),
        ({"command": ["mine"]}, "http://qwen-encode:8000"),
    ],
    ids=["default", "declared", "take-over"],
)
def test_sglang_prefill_asks_the_encoders_through_their_service(router: str, encode: dict[str, Any], url: str) -> None:
    pod = staged(router, "SGLang", encode=encode)["prefill"]
    plain = staged(router, "SGLang", kinds=("Prefill", "Decode"))["prefill"]
    added = ["--language-only", "--encoder-urls", url, "--encoder-transfer-backend", "zmq_to_tokenizer"]
    assert gone(pod, plain) == added
    start = main(pod)["command"].index("--language-only")
    assert main(pod)["command"][start : start + 5] == added
    health = {"name": "SGLANG_ENCODER_BOOTSTRAP_HEALTH_CHECK_INTERVAL", "value": "0"}
    assert [entry for entry in main(pod)["env"] if entry not in main(plain)["env"]] == [health]
    assert "volumes" not in pod["spec"]


@sglang_routers
def test_sglang_decode_is_as_without_an_encoder(router: str) -> None:
    decode = staged(router, "SGLang")["decode"]["spec"]
    assert decode == staged(router, "SGLang", kinds=("Prefill", "Decode"))["decode"]["spec"]


@pytest.mark.parametrize(("router", "engine"), [("llm-d-router", "vLLM"), ("sglang-gateway", "SGLang")])
def test_a_command_of_the_users_is_told_nothing_of_encoders(router: str, engine: str) -> None:
    taken = {"command": ["mine"], "env": [{"name": "A", "value": "1"}]}
    pods = staged(router, engine, encode=taken, prefill=taken, decode=taken)
    for pod in pods.values():
        assert main(pod)["command"] == ["mine"]
        assert main(pod)["env"] == taken["env"]
        assert "volumes" not in pod["spec"]


@pytest.mark.parametrize(
    ("engine", "router", "name"),
    [
        ("vLLM", "llm-d-router", "VLLM_EC_SIDE_CHANNEL_HOST"),
        ("vLLM", "llm-d-router", "VLLM_EC_SIDE_CHANNEL_PORT"),
        ("SGLang", "sglang-gateway", "SGLANG_ENCODER_BOOTSTRAP_HEALTH_CHECK_INTERVAL"),
    ],
)
def test_owned_variables_of_a_stored_role_are_dropped_beside_an_encoder_alone(
    engine: str, router: str, name: str
) -> None:
    own = {"env": [{"name": name, "value": "mine"}]}
    beside = staged(router, engine, encode=own, prefill=own, decode=own)
    for pod in beside.values():
        assert {"name": name, "value": "mine"} not in main(pod).get("env", [])
    alone = staged(router, engine, kinds=("Prefill", "Decode"), prefill=own)["prefill"]
    assert {"name": name, "value": "mine"} in main(alone)["env"]


def test_an_encoder_of_any_kind_holds_no_cache_and_publishes_nothing() -> None:
    roles = [role(kind.lower(), kind=kind) for kind in KINDS]
    of = deployment(*roles, spec=joined(router="llm-d-router", cache=True))
    encode = render(of, facts()).roles[0].template.pod(Seat(0, 0))
    command = main(encode)["command"]
    assert [flag for flag in command if flag.startswith(("--kv", "--enable-scale-out"))] == []


def test_shared_memory_has_room_beside_the_cache() -> None:
    assert SHARED_BYTES > CACHE_BYTES == json.loads(PRODUCES)["ec_connector_extra_config"]["ec_cpu_bytes"]


@given(st.sampled_from(EngineName), st.sampled_from([*RouterName, None]), st.sampled_from(RoleKind))
def test_who_consumes_holds_and_only_stages_do_either(
    name: EngineName, router: RouterName | None, kind: RoleKind
) -> None:
    engine, row = ENGINES[name], ROUTERS[router] if router else None
    holds, consumes = encoding.holds(engine, row, kind), encoding.consumes(engine, row, kind)
    assert holds == (consumes or kind is RoleKind.ENCODE)
    assert kind in encoding.STAGES or not (holds or encoding.one_rank(engine, kind))
    assert not (consumes and kind is RoleKind.ENCODE)
