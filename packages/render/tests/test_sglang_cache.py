"""The store client of SGLang. Vectors C1, C2, C5 and C8 of facts rendering §14."""

import pytest
from render_connectors import argv, env, nvidia, one, pods
from render_worlds import deployment, joined, pair, role, store

STORED = {
    "MOONCAKE_TENANT_ID": "team-a-shared",
    "MOONCAKE_MASTER": "shared-kv-master.gpustack-system.svc:50051",
    "MOONCAKE_TE_META_DATA_SERVER": "P2PHANDSHAKE",
    "MOONCAKE_PROTOCOL": "tcp",
    "MOONCAKE_DEVICE": "",
    "MOONCAKE_GLOBAL_SEGMENT_SIZE": "0",
    "MOONCAKE_LOCAL_HOSTNAME": "status.podIP",
}


def test_c1_a_server_reaches_the_store_by_arguments_and_variables_alone() -> None:
    pod = one(engine="SGLang")
    assert argv(pod) == [
        "python3",
        "-m",
        "sglang.launch_server",
        "--model-path",
        "Qwen/Qwen2.5-72B-Instruct",
        "--enable-metrics",
        "--hicache-storage-backend",
        "mooncake",
        "--kv-cache-dtype",
        "bfloat16",
        "--enable-hierarchical-cache",
        "--host",
        "0.0.0.0",
        "--port",
        "8000",
    ]
    assert list(env(pod).items()) == [*STORED.items(), ("MC_TE_METRIC", "1")]
    assert "volumes" not in pod["spec"]
    assert "kvcache.gpustack.ai/client-config" not in pod["metadata"]["annotations"]


def test_c2_no_tenant_is_named_to_a_master_without_a_ledger() -> None:
    pod = one(known=nvidia(stored=False, store=store("rdma", tenant="")), engine="SGLang")
    without = {name: value for name, value in STORED.items() if name != "MOONCAKE_TENANT_ID"}
    assert env(pod) == without | {"MOONCAKE_PROTOCOL": "rdma", "MC_TE_METRIC": "1"}


@pytest.mark.parametrize("kind", [pytest.param("Prefill", id="C5-prefill"), pytest.param("Decode", id="C5-decode")])
@pytest.mark.parametrize("router", [None, "sglang-gateway", "llm-d-router"])
def test_c5_a_lone_half_reaches_the_store_and_is_split_from_nobody(kind: str, router: str | None) -> None:
    of = deployment(role(kind=kind), engine="SGLang", spec=joined(router=router, cache=True))
    pod = pods(of, nvidia())["server"]
    assert [token for token in argv(pod) if token.startswith("--disaggregation")] == []
    assert "sglang.ai/bootstrap-port" not in pod["metadata"]["annotations"]
    assert env(pod) == STORED | {"MC_TE_METRIC": "1"}
    assert argv(pod).count("--enable-hierarchical-cache") == 1


@pytest.mark.parametrize("given", [[], ["--enable-hierarchical-cache"]])
def test_c8_a_prefill_half_keeps_one_hierarchical_cache(given: list[str]) -> None:
    half = pods(pair(cache=True, engine="SGLang", prefill={"extraArgs": given}), nvidia())["prefill"]
    assert argv(half).count("--enable-hierarchical-cache") == 1


def test_without_a_store_there_is_no_hierarchical_cache_to_keep() -> None:
    of = pair(router="sglang-gateway", engine="SGLang")
    for half in pods(of, nvidia(stored=False)).values():
        assert "--enable-hierarchical-cache" not in argv(half)


def test_the_stores_variables_are_the_operators_and_the_count_is_not() -> None:
    mine = [{"name": name, "value": "mine"} for name in (*STORED, "SGLANG_HICACHE_MOONCAKE_CONFIG_PATH")]
    pod = one(engine="SGLang", env=[*mine, {"name": "MC_TE_METRIC", "value": "0"}])
    assert env(pod) == STORED | {"MC_TE_METRIC": "0"}
