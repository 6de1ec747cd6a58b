"""The worker APIs of the real routers, by which a withdrawal is proven. Source: facts routers-measured §3."""

from urllib.parse import quote

import pytest
from conformance_routers import EACH, PATH, Begin, arrivals, halves, lists, servers, until
from modeldeployment.api import keys

pytestmark = pytest.mark.lab

ROUND_ROBIN = "--policy=round_robin"
STRANGER = "http://127.1.255.254:8000"
NOBODY = "00000000-0000-4000-8000-000000000000"


async def test_vllm_router_answers_about_workers_by_their_urls(begin: Begin) -> None:
    world = begin(servers("vLLM", "vllm-router", ROUND_ROBIN, replicas=2))
    one, other = await world.pod("server", 0), await world.pod("server", 1)
    running = await world.start()
    await lists(running, one, other)
    key, strange = quote(one.url, safe=""), quote(STRANGER, safe="")
    status, answer = await running.ask("GET", "/workers")
    assert (status, answer["total"], answer["stats"]["regular_count"]) == (200, 2, 2)
    assert (await running.ask("GET", f"/workers/{key}"))[1]["url"] == one.url
    assert (await running.ask("GET", f"/workers/{strange}"))[0] == 404
    assert (await running.ask("PUT", f"/workers/{key}", body={}))[0] == 405
    status, answer = await running.ask("DELETE", f"/workers/{strange}")
    assert (status, answer["success"]) == (200, True)  # so the answer to a DELETE proves nothing
    assert (await running.ask("DELETE", f"/workers/{key}"))[0] == 200
    await lists(running, other)
    assert await arrivals(running, world.served, one, other) == [0, 12]
    status, answer = await running.ask("POST", "/workers", body={"url": other.url})
    assert (status, answer["code"]) == (400, "ADD_WORKER_FAILED")
    assert (await running.ask("POST", "/workers", body={"url": one.url}))[0] == 200
    await lists(running, one, other)


async def test_sglang_gateway_answers_about_workers_by_ids_of_its_own(begin: Begin) -> None:
    world = begin(servers("SGLang", "sglang-gateway", ROUND_ROBIN, replicas=2))
    one, other = await world.pod("server", 0), await world.pod("server", 1)
    running = await world.start()
    by_url = {worker.url: worker.key for worker in await lists(running, one, other)}
    key = by_url[one.url]
    assert (await running.ask("GET", f"/workers/{key}"))[1]["url"] == one.url
    assert (await running.ask("GET", f"/workers/{NOBODY}"))[0] == 404
    assert (await running.ask("GET", f"/workers/{quote(one.url, safe='')}"))[0] == 400
    assert (await running.ask("DELETE", f"/workers/{NOBODY}"))[0] == 404
    assert (await running.ask("DELETE", f"/workers/{key}"))[0] == 202
    await lists(running, other)
    assert (await running.ask("DELETE", f"/workers/{key}"))[0] == 404
    assert await arrivals(running, world.served, one, other) == [0, 12]
    assert (await running.ask("POST", "/workers", body={"url": one.url}))[0] == 202
    await lists(running, one, other)


@EACH
async def test_a_worker_removed_over_the_api_stays_away_until_the_router_starts_again(
    begin: Begin, engine: str, router: str
) -> None:
    world = begin(servers(engine, router, replicas=3))
    stays, goes = await world.pod("server", 0), await world.pod("server", 1)
    running = await world.start()
    await lists(running, stays, goes)
    await running.remove(goes.url)
    await lists(running, stays)
    await world.tell(goes, ready=True)
    later = await world.pod("server", 2)
    await lists(running, stays, later)
    again = await world.start()
    await lists(again, stays, goes, later)
    await lists(running, stays, later)


async def test_vllm_router_takes_a_removed_worker_back_when_its_label_goes_and_comes(begin: Begin) -> None:
    world = begin(servers("vLLM", "vllm-router", replicas=2))
    stays, goes = await world.pod("server", 0), await world.pod("server", 1)
    running = await world.start()
    await lists(running, stays, goes)
    await world.label(goes, eligible=None)
    await running.remove(goes.url)
    await lists(running, stays)
    await world.label(goes, eligible=keys.TRUE)
    await lists(running, stays, goes)


async def test_sglang_gateway_takes_a_removed_worker_back_only_over_the_api(begin: Begin) -> None:
    world = begin(servers("SGLang", "sglang-gateway", replicas=3))
    stays, goes = await world.pod("server", 0), await world.pod("server", 1)
    running = await world.start()
    await lists(running, stays, goes)
    await world.label(goes, eligible=None)
    await running.remove(goes.url)
    await lists(running, stays)
    await world.label(goes, eligible=keys.TRUE)
    later = await world.pod("server", 2)
    await lists(running, stays, later)
    assert (await running.ask("POST", "/workers", body={"url": goes.url}))[0] == 202
    await lists(running, stays, goes, later)
    await world.delete(goes)
    await lists(running, stays, later)


async def test_the_worker_of_a_pair_is_put_back_over_the_api_by_sglang_gateway_and_never_by_vllm_router(
    begin: Begin,
) -> None:
    world = begin(halves("SGLang", "sglang-gateway"))
    prefill, decode = await world.pod("prefill"), await world.pod("decode")
    running = await world.start()
    await lists(running, prefill, decode)
    await running.remove(prefill.url)
    await lists(running, decode)
    body = {"url": prefill.url, "worker_type": "prefill", "bootstrap_port": 8998}
    assert (await running.ask("POST", "/workers", body=body))[0] == 202
    ports = {worker.url: worker.bootstrap_port for worker in await lists(running, prefill, decode)}
    assert ports == {prefill.url: 8998, decode.url: None}


async def test_vllm_router_refuses_to_add_a_worker_to_a_pair(begin: Begin) -> None:
    world = begin(halves("vLLM", "vllm-router"))
    prefill = await world.pod("prefill")
    running = await world.start()
    await lists(running, prefill)
    for body in ({"url": STRANGER}, {"url": STRANGER, "worker_type": "decode"}):
        assert (await running.ask("POST", "/workers", body=body))[0] == 400


async def test_whoever_can_ask_vllm_router_for_completions_can_remove_its_workers(begin: Begin) -> None:
    world = begin(servers("vLLM", "vllm-router", "--api-key=secret"))
    server = await world.pod("server")
    running = await world.start()
    await lists(running, server)
    assert (await running.ask("DELETE", f"/workers/{quote(server.url, safe='')}"))[0] == 200
    await lists(running)


async def test_an_api_key_of_sglang_gateway_guards_completions_and_workers(begin: Begin) -> None:
    world = begin(servers("SGLang", "sglang-gateway", "--api-key=secret"))
    server = await world.pod("server")
    running = await world.start()
    key = {"Authorization": "Bearer secret"}
    await until(lambda: bool(server.engine.received), what="the Pod is found")
    body = {"model": world.served, "messages": [{"role": "user", "content": "hello"}]}
    assert (await running.ask("GET", "/workers"))[0] == 401
    assert (await running.ask("POST", PATH, body=body))[0] == 401
    assert (await running.ask("GET", "/workers", headers=key))[0] == 200
    assert (await running.ask("GET", "/health"))[0] == 200
