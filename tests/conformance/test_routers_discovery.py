"""Which Pods the real routers take for engines. Source: facts routers-measured §1."""

import asyncio

import pytest
from conformance_routers import EACH, Begin, halves, lists, servers, until
from modeldeployment.api import keys
from modeldeployment.lab.engines import Behaviour

pytestmark = pytest.mark.lab

GIVEN_UP_SECONDS = 3.0
"""How long it is watched that a router that gave up on a Pod does not look again by itself."""


@EACH
async def test_exactly_the_ready_and_eligible_leaders_are_discovered(begin: Begin, engine: str, router: str) -> None:
    world = begin(servers(engine, router, size=2, replicas=5))
    early = await world.pod("server", 0)
    await world.pod("server", 0, member=1)
    await world.pod("server", 1, labels={keys.ELIGIBLE: None})
    await world.pod("server", 2, ready=False)
    await world.pod("server", 3, labels={keys.INSTANCE: "another"}, name="another-server-0")
    running = await world.start()
    await lists(running, early)
    await world.pod("server", 1, member=1)
    late = await world.pod("server", 4)
    assert {worker.kind for worker in await lists(running, early, late)} == {"regular"}
    assert [name for name, member in world.members.items() if member.engine.received] == [early.name, late.name]


@EACH
async def test_a_pair_is_discovered_by_its_halves_and_an_encoder_is_none_of_them(
    begin: Begin, engine: str, router: str
) -> None:
    world = begin(halves(engine, router, decode=2))
    prefill = await world.pod("prefill")
    decode = await world.pod("decode")
    encoder = {keys.ROLE_KIND: "encode", keys.COMPONENT: "encode", keys.ELIGIBLE: None}
    stranger = await world.pod("prefill", labels=encoder, name="qwen-encode-0")
    running = await world.start()
    await lists(running, prefill, decode)
    other = await world.pod("decode", 1)
    kinds = {worker.url: worker.kind for worker in await lists(running, prefill, decode, other)}
    assert kinds == {prefill.url: "prefill", decode.url: "decode", other.url: "decode"}
    assert stranger.engine.received == []


@EACH
async def test_a_pod_becomes_a_worker_once_it_is_ready_or_eligible(begin: Begin, engine: str, router: str) -> None:
    world = begin(servers(engine, router, replicas=3))
    first = await world.pod("server", 0)
    unready = await world.pod("server", 1, ready=False)
    ineligible = await world.pod("server", 2, labels={keys.ELIGIBLE: None})
    running = await world.start()
    await lists(running, first)
    await world.tell(unready, ready=True)
    await lists(running, first, unready)
    await world.label(ineligible, eligible=keys.TRUE)
    await lists(running, first, unready, ineligible)


@EACH
async def test_a_router_without_workers_is_alive_and_not_ready(begin: Begin, engine: str, router: str) -> None:
    world = begin(servers(engine, router))
    running = await world.start()
    assert [(await running.ask("GET", path))[0] for path in ("/health", "/liveness")] == [200, 200]
    assert (await running.ask("GET", world.container["readinessProbe"]["httpGet"]["path"]))[0] == 503
    server = await world.pod("server")
    await lists(running, server)
    assert [(await running.ask("GET", path))[0] for path in ("/readiness", "/health")] == [200, 200]


@EACH
async def test_the_bootstrap_port_is_read_from_the_rendered_annotation(begin: Begin, engine: str, router: str) -> None:
    world = begin(halves(engine, router))
    prefill, decode = await world.pod("prefill"), await world.pod("decode")
    ports = {worker.url: worker.bootstrap_port for worker in await lists(await world.start(), prefill, decode)}
    assert ports == {prefill.url: 8998, decode.url: None}


async def test_one_sick_pod_holds_up_vllm_routers_discovery_only_as_long_as_it_is_told_to_wait(begin: Begin) -> None:
    world = begin(servers("vLLM", "vllm-router", replicas=3))
    # It looks at the time only when it looks at the Pod, every 30 s unless told otherwise.
    assert {"--worker-startup-timeout-secs=10", "--worker-startup-check-interval=1"} <= set(world.container["args"])
    first = await world.pod("server", 0)
    running = await world.start()
    await lists(running, first)
    sick = await world.pod("server", 1, behaviour=Behaviour(health=503))
    await until(lambda: len(sick.engine.asked("/health")) > 1, what="the sick Pod is asked again and again")
    after = await world.pod("server", 2)
    await world.label(first, eligible=None)
    await until(lambda: len(sick.engine.asked("/health")) > 3, what="the sick Pod is still asked")
    assert [worker.url for worker in await running.workers()] == [first.url]
    await lists(running, after)
    assert len(sick.engine.asked("/health")) < 30


async def test_vllm_router_takes_a_pod_it_gave_up_on_when_an_annotation_of_it_changes(begin: Begin) -> None:
    waits = ("--worker-startup-timeout-secs=1",)
    world = begin(servers("vLLM", "vllm-router", *waits, replicas=2))
    sick, well = await world.pod("server", 0, behaviour=Behaviour(health=503)), await world.pod("server", 1)
    running = await world.start()
    await lists(running, well)
    sick.engine.behave(health=200)
    await asyncio.sleep(GIVEN_UP_SECONDS)
    await lists(running, well)
    await world.annotate(sick, keys.ANNOUNCED, "2030-01-01T00:00:00Z")
    await lists(running, sick, well)


async def test_sglang_gateway_adds_others_beside_a_sick_pod(begin: Begin) -> None:
    world = begin(servers("SGLang", "sglang-gateway", replicas=3))
    first = await world.pod("server", 0)
    running = await world.start()
    await lists(running, first)
    sick = await world.pod("server", 1, behaviour=Behaviour(health=503))
    await until(lambda: bool(sick.engine.asked("/health")), what="the sick Pod is asked")
    await lists(running, first, await world.pod("server", 2))


async def test_sglang_gateway_adds_a_pod_that_lost_its_label_while_it_was_sick(begin: Begin) -> None:
    world = begin(servers("SGLang", "sglang-gateway", "--worker-startup-check-interval=1", replicas=3))
    first = await world.pod("server", 0)
    running = await world.start()
    await lists(running, first)
    sick = await world.pod("server", 1, behaviour=Behaviour(health=503))
    await until(lambda: bool(sick.engine.asked("/health")), what="the sick Pod is asked")
    await world.label(sick, eligible=None)
    after = await world.pod("server", 2)
    await lists(running, first, after)
    sick.engine.behave(health=200)
    await lists(running, first, after, sick)
