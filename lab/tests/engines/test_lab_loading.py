"""A load accounts for every request it sent."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from engine_worlds import until
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.api.choices import EngineName
from modeldeployment.lab import engines
from modeldeployment.lab.cli import app
from modeldeployment.lab.engines import Behaviour, EngineServer, Half
from modeldeployment.lab.loading import Load, Outcome, judging, requests, send, together
from typer.testing import CliRunner

BRIEF = Load(rate=400, seconds=0.2, seed=7)
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def answering(said: bytes) -> AsyncIterator[str]:
    """A server that says the same to everybody and hangs up."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(65536)
        writer.write(said)
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"


@given(seed=st.integers(0, 9), rate=st.floats(1, 500), streamed=st.floats(0, 1))
def test_a_load_is_the_same_for_the_same_seed_and_within_its_bounds(seed: int, rate: float, streamed: float) -> None:
    load = Load(rate=rate, seconds=2, streamed=streamed, tokens=(2, 5), count=30, seed=seed)
    planned = requests(load)
    assert planned == requests(load)
    assert len(planned) <= 30
    assert all(0 < each.due < 2 and 2 <= each.tokens <= 5 for each in planned)
    assert [each.due for each in planned] == sorted(each.due for each in planned)
    assert len({each.mark for each in planned}) == len(planned)


def test_another_seed_sends_something_else() -> None:
    assert requests(Load(rate=100, seconds=1, seed=1)) != requests(Load(rate=100, seconds=1, seed=2))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rate": 0}, "rate 0"),
        ({"seconds": -1}, "seconds -1"),
        ({"streamed": 2}, "from 0 to 1"),
        ({"tokens": (5, 4)}, "no more than the most"),
        ({"patience": 0}, "patience 0"),
        ({"rate": 1e9}, "at most 1,000,000 requests"),
        ({"words": 0}, "at least the word"),
        ({"count": -1}, "count -1"),
    ],
)
def test_what_cannot_be_sent_is_no_load(wrong: dict[str, float], said: str) -> None:
    fields: dict[str, object] = {"rate": 1, "seconds": 1, **wrong}
    with pytest.raises(ValueError, match=said):
        Load(**fields)  # type: ignore[arg-type]


async def test_every_request_is_answered_in_full_by_an_engine_that_says_who_it_is(server: EngineServer) -> None:
    fake = await server.open(EngineName.VLLM, behaviour=Behaviour(tokens=1000, token_seconds=0.001))
    account = await send(BRIEF, fake.url, "model")
    assert len(account.answers) == len(requests(BRIEF)) > 40
    assert account.unanswered == ()
    assert account.engines() == {f"{fake.address}/0": len(account.answers)}
    assert [each.tokens for each in account.answers] == [each.tokens for each in requests(BRIEF)]
    assert fake.ledger.count(engines.Outcome.ANSWERED) == len(account.answers)
    assert {each.stream for each in account.answers} == {True, False}


async def test_requests_begin_when_they_are_due_although_none_has_ended(server: EngineServer) -> None:
    fake = await server.open(EngineName.VLLM, behaviour=Behaviour(tokens=1000))
    fake.hold()
    sending = asyncio.create_task(send(BRIEF, fake.url, "model"))
    await until(lambda: fake.model.running == len(requests(BRIEF)))
    fake.release()
    assert (await sending).unanswered == ()


async def test_what_an_engine_cuts_is_counted_as_cut_by_both_sides(server: EngineServer) -> None:
    fake = await server.open(EngineName.VLLM, behaviour=Behaviour(tokens=1000, token_seconds=0.2))
    load = Load(rate=400, seconds=0.1, tokens=(900, 900), seed=3)
    sending = asyncio.create_task(send(load, fake.url, "model"))
    await until(lambda: fake.model.running == len(requests(load)))
    await server.terminate(fake)
    account = await sending
    assert len(account.lost) == len(requests(load)) == fake.ledger.count(engines.Outcome.CUT)
    assert {each.outcome for each in account.answers} == {Outcome.CUT}
    ways = Counter(cause.partition(":")[2].partition(":")[0].strip() for cause in account.causes())
    assert set(ways) == {"connection lost before its answer began", "connection lost within its answer"}
    for each in account.lost:
        (entry,) = fake.ledger.of(each.mark)
        assert entry.cause == "ended by SIGTERM"


async def test_nobody_listening_is_a_refusal_and_no_loss(server: EngineServer) -> None:
    fake = await server.open(EngineName.VLLM)
    await server.close(fake)
    account = await send(BRIEF, fake.url, "model")
    assert account.lost == ()
    assert account.causes() == {"refused: not connected: ConnectionRefusedError": len(requests(BRIEF))}


@pytest.mark.parametrize(("status", "outcome"), [(503, "refused"), (429, "refused"), (404, "refused"), (500, "failed")])
async def test_an_error_of_the_server_is_a_loss_unless_it_says_that_nothing_was_begun(
    server: EngineServer, status: int, outcome: str
) -> None:
    fake = await server.open(EngineName.VLLM, behaviour=Behaviour(failing=status))
    account = await send(BRIEF, fake.url, "model")
    assert account.causes() == {f"{outcome}: {status} told to fail": len(requests(BRIEF))}


async def test_a_stream_that_ends_early_is_cut_although_its_connection_ends_well() -> None:
    chunk = json.dumps({"choices": [{"delta": {"content": "word"}}], "system_fingerprint": "one/0"})
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    load = Load(rate=100, seconds=0.1, streamed=1, tokens=(2, 2), seed=1)
    async with answering(f"{head}data: {chunk}\n\n".encode()) as url:
        account = await send(load, url, "model")
    assert account.causes() == {"cut: the answer ends without its end": len(requests(load))}
    assert {each.engine for each in account.answers} == {"one/0"}
    async with answering(f"{head}data: {chunk}\n\ndata: [DONE]\n\n".encode()) as url:
        account = await send(load, url, "model")
    assert set(account.causes()) == {"cut: the answer has another number of tokens than was asked for"}


async def test_an_error_within_a_stream_is_a_failure(server: EngineServer) -> None:
    fake = await server.open(EngineName.SGLANG, behaviour=Behaviour(half=Half.DECODE, partner_seconds=0.01))
    error = json.dumps({"error": {"message": "no blocks"}})
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    async with answering(f"{head}data: {error}\n\n".encode()) as url:
        account = await send(Load(rate=100, seconds=0.1, streamed=1, seed=1), url, "model")
    assert set(account.causes()) == {"failed: told within the answer: no blocks"}
    assert fake.ledger.entries == []


async def test_no_request_begins_once_it_is_enough_and_those_under_way_are_answered(server: EngineServer) -> None:
    fake = await server.open(EngineName.VLLM, behaviour=Behaviour(tokens=1000))
    enough, load = asyncio.Event(), Load(rate=100, seconds=1000, seed=5)
    fake.hold()
    sending = asyncio.create_task(send(load, fake.url, "model", enough))
    await until(lambda: fake.model.running >= 3)
    enough.set()
    fake.release()
    account = await sending
    assert account.unanswered == ()
    assert len(account.answers) < len(requests(load))


async def test_what_never_ends_is_given_up(server: EngineServer) -> None:
    fake = await server.open(EngineName.VLLM)
    fake.hold()
    account = await send(Load(rate=100, seconds=0.1, patience=2.0, seed=2), fake.url, "model")
    assert [each.partition(" s")[0] for each in account.causes()] == ["given-up: no end within 2"]
    assert len(account.lost) == len(account.answers)


async def test_an_account_is_read_by_people_and_by_programs(server: EngineServer) -> None:
    fake = await server.open(EngineName.VLLM, behaviour=Behaviour(tokens=1000))
    load = Load(rate=100, seconds=0.1, seed=4)
    account = await send(load, fake.url, "model")
    sent = len(requests(load))
    known = {f"{fake.address}/0": "qwen-server-0"}
    assert account.text(known) == f"{sent} sent: {sent} answered\n  qwen-server-0 answered {sent}"
    assert json.loads(json.dumps(account.tree()))["outcomes"]["answered"] == sent
    assert len(together([account, account]).answers) == 2 * sent


def test_a_503_of_envoy_for_a_connection_that_was_lost_is_no_refusal() -> None:
    said = "upstream connect error or disconnect/reset before headers. reset reason: connection termination"
    assert judging.refusal(503, said) == (Outcome.CUT, f"503 {said}")
    assert judging.refusal(503, "no healthy upstream") == (Outcome.REFUSED, "503 no healthy upstream")


def test_the_command_says_what_was_lost_and_refuses_nonsense() -> None:
    run = CliRunner().invoke
    refused = run(app, ["load", "http://127.0.0.1:9", "--rate", "100", "--seconds", "0.05", "--json"])
    assert (refused.exit_code, json.loads(refused.stdout)["lost"]) == (0, 0)
    nonsense = run(app, ["load", "http://127.0.0.1:9", "--streamed", "2"])
    assert nonsense.exit_code == 2
