"""SGLang's own parser reads every command line rendered for it, and reads in it what was meant."""

import json
from typing import Any, Final

import pytest
from conformance_matrix import Rendered, matrix, weights
from conformance_parsing import OURS, WEIGHTS, Parsed, kept, parse, strangers
from modeldeployment.lab.pytest_plugin import ObtainProgram

ENGINE: Final = "SGLang"
STARTS: Final = ["python3", "-m", "sglang.launch_server", "--model-path", OURS]
NOT_OURS: Final = (
    [*STARTS, "--disaggregation-kind", "prefill"],
    [*STARTS, "--disaggregation-mode", "producer"],
    [*STARTS, "--disaggregation-transfer-backend", "mooncake_udp"],
    [*STARTS, "--hicache-storage-backend", "mooncakes"],
    [*STARTS, "--encoder-transfer-backend", "zmq"],
    [*STARTS, "--kv-cache-dtype", "fp8"],
    [*STARTS, "--port", "http"],
    [*STARTS, "--", "--host", "0.0.0.0", "--port", "8000"],
)


@pytest.fixture(scope="module")
def parsed(program: ObtainProgram, tmp_path_factory: pytest.TempPathFactory) -> Parsed:
    folder = tmp_path_factory.mktemp("sglang")
    return parse(
        program("sglang"), [*(each.argv for each in matrix(ENGINE)), *weights(ENGINE).values(), *NOT_OURS], folder
    )


def split(each: Rendered) -> bool:
    """Whether it is one half of a pair that hands blocks over."""
    return each.kinds.endswith("pair") and each.kind != "Encode" and (each.router is not None or each.cache)


def attached(each: Rendered) -> bool:
    return each.cache and each.kind != "Encode"


def test_the_matrix_is_whole() -> None:
    assert {(each.kind, each.cache, each.router) for each in matrix(ENGINE) if not each.kinds.startswith("encode")} == {
        (kind, cache, router)
        for kind in ("Server", "Prefill", "Decode")
        for cache in (False, True)
        for router in (None, "llm-d-router", "sglang-gateway")
    }
    assert {each.kind for each in matrix(ENGINE) if each.kinds == "encode-pair"} == {"Encode", "Prefill", "Decode"}


def test_every_line_serves_the_model_where_its_probes_and_services_look(parsed: Parsed) -> None:
    for each in matrix(ENGINE):
        values = parsed.values(each)
        assert (values["model_path"], values["host"], values["enable_metrics"]) == (OURS, "0.0.0.0", True), each
        behind_proxy = each.router == "llm-d-router" and each.kind == "Decode"
        assert values["port"] == (8200 if behind_proxy else 8000), each
        assert each.container["ports"][0]["containerPort"] == values["port"], each


def test_a_half_knows_which_it_is_and_how_blocks_are_handed_over(parsed: Parsed) -> None:
    for each in matrix(ENGINE):
        values = parsed.values(each)
        mode = {"Prefill": "prefill", "Decode": "decode"}[each.kind] if split(each) else "null"
        assert values["disaggregation_mode"] == mode, each
        assert values["disaggregation_bootstrap_port"] == 8998, each
        over_tcp = each.protocol is None and not (each.cache and each.ascend)
        backend = "mooncake_tcp" if split(each) and over_tcp else "mooncake"
        assert values["disaggregation_transfer_backend"] == backend, each
        backup = "cpu_tensor" if mode == "decode" else None
        assert values["disaggregation_decode_retraction_backup"] == backup, each


def test_a_store_is_read_through_the_hierarchy_but_by_a_decode_half(parsed: Parsed) -> None:
    for each in matrix(ENGINE):
        values = parsed.values(each)
        assert values["hicache_storage_backend"] == ("mooncake" if attached(each) else None), each
        half = each.kind == "Decode" and each.kinds.endswith("pair")
        assert values["enable_hierarchical_cache"] is (attached(each) and not half), each
        assert values["kv_cache_dtype"] == ("bfloat16" if attached(each) else "auto"), each
        assert values["hicache_storage_backend_extra_config"] is None, each


def test_media_is_encoded_by_the_encode_role_and_handed_to_the_prefill_half(parsed: Parsed) -> None:
    for each in matrix(ENGINE):
        values = parsed.values(each)
        encode = each.kinds.startswith("encode")
        assert values["encoder_only"] is (each.kind == "Encode"), each
        receives = encode and each.kind == "Prefill"
        assert values["language_only"] is receives, each
        assert values["encoder_urls"] == (["http://qwen-encode:8000"] if receives else []), each


def test_weights_of_every_source_are_named_where_they_are_and_served_under_the_models_name(parsed: Parsed) -> None:
    lines = weights(ENGINE)
    assert set(lines) == set(WEIGHTS)
    for source, (where, revision) in WEIGHTS.items():
        values = parsed.accepted(lines[source])
        assert (values["model_path"], values["revision"]) == (where, revision), source
        assert values["served_model_name"] == "qwen-72b", source
        assert set(json.loads(values["hicache_storage_backend_extra_config"])) == {"extra_backend_tag"}, source


@pytest.mark.parametrize("line", NOT_OURS, ids=lambda line: " ".join(line[5:]))
def test_a_line_that_says_something_else_is_refused(parsed: Parsed, line: list[str]) -> None:
    answer: dict[str, Any] = parsed.answers[tuple(line)]
    assert answer.get("refused")


def test_the_table_of_flags_is_the_parsers_own(parsed: Parsed) -> None:
    assert parsed.arities == kept("sglang")


def test_where_the_program_is_not_installed_its_table_still_has_every_flag() -> None:
    lines = dict.fromkeys([*(tuple(each.argv) for each in matrix(ENGINE)), *weights(ENGINE).values()])
    assert {line: found for line in lines if (found := strangers("sglang", line, start=3))} == {}
    assert strangers("sglang", [*STARTS, "--port", "8000", "9000"], start=3) == ["--port"]
