"""The endpoints, asked over a real socket."""

import socket

import aiohttp
import pytest
from modeldeployment.kube import Counters
from modeldeployment.operator import ListenError, metrics, serving
from modeldeployment.reconcile import Tally
from prometheus_client.parser import text_string_to_metric_families


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def asked(port: int, path: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as answer:
        return answer.status, await answer.text()


async def test_ready_says_what_is_still_missing_until_nothing_is() -> None:
    missing = ["a full list of pods, workloads"]
    port = free_port()
    async with serving.endpoints(("127.0.0.1", port), serving.Endpoints(metrics=lambda: b"", ready=lambda: missing)):
        assert await asked(port, "/readyz") == (503, "waiting for a full list of pods, workloads\n")
        assert await asked(port, "/healthz") == (200, "ok\n")
        missing.clear()
        assert await asked(port, "/readyz") == (200, "ok\n")


async def test_an_address_in_use_is_one_sentence() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        port = held.getsockname()[1]
        with pytest.raises(
            ListenError, match=f"^cannot listen on 127.0.0.1:{port}: Address already in use; .*set GPUSTACK_LISTEN$"
        ):
            async with serving.endpoints(("127.0.0.1", port), serving.Endpoints(lambda: b"", lambda: ())):
                pass


def test_the_exposition_carries_every_counter() -> None:
    tally = Tally(passes=7, steps={"CreateReplica": 4}, status_writes=2, events=1)
    collector = metrics.OperatorCollector(
        Counters(passes=7, failures=1, busy=2, work_seconds=0.5, wall_seconds=1.5),
        tally,
        stores=lambda: {"pods": 3},
        lists=lambda: {"pods": 1},
        leading=lambda: True,
    )
    text = metrics.exposition(metrics.registry(collector)).decode()
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("modeldeployment_")
    }
    assert samples == {
        ("modeldeployment_passes_total",): 7,
        ("modeldeployment_pass_failures_total",): 1,
        ("modeldeployment_pass_work_seconds_total",): 0.5,
        ("modeldeployment_pass_wall_seconds_total",): 1.5,
        ("modeldeployment_passes_busy",): 2,
        ("modeldeployment_steps_total", "CreateReplica"): 4,
        ("modeldeployment_status_writes_total",): 2,
        ("modeldeployment_events_total",): 1,
        ("modeldeployment_watch_lists_total", "pods"): 1,
        ("modeldeployment_store_objects", "pods"): 3,
        ("modeldeployment_leader",): 1,
    }
