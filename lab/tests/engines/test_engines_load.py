"""Engines that slow down under load, and what their metrics tell of it to our own reader."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from random import Random

import aiohttp
import pytest
from engine_worlds import ask, until
from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines import Behaviour, EngineModel, EngineServer, FakeEngine, pace
from modeldeployment.lab.engines.exposition import metrics
from modeldeployment.lab.engines.model import SGLANG_BOUNDS
from modeldeployment.router.exposition import samples

PROMPT = tuple(f"word{number}" for number in range(320))


@pytest.fixture
async def server() -> AsyncIterator[EngineServer]:
    async with EngineServer(seed=7) as server:
        yield server


async def told(http: aiohttp.ClientSession, fake: FakeEngine, *names: str) -> dict[tuple[str, ...], float]:
    """What our reader reads of an engine: by name, and by the labels that tell series of one name apart."""
    async with http.get(f"{fake.url}/metrics") as response:
        body = await response.read()
    apart = ("le", "mode", "is_streaming")
    return {
        (each.name, *(each.labels[label] for label in apart if label in each.labels)): each.value
        for each in samples(body, names)
    }


def test_a_prompt_takes_longer_the_more_of_it_no_cache_knows() -> None:
    behaviour = Behaviour(prefill_seconds=0.05, prefill_rate=2000)
    assert pace.prefill(behaviour, 0) == 0.05
    assert pace.prefill(behaviour, 1000) == 0.55
    assert pace.prefill(Behaviour(prefill_seconds=0.05), 1000) == 0.05


def test_tokens_come_slower_once_more_run_than_the_engine_can_serve_at_its_pace() -> None:
    behaviour = Behaviour(token_seconds=0.02, decode_rate=1000)
    assert pace.step(behaviour, 1) == 0.02
    assert pace.step(behaviour, 20) == 0.02
    assert pace.step(behaviour, 50) == 0.05
    assert pace.step(Behaviour(token_seconds=0.02), 50) == 0.02


def test_times_vary_within_their_spread_and_the_same_way_for_the_same_seed() -> None:
    behaviour = Behaviour(spread=0.2)
    drawn = [pace.scattered(1.0, behaviour, chance) for chance in (Random("7/a"), Random("7/a"), Random("7/b"))]
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(0.8 <= each <= 1.2 for each in drawn)
    assert pace.scattered(1.0, Behaviour(), Random(1)) == 1.0


async def test_engines_of_the_same_seed_have_the_same_addresses_and_chances() -> None:
    async def drawn() -> tuple[str, float]:
        async with EngineServer(seed=11) as server:
            fake = await server.open(EngineName.VLLM)
            return fake.address, fake.chance.random()

    assert await drawn() == await drawn()


def test_a_prompt_that_does_not_fit_waits_unless_nothing_else_is_there() -> None:
    model = EngineModel(blocks=30)
    first = model.arrive(PROMPT)
    assert model.fits(first)
    model.start(first)
    second = model.arrive(PROMPT)
    assert not model.fits(second)
    model.leave(first, finished=True)
    assert model.fits(second)


def test_the_cache_forgets_what_was_not_used_for_longest() -> None:
    model = EngineModel(blocks=20)
    old, new = PROMPT[:160], tuple(f"other{number}" for number in range(160))
    model.arrive(old)
    model.arrive(new)
    assert model.arrive(old).cached == 160
    model.arrive(tuple(f"third{number}" for number in range(160)))
    assert model.arrive(old).cached == 160
    assert model.arrive(new).cached == 0


def test_what_several_tokens_took_is_observed_for_each_of_them() -> None:
    model = EngineModel(bounds=SGLANG_BOUNDS)
    request = model.arrive(PROMPT, streamed=False)
    model.start(request)
    model.first_token(request, 0.35)
    model.next_token(request, 0.012, 8)
    model.leave(request, finished=True)
    assert model.generation_tokens == 9
    assert (sum(model.between.counts), round(model.between.total, 3)) == (8, 0.096)
    assert (sum(model.per_token.counts), round(model.per_token.total, 3)) == (1, 0.012)
    assert (sum(model.first.counts), model.first.total) == (1, 0.35)


@pytest.mark.parametrize(
    ("engine", "first", "between"),
    [
        (EngineName.VLLM, ("0.25", "0.5"), ("0.01", "0.025")),
        (EngineName.SGLANG, ("0.2", "0.4"), ("0.01", "0.015")),
    ],
)
def test_histograms_have_the_bounds_of_the_real_program(
    engine: EngineName, first: tuple[str, str], between: tuple[str, str]
) -> None:
    model = EngineModel(bounds=SGLANG_BOUNDS) if engine is EngineName.SGLANG else EngineModel()
    request = model.arrive(PROMPT)
    model.start(request)
    model.first_token(request, 0.35)
    model.next_token(request, 0.012)
    prefix = engine.value.lower()
    body = metrics(engine, "model", model).encode()
    names = [f"{prefix}:{name}_seconds_bucket" for name in ("time_to_first_token", "inter_token_latency")]
    counted: Counter[tuple[str, str]] = Counter()
    for each in samples(body, names):
        counted[each.name, each.labels["le"]] += int(each.value)
    assert [counted[names[0], bound] for bound in first] == [0, 1]
    assert [counted[names[1], bound] for bound in between] == [0, 1]


async def test_sglang_tells_streams_and_others_apart(server: EngineServer, http: aiohttp.ClientSession) -> None:
    fake = await server.open(EngineName.SGLANG, behaviour=Behaviour(tokens=3))
    await ask(http, fake, stream=True)
    await ask(http, fake)
    await ask(http, fake)
    found = await told(
        http,
        fake,
        "sglang:generation_tokens_total",
        "sglang:prompt_tokens_total",
        "sglang:prefill_effective_tokens_total",
    )
    assert found == {
        ("sglang:prompt_tokens_total", "true"): 6,
        ("sglang:prompt_tokens_total", "false"): 12,
        ("sglang:generation_tokens_total", "true"): 3,
        ("sglang:generation_tokens_total", "false"): 6,
        ("sglang:prefill_effective_tokens_total", "input"): 18,
        ("sglang:prefill_effective_tokens_total", "device_hit"): 0,
        ("sglang:prefill_effective_tokens_total", "host_hit"): 0,
        ("sglang:prefill_effective_tokens_total", "storage_hit"): 0,
    }


async def test_a_prompt_seen_before_is_counted_as_hits_and_costs_no_computing(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fake = await server.open(EngineName.VLLM, behaviour=Behaviour(tokens=1, prefill_rate=1))
    text = " ".join(PROMPT)
    known = fake.model.arrive(tuple(text.split()))
    fake.model.leave(known, finished=False)
    body = {"model": "model", "prompt": text}
    async with http.post(f"{fake.url}/v1/completions", json=body) as response:  # else it would take 320 s
        assert response.status == 200
    found = await told(http, fake, "vllm:prefix_cache_hits_total", "vllm:prompt_tokens_total")
    assert found == {("vllm:prefix_cache_hits_total",): 320, ("vllm:prompt_tokens_total",): 320}


async def test_prompts_are_computed_one_after_the_other_and_the_others_wait(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fake = await server.open(EngineName.VLLM, behaviour=Behaviour(tokens=1, prefill_rate=1))
    asking = [asyncio.create_task(ask(http, fake, f"m{number}")) for number in range(3)]
    await until(lambda: fake.model.under_way == 3)
    assert (fake.model.running, fake.model.waiting) == (1, 2)
    asking[0].cancel()
    await until(lambda: fake.model.under_way == 2)
    await until(lambda: (fake.model.running, fake.model.waiting) == (1, 1))
    for task in asking:
        task.cancel()


async def test_an_engine_whose_clock_runs_fast_tells_its_own_seconds(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fast = Behaviour(tokens=41, prefill_seconds=50, token_seconds=10, together=20, clock=1000)
    fake = await server.open(EngineName.VLLM, behaviour=fast)
    status, text = await ask(http, fake, stream=True)
    assert status == 200
    assert text.count("data: {") == 3
    assert (fake.model.generation_tokens, sum(fake.model.between.counts)) == (41, 40)
    assert fake.model.first.total >= 50
    assert fake.model.between.total >= 400


async def test_the_kv_cache_fills_with_what_runs(server: EngineServer, http: aiohttp.ClientSession) -> None:
    fake = await server.open(EngineName.SGLANG, behaviour=Behaviour(tokens=4, blocks=2))
    fake.hold()
    asking = [asyncio.create_task(ask(http, fake, f"m{number}")) for number in range(6)]
    await until(lambda: fake.model.under_way == 6)
    found = await told(http, fake, "sglang:token_usage", "sglang:num_running_reqs", "sglang:num_queue_reqs")
    assert found == {
        ("sglang:token_usage",): 0.9375,
        ("sglang:num_running_reqs",): 5,
        ("sglang:num_queue_reqs",): 1,
    }
    fake.release()
    assert [status for status, _ in await asyncio.gather(*asking)] == [200] * 6
