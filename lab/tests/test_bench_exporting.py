"""Engines of the benchmarks that only tell their metrics."""

import asyncio
import json
import subprocess
import sys
from array import array
from pathlib import Path

import aiohttp
from modeldeployment.lab.bench import exporting, stubbing
from modeldeployment.lab.bench.exporting import Bodies
from modeldeployment.router.exposition import samples


def told(body: bytes, name: str, **labels: str) -> float:
    (found,) = (each for each in samples(body, [name]) if labels.items() <= each.labels.items())
    return found.value


def test_counters_grow_with_time_and_gauges_stand_still() -> None:
    bodies = Bodies()
    early, late = bodies.at(1000), bodies.at(1150)
    assert len(early) > 40_000  # as large as a recorded one
    for name, grown in (
        ("vllm:prompt_tokens_total", 9_600),
        ("vllm:generation_tokens_total", 2_400),
        ("vllm:prefix_cache_hits_total", 0),
        ("vllm:time_to_first_token_seconds_count", 15),
        ("vllm:num_requests_running", 0),
    ):
        assert told(late, name) - told(early, name) == grown, name
    assert told(late, "vllm:num_requests_running") == 4
    assert told(late, "vllm:inter_token_latency_seconds_bucket", le="0.01") == 0
    assert told(late, "vllm:inter_token_latency_seconds_bucket", le="0.025") == 18_400


async def test_a_process_tells_where_it_listens_and_in_the_end_who_was_asked_when(tmp_path: Path) -> None:
    file = tmp_path / "asked"
    command = [sys.executable, "-m", "modeldeployment.lab.bench.exporting", "3", str(file)]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    where = json.loads(await process.stdout.readline())
    before = stubbing.now()
    async with aiohttp.ClientSession() as http:
        for address in (where[2], where[0], where[0]):
            async with http.get(f"http://{address}:{exporting.PORT}/metrics") as response:
                assert told(await response.read(), "vllm:num_requests_waiting") == 0
    after = stubbing.now()
    process.terminate()
    assert await process.wait() == 0
    asked = array(stubbing.TYPECODE)
    asked.frombytes(file.read_bytes())
    assert list(asked[::2]) == [2, 0, 0]
    assert list(asked[1::2]) == sorted(asked[1::2])
    assert before <= asked[1] <= after
