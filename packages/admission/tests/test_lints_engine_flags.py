"""Warnings about engine arguments, variables, and roles that took the command line over."""

import pytest
from lint_worlds import cautions, role, warned
from modeldeployment.admission.examples import GONE, Change
from modeldeployment.admission.facts import Actor
from modeldeployment.api import keys

COMMAND: Change = {"spec.kvCache": GONE, "spec.roles[0].command": ["vllm", "serve", "m"]}


def arguments(*given: str) -> Change:
    return {"spec.roles[0].extraArgs": list(given)}


def test_a_moved_port_says_where_callers_still_look() -> None:
    (caution,) = cautions(arguments("--por=9000"))
    assert (caution.code, caution.value) == ("MDW11", "9000")
    assert "9000" in caution.why
    assert "8000" in caution.why
    assert caution.patch == ({"op": "add", "path": "/spec/roles/0/ports", "value": [{"port": 9000}]},)


def test_what_ends_the_options_is_told_where_it_stands() -> None:
    (caution,) = cautions(arguments("--max-model-len=1", "--", "more"))
    assert (caution.code, caution.field) == ("MDW28", "spec.roles[0].extraArgs[1]")
    assert caution.patch == ({"op": "remove", "path": "/spec/roles/0/extraArgs/1"},)


def test_arguments_that_nobody_reads_end_nothing() -> None:
    assert "MDW28" not in [code for code, _ in warned({**COMMAND, **arguments("--")})]


def test_a_port_that_cannot_be_read_leaves_probes_and_drain_at_the_default() -> None:
    (caution,) = cautions(arguments("--port", "$(PORT)"))
    assert caution.code == "MDW11"
    assert "probes and drain ask 8000" in caution.why
    assert caution.patch == ()


def test_spelling_out_the_default_port_moves_nothing() -> None:
    assert warned(arguments("--port", "8000")) == []


def test_a_decoder_behind_the_proxy_chooses_its_own_port() -> None:
    counted = ["--enable-scale-out"]
    pair = {
        "spec.kvCache": GONE,
        "spec.router": {"name": "llm-d-router"},
        "spec.roles": [role("Prefill", extraArgs=counted), role("Decode", extraArgs=[*counted, "--port=8300"])],
    }
    assert warned(pair) == []


def test_a_host_of_its_own_costs_the_probes_whatever_it_is() -> None:
    assert warned(arguments("--host=0.0.0.0")) == [("MDW12", "spec.roles[0].extraArgs")]


@pytest.mark.parametrize("flag", ["--api-key", "--api_key", "--api-ke"])
def test_a_key_is_seen_in_every_spelling(flag: str) -> None:
    assert warned(arguments(f"{flag}=k")) == [("MDW13", "spec.roles[0].extraArgs")]


def test_a_key_in_the_environment_is_named_at_its_entry() -> None:
    entries = [{"name": "A", "value": "b"}, {"name": "VLLM_API_KEY", "value": "k"}]
    (caution,) = cautions({"spec.roles[0].env": entries})
    assert (caution.code, caution.field) == ("MDW13", "spec.roles[0].env[1]")


def test_no_warning_repeats_a_key() -> None:
    for changes in (
        arguments("--api-key=hunter2"),
        {"spec.roles[0].env": [{"name": "VLLM_API_KEY", "value": "hunter2"}]},
    ):
        (caution,) = cautions(changes)
        assert "hunter2" not in f"{caution.value} {caution.why} {caution.way_out}"


def test_a_key_on_a_decoder_behind_llm_d_router_keeps_it_from_becoming_ready() -> None:
    counted = ["--enable-scale-out"]
    pair = {
        "spec.kvCache": GONE,
        "spec.router": {"name": "llm-d-router"},
        "spec.roles": [role("Prefill", extraArgs=counted), role("Decode", extraArgs=[*counted, "--api-key=k"])],
    }
    (caution,) = cautions(pair)
    assert caution.field == "spec.roles[1].extraArgs"
    assert "never becomes Ready" in caution.why


def test_an_sglang_key_matters_behind_a_router() -> None:
    sglang = {"spec.engine": {"name": "SGLang", "version": "0.5.18"}, **arguments("--api-key=k")}
    assert warned(sglang) == []
    assert warned({**sglang, "spec.router": {"name": "sglang-gateway"}}) == [("MDW13", "spec.roles[0].extraArgs")]


@pytest.mark.parametrize(
    ("given", "field", "where"),
    [
        (["--config=/etc/vllm.yaml"], "spec.roles[0].extraArgs", "the file of --config"),
        (["--max-model-len=1", "$(FLAGS)"], "spec.roles[0].extraArgs[1]", "the variable $(FLAGS)"),
        (["${FLAGS}"], "spec.roles[0].extraArgs[0]", "the variable ${FLAGS}"),
        (['--additional-config={"oproj_tensor_parallel_size":8}'], "spec.roles[0].extraArgs", "--additional-config"),
    ],
)
def test_degrees_that_cannot_be_read_are_told_with_their_hiding_place(given: list[str], field: str, where: str) -> None:
    (caution,) = cautions(arguments(*given))
    assert (caution.code, caution.field) == ("MDW14", field)
    assert where in caution.why


@pytest.mark.parametrize(
    "given",
    [
        ["--config-format=hf"],
        ["--data-parallel-rank", "$(GPUSTACK_MEMBER_INDEX)"],
        ["$$HOME"],
        ["--additional-config={}"],
    ],
)
def test_arguments_that_hide_no_degree_are_let_be(given: list[str]) -> None:
    assert warned(arguments(*given)) == []


@pytest.mark.parametrize(
    ("command", "shell"),
    [
        (["sh", "-c", "vllm serve m"], True),
        (["/bin/bash", "-lc", "vllm serve m"], True),
        (["/opt/start.sh"], True),
        (["/usr/bin/vllm", "serve", "m"], False),
        (["python3", "-c", "print()"], False),
    ],
)
def test_a_command_that_starts_a_shell_hides_its_degrees(command: list[str], shell: bool) -> None:
    expected = [("MDW14", "spec.roles[0].command")] if shell else []
    assert warned({**COMMAND, "spec.roles[0].command": command}) == expected


def test_a_command_is_asked_nothing_a_managed_role_is_asked() -> None:
    command = ["vllm", "serve", "m", "--port=9000", "--host=::", "--api-key=k"]
    assert warned({**COMMAND, "spec.roles[0].command": command}) == []


def test_a_bound_role_with_a_command_is_told_and_an_unbound_one_is_not() -> None:
    bound = {
        **COMMAND,
        f"metadata.annotations[{keys.SCALER_BINDING}]": '{"scalerName":"qwen-72b","scalerUID":"u-1","term":1}',
    }
    assert warned(bound, bound, actor=Actor.OPERATOR) == [("MDW16", "spec.roles[0].command")]
    assert warned(COMMAND, COMMAND) == []


def test_inert_arguments_are_no_source_of_other_warnings() -> None:
    inert = {**COMMAND, **arguments("--api-key=k", "--config=x", "--host=::")}
    assert warned(inert) == [("MDW17", "spec.roles[0].extraArgs")]


def test_a_decoder_behind_the_proxy_keeps_its_probes() -> None:
    counted = ["--enable-scale-out"]
    pair = {
        "spec.kvCache": GONE,
        "spec.router": {"name": "llm-d-router"},
        "spec.roles": [role("Prefill", extraArgs=counted), role("Decode", extraArgs=[*counted, "--host=0.0.0.0"])],
    }
    assert warned(pair) == []
