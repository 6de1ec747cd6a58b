"""Our reader says what prometheus-client's own parser says, on what programs wrote and on whatever they might write.

`recorded` holds answers of vLLM 0.32.0 (alone, and both halves of a pair with a store), vllm-router 0.1.17,
sglang-router 0.3.2 and mooncake_master 0.3.13 on a CPU machine, whole but for their help lines.
"""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.router.exposition import Sample, Unreadable, samples
from router_parser import told

RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.prom"))
NAMES = ("up", "up_total", "vllm:waiting", "vllm:waiting_bucket")


def comparable(found: list[Sample]) -> list[tuple[str, dict[str, str], float | str]]:
    """A number that is none equals itself here."""
    return [(name, dict(labels), "NaN" if math.isnan(value) else value) for name, labels, value in found]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_what_a_real_program_wrote_is_read_as_prometheus_client_reads_it(path: Path) -> None:
    body = path.read_bytes()
    every = told(body.decode())
    names = {each.name for each in every}
    assert len(every) > 20
    assert comparable(list(samples(body, names))) == comparable(every)
    for name in names:
        assert comparable(list(samples(body, {name}))) == comparable([each for each in every if each.name == name])


def test_every_recorded_body_is_there() -> None:
    assert [path.stem for path in RECORDED] == [
        "mooncake-master-metrics",
        "sglang-router-metrics",
        "vllm-metrics-pd-multi-decode",
        "vllm-metrics-pd-multi-prefill",
        "vllm-metrics",
        "vllm-router-metrics",
    ]


def escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


blanks = st.sampled_from(["", " ", "\t", "  "])
between = st.sampled_from([" ", "\t", "  "])
values = st.one_of(
    st.integers(0, 2**70).map(str),
    st.floats().map(repr),
    st.floats(allow_nan=False).map(lambda number: f"{number:e}"),
    st.sampled_from(["NaN", "nan", "+Inf", "-Inf", "Inf", "+7", "-7", ".5", "5.", "1E3", "1e+3", "1e-400", "1e400"]),
)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=8) | st.sampled_from(
    ["", "}", "{", ",", '"', "\\", "\\n", "\n", "a,b", "=", '","', "up 1", "é"]
)
labels = st.dictionaries(st.sampled_from(["a", "b", "le", "engine", "_x", "A9"]), texts, max_size=4)


@st.composite
def written(draw: st.DrawFn) -> tuple[str, dict[str, str], str]:
    """A line of a sample, and what it is of."""
    name = draw(st.sampled_from(["up", "up_total", "vllm:waiting", "vllm:waiting_bucket", "other", "upper", "x:up"]))
    said = draw(labels)
    pairs = [
        f'{draw(blanks)}{key}{draw(blanks)}={draw(blanks)}"{escaped(text)}"{draw(blanks)}' for key, text in said.items()
    ]
    last = draw(st.sampled_from(["", ","])) if pairs else ""
    braces = f"{draw(blanks)}{{{','.join(draw(st.permutations(pairs)))}{last}}}{draw(blanks)}"
    quoted = f'{{"{name}"{"".join("," + pair for pair in pairs)}}}{draw(blanks)}'
    heads = [f"{name}{braces}", quoted] if pairs else [f"{name}{braces}", quoted, f"{name}{draw(between)}"]
    head = draw(st.sampled_from(heads))
    blank = draw(st.sampled_from([" ", "\t"]))
    time = draw(st.sampled_from(["", f"{blank}1712345678901", f"{blank}-5"]))
    return name, said, f"{draw(blanks)}{head}{draw(values)}{time}{draw(blanks)}"


asides = st.sampled_from(
    [
        "",
        "   ",
        "# nothing of note",
        "#",
        "# HELP up how up it is",
        r"# HELP vllm:waiting a \\ and a \n",
        "# TYPE up gauge",
        "# TYPE up_total counter",
        "# TYPE vllm:waiting histogram",
        "# EOF",
        "# up 1",
    ]
)


@given(st.lists(written() | asides.map(lambda line: ("", {}, line)), max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_whatever_is_written_well_is_read_as_prometheus_client_reads_it(
    lines: list[tuple[str, dict[str, str], str]], end: str
) -> None:
    body = end.join(line for _, _, line in lines) + end
    expected = told(body, NAMES)
    series = [(name, tuple(sorted(said.items()))) for name, said, _ in lines if name in NAMES]
    if len(set(series)) < len(series):
        with pytest.raises(Unreadable, match="twice"):
            samples(body.encode(), NAMES)
    else:
        assert comparable(list(samples(body.encode(), NAMES))) == comparable(expected)


@given(written(), st.data())
def test_a_spoilt_line_is_read_as_prometheus_client_reads_it_or_not_at_all(
    line: tuple[str, dict[str, str], str], data: st.DataObject
) -> None:
    spoilt = line[2]
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(spoilt)))
        cut = data.draw(st.integers(0, 2))
        spoilt = spoilt[:at] + data.draw(st.text(' \t{}",\\=#1eaN._-+:é', max_size=2)) + spoilt[at + cut :]
    try:
        found = list(samples(f"{spoilt}\n".encode(), NAMES))
    except Unreadable:
        return
    try:
        expected = told(f"{spoilt}\n", NAMES)
    except (ValueError, LookupError):  # LookupError: the parser stumbles over some labels
        assert found == []
        return
    assert comparable(found) == comparable(expected)
