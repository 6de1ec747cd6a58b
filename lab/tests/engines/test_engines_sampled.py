"""What a fake engine counts is what the scaler reads of it."""

from datetime import UTC, datetime, timedelta

import aiohttp
import pytest
from modeldeployment.api import Quantity, RoleKind
from modeldeployment.api.choices import EngineName
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.lab.engines import EngineModel, EngineServer, FakeEngine
from modeldeployment.scaler.planning.observed import RoleReading
from modeldeployment.scaler.sampling import Engine, Sampler

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
PROMPT = tuple(f"word{number}" for number in range(320))


class Readings:
    """A scaler's readings of one Server role, an interval of ten seconds after the other."""

    def __init__(self, http: aiohttp.ClientSession, *fakes: FakeEngine) -> None:
        self.seconds = 0.0
        self.sampler = Sampler(http, lambda: self.seconds)
        self.fakes = fakes

    async def next(self) -> RoleReading:
        self.seconds += 10
        members = [
            Engine(
                role="server",
                kind=RoleKind.SERVER,
                name=fake.engine,
                pod=fake.address,
                uid=fake.address,
                container="main",
                restarts=fake.life,
                url=f"{fake.url}/metrics",
            )
            for fake in self.fakes
        ]
        now = NOON + timedelta(seconds=self.seconds)
        ready = {"server": len(members)}
        read = await self.sampler.sample("bench/chat", 10, members, now, ready=ready, standing=lambda _: True)
        return read.roles["server"]


def serve(model: EngineModel, *, streamed: bool) -> None:
    """One request of 320 tokens that gets 41, the first after 0.35 s and each other one after 12 ms."""
    request = model.arrive(PROMPT, streamed=streamed)
    model.start(request)
    model.first_token(request, 0.35)
    model.next_token(request, 0.012, 40)
    model.leave(request, finished=True)


@pytest.mark.parametrize(("engine", "ttft", "itl"), [(EngineName.VLLM, "500", "25"), (EngineName.SGLANG, "400", "15")])
async def test_rates_hits_and_latencies_are_those_of_what_was_served(
    server: EngineServer, http: aiohttp.ClientSession, engine: EngineName, ttft: str, itl: str
) -> None:
    fakes = [await server.open(engine), await server.open(engine)]
    readings = Readings(http, *fakes)
    first = await readings.next()
    assert (first.ready, first.read, first.rated) == (2, 2, 0)
    for fake in fakes:
        serve(fake.model, streamed=True)
        serve(fake.model, streamed=False)  # its prompt is cached by now
    second = await readings.next()
    assert second.state is SignalState.FRESH
    assert second.complete
    assert second.rated == 2
    assert second.prompt_tokens_per_second == Quantity.parse("64")
    assert second.generation_tokens_per_second == Quantity.parse("16.4")
    assert second.ttft_milliseconds == Quantity.parse(ttft)
    assert second.itl_milliseconds == Quantity.parse(itl)


@pytest.mark.parametrize("engine", EngineName)
async def test_gauges_are_those_of_what_runs_and_waits(
    server: EngineServer, http: aiohttp.ClientSession, engine: EngineName
) -> None:
    fakes = [await server.open(engine), await server.open(engine)]
    for fake in fakes:
        fake.model.blocks = 40
        fake.model.start(fake.model.arrive(PROMPT))
    fakes[0].model.arrive(PROMPT)
    read = await Readings(http, *fakes).next()
    assert (read.running_requests, read.waiting_requests) == (2, 1)
    assert read.kv_cache_usage == Quantity.parse("0.5")


@pytest.mark.parametrize("engine", EngineName)
async def test_an_engine_that_restarts_gives_no_rate_until_it_was_read_twice(
    server: EngineServer, http: aiohttp.ClientSession, engine: EngineName
) -> None:
    fake = await server.open(engine)
    readings = Readings(http, fake)
    await readings.next()
    serve(fake.model, streamed=True)
    await server.restart(fake)
    assert (await readings.next()).generation_tokens_per_second is None
    serve(fake.model, streamed=True)
    assert (await readings.next()).generation_tokens_per_second == Quantity.parse("4.1")


async def test_sglang_without_accounts_of_its_cache_is_read_by_its_whole_prompts(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fake = await server.open(EngineName.SGLANG)
    fake.tell(without=frozenset({"sglang:prefill_effective_tokens_total"}))
    readings = Readings(http, fake)
    await readings.next()
    serve(fake.model, streamed=True)
    serve(fake.model, streamed=True)
    assert (await readings.next()).prompt_tokens_per_second == Quantity.parse("64")
