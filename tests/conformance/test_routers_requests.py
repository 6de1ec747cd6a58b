"""That requests pass through the real routers as they are, and are spread as the user says."""

import asyncio
import json

import aiohttp
import pytest
from conformance_routers import EACH, PATH, Begin, ask, halves, lists, servers, until
from modeldeployment.lab.engines import Behaviour

pytestmark = pytest.mark.lab

ROUND_ROBIN = "--policy=round_robin"


@EACH
async def test_a_request_arrives_as_it_was_sent_and_its_answer_comes_back(
    begin: Begin, engine: str, router: str
) -> None:
    world = begin(servers(engine, router))
    server = await world.pod("server", behaviour=Behaviour(tokens=3))
    running = await world.start()
    await lists(running, server)
    body = {
        "model": world.served,
        "messages": [{"role": "user", "content": "hello"}],
        "temperature": 0.5,
        "stream": False,
    }
    status, answer = await running.ask("POST", PATH, body=body, headers={"Authorization": "Bearer of-the-client"})
    assert (status, answer["choices"][0]["message"]["content"]) == (200, "word0 word1 word2 ")
    (received,) = server.engine.asked(PATH)
    assert body.items() <= received.body.items()
    assert received.headers["authorization"] == "Bearer of-the-client"


@EACH
@pytest.mark.parametrize("pair", [pytest.param(False, id="servers"), pytest.param(True, id="a-pair")])
async def test_a_stream_comes_through_token_by_token(begin: Begin, engine: str, router: str, pair: bool) -> None:
    world = begin(halves(engine, router) if pair else servers(engine, router))
    members = [await world.pod("prefill", behaviour=Behaviour(tokens=1))] if pair else []
    slow = Behaviour(tokens=3, token_seconds=0.1)
    members.append(await world.pod("decode" if pair else "server", behaviour=slow))
    running = await world.start()
    await lists(running, *members)
    body = {"model": world.served, "messages": [{"role": "user", "content": "hello"}], "stream": True}
    async with aiohttp.ClientSession() as http, http.post(running.url + PATH, json=body) as response:
        assert (response.status, response.content_type) == (200, "text/event-stream")
        chunks = [chunk async for chunk in response.content.iter_any()]
    events = [event.removeprefix("data: ") for event in b"".join(chunks).decode().split("\n\n") if event]
    assert events[-1] == "[DONE]"
    said = [choice["delta"]["content"] for event in events[:-1] for choice in json.loads(event)["choices"]]
    assert said == ["word0 ", "word1 ", "word2 "]
    assert len(chunks) > 1


@EACH
async def test_round_robin_spreads_requests_evenly_when_the_user_asks_for_it(
    begin: Begin, engine: str, router: str
) -> None:
    world = begin(servers(engine, router, ROUND_ROBIN, replicas=3))
    members = [await world.pod("server", ordinal) for ordinal in range(3)]
    running = await world.start()
    await lists(running, *members)
    await ask(running, world.served, times=12)
    assert [member.served for member in members] == [4, 4, 4]


@EACH
async def test_by_default_requests_with_one_beginning_go_to_one_replica(begin: Begin, engine: str, router: str) -> None:
    world = begin(servers(engine, router, replicas=2))
    members = [await world.pod("server", ordinal) for ordinal in range(2)]
    running = await world.start()
    await lists(running, *members)
    for turn in range(8):
        text = "the same long beginning of a conversation " * 20 + f"and turn {turn}"
        await ask(running, world.served, messages=[{"role": "user", "content": text}])
    assert sorted(member.served for member in members) == [0, 8]


@EACH
async def test_requests_under_way_end_when_the_router_is_told_to_end(begin: Begin, engine: str, router: str) -> None:
    world = begin(servers(engine, router))
    server = await world.pod("server")
    server.engine.hold()
    running = await world.start()
    await lists(running, server)
    asking = asyncio.create_task(ask(running, world.served))
    await until(lambda: server.engine.model.running == 1, what="the request runs")
    running.terminate()
    await until(lambda: "shutdown" in running.log.read_text(), what="the router says that it is shutting down")
    server.engine.release()
    (answer,) = await asking
    assert answer["choices"][0]["finish_reason"] == "length"
    await until(lambda: running.ended is not None, what="the router ends")
    assert server.engine.model.aborted == 0
