"""The halves of an SGLang pair. Vectors C3, C4, C6, C7, C9 and C10 of facts rendering §14."""

from typing import Any

import pytest
from modeldeployment.render import Facts, Policy, Seat, render
from render_connectors import argv, ascend, env, nvidia, one, pods
from render_worlds import deployment, joined, main, pair, role

PORT = "sglang.ai/bootstrap-port"
RETRACTION = "--disaggregation-decode-retraction-backup"
BOOTSTRAP = "VLLM_MOONCAKE_BOOTSTRAP_PORT"


def sglang(**fields: Any) -> Any:
    return pair(engine="SGLang", **fields)


def between(pod: dict[str, Any]) -> list[str]:
    """The operator's arguments between its own base command and host and port."""
    line = argv(pod)
    return line[line.index("--enable-metrics") + 1 : line.index("--host")]


def test_c3_a_prefill_half_says_which_it_is_how_it_hands_over_and_where_it_is_found() -> None:
    prefill = pods(sglang(cache=True), nvidia())["prefill"]
    assert between(prefill) == [
        "--hicache-storage-backend",
        "mooncake",
        "--disaggregation-mode",
        "prefill",
        "--disaggregation-transfer-backend",
        "mooncake_tcp",
        "--disaggregation-bootstrap-port",
        "8998",
        "--kv-cache-dtype",
        "bfloat16",
        "--enable-hierarchical-cache",
    ]
    assert prefill["metadata"]["annotations"][PORT] == "8998"


def test_c4_a_decode_half_beside_a_store_on_another_transport_is_not_kept_to_tcp() -> None:
    decode = pods(sglang(cache=True), nvidia(transport="rdma"))["decode"]
    assert between(decode)[:6] == [
        "--hicache-storage-backend",
        "mooncake",
        "--disaggregation-mode",
        "decode",
        "--disaggregation-transfer-backend",
        "mooncake",
    ]
    assert PORT not in decode["metadata"]["annotations"]
    assert [port["containerPort"] for port in main(decode)["ports"]] == [8000]


def test_c6_what_a_decode_half_takes_back_stays_on_the_host() -> None:
    decode = pods(sglang(cache=True), nvidia())["decode"]
    assert between(decode)[6:] == ["--kv-cache-dtype", "bfloat16", RETRACTION, "cpu_tensor"]


def test_a_pair_without_a_store_is_split_behind_its_router() -> None:
    both = pods(sglang(router="sglang-gateway", protocol="RDMA"), nvidia(stored=False))
    assert between(both["prefill"]) == [
        "--disaggregation-mode",
        "prefill",
        "--disaggregation-transfer-backend",
        "mooncake",
        "--disaggregation-bootstrap-port",
        "8998",
    ]
    assert between(both["decode"]) == [
        "--disaggregation-mode",
        "decode",
        "--disaggregation-transfer-backend",
        "mooncake",
        RETRACTION,
        "cpu_tensor",
    ]
    assert env(both["prefill"]) == env(both["decode"]) == {"MC_TE_METRIC": "1"}


@pytest.mark.parametrize("given", [[f"{RETRACTION}=host_pool"], [RETRACTION, "host_pool"]])
def test_c7_unless_its_role_says_otherwise(given: list[str]) -> None:
    line = between(pods(sglang(cache=True, decode={"extraArgs": given}), nvidia())["decode"])
    assert line[6:] == ["--kv-cache-dtype", "bfloat16", *given]


@pytest.mark.parametrize("router", ["sglang-gateway", "llm-d-router"])
def test_c9_a_router_changes_nothing_of_a_pair_that_a_store_already_splits(router: str) -> None:
    routed, alone = pods(sglang(router=router, cache=True), nvidia()), pods(sglang(cache=True), nvidia())
    for half in ("prefill", "decode"):
        assert between(routed[half]) == between(alone[half])
        assert env(routed[half]) == env(alone[half])
        assert routed[half]["metadata"]["annotations"].get(PORT) == alone[half]["metadata"]["annotations"].get(PORT)


@pytest.mark.parametrize(
    ("protocol", "backend"),
    [(None, "mooncake_tcp"), ("Auto", "mooncake_tcp"), ("TCP", "mooncake_tcp"), ("RDMA", "mooncake")],
)
@pytest.mark.parametrize("router", [None, "sglang-gateway"])
def test_both_halves_hand_over_by_the_same_backend(protocol: str | None, backend: str, router: str | None) -> None:
    for half in pods(sglang(router=router, cache=True, protocol=protocol), nvidia()).values():
        line = argv(half)
        assert line[line.index("--disaggregation-transfer-backend") + 1] == backend


@pytest.mark.parametrize("router", ["sglang-gateway", "llm-d-router"])
def test_on_ascend_hardware_a_pair_of_sglang_is_split_behind_every_router_of_it(router: str) -> None:
    both = pods(sglang(router=router), ascend(stored=False))
    line = argv(both["prefill"])
    assert line[line.index("--disaggregation-mode") + 1] == "prefill"
    assert "volumes" not in both["prefill"]["spec"]


def test_without_a_store_or_a_router_nothing_is_split() -> None:
    for half in pods(sglang(cache=True), nvidia(stored=False)).values():
        assert between(half) == []
        assert env(half) == {}


SPLIT = sglang(cache=True)
REUSE, KEEP = Policy(reuse_time_wait=True), Policy()


@pytest.mark.parametrize(
    ("of", "role_name", "reused"),
    [
        pytest.param(SPLIT, "prefill", True, id="C10-prefill"),
        pytest.param(sglang(router="sglang-gateway"), "prefill", True, id="C10-prefill-without-store"),
        pytest.param(SPLIT, "decode", False, id="C10-decode"),
        pytest.param(pair(router="llm-d-router", cache=True), "prefill", False, id="C10-vllm"),
        pytest.param(deployment(engine="SGLang", spec=joined(cache=True)), "server", False, id="C10-server"),
        pytest.param(
            deployment(role(kind="Prefill"), engine="SGLang", spec=joined(cache=True)), "server", False, id="C10-lone"
        ),
        pytest.param(sglang(cache=True, command=["run"]), "prefill", False, id="C10-take-over"),
    ],
)
def test_c10_only_the_half_that_opens_the_connections_reuses_ports(of: Any, role_name: str, reused: bool) -> None:
    on, off = pods(of, nvidia(policy=REUSE))[role_name], pods(of, nvidia(policy=KEEP))[role_name]
    sysctls = {"sysctls": [{"name": "net.ipv4.tcp_tw_reuse", "value": "1"}]}
    assert on["spec"].get("securityContext") == (sysctls if reused else None)
    assert "securityContext" not in off["spec"]
    assert (fingerprint(of, nvidia(policy=REUSE), role_name) != fingerprint(of, nvidia(policy=KEEP), role_name)) is (
        reused
    )


def fingerprint(of: Any, known: Facts, name: str) -> str:
    (found,) = (each.template.fingerprint(Seat(0, 0)) for each in render(of, known).roles if each.name == name)
    return found


def test_a_server_of_sglang_is_no_half() -> None:
    line = between(one(engine="SGLang"))
    assert [token for token in line if token.startswith("--disaggregation")] == []
    assert BOOTSTRAP not in env(one(engine="SGLang"))
