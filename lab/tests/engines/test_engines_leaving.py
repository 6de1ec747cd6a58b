"""How a fake engine goes, and the account it keeps of what it was sent."""

import asyncio

import aiohttp
import pytest
from engine_worlds import ask, chat, gauges, until
from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines import Behaviour, EngineServer, Outcome, Phase


async def test_an_engine_told_to_drain_finishes_what_it_has_and_takes_nothing_new(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fake = await server.open(EngineName.VLLM)
    fake.hold()
    first = asyncio.create_task(ask(http, fake, "first"))
    await until(lambda: fake.model.running == 1)
    draining = asyncio.create_task(server.drain(fake))
    await until(lambda: fake.phase is Phase.DRAINING)
    assert (await ask(http, fake, "second"))[0] == 503
    async with http.get(f"{fake.url}/health") as response:
        assert response.status == 503
    fake.release()
    assert (await first)[0] == 200
    await draining
    outcomes = [(each.mark, each.outcome) for each in fake.ledger.entries]
    assert outcomes == [("first", Outcome.ANSWERED), ("second", Outcome.REFUSED)]


async def test_sigterm_cuts_what_vllm_runs_and_the_ledger_says_so(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fake = await server.open(EngineName.VLLM, behaviour=Behaviour(tokens=50, token_seconds=0.05))
    stream = asyncio.create_task(ask(http, fake, "stream", stream=True))
    whole = asyncio.create_task(ask(http, fake, "whole"))
    await until(lambda: fake.model.running == 2)
    await server.terminate(fake)
    for asking in (stream, whole):
        with pytest.raises(aiohttp.ClientError):
            await asking
    assert {each.outcome for each in fake.ledger.entries} == {Outcome.CUT}
    assert fake.ledger.causes() == {"ended by SIGTERM": 2}
    assert (fake.model.under_way, fake.phase) == (0, Phase.ENDED)


async def test_sigterm_lets_sglang_finish_unless_it_is_killed_first(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    finishing, killed = [await server.open(EngineName.SGLANG) for _ in range(2)]
    asking = {}
    for fake in (finishing, killed):
        fake.hold()
        asking[fake.address] = asyncio.create_task(ask(http, fake))
    await until(lambda: finishing.model.running == killed.model.running == 1)
    ending = [asyncio.create_task(server.terminate(fake)) for fake in (finishing, killed)]
    await until(lambda: finishing.phase is killed.phase is Phase.DRAINING)
    finishing.release()
    assert (await asking[finishing.address])[0] == 200
    await server.close(killed)
    with pytest.raises(aiohttp.ClientError):
        await asking[killed.address]
    await asyncio.gather(*ending)
    assert finishing.ledger.count(Outcome.ANSWERED) == 1
    assert killed.ledger.causes() == {"killed": 1}


async def test_a_restarted_engine_has_forgotten_everything_but_its_account(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fake = await server.open(EngineName.VLLM)
    assert (await ask(http, fake, "before"))[0] == 200
    before = fake.identity
    await server.restart(fake)
    assert (await gauges(http, fake))["num_requests_running"] == 0
    assert fake.model.prompt_tokens == 0
    assert (await ask(http, fake, "after"))[0] == 200
    assert [(each.mark, each.life) for each in fake.ledger.entries] == [("before", 0), ("after", 1)]
    assert fake.identity != before


async def test_a_caller_that_hangs_up_is_no_fault_of_the_engine(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fake = await server.open(EngineName.VLLM)
    fake.hold()
    asking = asyncio.create_task(ask(http, fake))
    await until(lambda: fake.model.running == 1)
    asking.cancel()
    await until(lambda: not fake.ledger.under_way)
    assert fake.ledger.causes() == {"the caller hung up": 1}


async def test_what_is_refused_is_accounted_for_with_its_reason(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fake = await server.open(EngineName.VLLM, behaviour=Behaviour(failing=429))
    assert (await ask(http, fake))[0] == 429
    async with http.post(f"{fake.url}/v1/chat/completions", json={}) as response:
        assert response.status == 400
    assert [(each.outcome, each.status) for each in fake.ledger.entries] == [
        (Outcome.REFUSED, 429),
        (Outcome.REFUSED, 400),
    ]


async def test_more_than_fit_wait_and_are_told_as_waiting(server: EngineServer, http: aiohttp.ClientSession) -> None:
    fake = await server.open(EngineName.VLLM, behaviour=Behaviour(slots=2))
    fake.hold()
    asking = [asyncio.create_task(ask(http, fake)) for _ in range(5)]
    await until(lambda: fake.model.under_way == 5)
    assert await gauges(http, fake) == {"num_requests_running": 2, "num_requests_waiting": 3}
    fake.release()
    assert [status for status, _ in await asyncio.gather(*asking)] == [200] * 5
    assert fake.ledger.count(Outcome.ANSWERED) == 5


async def test_the_answer_says_which_engine_wrote_it(server: EngineServer, http: aiohttp.ClientSession) -> None:
    fake = await server.open(EngineName.SGLANG)
    for stream in (False, True):
        _, text = await ask(http, fake, stream=stream)
        assert f'"system_fingerprint": "{fake.address}/0"' in text


async def test_another_process_changes_an_engine_through_its_own_port(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fake = await server.open(EngineName.VLLM)

    async def told(word: str, body: object = None) -> int:
        async with http.post(f"{fake.url}/lab/{word}", json=body) as response:
            return response.status

    assert await told("behave", {"tokens": 9, "transfer": "nixl", "prefill_seconds": 0}) == 200
    assert (fake.behaviour.tokens, fake.behaviour.transfer.value) == (9, "nixl")
    assert (
        await told("tell", {"lies": {"vllm:num_requests_running": "7"}, "without": ["vllm:prompt_tokens_total"]}) == 200
    )
    assert (await gauges(http, fake))["num_requests_running"] == 7
    wrongs: list[object] = [{"tokns": 1}, {"transfer": "pigeon"}, [], None]
    for wrong in wrongs:
        assert await told("behave", wrong) == 400
    assert await told("fly") == 404
    assert await told("restart", {"seconds": 0}) == 200
    await until(lambda: fake.life == 1)
    async with http.get(f"{fake.url}/lab/ledger") as response:
        assert (await response.json())["life"] == 1
    assert await told("terminate") == 200
    await until(lambda: fake.phase is Phase.ENDED)
    assert fake.received[-1].path == "/metrics"


async def test_a_request_is_found_again_by_the_first_word_of_its_prompt(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fake = await server.open(EngineName.VLLM)
    async with http.post(f"{fake.url}/v1/chat/completions", json=chat("m-17", stream=True)) as response:
        await response.read()
    (entry,) = fake.ledger.of("m-17")
    assert (entry.stream, entry.outcome, entry.status) == (True, Outcome.ANSWERED, 200)
    assert fake.ledger.of("m-18") == ()
