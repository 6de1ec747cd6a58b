"""The status of a deployment whole, as facts api-modeldeployment §3 lists it."""

from typing import Any

import pytest
from modeldeployment.api import ModelDeploymentStatus, Retirement, RetirementState
from modeldeployment.api.crds import crds
from pydantic import ValidationError

AT = "2026-03-01T12:00:00Z"
STATUS: dict[str, Any] = {
    "phase": "Ready",
    "phaseMessage": "all replicas are ready",
    "conditions": [{"type": "Rendered", "status": "True", "reason": "Rendered", "message": "both roles are rendered"}],
    "endpoint": "http://qwen-router.team-a.svc:8000",
    "roles": [
        {
            "name": "prefill",
            "kind": "Prefill",
            "desired": 2,
            "ready": 2,
            "quotaReserved": 2,
            "unmanaged": False,
            "assignedFlavors": ["nvidia-h20"],
            "parallelism": {
                "declared": {
                    "tensorParallel": 8,
                    "pipelineParallel": 1,
                    "dataParallel": 2,
                    "dataParallelLocal": 0,
                    "prefillContextParallel": 1,
                    "decodeContextParallel": 1,
                    "expertParallel": 1,
                    "attentionContextParallel": 1,
                    "moeDpSize": 1,
                    "dwdpSize": 1,
                },
                "modes": {"expertParallel": True},
                "loadBalance": "Internal",
                "source": {"kind": "ExtraArgs", "complete": True},
            },
            "endpoints": {"eligible": 0, "serving": {"state": "Confirmed", "value": 0}},
        }
    ],
    "kvCache": {
        "binding": "shared-kv",
        "pool": "dram",
        "domain": {"name": "team-a", "blockSize": 128, "dtype": "bfloat16"},
    },
    "router": {
        "name": "llm-d-router",
        "endpoint": "http://qwen-router.team-a.svc:8000",
        "poolEndpoint": "mooncake-leader.kv.svc:50051",
        "roles": [
            {
                "name": "prefill",
                "kind": "Prefill",
                "selector": {"app.kubernetes.io/component": "prefill"},
                "endpoint": "http://qwen-prefill.team-a.svc:8000",
                "kvEvents": {"endpoint": "tcp://a:5557", "replayEndpoint": "tcp://a:5558", "topic": "kv@"},
            }
        ],
        "metrics": {
            "port": 8000,
            "queuedRequests": "vllm:num_requests_waiting",
            "runningRequests": "vllm:num_requests_running",
            "kvCacheUtilization": "vllm:kv_cache_usage_perc",
        },
    },
    "roleSummary": "1R2P",
    "model": {"artifact": "qwen", "revision": "4f" * 20, "manifestDigest": "sha256:0a", "delivery": "Engine"},
    "retirement": {
        "roleName": "prefill",
        "replicaOrdinal": 0,
        "observedGeneration": 4,
        "targetMemberUIDs": ["u-1", "u-2"],
        "targetWorkloadUID": "w-1",
        "state": "Draining",
        "reason": "ScaleDown",
        "startedAt": AT,
        "deadline": AT,
        "phaseStartedAt": AT,
        "lastConsumedRetryToken": "again",
    },
}


def test_every_field_of_the_documents_is_read_and_written_back() -> None:
    assert ModelDeploymentStatus.model_validate(STATUS).body() == STATUS


def test_the_example_names_every_field_the_schema_has() -> None:
    definition = next(crd for crd in crds() if crd["spec"]["names"]["kind"] == "ModelDeployment")
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]
    rare = {"status.conditions[].lastTransitionTime", "status.conditions[].observedGeneration"}
    rare |= {"status.roles[].parallelism.source.unreadableReason"}
    assert fields("status", schema) - named("status", STATUS) == rare


def fields(path: str, schema: dict[str, Any]) -> set[str]:
    found = {path}
    for name, child in schema.get("properties", {}).items():
        found |= fields(f"{path}.{name}", child)
    if "properties" in schema.get("items", {}):
        found |= fields(f"{path}[]", schema["items"])
    return found


def named(path: str, value: Any) -> set[str]:
    if isinstance(value, dict):
        return {path}.union(*(named(f"{path}.{name}", child) for name, child in value.items()))
    if isinstance(value, list):
        return {path}.union(*(named(f"{path}[]", child) for child in value))
    return {path}


def test_the_first_replica_retires_with_its_ordinal_written() -> None:
    retirement = Retirement(role_name="server", replica_ordinal=0, state=RetirementState.ADMITTED)
    assert retirement.body() == {"roleName": "server", "replicaOrdinal": 0, "state": "Admitted"}


def test_a_router_metric_port_is_a_port() -> None:
    with pytest.raises(ValidationError):
        ModelDeploymentStatus.model_validate({"router": {"name": "llm-d-router", "metrics": {"port": 0}}})
