"""What holds for every combination of engine, maker, router, cache, kind and the user's own fields."""

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from modeldeployment.api.choices import EngineName
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.render import ENGINES, Facts, Policy, RenderRefusal, Seat, render
from render_connectors import argv, document, env
from render_worlds import ASCEND, deployment, facts, instance_type, joined, role, store

ROUTERS = {"vLLM": ("llm-d-router", "vllm-router"), "SGLang": ("llm-d-router", "sglang-gateway")}
SETS = (("Server",), ("Prefill",), ("Decode",), ("Prefill", "Decode"), ("Encode", "Prefill", "Decode"))
KV_ROLES = {"Server": "kv_both", "Prefill": "kv_producer", "Decode": "kv_consumer"}
DEGREES: tuple[list[str], ...] = (["-tp", "2"], ["--data-parallel-size=2"], [])
ASCEND_TYPE, NVIDIA_TYPE = instance_type(status=ASCEND), instance_type()

UNHURRIED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def names(engine: str) -> list[str]:
    return sorted(ENGINES[EngineName(engine)].owned_environment | {"MC_TE_METRIC", "MC_FORCE_TCP", "MINE"})


@st.composite
def worlds(draw: st.DrawFn) -> tuple[ModelDeployment, Facts]:
    """A deployment that admission could have let in, on a cluster where its store may be there."""
    engine = draw(st.sampled_from(sorted(ROUTERS)))
    router = draw(st.sampled_from((None, *ROUTERS[engine])))
    kinds = draw(st.sampled_from(SETS))
    same = draw(st.sampled_from(DEGREES)) if engine == "vLLM" else []
    variables = draw(st.lists(st.sampled_from(names(engine)), unique=True))
    roles = [
        role(
            kind.lower(),
            kind=kind,
            extraArgs=[*same, "--max-model-len", "8"],
            env=[{"name": name, "value": "theirs"} for name in variables],
        )
        for kind in kinds
    ]
    protocol = draw(st.sampled_from((None, "Auto", "TCP", "RDMA", "EFA", "CANN", "ROCM")))
    spec = joined(router=router, cache=draw(st.booleans()), protocol=protocol)
    offers = draw(st.lists(st.sampled_from(("tcp", "rdma", "ascend", "")), max_size=3))
    known = facts(
        draw(st.sampled_from((NVIDIA_TYPE, ASCEND_TYPE))),
        policy=Policy(dtype_owned=draw(st.booleans()), reuse_time_wait=draw(st.booleans())),
        store=store(*offers, dtype="bfloat16") if offers else None,
    )
    return deployment(*roles, engine=engine, spec=spec), known


def rendered(world: tuple[ModelDeployment, Facts]) -> Mapping[str, dict[str, Any]]:
    """The Pods by the kinds of their roles; none where the deployment is refused."""
    try:
        found = render(*world)
    except RenderRefusal:
        return {}
    return {each.kind.value: each.template.pod(Seat(0, 0)) for each in found.roles}


@UNHURRIED
@given(worlds())
def test_what_is_refused_is_what_no_engine_could_do(world: tuple[ModelDeployment, Facts]) -> None:
    of, known = world
    spec, (hardware,) = of.spec, known.instance_types.values()
    encode = "Encode" in [each.kind for each in spec.roles]
    vllm, ascend = spec.engine.name == "vLLM", hardware.status.detail.manufacturer == "ascend"
    own = spec.router is not None and spec.router.name == "vllm-router"
    offers = set(known.store.transports if known.store else ()) - {""}
    ranks = "--data-parallel-size=2" in spec.roles[0].extra_args
    unreadable = bool(vllm and ascend and spec.kv_cache and offers and "ascend" not in offers)
    unencodable = encode and (spec.router is None or (vllm and (ascend or ranks or (own and bool(spec.kv_cache)))))
    assert (not rendered(world)) is (unreadable or unencodable)


@UNHURRIED
@given(worlds())
def test_two_renderings_are_equal_to_the_byte(world: tuple[ModelDeployment, Facts]) -> None:
    assert json.dumps(rendered(world)) == json.dumps(rendered(world))


@UNHURRIED
@given(worlds())
def test_no_argument_and_no_variable_appears_twice(world: tuple[ModelDeployment, Facts]) -> None:
    for pod in rendered(world).values():
        flags = [token.partition("=")[0] for token in argv(pod) if token.startswith("--")]
        assert len(flags) == len(set(flags))
        env(pod)  # fails on a second entry of one name


@UNHURRIED
@given(worlds())
def test_no_variable_of_the_operators_keeps_the_users_value(world: tuple[ModelDeployment, Facts]) -> None:
    owned = ENGINES[world[0].spec.engine.name].owned_environment
    for pod in rendered(world).values():
        kept = {name for name, value in env(pod).items() if value == "theirs"}
        assert not kept & owned
    wished = {variable.name for each in world[0].spec.roles for variable in each.env} - owned
    for pod in rendered(world).values():
        assert {name for name in wished if env(pod).get(name) != "theirs"} == set()


@UNHURRIED
@given(worlds())
def test_a_transfer_document_states_the_kinds_role_and_both_halves_say_the_same(
    world: tuple[ModelDeployment, Facts],
) -> None:
    legs = {}
    for kind, pod in rendered(world).items():
        said = document(pod)
        if said is None:
            continue
        assert said["kv_role"] == KV_ROLES[kind]
        leg = said.get("kv_connector_extra_config", {}).get("connectors", [said])[0]
        assert leg["kv_role"] == KV_ROLES[kind]
        legs[kind] = {key: value for key, value in leg.items() if key != "kv_role"}
    if {"Prefill", "Decode"} <= set(legs):
        assert legs["Prefill"] == legs["Decode"]
    assert "Encode" not in legs


@UNHURRIED
@given(worlds())
def test_both_halves_of_an_sglang_pair_hand_over_alike(world: tuple[ModelDeployment, Facts]) -> None:
    flag = "--disaggregation-transfer-backend"
    said = {kind: argv(pod)[argv(pod).index(flag) + 1] for kind, pod in rendered(world).items() if flag in argv(pod)}
    assert set(said) in (set(), {"Prefill", "Decode"})
    assert len(set(said.values())) <= 1


@UNHURRIED
@given(worlds())
def test_a_client_has_its_variable_its_annotation_its_volume_and_its_mount_or_none_of_them(
    world: tuple[ModelDeployment, Facts],
) -> None:
    name, annotation = "gpustack-kvcache-config", "kvcache.gpustack.ai/client-config"
    for pod in rendered(world).values():
        (container,) = pod["spec"]["containers"]
        there = {
            "MOONCAKE_CONFIG_PATH" in env(pod),
            annotation in pod["metadata"]["annotations"],
            name in [volume["name"] for volume in pod["spec"].get("volumes", [])],
            name in [mount["name"] for mount in container.get("volumeMounts", [])],
        }
        assert len(there) == 1
