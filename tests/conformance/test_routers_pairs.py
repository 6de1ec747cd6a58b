"""How a discovered pair hands its blocks over, as seen at the engines. Source: facts routers-measured §6."""

import pytest
from conformance_routers import PATH, Begin, Member, World, ask, halves, lists
from modeldeployment.lab.engines import Behaviour, Received, Transfer
from modeldeployment.lab.routers import RouterFailed, RunningRouter

pytestmark = pytest.mark.lab

MOONCAKE = Behaviour(transfer=Transfer.MOONCAKE)
NIXL = Behaviour(transfer=Transfer.NIXL)


async def joined(world: World, behaviour: Behaviour | None = None) -> tuple[RunningRouter, Member, Member]:
    """A router that has discovered one Pod of each half."""
    prefill = await world.pod("prefill", behaviour=behaviour)
    decode = await world.pod("decode", behaviour=behaviour)
    running = await world.start()
    await lists(running, prefill, decode)
    return running, prefill, decode


def only(member: Member) -> Received:
    (received,) = member.engine.asked(PATH)
    return received


async def test_sglang_gateway_asks_both_halves_alike_and_names_the_prefill_halfs_bootstrap(begin: Begin) -> None:
    world = begin(halves("SGLang", "sglang-gateway"))
    running, prefill, decode = await joined(world)
    await ask(running, world.served, max_tokens=7)
    asked = only(prefill).body
    assert asked == only(decode).body
    assert (asked["bootstrap_host"], asked["bootstrap_port"]) == (prefill.engine.address, 8998)
    assert isinstance(asked["bootstrap_room"], int)
    # It writes the limit under its newer name.
    assert (asked["model"], asked["max_completion_tokens"]) == (world.served, 7)


async def test_sglang_gateway_draws_a_room_for_each_request(begin: Begin) -> None:
    world = begin(halves("SGLang", "sglang-gateway"))
    running, prefill, decode = await joined(world)
    await ask(running, world.served, times=4)
    rooms = [received.body["bootstrap_room"] for received in prefill.engine.asked(PATH)]
    assert rooms == [received.body["bootstrap_room"] for received in decode.engine.asked(PATH)]
    assert len(set(rooms)) == 4


async def test_vllm_router_asks_the_prefill_half_for_one_token_to_be_handed_over(begin: Begin) -> None:
    world = begin(halves("vLLM", "vllm-router"))
    assert {"--vllm-pd-disaggregation", "--kv-connector=mooncake"} <= set(world.container["args"])
    running, prefill, _ = await joined(world, MOONCAKE)
    await ask(running, world.served, max_tokens=7)
    asked = only(prefill).body
    assert asked["max_tokens"] == 1
    told = asked["kv_transfer_params"]
    assert told["do_remote_decode"] is True
    assert told["transfer_id"]


async def test_stock_vllm_router_never_tells_a_discovered_decode_half_where_the_blocks_are(begin: Begin) -> None:
    world = begin(halves("vLLM", "vllm-router"))
    running, prefill, decode = await joined(world, MOONCAKE)
    await ask(running, world.served, times=2, max_tokens=7)
    news = (
        "vllm-router tells a discovered decode half where the blocks of its prefill half are: decisions D47 no longer "
        "holds for this version. Let the lint about a vLLM pair behind vllm-router name the versions before this one, "
        "change docs/ with it, correct facts routers-measured §6, and turn this test around."
    )
    for received in decode.engine.asked(PATH):
        assert received.body["max_tokens"] == 7
        assert "kv_transfer_params" not in received.body, news
    assert prefill.engine.asked("/query") == [], news
    assert "No Mooncake bootstrap info" in running.log.read_text()


async def test_vllm_router_tells_the_decode_half_what_it_read_at_start_from_a_prefill_half_it_was_given(
    begin: Begin,
) -> None:
    # Not what we render: it shows that the engines speak the handshake which discovery leaves out.
    world = begin(halves("vLLM", "vllm-router"))
    prefill, decode = await world.pod("prefill", behaviour=MOONCAKE), await world.pod("decode", behaviour=MOONCAKE)
    discovering = world.container["args"].index("--service-discovery")
    given = ["--vllm-pd-disaggregation", "--prefill", prefill.url, "8998", "--decode", decode.url]
    running = await world.start(args=[*world.container["args"][:discovering], *given])
    await ask(running, world.served)
    asked = only(decode).body["kv_transfer_params"]
    assert asked["transfer_id"] == only(prefill).body["kv_transfer_params"]["transfer_id"]
    assert asked["do_remote_prefill"] is True
    assert asked["remote_bootstrap_addr"] == f"http://{prefill.engine.address}:8998"
    assert asked["remote_engine_id"] == f"engine-{prefill.engine.address}"
    assert len(prefill.engine.asked("/query")) == 1


async def test_with_nixl_vllm_router_hands_the_prefill_halfs_reply_on_to_the_decode_half(begin: Begin) -> None:
    # Not what we render either: it shows what the router does under discovery with the connector that needs no port.
    world = begin(halves("vLLM", "vllm-router"))
    prefill, decode = await world.pod("prefill", behaviour=NIXL), await world.pod("decode", behaviour=NIXL)
    arguments = [
        "--kv-connector=nixl" if word.startswith("--kv-connector") else word for word in world.container["args"]
    ]
    running = await world.start(args=arguments)
    await lists(running, prefill, decode)
    await ask(running, world.served)
    asked = only(decode).body["kv_transfer_params"]
    assert (asked["do_remote_prefill"], asked["remote_host"]) == (True, prefill.engine.address)
    assert asked["remote_engine_id"] == f"engine-{prefill.engine.address}"


async def test_vllm_router_sends_a_pair_a_key_of_its_own_and_drops_the_clients(begin: Begin) -> None:
    world = begin(halves("vLLM", "vllm-router"))
    prefill, decode = await world.pod("prefill"), await world.pod("decode")
    running = await world.start(environment={"OPENAI_API_KEY": "of-the-router"})
    await lists(running, prefill, decode)
    body = {"model": world.served, "messages": [{"role": "user", "content": "hello"}]}
    status, _ = await running.ask("POST", PATH, body=body, headers={"Authorization": "Bearer of-the-client"})
    assert status == 200
    assert [only(half).headers["authorization"] for half in (prefill, decode)] == ["Bearer of-the-router"] * 2


@pytest.mark.parametrize(("engine", "router"), [("vLLM", "vllm-router"), ("SGLang", "sglang-gateway")])
async def test_a_pair_that_lacks_one_half_answers_nothing(begin: Begin, engine: str, router: str) -> None:
    world = begin(halves(engine, router))
    prefill = await world.pod("prefill")
    running = await world.start()
    await lists(running, prefill)
    body = {"model": world.served, "messages": [{"role": "user", "content": "hello"}]}
    status, _ = await running.ask("POST", PATH, body=body)
    assert status >= 500
    assert prefill.served == 0


async def test_discovery_never_drops_a_prefill_half_that_vllm_router_was_also_given(begin: Begin) -> None:
    # Why nothing static is rendered beside discovery.
    world = begin(halves("vLLM", "vllm-router", decode=2))
    prefill, decode = await world.pod("prefill", behaviour=MOONCAKE), await world.pod("decode", behaviour=MOONCAKE)
    running = await world.start(args=["--prefill", prefill.url, "8998", *world.container["args"]])
    await lists(running, prefill, decode)
    await ask(running, world.served)
    assert only(decode).body["kv_transfer_params"]["remote_engine_id"] == f"engine-{prefill.engine.address}"
    await world.label(prefill, eligible=None)
    await world.delete(prefill)
    later = await world.pod("decode", 1)
    await lists(running, prefill, decode, later)
    await running.remove(prefill.url)
    await lists(running, decode, later)


async def test_vllm_routers_third_connector_refuses_discovery(begin: Begin) -> None:
    world = begin(halves("vLLM", "vllm-router"))
    moriio = {"--kv-connector=mooncake": "--kv-connector=moriio"}
    with pytest.raises(RouterFailed, match="--vllm-discovery-address"):
        await world.start(args=[moriio.get(argument, argument) for argument in world.container["args"]])
