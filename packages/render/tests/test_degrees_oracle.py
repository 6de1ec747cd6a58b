"""What is read here is what argparse reads, wherever the engine would start at all."""

from typing import Final

from hypothesis import example, given, settings
from hypothesis import strategies as st
from modeldeployment.api.choices import EngineName
from modeldeployment.render import ENGINES, Degree, Degrees, Engine, Unreadable, degrees
from modeldeployment.render.parallelism import DegreeFlag
from render_counting import Counted
from render_parsers import Refused, parse, recorded

VLLM, SGLANG = ENGINES[EngineName.VLLM], ENGINES[EngineName.SGLANG]
VALUES: Final = st.sampled_from(["1", "2", "0", "-1", "+3", " 4 ", "1_0", "two", "", "x", "99999999999", "-.5"])


def spellings(engine: Engine) -> list[str]:
    """Every spelling of every flag of the engine's table, and their abbreviations."""
    exact = list(engine.degrees.exact)
    return [*exact, *engine.degrees.abbreviated]


@st.composite
def lines(draw: st.DrawFn, engine: Engine) -> list[str]:
    """A command line of flags whole, cut short and glued, of the table and beside it, with and without values."""
    others = [flag for arity, flags, negation in recorded(engine) for flag in flags if arity != "0"]
    line: list[str] = []
    for _ in range(draw(st.integers(0, 6))):
        flag = draw(st.sampled_from(spellings(engine)) | st.sampled_from(others))
        if flag.startswith("--"):
            flag = flag[: draw(st.integers(min(4, len(flag)), len(flag)) | st.just(len(flag)))]
            flag = draw(st.sampled_from([flag, "--" + flag[2:].replace("-", "_")]))
        match draw(st.sampled_from("=  +.")):
            case "=":
                line.append(f"{flag}={draw(VALUES)}")
            case " ":
                line += [flag, draw(VALUES)]
            case "+":
                line.append(flag + draw(VALUES))
            case _:
                line.append(flag)
    return line


def _agrees(engine: Engine, line: list[str]) -> None:
    found = degrees.read(engine, line, {})
    try:
        declared, modes, wired = parse(engine, line)
    except Refused:
        return
    if isinstance(found, Unreadable):
        assert "below" in found.why or "range" in found.why or "glued" in found.why or "depends on" in found.why
        return
    assert found.declared == declared
    assert found.modes == modes
    assert frozenset(found.wired) == wired


@settings(max_examples=150, deadline=None)
@given(lines(VLLM))
@example(["-dc", "2", "-n2", "-pc", "3", "-dpm", "--no-data-parallel-hybrid-lb"])
@example(["--enable_expert", "--tensor_parallel_s=4", "-e", "-t", "2"])
def test_vllms_parser_agrees(line: list[str]) -> None:
    _agrees(VLLM, line)


@settings(max_examples=100, deadline=None)
@given(lines(SGLANG))
@example(["--tp", "2", "--ep", "4", "--dist", "x", "--enable-dp-attention"])
def test_sglangs_parser_agrees(line: list[str]) -> None:
    _agrees(SGLANG, line)


def test_the_tables_are_what_the_engines_register() -> None:
    for engine in (VLLM, SGLANG):
        known = {flags: (arity, negation) for arity, flags, negation in recorded(engine)}
        for flag in engine.degrees.flags:
            arity, negation = known[flag.spellings]
            negations = () if isinstance(flag, DegreeFlag) else flag.negations
            assert (negation,) == (negations or ("",))
            takes_value = isinstance(flag, DegreeFlag) or getattr(flag, "takes_value", False)
            assert arity == ("1" if takes_value else "0")


def test_no_other_flag_is_spelled_as_an_abbreviation_of_the_tables() -> None:
    for engine in (VLLM, SGLANG):
        every = {spelling for _, flags, negation in recorded(engine) for spelling in (*flags, negation)}
        assert every & (set(engine.degrees.prefixes) | set(engine.degrees.abbreviated)) == set()


@given(
    st.sampled_from([VLLM, SGLANG]),
    st.lists(st.text() | st.sampled_from([*VLLM.degrees.exact, *SGLANG.degrees.exact, "-t", "-e", "--"])),
    st.dictionaries(st.sampled_from(["VLLM_DP_SIZE", "OTHER"]), st.text()),
)
def test_no_command_line_is_too_odd(engine: Engine, line: list[str], env: dict[str, str]) -> None:
    found = degrees.read(engine, line, env)
    assert isinstance(found, Unreadable) or found.width >= 1


@given(lines(VLLM), st.integers(1, 2**31 - 1))
def test_the_last_one_wins(line: list[str], number: int) -> None:
    if isinstance(degrees.read(VLLM, line, {}), Degrees):
        last = degrees.read(VLLM, [*line, "-tp", str(number)], {})
        assert isinstance(last, Degrees)
        assert last.declared[Degree.TENSOR] == number


@given(st.text("0123456789_+- \t\n.x") | st.integers(-(2**31) + 1, 2**31 - 1).map(str))
def test_a_value_is_an_integer_when_python_says_so(text: str) -> None:
    found = degrees.read(VLLM, [f"--data-parallel-size-local={text}"], {})
    try:
        number = int(text)
    except ValueError:
        assert found == Unreadable("--data-parallel-size-local", text, "is not an integer")
        return
    if isinstance(found, Degrees):
        assert found.declared == {Degree.DATA_LOCAL: number}
    else:
        assert number < 0 or number >= 2**31


def test_every_argument_is_looked_at_once_and_as_a_value_once_more() -> None:
    arguments = Counted(["-tp", "2", "--nnodes", "2", "--unknown", "-t", "3", "--max-model-len=1"] * 1250)
    found = degrees.read(VLLM, arguments, {})
    assert isinstance(found, Degrees)
    assert found.declared == {Degree.TENSOR: 3}
    assert arguments.looks <= 2 * len(arguments) + 1
