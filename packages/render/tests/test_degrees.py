"""Rows E of facts rendering §14 and §6 of facts admission, sentence by sentence."""

import pytest
from modeldeployment.api.choices import EngineName
from modeldeployment.render import ENGINES, Degree, Degrees, LoadBalance, Unreadable, degrees

VLLM, SGLANG = EngineName.VLLM, EngineName.SGLANG
TP, PP, DP, DPL = Degree.TENSOR, Degree.PIPELINE, Degree.DATA, Degree.DATA_LOCAL
PCP, DCP = Degree.PREFILL_CONTEXT, Degree.DECODE_CONTEXT


def read(line: str | list[str], engine: EngineName = VLLM, **env: str) -> Degrees | Unreadable:
    return degrees.read(ENGINES[engine], line.split() if isinstance(line, str) else line, env)


def readable(line: str | list[str], engine: EngineName = VLLM, **env: str) -> Degrees:
    found = read(line, engine, **env)
    assert isinstance(found, Degrees), found
    return found


def unreadable(line: str | list[str], engine: EngineName = VLLM, **env: str) -> Unreadable:
    found = read(line, engine, **env)
    assert isinstance(found, Unreadable), found
    return found


def test_a_line_that_declares_nothing_is_one_of_everything() -> None:
    nothing = readable("serve m --max-model-len 4096")
    assert (dict(nothing.declared), dict(nothing.modes), nothing.wired, nothing.wiring) == ({}, {}, (), False)
    assert [nothing.value(degree) for degree in (TP, PP, DP, PCP, DCP, DPL)] == [1, 1, 1, 1, 1, 0]
    assert (nothing.load_balance, nothing.data_parallel, nothing.width) == (LoadBalance.INTERNAL, 1, 1)


@pytest.mark.parametrize(
    "line",
    [
        "--tensor-parallel-size 2",
        "--tensor-parallel-size=2",
        "--tensor_parallel_size 2",
        "--tensor-parallel_size=2",
        "-tp 2",
        "-tp=2",
        "-t 2",
        "--tensor-parallel 2",
        "--tensor_parallel 2",
        "--t 2",
    ],
)
def test_every_spelling_of_a_degree_is_read(line: str) -> None:
    assert readable(line).declared == {TP: 2}


@pytest.mark.parametrize(
    ("line", "declared"),
    [
        ("-pp 2 -pcp 3 -dcp 4", {PP: 2, PCP: 3, DCP: 4}),
        ("-pc 2", {PCP: 2}),
        ("-dp 2 -dpl 2", {DP: 2, DPL: 2}),
        ("--data-parallel-size 4 --data-parallel-size-local=1", {DP: 4, DPL: 1}),
        ("--data-parallel-size-l 2", {DPL: 2}),
        ("-tp 2 --tensor_parallel_size=3", {TP: 3}),
        ("--tensor-parallel-size 2 -- --tensor-parallel-size 4", {TP: 2}),
        ("-- -tp 2", {}),
        ("--data-parallel-size-local 0", {DPL: 0}),
        ("-tp 1", {TP: 1}),
        ("-dc {}", {}),
        ("-d 2", {}),
        ("-pc2", {}),
        ("--data-parallel 2", {}),
        ("--data-parallel-s 2", {}),
        ("--tensor-parallel-sizes 2", {}),
        ("--unknown -tp=2", {TP: 2}),
        ("tp 2", {}),
    ],
)
def test_exact_spellings_come_first_then_unique_prefixes_and_the_last_one_wins(
    line: str, declared: dict[Degree, int]
) -> None:
    assert readable(line).declared == declared


@pytest.mark.parametrize(
    ("line", "declared"),
    [
        ("--tp-size 2", {TP: 2}),
        ("--tensor-parallel-size 2", {TP: 2}),
        ("--tp 2", {TP: 2}),
        ("--t 2", {}),
        ("--tp_size 2", {}),
        ("-tp 2", {}),
        ("--ep 2", {Degree.EXPERT: 2}),
        ("--expert-parallel-size=2", {Degree.EXPERT: 2}),
        ("--pipeline 3 --dcp 2", {PP: 3, DCP: 2}),
        ("--attn-cp-size 2 --moe-dp-size 4", {Degree.ATTENTION_CONTEXT: 2, Degree.MOE_DATA: 4}),
        ("--attention-context-parallel-size 2", {Degree.ATTENTION_CONTEXT: 2}),
        ("--moe-data-parallel-size=2 --dwdp-size 3", {Degree.MOE_DATA: 2, Degree.DWDP: 3}),
        ("--dp-size 2 --data-parallel-size 4", {DP: 4}),
    ],
)
def test_sglang_has_two_long_spellings_and_no_short_ones(line: str, declared: dict[Degree, int]) -> None:
    assert readable(line, SGLANG).declared == declared


@pytest.mark.parametrize(
    ("line", "modes"),
    [
        ("-e", {"--enable-expert-parallel": True}),
        ("-ep -e", {"--enable-expert-parallel": True}),
        ("--enable_expert_parallel", {"--enable-expert-parallel": True}),
        ("--no-enable-expert-parallel", {"--enable-expert-parallel": False}),
        ("-ep --no-enable-expert-parallel", {"--enable-expert-parallel": False}),
        ("--enable-expert-parallel=true", {}),
        ("-e=x", {}),
        ("-ep=x", {}),
    ],
)
def test_a_mode_is_recorded_by_its_name_and_ignored_with_a_value(line: str, modes: dict[str, bool]) -> None:
    assert readable(line).modes == modes


@pytest.mark.parametrize(
    ("line", "wired"),
    [
        ("-n2", ("--nnodes",)),
        ("-n=2 -n 3", ("--nnodes",)),
        ("-r0", ("--node-rank",)),
        ("--master-port 1 --master-addr a", ("--master-port", "--master-addr")),
        ("-dpa a -dpp 1 -dpb mp", ("--data-parallel-address", "--data-parallel-rpc-port", "--data-parallel-backend")),
        ("--data-parallel-backend=ray", ("--data-parallel-backend",)),
        ("-dpr 1", ("--data-parallel-start-rank",)),
        ("--data-parallel-external-lb=true", ()),
        ("-dph --no-data-parallel-hybrid-lb", ()),
        ("--no-data-parallel-hybrid-lb=x -dph", ("--data-parallel-hybrid-lb",)),
    ],
)
def test_wiring_is_recorded_once_and_in_order(line: str, wired: tuple[str, ...]) -> None:
    assert readable(line).wired == wired


def test_a_wiring_flag_without_its_value_is_recorded_and_takes_no_flag_for_one() -> None:
    wired = readable("--nnodes --tensor-parallel-size 2")
    assert (wired.wired, wired.declared) == (("--nnodes",), {TP: 2})
    assert readable("--data-parallel-external-lb --tensor-parallel-size 2").declared == {TP: 2}
    assert readable("--dist-init-addr a:1 --nccl-init-addr b:2", SGLANG).wired == ("--dist-init-addr",)


@pytest.mark.parametrize("line", ["--tensor-parallel-size", "-tp -x", "-tp --", "-tp 2 -tp", "-t", "-tp -tp 2"])
def test_a_degree_without_a_value_is_unreadable(line: str) -> None:
    assert unreadable(line) == Unreadable("--tensor-parallel-size", "", "has no value")


@pytest.mark.parametrize("value", ["two", "_3", "3_", "3__0", "-.5", "", "1.0", "0x2", "+", "- 2", "1 0", "²"])
def test_a_value_that_is_no_integer_is_unreadable(value: str) -> None:
    not_one = Unreadable("--tensor-parallel-size", value, "is not an integer")
    assert unreadable([f"-tp={value}"]) == not_one
    if value != "- 2":
        assert unreadable(["-tp", value]) == not_one


@pytest.mark.parametrize(("value", "number"), [(" 3 ", 3), ("1_0", 10), ("+3", 3), ("007", 7), ("\t2\n", 2), ("３", 3)])
def test_integers_are_read_in_pythons_alphabet(value: str, number: int) -> None:
    assert readable(["-tp", value]).declared == {TP: number}


@pytest.mark.parametrize("value", ["0", "-2", "-1_0"])
def test_a_value_below_the_bound_is_unreadable(value: str) -> None:
    assert unreadable([f"-tp={value}"]) == Unreadable("--tensor-parallel-size", value, "is below 1")


def test_a_negative_number_is_taken_as_the_value() -> None:
    assert unreadable("-tp -2") == Unreadable("--tensor-parallel-size", "-2", "is below 1")
    assert unreadable("-dpl -1") == Unreadable("--data-parallel-size-local", "-1", "is below 0")
    assert unreadable("--tp-size 0", SGLANG) == Unreadable("--tp-size", "0", "is below 1")
    assert unreadable("--tp-size", SGLANG) == Unreadable("--tp-size", "", "has no value")


@pytest.mark.parametrize("value", ["99999999999999999999999999", "2147483648", "-2147483648", "9" * 100_000])
def test_a_value_out_of_range_is_unreadable(value: str) -> None:
    assert unreadable(["-tp", value]) == Unreadable(
        "--tensor-parallel-size", value, "is out of range: at most 2147483647"
    )
    assert readable("-tp 2147483647").declared == {TP: 2147483647}


@pytest.mark.parametrize(
    ("argument", "flag"),
    [
        ("-t2", "--tensor-parallel-size"),
        ("-tp2", "--tensor-parallel-size"),
        ("-tp2=3", "--tensor-parallel-size"),
        ("-tps", "--tensor-parallel-size"),
        ("-e2", "--enable-expert-parallel"),
        ("-ep2", "--enable-expert-parallel"),
    ],
)
def test_a_value_glued_to_an_abbreviation_is_unreadable(argument: str, flag: str) -> None:
    found = unreadable([argument])
    assert (found.flag, found.value) == (flag, argument)
    assert found.why.startswith("carries a glued value")


@pytest.mark.parametrize(
    ("argument", "flag"), [("-t=2", "--tensor-parallel-size"), ("-pc=2", "--prefill-context-parallel-size")]
)
def test_an_abbreviation_with_an_equals_sign_is_unreadable(argument: str, flag: str) -> None:
    found = unreadable([argument])
    assert (found.flag, found.value) == (flag, argument)
    assert "depends on the image" in found.why


@pytest.mark.parametrize("shell", [["sh", "-ec"], ["bash", "-euxo", "pipefail", "-c"], ["bash", "-exc"]])
def test_a_shells_own_switches_are_no_abbreviation(shell: list[str]) -> None:
    assert readable([*shell, "vllm serve m -tp two"]).declared == {}


@pytest.mark.parametrize(
    ("line", "value", "effective"),
    [
        ("", "3", 3),
        ("-dp 1", "3", 3),
        ("-dpl 2", "3", 3),
        ("-dp 2", "3", 2),
        ("-dp 2", "three", 2),
        ("--data-parallel-size-local 0", "3", 1),
        ("-dp 1 -dpl 0", "three", 1),
        ("-dpl 0 -dpl 2", "3", 3),
        ("", " 4 ", 4),
    ],
)
def test_the_variable_gives_the_data_degree_where_the_line_leaves_it_at_one(
    line: str, value: str, effective: int
) -> None:
    found = readable(line, VLLM_DP_SIZE=value)
    assert (found.data_parallel, found.value(DP)) == (effective, effective)
    assert found.declared == readable(line).declared


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("three", "is not an integer"),
        ("_3", "is not an integer"),
        ("", "is not an integer"),
        ("0", "is below 1"),
        ("-1", "is below 1"),
    ],
)
def test_a_variable_in_force_that_cannot_be_read_is_unreadable(value: str, why: str) -> None:
    assert unreadable("", VLLM_DP_SIZE=value) == Unreadable("VLLM_DP_SIZE", value, why)
    assert readable("", SGLANG, VLLM_DP_SIZE=value).data_parallel == 1


@pytest.mark.parametrize(
    ("line", "width"),
    [
        ("-tp 2 -pp 3 -pcp 5", 30),
        ("-tp 4 -dcp 4 -ep", 4),
        ("-tp 2 -dp 4", 8),
        ("-tp 2 -dp 4 -dpl 0", 8),
        ("-tp 2 -dp 4 -dpl 1", 2),
        ("-tp 2 -dp 8 -dpl 2", 4),
        ("-tp 2147483647 -pp 2147483647 -pcp 2147483647", 2147483647**3),
    ],
)
def test_a_vllm_members_width(line: str, width: int) -> None:
    assert readable(line).width == width


def test_the_variable_widens_a_vllm_member() -> None:
    assert readable("-tp 2", VLLM_DP_SIZE="4").width == 8
    assert readable("-tp 2 -dpl 1", VLLM_DP_SIZE="4").width == 2


@pytest.mark.parametrize(
    ("line", "width"),
    [
        ("--tp-size 2 --pp-size 3 --dp-size 4", 24),
        ("--tp-size 4 --dp-size 4 --enable-dp-attention", 4),
        ("--tp-size 4 --dp-size 2 --dwdp-size 2", 4),
        ("--tp-size 4 --dp-size 2 --moe-dp-size 2", 4),
        ("--tp-size 4 --dp-size 2 --attn-cp-size 2", 4),
        ("--tp-size 4 --dp-size 2 --dwdp-size 1 --moe-dp-size 1 --attn-cp-size 1", 8),
        ("--tp-size 4 --dp-size 2 --ep-size 8 --dcp-size 4 --enable-prefill-cp", 8),
    ],
)
def test_an_sglang_members_width(line: str, width: int) -> None:
    assert readable(line, SGLANG).width == width


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("--data-parallel-size=4 --data-parallel-start-rank=0 --nnodes=1", "Internal"),
        ("--data-parallel-size=4 --data-parallel-size-local=1 --data-parallel-start-rank=1 --headless", "Internal"),
        ("--data-parallel-rank $(GPUSTACK_MEMBER_INDEX)", "External"),
        ("-dpn 0 -dpe", "External"),
        ("-dpe", "External"),
        ("-dph", "Hybrid"),
        ("-dpm", "MultiPort"),
        ("-dpe -dph", "Unknown"),
        ("--data-parallel-rank 0 --data-parallel-hybrid-lb", "Unknown"),
        ("-dpm -dph", "Unknown"),
        ("-dpe -dph --no-data-parallel-external-lb", "Hybrid"),
    ],
)
def test_the_shape_of_load_balancing(line: str, shape: LoadBalance) -> None:
    assert readable(line).load_balance == shape


def test_contradicting_shapes_are_named() -> None:
    assert readable("-dph -dpa x -dpe").balancing == ("--data-parallel-hybrid-lb", "--data-parallel-external-lb")
