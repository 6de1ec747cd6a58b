import pytest
from modeldeployment.render import ENGINES
from modeldeployment.render.flags import Given

VLLM, SGLANG = (ENGINES[name].flags for name in ENGINES)


@pytest.mark.parametrize(
    ("spelling", "on_vllm", "on_sglang"),
    [
        ("--port", "--port", "--port"),
        ("--por", "--port", "--port"),
        ("--po", None, "--port"),
        ("--ho", "--host", "--host"),
        ("--ssl-certf", "--ssl-certfile", "--ssl-certfile"),
        ("--ssl-cert", None, "--ssl-certfile"),
        ("--ssl-ce", None, "--ssl-certfile"),
        ("--ssl_certfile", "--ssl-certfile", None),
        ("--ssl-cert-reqs", "--ssl-cert-reqs", None),
        ("--ssl-keyfile", "--ssl-keyfile", "--ssl-keyfile"),
        ("--portal", None, None),
        ("--", None, None),
        ("-p", None, None),
        ("port", None, None),
        ("", None, None),
    ],
)
def test_a_spelling_means_what_the_engines_parser_takes_it_for(
    spelling: str, on_vllm: str | None, on_sglang: str | None
) -> None:
    assert (VLLM.resolve(spelling), SGLANG.resolve(spelling)) == (on_vllm, on_sglang)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["--port", "1"], [Given("--port", "1")]),
        (["--port=1"], [Given("--port", "1")]),
        (["--port="], [Given("--port", "")]),
        (["--port"], [Given("--port", None)]),
        (["--port", "--host"], [Given("--port", None)]),
        (["--port", "-1"], [Given("--port", "-1")]),
        (["--port", "-.5"], [Given("--port", "-.5")]),
        (["--port", "-x"], [Given("--port", None)]),
        (["--port", ""], [Given("--port", "")]),
        (["--port", "1", "--por=2"], [Given("--port", "1"), Given("--port", "2")]),
        (["serve", "--", "--port", "1"], []),
    ],
)
def test_a_command_line_is_read_left_to_right(arguments: list[str], found: list[Given]) -> None:
    assert list(VLLM.find(arguments, {"--port"})) == found


def test_an_engines_owned_and_listen_flags_are_flags_it_has() -> None:
    for engine in ENGINES.values():
        for flag in (*engine.owned_arguments, *engine.listen.all()):
            assert flag in engine.flags.spellings
