"""The transfer documents of vLLM. Vectors B1 to B7, B13 to B15 and A3 of facts rendering §14."""

import json
from typing import Any

import pytest
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.render import Policy
from pydantic import ValidationError
from render_connectors import argv, ascend, document, env, flags, nvidia, one, pods
from render_worlds import deployment, joined, main, pair, role, store

LEG_TCP = {
    "kv_connector": "MooncakeConnector",
    "kv_role": "kv_producer",
    "kv_connector_extra_config": {"mooncake_protocol": "tcp"},
}
CLIENT = {
    "metadata_server": "P2PHANDSHAKE",
    "master_server_address": "shared-kv-master.gpustack-system.svc:50051",
    "protocol": "tcp",
    "device_name": "",
    "mode": "standalone-store",
    "global_segment_size": 0,
    "local_buffer_size": 134217728,
    "tenant_id": "team-a-shared",
}


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        pytest.param("Server", '{"kv_connector":"MooncakeStoreConnector","kv_role":"kv_both"}', id="B1"),
        pytest.param("Prefill", '{"kv_connector":"MooncakeStoreConnector","kv_role":"kv_producer"}', id="B2"),
        pytest.param("Decode", '{"kv_connector":"MooncakeStoreConnector","kv_role":"kv_consumer"}', id="B3"),
        pytest.param(None, '{"kv_connector":"MooncakeStoreConnector","kv_role":"kv_both"}', id="B15"),
    ],
)
def test_a_store_alone_is_named_with_the_kinds_role(kind: str | None, said: str) -> None:
    of = deployment(role(kind=kind), spec=joined(cache=True))
    line = argv(pods(of, nvidia())["server"])
    assert line[3:5] == ["--kv-transfer-config", said]


@pytest.mark.parametrize(
    ("kind", "kv_role"),
    [
        pytest.param("Server", "kv_both", id="B4"),
        pytest.param("Prefill", "kv_producer", id="B5-prefill"),
        pytest.param("Decode", "kv_consumer", id="B5-decode"),
    ],
)
def test_ascend_has_a_store_connector_of_its_own(kind: str, kv_role: str) -> None:
    assert document(one(kind, ascend())) == {"kv_connector": "AscendStoreConnector", "kv_role": kv_role}


def test_b6_a_prefill_half_with_a_store_wraps_both_and_reads_the_store_too() -> None:
    prefill = pods(pair(router="vllm-router", cache=True), nvidia())["prefill"]
    line = argv(prefill)
    assert line[line.index("--kv-transfer-config") + 1] == (
        '{"kv_connector":"MultiConnector","kv_role":"kv_producer","kv_connector_extra_config":{"connectors":['
        '{"kv_connector":"MooncakeConnector","kv_role":"kv_producer","kv_connector_extra_config":'
        '{"mooncake_protocol":"tcp"}},{"kv_connector":"MooncakeStoreConnector","kv_role":"kv_both"}]}}'
    )


def test_b7_a_decode_half_with_a_store_only_reads() -> None:
    decode = pods(pair(router="llm-d-router", cache=True, protocol="RDMA"), nvidia())["decode"]
    assert document(decode) == {
        "kv_connector": "MultiConnector",
        "kv_role": "kv_consumer",
        "kv_connector_extra_config": {
            "connectors": [
                {
                    "kv_connector": "MooncakeConnector",
                    "kv_role": "kv_consumer",
                    "kv_connector_extra_config": {"mooncake_protocol": "rdma"},
                },
                {"kv_connector": "MooncakeStoreConnector", "kv_role": "kv_consumer"},
            ]
        },
    }


@pytest.mark.parametrize(
    ("protocol", "said"),
    [
        (None, "tcp"),
        ("Auto", "tcp"),
        ("TCP", "tcp"),
        ("RDMA", "rdma"),
        ("EFA", "efa"),
        ("CANN", "ascend"),
        ("ROCM", "hip"),
    ],
)
def test_a_leg_without_a_store_names_the_transport_in_mooncakes_spelling(protocol: str | None, said: str) -> None:
    both = pods(pair(router="llm-d-router", protocol=protocol), nvidia(stored=False))
    for half, kv_role in (("prefill", "kv_producer"), ("decode", "kv_consumer")):
        assert document(both[half]) == {
            "kv_connector": "MooncakeConnector",
            "kv_role": kv_role,
            "kv_connector_extra_config": {"mooncake_protocol": said},
        }


def test_b12_a_kind_that_is_none_is_refused_by_the_schema_naming_it() -> None:
    body = deployment().body()
    body["spec"]["roles"][0]["kind"] = "router"
    with pytest.raises(ValidationError, match="router"):
        ModelDeployment.model_validate(body)


def test_b13_the_clients_document_travels_in_an_annotation_and_is_projected_into_the_container() -> None:
    pod = one()
    assert json.loads(pod["metadata"]["annotations"]["kvcache.gpustack.ai/client-config"]) == CLIENT
    assert pod["spec"]["volumes"] == [
        {
            "name": "gpustack-kvcache-config",
            "downwardAPI": {
                "items": [
                    {
                        "path": "mooncake.json",
                        "fieldRef": {"fieldPath": "metadata.annotations['kvcache.gpustack.ai/client-config']"},
                    }
                ]
            },
        }
    ]
    assert main(pod)["volumeMounts"] == [
        {"name": "gpustack-kvcache-config", "mountPath": "/etc/gpustack/kvcache", "readOnly": True}
    ]


def test_the_client_on_ascend_has_the_same_document_over_its_own_transport() -> None:
    said = one(known=ascend())["metadata"]["annotations"]["kvcache.gpustack.ai/client-config"]
    assert json.loads(said) == CLIENT | {"protocol": "ascend"}


def test_no_tenant_is_named_to_a_master_without_a_ledger() -> None:
    pod = one(known=nvidia(stored=False, store=store("rdma", tenant="")))
    said = json.loads(pod["metadata"]["annotations"]["kvcache.gpustack.ai/client-config"])
    assert said == {key: value for key, value in CLIENT.items() if key != "tenant_id"} | {"protocol": "rdma"}


def test_the_clients_volume_comes_after_the_roles_own() -> None:
    pod = one(additionalVolumes=[{"mountPath": "/m", "hostPath": {"path": "/srv"}}])
    assert [volume["name"] for volume in pod["spec"]["volumes"]] == ["additional-0", "gpustack-kvcache-config"]


@pytest.mark.parametrize("engine", ["vLLM", "SGLang"])
@pytest.mark.parametrize("dtype", ["fp8_e4m3", "bf16"])
def test_b14_the_dtype_of_the_domain_is_given_once_as_it_is_written(engine: str, dtype: str) -> None:
    line = argv(one(known=nvidia(stored=False, store=store(dtype=dtype)), engine=engine))
    assert line[line.index("--kv-cache-dtype") + 1] == dtype
    assert line.count("--kv-cache-dtype") == 1


@pytest.mark.parametrize(
    "known",
    [
        pytest.param(nvidia(stored=False), id="B14-leg-only"),
        pytest.param(nvidia(policy=Policy(dtype_owned=False)), id="setting-off"),
        pytest.param(nvidia(stored=False, store=store(dtype="")), id="no-dtype"),
    ],
)
def test_no_dtype_is_given_without_a_store_that_has_one_or_when_it_is_the_users(known: Any) -> None:
    for pod in pods(pair(router="llm-d-router", cache=True), known).values():
        assert "--kv-cache-dtype" not in argv(pod)


def test_a3_connectors_stand_before_the_roles_own_arguments_and_these_before_host_and_port() -> None:
    assert argv(one(extraArgs=["--max-model-len=32768"])) == [
        "vllm",
        "serve",
        "Qwen/Qwen2.5-72B-Instruct",
        "--kv-transfer-config",
        '{"kv_connector":"MooncakeStoreConnector","kv_role":"kv_both"}',
        "--kv-cache-dtype",
        "bfloat16",
        "--max-model-len=32768",
        "--host",
        "0.0.0.0",
        "--port",
        "8000",
    ]


def test_events_are_published_for_the_router_that_subscribes_to_them() -> None:
    of = deployment(spec=joined(router="llm-d-router", cache=True))
    pod = pods(of, nvidia())["server"]
    assert flags(pod) == ["--kv-transfer-config", "--kv-events-config", "--kv-cache-dtype"]
    assert document(pod, "--kv-events-config") == {
        "enable_kv_cache_events": True,
        "publisher": "zmq",
        "endpoint": "tcp://*:5557",
        "replay_endpoint": "tcp://*:5558",
        "buffer_steps": 10000,
        "hwm": 100000,
        "max_queue_size": 100000,
        "topic": "kv@",
    }


def test_a_cache_whose_store_cannot_be_used_now_leaves_the_engine_as_it_is_without_one() -> None:
    assert one(known=nvidia(stored=False)) == one(known=nvidia(), cache=False)


def test_a_store_without_a_cache_in_the_spec_is_nobodys() -> None:
    pod = one(cache=False)
    assert (flags(pod), env(pod), "volumes" in pod["spec"]) == ([], {}, False)


@pytest.mark.parametrize("engine", ["vLLM", "SGLang"])
def test_a_taken_over_role_is_joined_to_nothing(engine: str) -> None:
    of = pair(router="llm-d-router", cache=True, engine=engine, command=["/bin/my-server", "--flag"])
    for pod in pods(of, nvidia()).values():
        assert argv(pod) == ["/bin/my-server", "--flag"]
        assert env(pod) == {}
        assert "volumes" not in pod["spec"]
        assert not [key for key in pod["metadata"]["annotations"] if "client-config" in key or "bootstrap" in key]
