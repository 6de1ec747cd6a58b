import asyncio
import json

import aiohttp
import pytest
from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines import AddressRefused, AddressTaken, Behaviour, EngineServer, Transfer

CHAT = {"model": "model", "messages": [{"role": "user", "content": "how far is the moon"}]}


@pytest.mark.parametrize("engine", EngineName)
async def test_a_chat_is_answered_with_as_many_tokens_as_the_engine_gives(
    server: EngineServer, http: aiohttp.ClientSession, engine: EngineName
) -> None:
    fake = await server.open(engine, behaviour=Behaviour(tokens=3))
    async with http.post(f"{fake.url}/v1/chat/completions", json=CHAT) as response:
        assert response.status == 200
        answer = await response.json()
    assert answer["object"] == "chat.completion"
    assert answer["choices"][0]["message"] == {"role": "assistant", "content": "word0 word1 word2 "}
    assert answer["usage"] == {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
    assert "kv_transfer_params" not in answer


async def test_a_request_that_wants_fewer_tokens_gets_fewer(server: EngineServer, http: aiohttp.ClientSession) -> None:
    fake = await server.open(EngineName.VLLM, behaviour=Behaviour(tokens=9))
    async with http.post(f"{fake.url}/v1/completions", json={"prompt": "one two", "max_tokens": 2}) as response:
        answer = await response.json()
    assert (answer["object"], answer["choices"][0]["text"]) == ("text_completion", "word0 word1 ")


async def test_a_stream_ends_with_usage_where_it_was_asked_for_and_with_done(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fake = await server.open(EngineName.SGLANG, behaviour=Behaviour(tokens=2, token_seconds=0.01))
    body = {**CHAT, "stream": True, "stream_options": {"include_usage": True}}
    async with http.post(f"{fake.url}/v1/chat/completions", json=body) as response:
        assert response.content_type == "text/event-stream"
        events = (await response.text()).strip().split("\n\n")
    assert events[-1] == "data: [DONE]"
    seen = [json.loads(event.removeprefix("data: ")) for event in events[:-1]]
    assert [choice["delta"]["content"] for event in seen for choice in event["choices"]] == ["word0 ", "word1 "]
    assert seen[1]["choices"][0]["finish_reason"] == "length"
    assert seen[2]["usage"] == {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}


async def test_every_request_is_remembered_by_the_address_it_arrived_at(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    one, other = await server.open(EngineName.VLLM), await server.open(EngineName.VLLM)
    async with http.post(f"{one.url}/v1/chat/completions", json=CHAT, headers={"X-Request-Id": "a"}) as response:
        assert response.status == 200
    (received,) = one.received
    assert (received.port, received.method, received.path) == (8000, "POST", "/v1/chat/completions")
    assert (received.headers["x-request-id"], received.body) == ("a", CHAT)
    assert other.received == []


async def test_health_and_failures_change_while_it_runs(server: EngineServer, http: aiohttp.ClientSession) -> None:
    fake = await server.open(EngineName.VLLM, behaviour=Behaviour(health=503))
    async with http.get(f"{fake.url}/health") as response:
        assert response.status == 503
    fake.behave(health=200, failing=500)
    async with http.get(f"{fake.url}/health") as response:
        assert response.status == 200
    async with http.post(f"{fake.url}/v1/chat/completions", json=CHAT) as response:
        assert response.status == 500
        assert (await response.json())["error"]["code"] == 500


async def test_a_body_that_is_no_request_is_refused(server: EngineServer, http: aiohttp.ClientSession) -> None:
    fake = await server.open(EngineName.VLLM)
    for body in (b"", b"{", b"[]", b'{"prompt": "x"}'):
        async with http.post(f"{fake.url}/v1/chat/completions", data=body) as response:
            assert response.status == 400, body
    assert (fake.model.waiting, fake.model.running) == (0, 0)


@pytest.mark.parametrize(
    ("engine", "known", "unknown"),
    [
        pytest.param(EngineName.VLLM, ["/v1/models", "/version", "/metrics"], ["/server_info", "/query"], id="vLLM"),
        pytest.param(
            EngineName.SGLANG,
            ["/v1/models", "/server_info", "/get_server_info", "/model_info", "/get_model_info", "/get_load"],
            ["/version", "/query"],
            id="SGLang",
        ),
    ],
)
async def test_an_engine_answers_its_own_routes_and_no_others(
    server: EngineServer, http: aiohttp.ClientSession, engine: EngineName, known: list[str], unknown: list[str]
) -> None:
    fake = await server.open(engine)
    found = {}
    for path in (*known, *unknown):
        async with http.get(f"{fake.url}{path}") as response:
            found[path] = response.status
    assert found == dict.fromkeys(known, 200) | dict.fromkeys(unknown, 404)


async def test_tokens_are_counted_only_with_scale_out(server: EngineServer, http: aiohttp.ClientSession) -> None:
    fake = await server.open(EngineName.VLLM)
    async with http.post(f"{fake.url}/v1/chat/completions/render", json=CHAT) as response:
        assert response.status == 404
    fake.behave(scale_out=True)
    async with http.post(f"{fake.url}/v1/chat/completions/render", json=CHAT) as response:
        assert len((await response.json())["token_ids"]) == 5


async def test_vllm_tokenizes_text_and_messages(server: EngineServer, http: aiohttp.ClientSession) -> None:
    fake = await server.open(EngineName.VLLM)
    for body, count in ((CHAT, 5), ({"prompt": "one two"}, 2)):
        async with http.post(f"{fake.url}/tokenize", json=body) as response:
            assert (await response.json())["count"] == count
    async with http.post(f"{fake.url}/tokenize", json={}) as response:
        assert response.status == 400


async def test_the_prefill_half_of_a_nixl_pair_tells_the_decode_half_in_its_reply(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fake = await server.open(EngineName.VLLM, behaviour=Behaviour(transfer=Transfer.NIXL))
    body = {**CHAT, "max_tokens": 1, "kv_transfer_params": {"do_remote_decode": True}}
    async with http.post(f"{fake.url}/v1/chat/completions", json=body) as response:
        told = (await response.json())["kv_transfer_params"]
    assert (told["do_remote_prefill"], told["remote_host"]) == (True, fake.address)
    assert told["remote_engine_id"] == f"engine-{fake.address}"


async def test_a_mooncake_prefill_half_is_found_at_its_bootstrap_port(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fake = await server.open(EngineName.VLLM, ports=(8000, 8998), behaviour=Behaviour(transfer=Transfer.MOONCAKE))
    async with http.get(f"http://{fake.address}:8998/query") as response:
        assert (await response.json())["0"]["engine_id"] == f"engine-{fake.address}"
    body = {**CHAT, "max_tokens": 1, "kv_transfer_params": {"do_remote_decode": True, "transfer_id": "t"}}
    async with http.post(f"{fake.url}/v1/chat/completions", json=body) as response:
        assert "kv_transfer_params" not in await response.json()


async def test_requests_under_way_are_counted_and_one_that_is_cut_off_is_let_go(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fake = await server.open(EngineName.VLLM)
    fake.hold()
    asking = asyncio.create_task(http.post(f"{fake.url}/v1/chat/completions", json=CHAT).__aenter__())
    async with asyncio.timeout(10):
        while fake.model.running != 1:  # noqa: ASYNC110 -- what another process does is polled
            await asyncio.sleep(0.01)
        asking.cancel()
        while fake.model.running:  # noqa: ASYNC110 -- as above
            await asyncio.sleep(0.01)
    assert (fake.model.aborted, fake.model.finished, fake.model.held) == (1, 0, 0)


async def test_a_held_engine_answers_once_it_is_released(server: EngineServer, http: aiohttp.ClientSession) -> None:
    fake = await server.open(EngineName.VLLM)
    fake.hold()
    asking = asyncio.create_task(http.post(f"{fake.url}/v1/chat/completions", json=CHAT).__aenter__())
    async with asyncio.timeout(10):
        while fake.model.running != 1:  # noqa: ASYNC110 -- as above
            await asyncio.sleep(0.01)
    assert fake.model.generation_tokens == 0
    fake.release()
    async with await asking as response:
        assert response.status == 200


async def test_a_closed_engine_refuses_connections_and_its_address_can_be_opened_again(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fake = await server.open(EngineName.VLLM)
    async with http.get(f"{fake.url}/health") as response:
        assert response.status == 200
    await server.close(fake)
    with pytest.raises(aiohttp.ClientConnectionError):
        await http.get(f"{fake.url}/health")
    again = await server.open(EngineName.VLLM, address=fake.address)
    async with http.get(f"{again.url}/health") as response:
        assert response.status == 200


async def test_only_free_pod_addresses_are_listened_at(server: EngineServer) -> None:
    fake = await server.open(EngineName.VLLM)
    with pytest.raises(AddressTaken, match=f"{fake.address} has an engine of this server already"):
        await server.open(EngineName.VLLM, address=fake.address)
    async with EngineServer() as other:
        with pytest.raises(AddressTaken, match=f"{fake.address}:8000 is in use"):
            await other.open(EngineName.VLLM, address=fake.address)
    for outside in ("127.0.0.1", "10.0.0.1", "localhost"):
        with pytest.raises(AddressRefused, match=r"inside 127\.1\.0\.0/16"):
            await server.open(EngineName.VLLM, address=outside)


async def test_a_port_that_is_taken_leaves_no_other_port_open(server: EngineServer) -> None:
    fake = await server.open(EngineName.VLLM, ports=(8998,))
    async with EngineServer() as other:
        with pytest.raises(AddressTaken, match=":8998"):
            await other.open(EngineName.VLLM, address=fake.address, ports=(8000, 8998))
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(fake.address, 8000)


async def test_thousands_of_addresses_answer_from_one_process(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fakes = [await server.open(EngineName.VLLM) for _ in range(2000)]
    assert len({fake.address for fake in fakes}) == 2000
    for fake in (fakes[0], fakes[999], fakes[-1]):
        async with http.get(f"{fake.url}/health") as response:
            assert response.status == 200
