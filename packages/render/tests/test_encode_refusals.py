"""Deployments with an Encode role that are older than admission's rules for it."""

from typing import Any

import pytest
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.render import Facts, RenderRefusal, render
from render_worlds import ASCEND, deployment, facts, instance_type, joined, role

KINDS = ("Encode", "Prefill", "Decode")


def declared(
    router: str | None,
    engine: str = "vLLM",
    fields: dict[str, dict[str, Any]] | None = None,
    *,
    kinds: tuple[str, ...] = KINDS,
) -> ModelDeployment:
    roles = [role(kind.lower(), kind=kind, **(fields or {}).get(kind.lower(), {})) for kind in kinds]
    return deployment(*roles, engine=engine, spec=joined(router=router))


def refused(role_named: str, of: ModelDeployment, known: Facts | None = None) -> str:
    with pytest.raises(RenderRefusal) as caught:
        render(of, known or facts())
    assert (caught.value.reason, caught.value.retryable) == (RefusalReason.ROLE_UNSUPPORTED, False)
    assert caught.value.role == role_named
    return caught.value.message


def test_without_a_router_nothing_drives_an_encoder() -> None:
    assert refused("encode", declared(None)) == (
        "spec.router is not set: role encode is an Encode role, and without a router nothing drives it; name a router "
        "in spec.router"
    )


@pytest.mark.parametrize(
    ("kinds", "missing"),
    [
        (("Encode", "Prefill"), "Decode"),
        (("Decode", "Encode"), "Prefill"),
        (("Encode",), "Prefill and no Decode"),
        (("Server", "Encode"), "Prefill and no Decode"),
    ],
)
def test_an_encoder_answers_nobody_alone(kinds: tuple[str, ...], missing: str) -> None:
    assert refused("encode", declared("llm-d-router", kinds=kinds)) == (
        "spec.roles[encode].kind is Encode: it encodes for a Prefill role, which hands over to a Decode role, and "
        f"there is no {missing}; create a deployment that declares all three, or one without the Encode role"
    )


@pytest.mark.parametrize(
    ("router", "engine", "wide"),
    [
        ("vllm-router", "vLLM", "encode"),
        ("vllm-router", "vLLM", "prefill"),
        ("llm-d-router", "vLLM", "decode"),
        ("sglang-gateway", "SGLang", "encode"),
    ],
)
def test_who_holds_encoder_output_is_one_pod(router: str, engine: str, wide: str) -> None:
    assert refused(wide, declared(router, engine, {wide: {"size": 2}})) == (
        f"spec.roles[{wide}].size is 2: role {wide} ({wide.title()}) holds encoder output in the memory of one node, "
        "and the other Pods of a replica do not see it; create a deployment that declares size 1 there and more "
        "replicas"
    )


@pytest.mark.parametrize(
    ("router", "engine", "fields"),
    [
        ("vllm-router", "vLLM", {"decode": {"size": 2}}),
        ("sglang-gateway", "SGLang", {"prefill": {"size": 2}, "decode": {"size": 2}}),
        ("sglang-gateway", "SGLang", {"prefill": {"extraArgs": ["--dp-size=2"]}}),
        ("llm-d-router", "vLLM", {"prefill": {"extraArgs": ["-tp", "2"]}}),
        ("llm-d-router", "vLLM", {"encode": {"command": ["vllm", "serve", "/m", "-dp", "2"]}}),
        ("llm-d-router", "vLLM", {"encode": {"command": ["mine"], "env": [{"name": "VLLM_DP_SIZE", "value": "2"}]}}),
        ("llm-d-router", "vLLM", {"encode": {"extraArgs": ["-dp", "two"]}}),
    ],
)
def test_who_holds_none_may_be_wider(router: str, engine: str, fields: dict[str, Any]) -> None:
    assert len(render(declared(router, engine, fields), facts()).roles) == 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "fields",
    [{"extraArgs": ["--data-parallel-size=2"]}, {"env": [{"name": "VLLM_DP_SIZE", "value": "2"}]}],
    ids=["flag", "variable"],
)
def test_a_pod_has_one_encoder_cache(kind: str, fields: dict[str, Any]) -> None:
    assert refused(kind.lower(), declared("vllm-router", fields={kind.lower(): fields})) == (
        f"spec.roles[{kind.lower()}] declares data parallelism 2: encoder output is handed to one rank of a Pod; "
        "declare data parallelism 1 and raise replicas instead"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_vllm_hands_no_encoder_output_over_on_ascend(kind: str) -> None:
    known = facts(instance_type(), instance_type("ascend", status=ASCEND))
    assert refused(
        kind.lower(), declared("llm-d-router", fields={kind.lower(): {"instanceType": "ascend"}}), known
    ) == (
        f"spec.roles[{kind.lower()}].instanceType is 'ascend': vLLM-Ascend cannot hand encoder output over, and "
        f"role {kind.lower()} ({kind}) has to; create a deployment whose roles name types of another maker, one with "
        "SGLang, or one without role encode (Encode)"
    )


def test_ascend_pairs_without_an_encoder_and_sglang_on_ascend_are_rendered() -> None:
    known = facts(instance_type(status=ASCEND))
    assert len(render(declared("llm-d-router", kinds=("Prefill", "Decode")), known).roles) == 2
    assert len(render(declared("llm-d-router", "SGLang"), known).roles) == 3
