"""What an Encode role changes about connectors. Source: facts encode §6 and §7, decisions D46."""

from typing import Any

import pytest
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.render import ENGINES, RenderRefusal, render
from render_connectors import argv, document, env, epd, flags, nvidia, pods
from render_worlds import deployment, joined, main, role

OWNED = ("MOONCAKE", "MC_", "VLLM_MOONCAKE", "VLLM_NIXL")


@pytest.mark.parametrize("router", ["llm-d-router", "vllm-router"])
def test_an_encode_role_has_no_cache_and_nothing_about_one(router: str) -> None:
    cache = router == "llm-d-router"
    encode = pods(epd(router, cache=cache), nvidia())["encode"]
    assert flags(encode) == []
    assert [name for name in env(encode) if name.startswith(OWNED)] == []
    assert "kvcache.gpustack.ai/client-config" not in encode["metadata"]["annotations"]
    assert "gpustack-kvcache-config" not in [volume["name"] for volume in encode["spec"].get("volumes", [])]


def test_an_encode_role_of_sglang_is_told_of_no_store_and_no_half() -> None:
    encode = pods(epd("sglang-gateway", cache=True, engine="SGLang"), nvidia())["encode"]
    assert [token for token in argv(encode) if token.startswith(("--hicache", "--disaggregation", "--enable-h"))] == []
    assert [name for name in env(encode) if name.startswith(OWNED)] == []


@pytest.mark.parametrize(("half", "kv_role"), [("prefill", "kv_producer"), ("decode", "kv_consumer")])
def test_behind_a_router_that_knows_addresses_alone_the_reply_carries_the_handles(half: str, kv_role: str) -> None:
    pod = pods(epd("vllm-router"), nvidia())[half]
    assert document(pod) == {"kv_connector": "NixlConnector", "kv_role": kv_role}
    assert env(pod)["VLLM_NIXL_SIDE_CHANNEL_HOST"] == "status.podIP"
    assert [name for name in env(pod) if name.startswith(("MC_", "VLLM_MOONCAKE"))] == []
    assert 8998 not in [port["containerPort"] for port in main(pod)["ports"]]


def test_that_address_is_the_operators_beside_an_encode_role_and_the_users_elsewhere() -> None:
    mine: dict[str, Any] = {"env": [{"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "value": "10.0.0.1"}]}
    assert env(pods(epd("vllm-router", prefill=mine), nvidia())["prefill"])["VLLM_NIXL_SIDE_CHANNEL_HOST"] == (
        "status.podIP"
    )
    alone = pods(deployment(role(**mine)), nvidia())["server"]
    assert env(alone) == {"VLLM_NIXL_SIDE_CHANNEL_HOST": "10.0.0.1"}


def test_behind_llm_d_router_the_halves_are_joined_as_without_an_encode_role() -> None:
    three = pods(epd("llm-d-router", cache=True), nvidia())
    roles = [role(name, kind=name.title()) for name in ("prefill", "decode")]
    two = pods(deployment(*roles, spec=joined(router="llm-d-router", cache=True)), nvidia())
    for half in ("prefill", "decode"):
        assert document(three[half]) == document(two[half])
        assert document(three[half])["kv_connector"] == "MultiConnector"


@pytest.mark.parametrize("known", [nvidia(), nvidia(stored=False)])
def test_a_cache_beside_halves_joined_by_address_is_refused_whether_its_store_is_there_or_not(known: Any) -> None:
    with pytest.raises(RenderRefusal) as refusal:
        render(epd("vllm-router", cache=True), known)
    assert (refusal.value.reason, refusal.value.role, refusal.value.retryable) == (
        RefusalReason.ROLE_UNSUPPORTED,
        "prefill",
        False,
    )
    assert refusal.value.message == (
        "spec.kvCache.poolRef.name is 'team-a-dram': beside an Encode role vllm-router joins spec.roles[prefill] "
        "to its other half with NixlConnector, and nobody has run that together with MooncakeStoreConnector in one "
        "engine; create a deployment without spec.kvCache, or one behind llm-d-router"
    )


def test_halves_whose_users_took_over_are_joined_by_nothing() -> None:
    taken: dict[str, Any] = {"command": ["/bin/serve"]}
    three = pods(epd("vllm-router", cache=True, prefill=taken, decode=taken), nvidia())
    assert (argv(three["prefill"]), env(three["decode"])) == (["/bin/serve"], {})


def test_ascend_has_no_connector_that_is_joined_by_address() -> None:
    named = {row.name: row.address_connector for engine in ENGINES.values() for row in engine.backends.values()}
    assert named == {"vllm": "NixlConnector", "vllm-ascend": "", "sglang": ""}
