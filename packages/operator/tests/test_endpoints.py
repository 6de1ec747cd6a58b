"""The endpoints, asked over a real socket."""

import socket
from datetime import UTC, datetime

import aiohttp
import pytest
from modeldeployment.admission.webhook.answering import Tally as Reviews
from modeldeployment.admission.webhook.configurations import Half
from modeldeployment.admission.webhook.wire import Answer
from modeldeployment.kube import Counters
from modeldeployment.operator import ListenError, metrics, serving
from modeldeployment.reconcile import SetTally, Tally
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


async def test_the_last_passes_of_a_scaler_are_lines_and_one_without_any_is_not_found() -> None:
    kept = {("default", "chat"): (b'{"at":1}', b'{"at":2}')}
    port = free_port()
    answers = serving.Endpoints(lambda: b"", lambda: (), lambda namespace, name: kept.get((namespace, name), ()))
    async with serving.endpoints(("127.0.0.1", port), answers):
        assert await asked(port, "/scalers/default/chat/journal") == (200, '{"at":1}\n{"at":2}\n')
        assert await asked(port, "/scalers/default/none/journal") == (
            404,
            "no pass of default/none is kept here: it does not plan yet, or another process leads\n",
        )


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
        (
            Counters(passes=5, failures=2, busy=1, work_seconds=0.25),
            SetTally(verdicts={"Ready": 6}, parks=3, yields=1, reactivations=4, owner_reads=9, late=8),
        ),
        stores=lambda: {"pods": 3},
        lists=lambda: {"pods": 1},
        leading=lambda: True,
    )
    text = metrics.exposition(metrics.registry(collector)).decode()
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("modeldeployment_") and "retirement" not in sample.name
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
        ("modeldeployment_set_passes_total",): 5,
        ("modeldeployment_set_pass_failures_total",): 2,
        ("modeldeployment_set_pass_work_seconds_total",): 0.25,
        ("modeldeployment_set_passes_busy",): 1,
        ("modeldeployment_set_verdicts_total", "Ready"): 6,
        ("modeldeployment_set_parks_total",): 3,
        ("modeldeployment_set_yields_total",): 1,
        ("modeldeployment_set_reactivations_total",): 4,
        ("modeldeployment_set_owner_reads_total",): 9,
        ("modeldeployment_set_late_passes_total",): 8,
        ("modeldeployment_watch_lists_total", "pods"): 1,
        ("modeldeployment_store_objects", "pods"): 3,
        ("modeldeployment_leader",): 1,
    }


def test_the_webhook_has_its_series_in_the_exposition() -> None:
    tally = Reviews()
    tally.add(Half.VALIDATE, "ModelDeployment", Answer(b"", False, ("MD012", "MD012", "MDW03")), 0.004)
    tally.add(Half.VALIDATE, "ModelDeployment", Answer(b"", True), 20.0)
    ends = datetime(2026, 3, 1, tzinfo=UTC)
    text = metrics.exposition(metrics.registry(metrics.WebhookCollector(tally, lambda: ends))).decode()
    samples = {
        (sample.name.removeprefix("modeldeployment_webhook_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("modeldeployment_webhook_")
    }
    assert samples["reviews_total", "false", "validate", "ModelDeployment"] == 1
    assert samples["reviews_total", "true", "validate", "ModelDeployment"] == 1
    assert samples["findings_total", "MD012"] == 2
    assert samples["findings_total", "MDW03"] == 1
    assert samples["certificate_end_seconds",] == 1772323200
    buckets = {
        labels[2]: value for labels, value in samples.items() if labels[:2] == ("review_seconds_bucket", "validate")
    }
    assert (buckets["0.0025"], buckets["0.005"], buckets["10.0"], buckets["+Inf"]) == (0, 1, 1, 2)
    assert samples["review_seconds_count", "validate"] == 2
    assert samples["review_seconds_sum", "validate"] == 20.004
