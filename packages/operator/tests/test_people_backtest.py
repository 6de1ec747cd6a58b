"""`kubectl md backtest`: what recorded traffic comes to, the same each time, and what is said of files that are none.

UPDATE_GOLDEN=1 rewrites the golden file.
"""

import gzip
import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people.scalers import recordings
from modeldeployment.operator.people.scalers.recordings import Wish
from modeldeployment.scaler.backtesting.traces import Arrival
from people_worlds import Said, run, written

Capture = pytest.CaptureFixture[str]

GOLDEN = Path(__file__).parent / "golden" / "backtest.txt"
HEADER = "t_s,input_tokens,output_tokens"


def climbing(folder: Path) -> Path:
    """Twenty minutes: one request a second, four from the sixth minute to the thirteenth, and one again."""
    rows = [
        f"{second}.{part},{1500 + 100 * (second % 7)},{200 + 10 * (second % 3)}"
        for second in range(1200)
        for part in range(4 if 360 <= second < 780 else 1)
    ]
    file = folder / "climbing.csv"
    file.write_text("\n".join([HEADER, *rows]) + "\n")
    return file


def asked(capsys: Capture, *arguments: str | Path) -> Said:
    return run(capsys, "backtest", *arguments)


def test_three_algorithms_come_to_what_the_golden_file_says(tmp_path: Path, capsys: Capture) -> None:
    trace = climbing(tmp_path)
    one = asked(capsys, trace, "--tokens-per-second", "2500")
    pair = asked(
        capsys, trace, "--roles", "pair", "--prefill-tokens-per-second", "2500", "--decode-tokens-per-second", "300"
    )
    text = f"{one.out}\n{pair.out}"
    if os.environ.get("UPDATE_GOLDEN") == "1":
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")
    assert (one.status, one.err) == (0, "")


def test_the_same_trace_and_options_give_the_same_numbers(tmp_path: Path, capsys: Capture) -> None:
    trace = climbing(tmp_path)
    first, again = (asked(capsys, trace, "--seconds", "600", "-o", "json") for _ in range(2))
    assert first.out == again.out


def test_programs_read_every_change_of_every_contender(tmp_path: Path, capsys: Capture) -> None:
    said = asked(capsys, climbing(tmp_path), "--tokens-per-second", "2500", "-o", "json")
    (told,) = json.loads(said.out)["traces"]
    assert (told["trace"], told["seconds"], told["requests"]) == ("climbing", 1200, 2460)
    names = [each["name"] for each in told["contenders"]]
    assert names == ["Proportional", "TokenThroughput", "Predictive", "cheapest", "fixed"]
    cheapest, fixed = told["contenders"][3:]
    assert cheapest["attainment"] == 1.0
    assert cheapest["vectors"] == [
        {"second": 0, "vector": {"server": 1}},
        {"second": 240, "vector": {"server": 4}},
        {"second": 780, "vector": {"server": 3}},
        {"second": 795, "vector": {"server": 1}},
    ]
    assert (fixed["changes"], fixed["vectors"]) == (0, [{"second": 0, "vector": {"server": 4}}])
    assert fixed["replicaSeconds"] == 4 * 1200


def test_scalers_of_a_file_are_played_under_their_names(tmp_path: Path, capsys: Capture) -> None:
    spec: dict[str, Any] = {
        "targetRef": {"name": "chat"},
        "roles": [{"name": "server", "minReplicas": 2, "maxReplicas": 3}],
        "algorithm": {"tokenThroughput": {"serverTargetTokensPerSecond": "2000"}},
    }
    scaler = {"kind": "ModelDeploymentScaler", "metadata": {"name": "mine"}, "spec": spec}
    said = asked(capsys, climbing(tmp_path), "-f", written(tmp_path / "s.yaml", scaler), "--tokens-per-second", "2500")
    assert said.status == 0, said.err
    assert said.lines[1] == "  server 2 to 3 of 2500 tokens/s; cold start 120 s, in time within 2 s"
    assert [line.split()[0] for line in said.lines[3:]] == ["mine", "cheapest", "fixed"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            (
                "kind: ModelDeploymentScaler\nmetadata: {name: a}\nspec:\n  roles: [{name: decode, maxReplicas: 3}]\n"
                "  targetRef: {name: x}\n"
            ),
            (
                "ModelDeploymentScaler a scales decode, and the back-test has server; give --roles pair for prefill "
                "and decode, --roles server for server"
            ),
        ),
        (
            (
                "kind: ModelDeploymentScaler\nmetadata: {name: a}\nspec:\n  roles: [{name: server, maxReplicas: 9999}]"
                "\n  targetRef: {name: x}\n"
            ),
            "{file}:4:39: spec.roles[0].maxReplicas: Input should be less than or equal to 1024",
        ),
        ("kind: Pod\n", "{file}: there is no ModelDeploymentScaler"),
        ("kind: [\n", "{file}:2:1: not YAML: did not find expected node content"),
    ],
)
def test_a_scaler_that_cannot_be_played_is_told(text: str, told: str, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(text)
    said = asked(capsys, climbing(tmp_path), "-f", file)
    assert (said.status, said.out, said.err) == (2, "", f"kubectl md: {told.format(file=file)}\n")


def trace_of(folder: Path, content: str | bytes, wish: Wish | None = None, name: str = "t.csv") -> tuple[Arrival, ...]:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    (trace,) = recordings.read(file, wish or Wish())
    return trace.seconds


def test_a_compressed_file_is_read_as_one_that_is_not(tmp_path: Path) -> None:
    text = f"{HEADER}\n0.5,100,10\n1.2,50,5\n1.9,50,5\n"
    plain = trace_of(tmp_path, text)
    assert plain == (Arrival(1, 100, 10), Arrival(2, 100, 10))
    assert trace_of(tmp_path, gzip.compress(text.encode()), name="t.csv.gz") == plain


def test_tokens_that_a_prefix_cache_answers_are_no_demand(tmp_path: Path) -> None:
    assert trace_of(tmp_path, f"{HEADER},prefix_hit_tokens_inf\n0,100,10,70\n0.1,20,5,20\n") == (Arrival(2, 30, 15),)


def test_requests_of_a_clock_that_ticks_seldom_are_spread_to_its_next_tick(tmp_path: Path) -> None:
    rows = "".join(f"{at},9,1\n" for at in (0, 0, 0, 3, 3, 3, 6))
    assert [each.requests for each in trace_of(tmp_path, f"{HEADER}\n{rows}")] == [1, 1, 1, 1, 1, 1, 1]


def test_only_so_much_of_a_trace_is_played_and_as_heavy_as_is_asked_for(tmp_path: Path) -> None:
    text = f"{HEADER}\n" + "".join(f"{at},10,2\n" for at in range(5))
    assert trace_of(tmp_path, text, Wish(seconds=2, factor=Fraction(3))) == (Arrival(3, 30, 6), Arrival(3, 30, 6))


def test_rates_of_a_model_become_requests_that_are_all_alike(tmp_path: Path) -> None:
    text = "model,t_s,rate_rps\na,0,0.5\na,4,0\na,8,1.5\nb,0,9\nb,4,9\n"
    made = trace_of(tmp_path, text, Wish(model="a", prompt=10, generation=1))
    assert [each.requests for each in made] == [0, 1, 0, 1, 0, 1, 1, 1, 2, 1, 2, 1]
    assert made[1] == Arrival(1, 10, 1)


def test_the_traces_of_a_directory_are_played_by_name(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.csv").write_text(f"{HEADER}\n0,1,1\n")
    (tmp_path / "rates.csv").write_text("t_s,rate_rps\n0,1\n")
    (tmp_path / "README.md").write_text("nothing")
    assert [each.name for each in recordings.read(tmp_path, Wish())] == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "{file} is empty: a trace begins with the names of its columns"),
        (f"{HEADER}\n".encode(), "{file} has no request: there is a header and nothing below it"),
        (
            b"a,b\n1,2\n",
            (
                "{file}:1: the columns are a, b: a trace has t_s, input_tokens, output_tokens for single requests, or "
                "t_s, rate_rps for rates"
            ),
        ),
        (f"{HEADER}\n0,1,1\n1,many,1\n".encode(), "{file}:3: input_tokens is 'many': it is no number"),
        (f"{HEADER}\n0,1,1\n1,5\n".encode(), "{file}:3: output_tokens is '': it is no number"),
        (f"{HEADER}\n0,-5,1\n".encode(), "{file}:2: input_tokens is '-5': it is below zero"),
        (f"{HEADER}\nnan,5,1\n".encode(), "{file}:2: t_s is 'nan': it is no number"),
        (
            f"{HEADER}\n1700000000,5,1\n".encode(),
            "{file} goes on for 1700000000 s: t_s is seconds from the first request, 5184000 at most",
        ),
        (b"\x7fELF\xff\xfe", "{file} is no text: byte 4 is not UTF-8"),
        (b"model,t_s,rate_rps\na,0,1\nb,0,1\n", "--model is missing: {file} has rates of a, b"),
        (b"t_s,rate_rps\n0,1\n", "{file} has 1 window: how long it is shows only beside another one"),
        (b"t_s,rate_rps\n0,1\n0,1\n", "{file} has two windows that begin at the same second"),
        (b"t_s,rate_rps\n0,0\n10,0\n", "{file} has no window with a rate above zero"),
    ],
)
def test_a_file_that_is_no_trace_is_told_with_its_line(content: bytes, told: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        trace_of(tmp_path, content)
    assert str(raised.value) == told.format(file=tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"hello", "cannot be read: Not a gzipped file (b'he')"),
        (gzip.compress(b"x" * 1000)[:20], "cannot be unpacked: Compressed file ended before the end-of-stream marker"),
    ],
    ids=["not packed", "cut short"],  # what is packed says when, so it names no test
)
def test_a_file_that_does_not_unpack_is_told(content: bytes, told: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        trace_of(tmp_path, content, name="t.csv.gz")
    assert str(raised.value).startswith(f"{tmp_path}/t.csv.gz {told}")


def test_places_without_a_trace_and_numbers_that_cannot_be_are_told(tmp_path: Path, capsys: Capture) -> None:
    assert asked(capsys, tmp_path / "none.csv").err == (
        f"kubectl md: {tmp_path}/none.csv cannot be read: No such file or directory\n"
    )
    assert asked(capsys, tmp_path).err == (
        f"kubectl md: {tmp_path} has no trace: a file is .csv or .csv.gz with columns "
        "t_s, input_tokens, output_tokens\n"
    )
    trace = climbing(tmp_path)
    assert asked(capsys, trace, "--min", "5", "--max", "4").err == (
        "kubectl md: --min is 5 and --max is 4: the least cannot be above the most\n"
    )
    for option, value in (("--cold-start", "-1"), ("--interval", "1"), ("--utilization", "0"), ("--roles", "three")):
        said = asked(capsys, trace, option, value)
        assert said.status == 2
        assert f"Invalid value for '{option}'" in said.err
    other = tmp_path / "rates.csv"
    other.write_text("model,t_s,rate_rps\na,0,1\na,10,1\n")
    assert asked(capsys, other, "--model", "b").err == f"kubectl md: --model is b: {other} has rates of a\n"
