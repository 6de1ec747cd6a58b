import pytest
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.api.choices import EngineName
from modeldeployment.render import ENGINES, Engine
from render_counting import Counted

VLLM, SGLANG = ENGINES[EngineName.VLLM], ENGINES[EngineName.SGLANG]
Names = tuple[str, ...] | None


@pytest.mark.parametrize(
    ("arguments", "on_vllm", "on_sglang"),
    [
        ([], None, None),
        (["--max-model-len=1", "m"], None, None),
        (["--served-model-name", "m"], ("m",), ("m",)),
        (["--served-model-name=m"], ("m",), ("m",)),
        (["--served-model-name="], ("",), ("",)),
        (["--served-model-name"], (), ()),
        (["--served-model-name", "--port", "1"], (), ()),
        (["--served-model-name", "m", "n", "--port", "1"], ("m", "n"), ("m",)),
        (["--served-model-name=m", "n"], ("m",), ("m",)),
        (["--served-model-name", "m", "--served-model-name=n"], ("m", "n"), ("m", "n")),
        (["--served", "m"], ("m",), ("m",)),
        (["--served_model_name=m"], ("m",), None),
        (["--served-model-name", "", "-1", "-x"], ("", "-1"), ("",)),
        (["--served-model-names", "m"], None, None),
        (["--", "--served-model-name", "m"], None, None),
        (["--served-model-name", "m", "--", "n"], ("m",), ("m",)),
    ],
)
def test_the_names_are_what_the_engine_takes_for_them(arguments: list[str], on_vllm: Names, on_sglang: Names) -> None:
    assert (VLLM.served_names(arguments), SGLANG.served_names(arguments)) == (on_vllm, on_sglang)


@given(st.sampled_from([VLLM, SGLANG]), st.lists(st.text() | st.sampled_from(["--served-model-name", "--served=a"])))
def test_every_name_comes_from_the_line(engine: Engine, arguments: list[str]) -> None:
    for name in engine.served_names(arguments) or ():
        assert any(argument == name or argument.endswith(f"={name}") for argument in arguments)


@pytest.mark.parametrize("word", ["--served-model-name", "--served=m", "m", "-x"])
def test_a_long_line_of_names_is_walked_once(word: str) -> None:
    arguments = Counted(["--served-model-name", "m", "n", word] * 2500)
    names = VLLM.served_names(arguments)
    assert names is not None
    assert len(names) >= 5000
    assert arguments.looks <= 3 * len(arguments)


def test_as_many_names_as_are_given_are_collected() -> None:
    names = tuple(f"m{number}" for number in range(10_000))
    assert VLLM.served_names(("--served-model-name", *names)) == names
