"""What status says of a router."""

import pytest
from modeldeployment.api.choices import RouterName
from router_fronts import (
    GATEWAY,
    LLM_D,
    ROUTERS_AND_ENGINES,
    SGLANG,
    VLLM_ROUTER,
    decode,
    encode,
    prefill,
    routed,
    server,
)


@pytest.mark.parametrize("name", [LLM_D, VLLM_ROUTER, GATEWAY])
def test_callers_reach_a_pair_at_its_router(name: RouterName) -> None:  # R7, R20 once a replica is ready
    rendering = routed(name, prefill(), decode())
    assert rendering.endpoint == "http://qwen-router.team-a.svc:8081"
    assert rendering.contract.endpoint == rendering.endpoint


def test_the_contract_holds_every_role_as_the_router_was_told_of_it() -> None:
    contract = routed(LLM_D, prefill(events=True), decode(), pool="shared-kv-master.gpustack-system.svc:50051").contract
    assert contract.model_dump(mode="json", by_alias=True, exclude_none=True) == {
        "name": "llm-d-router",
        "endpoint": "http://qwen-router.team-a.svc:8081",
        "poolEndpoint": "shared-kv-master.gpustack-system.svc:50051",
        "roles": [
            {
                "name": "prefill",
                "kind": "Prefill",
                "selector": {
                    "app.kubernetes.io/name": "model-deployment",
                    "app.kubernetes.io/instance": "qwen",
                    "app.kubernetes.io/component": "prefill",
                    "modeldeployment.gpustack.ai/role-kind": "prefill",
                    "modeldeployment.gpustack.ai/endpoint-eligible": "true",
                },
                "endpoint": "http://qwen-prefill.team-a.svc:8000",
                "kvEvents": {
                    "endpoint": "tcp://qwen-prefill.team-a.svc:5557",
                    "replayEndpoint": "tcp://qwen-prefill.team-a.svc:5558",
                    "topic": "kv@",
                },
            },
            {
                "name": "decode",
                "kind": "Decode",
                "selector": {
                    "app.kubernetes.io/name": "model-deployment",
                    "app.kubernetes.io/instance": "qwen",
                    "app.kubernetes.io/component": "decode",
                    "modeldeployment.gpustack.ai/role-kind": "decode",
                    "modeldeployment.gpustack.ai/endpoint-eligible": "true",
                },
                "endpoint": "http://qwen-decode.team-a.svc:8000",
            },
        ],
        "metrics": {
            "port": 8000,
            "queuedRequests": "vllm:num_requests_waiting",
            "runningRequests": "vllm:num_requests_running",
            "kvCacheUtilization": "vllm:kv_cache_usage_perc",
        },
    }


@pytest.mark.parametrize(("name", "engine"), ROUTERS_AND_ENGINES)
def test_the_metrics_are_said_of_the_router_that_reads_them_alone(name: RouterName, engine: object) -> None:
    assert (routed(name, engine=engine).contract.metrics is not None) is (name is LLM_D)


def test_a_role_that_publishes_no_events_has_none_in_the_contract() -> None:  # R17, the router's half
    (role,) = routed(LLM_D, prefill()).contract.roles
    assert role.kv_events is None


def test_every_role_is_there_and_without_a_store_there_is_no_pool() -> None:
    contract = routed(GATEWAY, prefill(), decode(), encode(), engine=SGLANG).contract
    assert [role.name for role in contract.roles] == ["prefill", "decode", "encode"]
    assert contract.pool_endpoint is None
    assert [role.name for role in routed(LLM_D, server()).contract.roles] == ["server"]
