"""vLLM's own parser reads every command line rendered for it, and reads in it what was meant."""

import json
from typing import Any, Final

import pytest
from conformance_matrix import Rendered, matrix, weights
from conformance_parsing import OURS, WEIGHTS, Parsed, given, kept, parse, strangers
from modeldeployment.lab.pytest_plugin import ObtainProgram

ENGINE: Final = "vLLM"
NOT_OURS: Final = (
    ["vllm", "serve", OURS, "--kv-transfer-configuration", "{}"],
    ["vllm", "serve", OURS, "--kv-transfer-config", '{"kv_conector":"MooncakeConnector","kv_role":"kv_both"}'],
    ["vllm", "serve", OURS, "--kv-transfer-config", '{"kv_connector":"MooncakeConnector","kv_role":"kv_reader"}'],
    ["vllm", "serve", OURS, "--kv-events-config", '{"enable_kv_events":true}'],
    ["vllm", "serve", OURS, "--kv-cache-dtype", "bf16"],
    ["vllm", "serve", OURS, "--", "--host", "0.0.0.0", "--port", "8000"],
)
EVENTS: Final = {
    "": "KVEventsConfig",
    "enable_kv_cache_events": True,
    "publisher": "zmq",
    "endpoint": "tcp://*:5557",
    "replay_endpoint": "tcp://*:5558",
    "buffer_steps": 10000,
    "hwm": 100000,
    "max_queue_size": 100000,
    "topic": "kv@",
}
DEGREES: Final = {"prefill": {"tp_size": 1, "dp_size": 1}, "decode": {"tp_size": 1, "dp_size": 1}}
ROLES: Final = {"Server": "kv_both", "Prefill": "kv_producer", "Decode": "kv_consumer"}
STORE_ROLES: Final = {"Prefill": "kv_both", "Decode": "kv_consumer"}
"""Of the store beside a leg."""


@pytest.fixture(scope="module")
def parsed(program: ObtainProgram, tmp_path_factory: pytest.TempPathFactory) -> Parsed:
    folder = tmp_path_factory.mktemp("vllm")
    return parse(
        program("vllm"), [*(each.argv for each in matrix(ENGINE)), *weights(ENGINE).values(), *NOT_OURS], folder
    )


def leg(each: Rendered) -> dict[str, Any] | None:
    if not each.kinds.endswith("pair") or each.kind == "Encode" or each.router is None:
        return None
    kv_role = ROLES[each.kind]
    if each.ascend:
        document = {"kv_port": 8998, "kv_connector_extra_config": DEGREES}
        by_llm_d = each.router == "llm-d-router"
        return {"kv_connector": "MooncakeConnectorV1", "kv_role": kv_role, **document} if by_llm_d else None
    if each.router == "vllm-router" and each.kinds == "encode-pair":
        return {"kv_connector": "NixlConnector", "kv_role": kv_role}
    extra = {"mooncake_protocol": "rdma" if each.protocol == "RDMA" else "tcp"}
    return {"kv_connector": "MooncakeConnector", "kv_role": kv_role, "kv_connector_extra_config": extra}


def transfer(each: Rendered) -> dict[str, Any] | None:
    direct, store = leg(each), "AscendStoreConnector" if each.ascend else "MooncakeStoreConnector"
    if not each.cache or each.kind == "Encode":
        return direct
    if direct is None:
        return {"kv_connector": store, "kv_role": ROLES[each.kind]}
    both = [direct, {"kv_connector": store, "kv_role": STORE_ROLES[each.kind]}]
    multi = {"kv_connector": "MultiConnector", "kv_role": ROLES[each.kind]}
    return {**multi, "kv_connector_extra_config": {"connectors": both}}


def encoder(each: Rendered) -> dict[str, Any] | None:
    if not each.kinds.startswith("encode") or (each.router == "vllm-router" and each.kind == "Decode"):
        return None
    role = "ec_producer" if each.kind == "Encode" else "ec_consumer"
    extra = {"ec_enable_nixl": True, "ec_cpu_bytes": 4 * 2**30}
    return {
        "": "ECTransferConfig",
        "ec_connector": "ECCPUConnector",
        "ec_role": role,
        "ec_connector_extra_config": extra,
    }


def test_the_matrix_is_whole() -> None:
    assert {(each.kind, each.cache, each.router) for each in matrix(ENGINE) if not each.kinds.startswith("encode")} == {
        (kind, cache, router)
        for kind in ("Server", "Prefill", "Decode")
        for cache in (False, True)
        for router in (None, "llm-d-router", "vllm-router")
    }
    assert {each.kind for each in matrix(ENGINE) if each.kinds == "encode-pair"} == {"Encode", "Prefill", "Decode"}
    assert {each.maker for each in matrix(ENGINE)} >= {"nvidia", "amd", "ascend"}


def test_every_line_serves_the_model_where_its_probes_and_services_look(parsed: Parsed) -> None:
    for each in matrix(ENGINE):
        values = parsed.values(each)
        assert (values["subparser"], values["model_tag"], values["host"]) == ("serve", OURS, "0.0.0.0"), each
        behind_proxy = each.router == "llm-d-router" and each.kind == "Decode"
        assert values["port"] == (8200 if behind_proxy else 8000), each
        assert each.container["ports"][0]["containerPort"] == values["port"], each


def test_the_transfer_document_is_the_configuration_that_was_meant(parsed: Parsed) -> None:
    for each in matrix(ENGINE):
        found, meant = parsed.values(each)["kv_transfer_config"], transfer(each)
        assert given(found, meant) == meant, each
        assert found is None or found[""] == "KVTransferConfig"


def test_the_events_document_is_the_configuration_that_was_meant(parsed: Parsed) -> None:
    for each in matrix(ENGINE):
        publishes = each.router == "llm-d-router" and each.kind in ("Server", "Prefill") and not each.ascend
        assert parsed.values(each)["kv_events_config"] == (EVENTS if publishes else None), each


def test_the_encoder_document_is_the_configuration_that_was_meant(parsed: Parsed) -> None:
    for each in matrix(ENGINE):
        found, meant = parsed.values(each)["ec_transfer_config"], encoder(each)
        assert given(found, meant) == meant, each
        assert parsed.values(each)["mm_encoder_only"] is (each.kind == "Encode"), each


def test_the_cache_has_the_stores_data_type_and_else_the_engines_own(parsed: Parsed) -> None:
    for each in matrix(ENGINE):
        attached = each.cache and each.kind != "Encode"
        assert parsed.values(each)["kv_cache_dtype"] == ("bfloat16" if attached else "auto"), each


def test_weights_of_every_source_are_named_where_they_are_and_served_under_the_models_name(parsed: Parsed) -> None:
    lines = weights(ENGINE)
    assert set(lines) == set(WEIGHTS)
    for source, (where, revision) in WEIGHTS.items():
        values = parsed.accepted(lines[source])
        assert (values["model_tag"], values["revision"]) == (where, revision), source
        assert values["served_model_name"] == ["qwen-72b"], source
        assert set(values["kv_transfer_config"]["kv_connector_extra_config"]) == {"cache_prefix"}, source


@pytest.mark.parametrize("line", NOT_OURS, ids=lambda line: " ".join(line[3:]))
def test_a_line_that_says_something_else_is_refused(parsed: Parsed, line: list[str]) -> None:
    assert parsed.answers[tuple(line)].get("refused"), json.dumps(parsed.answers[tuple(line)])[:400]


def test_the_table_of_flags_is_the_parsers_own(parsed: Parsed) -> None:
    assert parsed.arities == kept("vllm")


def test_where_the_program_is_not_installed_its_table_still_has_every_flag() -> None:
    lines = dict.fromkeys([*(tuple(each.argv) for each in matrix(ENGINE)), *weights(ENGINE).values()])
    assert {line: found for line in lines if (found := strangers("vllm", line, start=3))} == {}
    assert strangers("vllm", ["vllm", "serve", OURS, "--frob", "--port", "8000"], start=3) == ["--frob"]
