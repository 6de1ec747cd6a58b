"""Gauges that lie, hang, vanish, and answer too much."""

import aiohttp
import pytest
from engine_worlds import gauges
from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines import EngineServer, Manner

BRIEF = aiohttp.ClientTimeout(total=0.3)


async def test_gauges_lie_until_they_tell_the_truth_again(server: EngineServer, http: aiohttp.ClientSession) -> None:
    fake = await server.open(EngineName.VLLM)
    fake.tell(lies={"vllm:num_requests_running": "3"})
    assert (await gauges(http, fake))["num_requests_running"] == 3
    fake.tell()
    assert (await gauges(http, fake))["num_requests_running"] == 0


async def test_a_series_that_vanishes_is_not_told_and_others_are(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fake = await server.open(EngineName.SGLANG)
    fake.tell(without=frozenset({"sglang:num_queue_reqs"}))
    told = await gauges(http, fake)
    assert "num_queue_reqs" not in told
    assert told["num_running_reqs"] == 0


async def test_ranks_tell_each_series_and_may_tell_it_twice(server: EngineServer, http: aiohttp.ClientSession) -> None:
    fake = await server.open(EngineName.VLLM)
    fake.tell(ranks=2, twice=True)
    async with http.get(f"{fake.url}/metrics") as response:
        text = await response.text()
    shown = [line for line in text.splitlines() if line.startswith("vllm:num_requests_running")]
    assert [line.partition('engine="')[2][0] for line in shown] == ["0", "0", "1"]


@pytest.mark.parametrize("manner", [Manner.HANG, Manner.TRICKLE])
async def test_metrics_hang_while_requests_are_answered(
    server: EngineServer, http: aiohttp.ClientSession, manner: Manner
) -> None:
    fake = await server.open(EngineName.VLLM)
    fake.tell(manner=manner)
    with pytest.raises(TimeoutError):
        async with http.get(f"{fake.url}/metrics", timeout=BRIEF) as response:
            await response.read()
    async with http.get(f"{fake.url}/v1/models") as response:
        assert response.status == 200


async def test_metrics_break_off_half_way(server: EngineServer, http: aiohttp.ClientSession) -> None:
    fake = await server.open(EngineName.VLLM)
    fake.tell(manner=Manner.CUT)
    with pytest.raises(aiohttp.ClientError):
        async with http.get(f"{fake.url}/metrics") as response:
            await response.read()


async def test_metrics_lead_elsewhere_fail_or_are_something_else(
    server: EngineServer, http: aiohttp.ClientSession
) -> None:
    fake = await server.open(EngineName.VLLM)
    fake.tell(manner=Manner.REDIRECT, elsewhere="http://127.1.255.1/metrics")
    async with http.get(f"{fake.url}/metrics", allow_redirects=False) as response:
        assert (response.status, response.headers["Location"]) == (302, "http://127.1.255.1/metrics")
    fake.tell(status=500, text="<html>")
    async with http.get(f"{fake.url}/metrics") as response:
        assert (response.status, await response.text()) == (500, "<html>")


async def test_metrics_are_more_than_anybody_wants_to_read(server: EngineServer, http: aiohttp.ClientSession) -> None:
    fake = await server.open(EngineName.VLLM)
    fake.tell(manner=Manner.ENDLESS)
    read = 0
    async with http.get(f"{fake.url}/metrics") as response:
        async for piece in response.content.iter_any():
            read += len(piece)
    assert read > 100_000_000
