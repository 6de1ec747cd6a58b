import pytest
from render_worlds import main, one_pod

MODEL = "Qwen/Qwen2.5-72B-Instruct"
VLLM = ["vllm", "serve", MODEL]
SGLANG = ["python3", "-m", "sglang.launch_server", "--model-path", MODEL, "--enable-metrics"]
HOST = ["--host", "0.0.0.0"]


@pytest.mark.parametrize(
    ("engine", "extra", "argv"),
    [
        pytest.param("vLLM", [], [*VLLM, *HOST, "--port", "8000"], id="A1"),
        pytest.param("SGLang", [], [*SGLANG, *HOST, "--port", "8000"], id="A2"),
        pytest.param("vLLM", ["--port", "9100"], [*VLLM, "--port", "9100", *HOST], id="A4"),
        pytest.param("SGLang", ["--host=127.0.0.1"], [*SGLANG, "--host=127.0.0.1", "--port", "8000"], id="A5"),
        pytest.param("vLLM", ["--por", "9100"], [*VLLM, "--por", "9100", *HOST], id="A7"),
        pytest.param("SGLang", ["--ho=127.0.0.1"], [*SGLANG, "--ho=127.0.0.1", "--port", "8000"], id="A8"),
        pytest.param(
            "vLLM", ["--pooler-config", "{}"], [*VLLM, "--pooler-config", "{}", *HOST, "--port", "8000"], id="A9"
        ),
        pytest.param(
            "vLLM", ["--po", "9100"], [*VLLM, "--po", "9100", *HOST, "--port", "8000"], id="ambiguous-on-vLLM"
        ),
        pytest.param("vLLM", ["--", "--port", "1"], [*VLLM, "--", "--port", "1", *HOST, "--port", "8000"], id="dashes"),
    ],
)
def test_the_whole_command_line_is_in_command(engine: str, extra: list[str], argv: list[str]) -> None:
    container = main(one_pod(engine, extraArgs=extra))
    assert container["command"] == argv
    assert "args" not in container


def test_a6_a_taken_over_role_runs_its_own_command_and_nothing_of_ours() -> None:
    pod = one_pod(command=["/bin/my-server", "--flag"], extraArgs=["--max-model-len=32768"])
    container = main(pod)
    assert container["command"] == ["/bin/my-server", "--flag"]
    assert not {"startupProbe", "readinessProbe", "livenessProbe", "lifecycle", "env", "volumeMounts"} & set(container)
    assert "volumes" not in pod["spec"]
    assert "terminationGracePeriodSeconds" not in pod["spec"]
    assert not [key for key in pod["metadata"]["annotations"] if key.startswith("prometheus.io/")]


def test_a_taken_over_role_keeps_the_grace_it_states() -> None:
    pod = one_pod(command=["/bin/my-server"], terminationGracePeriodSeconds=90)
    assert pod["spec"]["terminationGracePeriodSeconds"] == 90


def test_arguments_that_look_like_pod_syntax_stay_as_the_user_wrote_them() -> None:
    assert main(one_pod(extraArgs=["--name", "$(HOSTNAME)"]))["command"][3:5] == ["--name", "$(HOSTNAME)"]
