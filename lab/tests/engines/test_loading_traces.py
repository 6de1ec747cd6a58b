"""Recorded traces are read with care and played faster and thinner than they were."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.api.choices import EngineName
from modeldeployment.lab.cli import app
from modeldeployment.lab.engines import Behaviour, EngineServer
from modeldeployment.lab.loading import Arrival, Tempo, TraceUnreadable, deliver, played, read
from typer.testing import CliRunner

TRACE = "t_s,input_tokens,output_tokens\n0.000,40,3\n4.000,20,5\n8.500,60,1\n8.500,1,2\n"
ARRIVALS = (Arrival(0.0, 40, 3), Arrival(4.0, 20, 5), Arrival(8.5, 60, 1), Arrival(8.5, 1, 2))


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    file = tmp_path / "trace.csv.gz"
    file.write_bytes(gzip.compress(TRACE.encode()))
    return file


def test_a_trace_is_read_gzipped_or_not_and_other_columns_are_passed_over(trace: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.csv"
    plain.write_text("input_tokens,session,t_s,output_tokens\n7,a,0.5,2\n")
    assert read(trace) == ARRIVALS
    assert read(plain) == (Arrival(0.5, 7, 2),)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the header names no t_s, input_tokens, output_tokens"),
        (b"t_s,input_tokens\n1,2\n", "the header names no output_tokens"),
        (b"t_s,input_tokens,output_tokens\n0,1,2\n1,x,2\n", "line 3: invalid literal"),
        (b"t_s,input_tokens,output_tokens\n0,1\n", "line 2"),
        (b"t_s,input_tokens,output_tokens\n5,1,1\n4,1,1\n", "line 3: .* before 5 s"),
        (b"t_s,input_tokens,output_tokens\n0,-1,1\n", "line 2: .* below zero"),
        (b"t_s,input_tokens,output_tokens\nnan,1,1\n", "line 2"),
        (b"\xff\xfe", "is no text"),
        (gzip.compress(TRACE.encode(), mtime=0)[:30], "is no text"),
    ],
)
def test_what_is_no_trace_is_refused_with_the_line(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "trace.csv"
    file.write_bytes(content)
    with pytest.raises(TraceUnreadable, match=said):
        read(file)


def test_a_trace_is_played_faster_and_thinner_with_prompts_as_long_as_recorded() -> None:
    planned = list(played(ARRIVALS, Tempo(compress=2, thin=2, streamed=1)))
    assert [(each.due, each.tokens, len(each.prompt.split()), each.stream) for each in planned] == [
        (0.0, 3, 40, True),
        (4.25, 1, 60, True),
    ]
    assert [each.prompt.split()[0] for each in planned] == [each.mark for each in planned] == ["m0-0", "m0-2"]


def test_a_part_of_a_trace_is_played_from_its_beginning() -> None:
    planned = list(played(ARRIVALS, Tempo(begin=4, end=8.5)))
    assert [(each.mark, each.due) for each in planned] == [("m0-1", 0.0)]


def test_the_shared_part_of_prompts_is_the_same_and_leaves_room_for_the_mark() -> None:
    planned = list(played(ARRIVALS, Tempo(shared=1)))
    assert [len(each.common.split()) for each in planned] == [39, 19, 59, 0]
    assert planned[2].common.startswith(f"{planned[0].common} ")
    assert [each.prompt for each in planned] == ["m0-0", "m0-1", "m0-2", "m0-3"]


@given(seed=st.integers(0, 5), compress=st.floats(0.1, 100), thin=st.integers(1, 5), shared=st.floats(0, 1))
def test_the_same_seed_plays_the_same_and_no_token_is_added(
    seed: int, compress: float, thin: int, shared: float
) -> None:
    tempo = Tempo(compress=compress, thin=thin, shared=shared, seed=seed)
    planned = list(played(ARRIVALS, tempo))
    assert planned == list(played(ARRIVALS, tempo))
    words = [len(each.prompt.split()) + len(each.common.split()) for each in planned]
    assert words == [each.prompt for each in ARRIVALS[::thin]]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"compress": 0}, "compress 0"),
        ({"thin": 0}, "thin 0"),
        ({"begin": -1}, "begin -1"),
        ({"begin": 9, "end": 9}, "end 9"),
        ({"shared": 1.5}, "shared 1.5"),
        ({"streamed": -1}, "streamed -1"),
        ({"patience": 0}, "patience 0"),
    ],
)
def test_what_cannot_be_played_is_no_tempo(wrong: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Tempo(**wrong)  # type: ignore[arg-type]


async def test_what_is_played_is_answered_in_full_found_again_and_counted_as_recorded(server: EngineServer) -> None:
    fake = await server.open(EngineName.VLLM, behaviour=Behaviour(tokens=1000, together=4))
    account = await deliver(played(ARRIVALS, Tempo(compress=100, shared=0.5)), 30.0, fake.url, "model")
    assert account.unanswered == ()
    assert [(each.mark, each.tokens) for each in account.answers] == [
        ("m0-0", 3),
        ("m0-1", 5),
        ("m0-2", 1),
        ("m0-3", 2),
    ]
    assert [entry.mark for entry in fake.ledger.entries] == ["m0-0", "m0-1", "m0-2", "m0-3"]
    assert (fake.model.prompt_tokens, fake.model.generation_tokens) == (121, 11)
    assert fake.model.cached_tokens == 16


def test_the_command_plays_a_file_and_refuses_what_is_none(trace: Path) -> None:
    run = CliRunner().invoke
    quick = ["--compress", "1000", "--json"]
    refused = run(app, ["trace", "http://127.0.0.1:9", str(trace), *quick])
    assert (refused.exit_code, json.loads(refused.stdout)["sent"]) == (0, 4)
    assert run(app, ["trace", "http://127.0.0.1:9", f"{trace}-not"]).exit_code == 2
    assert run(app, ["trace", "http://127.0.0.1:9", str(trace), "--thin", "0"]).exit_code == 2
