from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.api.choices import EngineName
from modeldeployment.render import DTYPE_FLAG, ENGINES, Engine

VLLM, SGLANG = ENGINES[EngineName.VLLM], ENGINES[EngineName.SGLANG]
ENGINE_IDS: Final = st.sampled_from([VLLM, SGLANG])


def every_key(engine: Engine) -> tuple[str, ...]:
    conditional = (DTYPE_FLAG, *engine.artifact_arguments, *engine.encode_arguments, *engine.embeds_arguments)
    return (*engine.owned_arguments, *conditional)


@pytest.mark.parametrize(
    ("argument", "owned"),
    [
        ("--kv-transfer-config", "--kv-transfer-config"),
        ('--kv-transfer-config={"a":1}', "--kv-transfer-config"),
        ("--kv-transfer-conf", "--kv-transfer-config"),
        ("--kv_transfer_config", "--kv-transfer-config"),
        ("--kv_transfer-config={}", "--kv-transfer-config"),
        ("--kv-transfer-config.kv_role", "--kv-transfer-config"),
        ("--kv_transfer_conf.kv_role.x=1", "--kv-transfer-config"),
        ("--kv-transfer-config.=", "--kv-transfer-config"),
        ("--kv-e", "--kv-events-config"),
        ("--k", "--kv-transfer-config"),
        ("--kv-", "--kv-transfer-config"),
        ("--kv-transfer-configs", None),
        ("--kv-transfer-config-2", None),
        ("--max-model-len=32768", None),
        ("--hicache-storage-backend", None),
        ("--kv-cache-dtype", None),
        ("--port", None),
        ("--", None),
        ("--=x", None),
        ("--.kv", None),
        ("--_", None),
        ("-k", None),
        ("-_kv-transfer-config", None),
        ("__kv_transfer_config", None),
        ("kv-transfer-config", None),
        ("—kv-transfer-config", None),
        ("--KV-transfer-config", None),
        ("--kv-transfer-config\u200b", None),
        (" --kv-transfer-config", None),
        ("", None),
    ],
)
def test_vllm_is_read_as_vllm_reads_it(argument: str, owned: str | None) -> None:
    assert VLLM.owns(argument) == owned


@pytest.mark.parametrize(
    ("argument", "owned"),
    [
        ("--hicache-storage-backend", "--hicache-storage-backend"),
        ("--hicache-storage-backend=mooncake", "--hicache-storage-backend"),
        ("--hicache-storage-backend-extra-config", "--hicache-storage-backend-extra-config"),
        ("--hicache-storage-backend-e", "--hicache-storage-backend-extra-config"),
        ("--hicache-storage-back", "--hicache-storage-backend"),
        ("--hicache-storage-prefetch-policy", None),
        ("--disaggregation-mo", "--disaggregation-mode"),
        ("--disaggregation", "--disaggregation-mode"),
        ("--disaggregation-b=1", "--disaggregation-bootstrap-port"),
        ("--disaggregation-ib-device", None),
        ("--disaggregation_mode", None),
        ("--disaggregation-mode.x", None),
        ("--kv-transfer-config", None),
        ("--", None),
    ],
)
def test_sglang_knows_no_underscores_and_no_dots(argument: str, owned: str | None) -> None:
    assert SGLANG.owns(argument) == owned


@pytest.mark.parametrize(
    ("engine", "argument", "owned"),
    [
        (VLLM, "--kv-cache-dtype", DTYPE_FLAG),
        (VLLM, "--kv_cache_dtype=fp8", DTYPE_FLAG),
        (VLLM, "--kv-cache-dt=fp8", DTYPE_FLAG),
        (VLLM, "--kv-", DTYPE_FLAG),
        (VLLM, "--kv-cache-dtype-skip-layers", None),
        (VLLM, "--kv-cache-dtype-s", None),
        (VLLM, "--kv-transfer-config", None),
        (SGLANG, "--kv-cache-dtype=fp8_e4m3", DTYPE_FLAG),
        (SGLANG, "--kv_cache_dtype", None),
    ],
)
def test_the_dtype_flag_is_its_own_set(engine: Engine, argument: str, owned: str | None) -> None:
    assert engine.owns(argument, (DTYPE_FLAG,)) == owned
    assert engine.owns("--kv-cache-dtype") is None


@pytest.mark.parametrize(
    ("engine", "argument", "owned"),
    [
        (VLLM, "--model=/x", "--model"),
        (VLLM, "--mode", "--model"),
        (VLLM, "--model-impl", None),
        (VLLM, "--revision", "--revision"),
        (VLLM, "--tokenizer_rev=v2", "--tokenizer-revision"),
        (VLLM, "--tokenizer", None),
        (VLLM, "--download-dir", "--download-dir"),
        (SGLANG, "--model-path", "--model-path"),
        (SGLANG, "--model", "--model-path"),
        (SGLANG, "--model-p", "--model-path"),
        (SGLANG, "--tokenizer-revision", None),
        (SGLANG, "--download", "--download-dir"),
    ],
)
def test_what_an_artifact_brings_is_owned_under_every_alias(engine: Engine, argument: str, owned: str | None) -> None:
    assert engine.owns(argument, engine.artifact_arguments) == owned
    assert engine.owns(argument) is None


@pytest.mark.parametrize(
    ("engine", "argument", "owned"),
    [
        (VLLM, "--ec-transfer-config", "--ec-transfer-config"),
        (VLLM, "--ec_transfer_config.ec_role=x", "--ec-transfer-config"),
        (VLLM, "--mm-encoder-only", "--mm-encoder-only"),
        (VLLM, "--no-mm-encoder-only", "--mm-encoder-only"),
        (VLLM, "--mm-encoder-tp-mode", None),
        (VLLM, "--enable-mm-embeds", None),
        (SGLANG, "--encoder-urls", "--encoder-urls"),
        (SGLANG, "--language-o", "--language-only"),
        (SGLANG, "--language-model-only", None),
        (SGLANG, "--encoder-register-urls", "--encoder-register-urls"),
    ],
)
def test_what_an_encode_role_brings_is_owned_and_so_is_its_negation(
    engine: Engine, argument: str, owned: str | None
) -> None:
    assert engine.owns(argument, engine.encode_arguments) == owned


def test_embeddings_are_owned_only_where_the_router_makes_them() -> None:
    assert VLLM.owns("--no-enable-mm-embeds", VLLM.embeds_arguments) == "--enable-mm-embeds"
    assert SGLANG.embeds_arguments == ()


@pytest.mark.parametrize("engine", ENGINES.values(), ids=list(ENGINES))
def test_every_owned_argument_is_a_flag_the_engine_has(engine: Engine) -> None:
    assert [key for key in every_key(engine) if not engine.flags.same(key)] == []
    assert [key for key in every_key(engine) if engine.owns(key, (key,)) != key] == []


@pytest.mark.parametrize("engine", ENGINES.values(), ids=list(ENGINES))
def test_the_exact_spelling_of_another_flag_is_never_taken_for_an_abbreviation(engine: Engine) -> None:
    keys = every_key(engine)
    taken = {spelling: engine.owns(spelling, keys) for spelling in engine.flags.spellings}
    owned = {spelling: key for spelling, key in taken.items() if key}
    assert owned == {spelling: key for key in keys for spelling in engine.flags.same(key)}


@pytest.mark.parametrize("engine", ENGINES.values(), ids=list(ENGINES))
def test_any_prefix_of_an_owned_argument_is_owned_unless_it_is_another_flag(engine: Engine) -> None:
    keys = every_key(engine)
    for key in keys:
        for end in range(3, len(key) + 1):
            said = key[:end]
            another = bool(engine.flags.same(said)) and key not in engine.flags.same(said)
            assert engine.owns(said, (key,)) == (None if another else key)


@given(ENGINE_IDS, st.text(), st.integers(0, 60), st.text())
def test_no_argument_is_too_odd_and_what_is_owned_begins_as_its_key(
    engine: Engine, text: str, cut: int, tail: str
) -> None:
    keys = every_key(engine)
    for argument in (text, "--" + text, keys[cut % len(keys)][:cut] + tail):
        key = engine.owns(argument, keys)
        stem = engine.flags.stem(argument)
        assert key is None or any(spelling.startswith(stem) for spelling in engine.flags.same(key))
        assert engine.owns(argument, ()) is None


def test_a_long_argument_and_a_long_line_are_read() -> None:
    assert VLLM.owns("--kv" + "_transfer_config" + "x" * 1_000_000) is None
    assert VLLM.owns("--kv_transfer_config=" + "x" * 1_000_000) == "--kv-transfer-config"
    line = ["--max-model-len=1", "x", "--kv-e"] * 10_000
    assert sum(VLLM.owns(argument) is not None for argument in line) == 10_000


def test_the_owned_environment_of_an_artifact_differs_by_one_name() -> None:
    assert VLLM.artifact_environment - SGLANG.artifact_environment == {"VLLM_USE_MODELSCOPE"}
    assert SGLANG.artifact_environment - VLLM.artifact_environment == {"SGLANG_USE_MODELSCOPE"}
    assert VLLM.artifact_environment & SGLANG.artifact_environment == {
        "HF_TOKEN",
        "HF_ENDPOINT",
        "HF_HOME",
        "MODELSCOPE_API_TOKEN",
        "MODELSCOPE_DOMAIN",
        "MODELSCOPE_CACHE",
    }
