"""Variables, annotations and pins of vLLM connectors. Vectors B8 and D1 to D6 of facts rendering §14."""

from typing import Any

import pytest
from render_connectors import ascend, env, epd, nvidia, one, pods
from render_worlds import pair, store

VLLM_PORT, SGLANG_PORT = "vllm.ai/bootstrap-port", "sglang.ai/bootstrap-port"


def test_b8_a_prefill_half_listens_for_its_other_half_and_says_where() -> None:
    prefill = pods(pair(router="llm-d-router", cache=True), nvidia())["prefill"]
    assert env(prefill)["VLLM_MOONCAKE_BOOTSTRAP_PORT"] == "8998"


def test_d1_a_store_brings_its_document_and_the_count_of_transfers() -> None:
    assert env(one()) == {"MOONCAKE_CONFIG_PATH": "/etc/gpustack/kvcache/mooncake.json", "MC_TE_METRIC": "1"}


def test_d2_the_users_count_replaces_the_default_in_its_place() -> None:
    variables = [{"name": "A", "value": "1"}, {"name": "MC_TE_METRIC", "value": "0"}]
    assert list(env(one(env=variables)).items())[1:] == [("MC_TE_METRIC", "0"), ("A", "1")]


def test_d3_where_the_document_lies_is_the_operators() -> None:
    variables = [{"name": "MOONCAKE_CONFIG_PATH", "value": "/tmp/mine.json"}]
    assert env(one(env=variables))["MOONCAKE_CONFIG_PATH"] == "/etc/gpustack/kvcache/mooncake.json"


def test_d4_a_variable_nobody_owns_passes_beside_a_connector() -> None:
    assert env(one(env=[{"name": "VLLM_LOGGING_LEVEL", "value": "DEBUG"}]))["VLLM_LOGGING_LEVEL"] == "DEBUG"


def test_d5_a_leg_over_tcp_is_kept_to_tcp() -> None:
    for half in pods(pair(router="vllm-router"), nvidia(stored=False)).values():
        assert env(half)["MC_FORCE_TCP"] == "1"


def test_d6_the_user_may_say_otherwise() -> None:
    of = pair(router="vllm-router", env=[{"name": "MC_FORCE_TCP", "value": "true"}])
    for half in pods(of, nvidia(stored=False)).values():
        assert env(half)["MC_FORCE_TCP"] == "true"


@pytest.mark.parametrize(
    ("protocol", "transport", "pinned"),
    [
        (None, "tcp", True),
        ("TCP", "tcp", True),
        ("Auto", "rdma", False),
        ("RDMA", "tcp", False),
        ("RDMA", "rdma", False),
        ("ROCM", "hip", False),
    ],
)
def test_a_process_is_pinned_to_tcp_only_while_leg_and_store_both_use_it(
    protocol: str | None, transport: str, pinned: bool
) -> None:
    of = pair(router="llm-d-router", cache=True, protocol=protocol)
    for half in pods(of, nvidia(transport=transport)).values():
        assert ("MC_FORCE_TCP" in env(half)) is pinned


def test_a_store_over_tcp_alone_pins_nothing() -> None:
    assert "MC_FORCE_TCP" not in env(one("Prefill"))
    for half in pods(pair(cache=True), nvidia()).values():
        assert "MC_FORCE_TCP" not in env(half)


def bootstrap(of: Any, known: Any) -> dict[str, dict[str, str]]:
    """The bootstrap annotations of each role."""
    return {
        name: {key: value for key, value in pod["metadata"]["annotations"].items() if key in (VLLM_PORT, SGLANG_PORT)}
        for name, pod in pods(of, known).items()
    }


@pytest.mark.parametrize(
    ("router", "known", "prefill"),
    [
        ("vllm-router", nvidia(stored=False), {VLLM_PORT: "8998"}),
        ("llm-d-router", nvidia(stored=False), {}),
        (None, nvidia(), {}),
        ("vllm-router", ascend(stored=False), {}),
        ("llm-d-router", ascend(stored=False), {}),
    ],
)
def test_the_router_that_discovers_bootstrap_ports_finds_that_of_a_prefill_half(
    router: str | None, known: Any, prefill: dict[str, str]
) -> None:
    of = pair(router=router, cache=router is None)
    assert bootstrap(of, known) == {"prefill": prefill, "decode": {}}


def test_where_addresses_are_given_nobody_discovers_a_bootstrap_port() -> None:
    assert bootstrap(epd("vllm-router"), nvidia()) == {"encode": {}, "prefill": {}, "decode": {}}


def test_two_pools_on_one_transport_differ_in_the_document_alone() -> None:
    first, second = one(), one(known=nvidia(stored=False, store=store(tenant="other")))
    assert (first["spec"], env(first)) == (second["spec"], env(second))
    assert first["metadata"]["annotations"] != second["metadata"]["annotations"]
