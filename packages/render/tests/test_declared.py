"""What status says of the parallelism a role declares (facts status §5), read off a rendering."""

from typing import Any

import pytest
from modeldeployment.api.choices import EngineName
from modeldeployment.api.rolestatus import DeclaredDegrees, LoadBalance, Parallelism, SourceKind
from modeldeployment.render import ENGINES, Degree
from modeldeployment.render.parallelism import DegreeFlag
from render_worlds import one_role

READ = {"kind": "ExtraArgs", "complete": True}


def said(line: str | list[str], engine: str = "vLLM", **fields: Any) -> dict[str, Any]:
    arguments = line.split() if isinstance(line, str) else line
    return dict(one_role(engine, extraArgs=arguments, **fields).parallelism)


def declared(line: str | list[str], engine: str = "vLLM", **fields: Any) -> Any:
    found = said(line, engine, **fields)
    assert found["source"] == READ
    return found["declared"]


def unreadable(line: str | list[str], engine: str = "vLLM", **fields: Any) -> str:
    """Answer the reason, the rest being what status says of everything that cannot be read."""
    found = said(line, engine, **fields)
    reason: str = found["source"].pop("unreadableReason")
    assert found == {"declared": {}, "loadBalance": "Unknown", "source": {"kind": "Unknown", "complete": False}}
    return reason


def variable(value: str) -> dict[str, Any]:
    return {"env": [{"name": "VLLM_DP_SIZE", "value": value}]}


def test_a_role_that_says_nothing_declares_nothing() -> None:
    for engine in ("vLLM", "SGLang"):
        assert said("--max-running 4 x", engine) == {"declared": {}, "loadBalance": "Internal", "source": READ}


@pytest.mark.parametrize(
    ("engine", "line", "degrees"),
    [
        ("vLLM", "--tensor-parallel-size 2", {"tensorParallel": 2}),
        ("vLLM", "-tp=2 -pp 3", {"tensorParallel": 2, "pipelineParallel": 3}),
        ("vLLM", "--data-parallel-size 4", {"dataParallel": 4}),
        ("vLLM", "-dp 4 -dpl 2", {"dataParallel": 4, "dataParallelLocal": 2}),
        ("vLLM", "--prefill-context-parallel-size=2", {"prefillContextParallel": 2}),
        ("vLLM", "--decode-context-parallel-size 2", {"decodeContextParallel": 2}),
        ("SGLang", "--tp 8 --pp-size=2 --dp-size 4", {"tensorParallel": 8, "pipelineParallel": 2, "dataParallel": 4}),
        ("SGLang", "--ep 8", {"expertParallel": 8}),
        ("SGLang", "--decode-context-parallel-size 2", {"decodeContextParallel": 2}),
        ("SGLang", "--attention-context-parallel-size 2", {"attentionContextParallel": 2}),
        ("SGLang", "--moe-dp-size 2 --dwdp-size 4", {"moeDpSize": 2, "dwdpSize": 4}),
        ("SGLang", "--moe-data-parallel-size=4", {"moeDpSize": 4}),
        ("vLLM", "--tensor_parallel_size 2", {"tensorParallel": 2}),
        ("vLLM", "--tensor 2 --pipe=3", {"tensorParallel": 2, "pipelineParallel": 3}),
        ("SGLang", "--tensor_parallel_size 2", {}),
        ("SGLang", "--pipeline 3", {"pipelineParallel": 3}),
        ("vLLM", "-tp 2 --tensor-parallel-size 4", {"tensorParallel": 4}),
        ("SGLang", "--tp-size 2 --tensor-parallel-size=8", {"tensorParallel": 8}),
        ("vLLM", "-tp 2 -- -tp 4 -pp two", {"tensorParallel": 2}),
        ("SGLang", "-- --tp-size 4", {}),
        ("vLLM", "-tp 1 -pp 1 -dp 1", {"tensorParallel": 1, "pipelineParallel": 1, "dataParallel": 1}),
        ("vLLM", "-dp 2 -dpl 0", {"dataParallel": 2, "dataParallelLocal": 0}),
        ("SGLang", "--tp-size 1", {"tensorParallel": 1}),
    ],
)
def test_degrees_are_declared_where_the_engine_itself_reads_them(
    engine: str, line: str, degrees: dict[str, int]
) -> None:
    assert declared(line, engine) == degrees


@pytest.mark.parametrize("engine", ENGINES)
def test_every_spelling_of_every_degree_is_declared_under_its_name(engine: EngineName) -> None:
    for flag in ENGINES[engine].degrees.flags:
        if isinstance(flag, DegreeFlag):
            for spelling in flag.spellings:
                expected = {flag.degree.value: 2}
                assert declared([spelling, "2"], engine) == declared([f"{spelling}=2"], engine) == expected


def test_degrees_shapes_and_sources_have_the_names_of_the_status() -> None:
    degrees = {field.alias for field in DeclaredDegrees.model_fields.values()}
    assert degrees == set(map(str, Degree))
    shapes, kinds = set(), set()
    lines = ("", "-dpn 0", "-dph", "-dpm", "-tp 2 -ep", "-tp two", "-dpe -dph")
    for line in lines:
        document = Parallelism.model_validate(said(line))
        assert document.model_dump(mode="json", by_alias=True, exclude_none=True) == said(line)
        shapes.add(document.load_balance)
        kinds.add(document.source.kind)
    assert shapes == set(LoadBalance)
    assert kinds == {SourceKind.EXTRA_ARGS, SourceKind.UNKNOWN}


@pytest.mark.parametrize(
    ("engine", "line", "modes"),
    [
        ("vLLM", "-ep", {"expertParallel": True}),
        ("vLLM", "--no-enable-expert-parallel", {"expertParallel": False}),
        ("vLLM", "-ep --no-enable-expert-parallel", {"expertParallel": False}),
        ("SGLang", "--enable-dp-attention", {"dpAttention": True}),
        ("SGLang", "--enable-prefill-cp", {"prefillContextParallel": True}),
    ],
)
def test_a_mode_is_said_where_the_arguments_switch_it(engine: str, line: str, modes: dict[str, bool]) -> None:
    assert said(line, engine)["modes"] == modes


def test_a_mode_nobody_switches_is_not_said_to_be_off() -> None:
    assert "modes" not in said("-tp 2")


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("-dp 4", "Internal"),
        ("-dp 4 --data-parallel-rank 0", "External"),
        ("-dp 4 --data-parallel-external-lb", "External"),
        ("-dp 4 -dph", "Hybrid"),
        ("-dp 4 --data-parallel-multi-port-external-lb", "MultiPort"),
        ("-dph --no-data-parallel-hybrid-lb", "Internal"),
    ],
)
def test_the_shape_of_load_balancing_is_what_the_flags_ask_for(line: str, shape: str) -> None:
    found = said(line)
    assert (found["loadBalance"], found["source"]) == (shape, READ)


def test_flags_that_contradict_each_other_are_named_and_the_degrees_still_said() -> None:
    assert said("-dp 4 -dpe -dph") == {
        "declared": {"dataParallel": 4},
        "loadBalance": "Unknown",
        "source": {
            "kind": "ExtraArgs",
            "complete": False,
            "unreadableReason": "--data-parallel-external-lb and --data-parallel-hybrid-lb "
            "describe different shapes of load balancing",
        },
    }


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (["-tp", "two"], "--tensor-parallel-size 'two' is not an integer"),
        (["-tp", "two", "-tp", "2"], "--tensor-parallel-size 'two' is not an integer"),
        (["-tp"], "--tensor-parallel-size has no value"),
        (["-pp", "0"], "--pipeline-parallel-size '0' is below 1"),
        (["-dpl=-1"], "--data-parallel-size-local '-1' is below 0"),
        (["-tp2"], "--tensor-parallel-size '-tp2' carries a glued value: no engine reads it behind -t"),
        (["-tp", "9" * 99], f"--tensor-parallel-size '{'9' * 63}…' is out of range: at most 2147483647"),
    ],
)
def test_a_line_that_cannot_be_read_is_unknown_and_names_flag_and_value(line: list[str], reason: str) -> None:
    assert unreadable(line) == reason


@pytest.mark.parametrize(
    ("line", "value", "degrees"),
    [
        ("", "4", {"dataParallel": 4}),
        ("-tp 2 -dp 1", "4", {"tensorParallel": 2, "dataParallel": 4}),
        ("", "1", {"dataParallel": 1}),
        ("-dp 2", "4", {"dataParallel": 2}),
        ("-dp 2", "four", {"dataParallel": 2}),
        ("-dpl 0", "4", {"dataParallelLocal": 0}),
    ],
)
def test_the_variable_counts_where_vllm_looks_at_it(line: str, value: str, degrees: dict[str, int]) -> None:
    assert declared(line, **variable(value)) == degrees


def test_a_variable_that_cannot_be_read_is_unknown_and_sglang_does_not_look_at_it() -> None:
    assert unreadable("", **variable("four")) == "VLLM_DP_SIZE 'four' is not an integer"
    assert declared("", "SGLang", **variable("four")) == {}


def test_a_role_with_its_own_command_is_unmanaged() -> None:
    own = said("", command=["vllm", "serve", "m", "-tp", "2"])
    assert own == {
        "declared": {},
        "loadBalance": "Unknown",
        "source": {"kind": "Unknown", "complete": False, "unreadableReason": "Unmanaged"},
    }


def test_the_declared_parallelism_is_read_once_a_rendering() -> None:
    role = one_role("vLLM", extraArgs=["--tensor-parallel-size=2"])
    assert role.parallelism is role.parallelism
    assert role == one_role("vLLM", extraArgs=["--tensor-parallel-size=2"])
