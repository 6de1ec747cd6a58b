"""Two fake halves hand requests over, and their queues say so."""

import asyncio
from typing import Any

import aiohttp
import pytest
from engine_worlds import ask, gauges, until
from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines import Behaviour, EngineServer, FakeEngine, Half, Outcome, Place, Transfer

ROOM: dict[str, Any] = {"bootstrap_host": "127.1.0.1", "bootstrap_port": 8998, "bootstrap_room": 17}


async def test_a_prefill_half_keeps_a_request_in_its_bootstrap_queue_until_the_decode_half_has_it(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    prefill, decode = [
        await server.open(EngineName.SGLANG, behaviour=Behaviour(half=half)) for half in (Half.PREFILL, Half.DECODE)
    ]
    first = asyncio.create_task(ask(http, prefill, **ROOM))
    await until(lambda: prefill.model.at(Place.BOOTSTRAP) == 1)
    told = await gauges(http, prefill)
    assert (told["num_prefill_bootstrap_queue_reqs"], told["num_running_reqs"], told["num_queue_reqs"]) == (1, 0, 0)
    second = asyncio.create_task(ask(http, decode, **ROOM))
    assert [status for status, _ in await asyncio.gather(first, second)] == [200, 200]
    assert (prefill.model.under_way, decode.model.under_way) == (0, 0)
    assert (prefill.model.generation_tokens, decode.model.generation_tokens) == (1, 4)


async def test_a_decode_half_holds_a_request_in_its_transfer_queue_while_the_prompt_is_computed(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    prefill = await server.open(EngineName.SGLANG, behaviour=Behaviour(half=Half.PREFILL))
    decode = await server.open(EngineName.SGLANG, behaviour=Behaviour(half=Half.DECODE, transfer_seconds=0.2))
    prefill.hold()
    asking = [asyncio.create_task(ask(http, fake, **ROOM)) for fake in (prefill, decode)]
    await until(lambda: decode.model.at(Place.TRANSFER) == prefill.model.running == 1)
    assert (await gauges(http, decode))["num_decode_transfer_queue_reqs"] == 1
    prefill.release()
    await until(lambda: prefill.model.at(Place.INFLIGHT) == 1)
    assert (await gauges(http, prefill))["num_prefill_inflight_queue_reqs"] == 1
    assert [status for status, _ in await asyncio.gather(*asking)] == [200, 200]


async def test_a_decode_half_without_room_holds_a_request_in_its_prealloc_queue(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    decode = await server.open(EngineName.SGLANG, behaviour=Behaviour(half=Half.DECODE, prealloc_seconds=60))
    asking = asyncio.create_task(ask(http, decode, **ROOM))
    await until(lambda: decode.model.at(Place.PREALLOC) == 1)
    assert (await gauges(http, decode))["num_decode_prealloc_queue_reqs"] == 1
    asking.cancel()


@pytest.mark.parametrize("leaves", ["prefill", "decode"])
async def test_a_half_that_goes_takes_the_request_of_the_other_half_with_it(
    server: EngineServer, http: aiohttp.ClientSession, leaves: str
) -> None:
    prefill = await server.open(EngineName.SGLANG, behaviour=Behaviour(half=Half.PREFILL))
    decode = await server.open(EngineName.SGLANG, behaviour=Behaviour(half=Half.DECODE))
    prefill.hold()
    asking = [asyncio.create_task(ask(http, fake, **ROOM)) for fake in (prefill, decode)]
    await until(lambda: decode.model.at(Place.TRANSFER) == prefill.model.running == 1)
    gone, left = (prefill, decode) if leaves == "prefill" else (decode, prefill)
    await server.close(gone)
    prefill.release()
    answers = await asyncio.gather(*asking, return_exceptions=True)
    (answered,) = (each for each in answers if not isinstance(each, BaseException))
    assert answered[0] == 500
    assert (gone.ledger.count(Outcome.CUT), left.ledger.count(Outcome.FAILED)) == (1, 1)
    assert f"at {gone.address} gave the request up" in next(iter(left.ledger.causes()))


async def test_a_half_whose_partner_never_comes_gives_up(server: EngineServer, http: aiohttp.ClientSession) -> None:
    prefill = await server.open(EngineName.SGLANG, behaviour=Behaviour(half=Half.PREFILL, partner_seconds=0.05))
    assert (await ask(http, prefill, **ROOM))[0] == 500
    assert prefill.ledger.count(Outcome.FAILED) == 1


async def test_a_stream_that_loses_its_partner_says_so_and_does_not_end_well(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    decode = await server.open(EngineName.SGLANG, behaviour=Behaviour(half=Half.DECODE, partner_seconds=0.05))
    status, text = await ask(http, decode, stream=True, **ROOM)
    assert status == 200
    assert "had not come as far as computed" in text
    assert "[DONE]" not in text


async def vllm(server: EngineServer, **decode: Any) -> tuple[FakeEngine, FakeEngine]:
    first = await server.open(EngineName.VLLM, behaviour=Behaviour(transfer=Transfer.NIXL))
    second = await server.open(EngineName.VLLM, behaviour=Behaviour(transfer=Transfer.NIXL, **decode))
    return first, second


async def handed(http: aiohttp.ClientSession, prefill: FakeEngine) -> dict[str, Any]:
    """What a prefill half tells the decode half of a request it has computed."""
    body = {"max_tokens": 1, "kv_transfer_params": {"do_remote_decode": True}}
    async with http.post(
        f"{prefill.url}/v1/chat/completions",
        json={"messages": [{"role": "user", "content": "one two three"}], **body},
    ) as response:
        told: dict[str, Any] = (await response.json())["kv_transfer_params"]
    return told


async def test_a_vllm_decoder_tells_a_request_that_waits_for_blocks_as_waiting(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    prefill, decode = await vllm(server, transfer_seconds=0.2)
    told = await handed(http, prefill)
    asking = asyncio.create_task(ask(http, decode, kv_transfer_params=told))
    await until(lambda: decode.model.at(Place.TRANSFER) == 1)
    assert (await gauges(http, decode))["num_requests_waiting"] == 1
    assert (await asking)[0] == 200
    assert decode.model.external_hits == decode.model.prompt_tokens


@pytest.mark.parametrize("end", ["close", "restart"])
async def test_blocks_that_were_not_fetched_go_with_the_prefill_half_although_it_tells_that_it_is_idle(
    server: EngineServer, http: aiohttp.ClientSession, end: str
) -> None:
    prefill, decode = await vllm(server)
    told = await handed(http, prefill)
    assert (await gauges(http, prefill))["num_requests_running"] == 0
    await getattr(server, end)(prefill)
    status, text = await ask(http, decode, kv_transfer_params=told)
    assert status == 500
    assert f"are no longer at {prefill.address}" in text
