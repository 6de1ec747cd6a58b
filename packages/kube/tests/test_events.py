"""Events: aggregation without a server, and sending to one that refuses."""

import asyncio
import json
from typing import Any

from kube_server import Script, refuse, reply, serving
from modeldeployment.kube import Client, Recorder, shapes
from modeldeployment.kube.events import Ledger, Occurrence, event

POD = shapes.ObjectReference(api_version="v1", kind="Pod", name="engine-0", namespace="models", uid="u1")
CREATED = reply(201, {"metadata": {"name": "e"}})


def occurrence(note: str = "replica 1 left", reason: str = "Retired") -> Occurrence:
    return Occurrence(POD, "Normal", reason, note, "Retire")


def counts(ledger: Ledger, now: float) -> list[int]:
    return [series.count for series in ledger.due(now)]


def test_the_first_two_sightings_are_told_at_once_and_more_in_batches() -> None:
    ledger = Ledger()
    ledger.note(occurrence(), 0.0)
    (series,) = ledger.due(0.0)
    series.sent, series.sent_at = 1, 0.0
    ledger.note(occurrence(), 1.0)
    assert counts(ledger, 1.0) == [2]
    series.sent, series.sent_at = 2, 1.0
    for second in range(2, 10):
        ledger.note(occurrence(), float(second))
    assert counts(ledger, 30.9) == []
    assert counts(ledger, 31.0) == [10]


def test_a_repetition_after_a_quiet_time_is_a_new_event() -> None:
    ledger = Ledger()
    ledger.note(occurrence(), 0.0)
    (first,) = ledger.due(0.0)
    first.sent = 1
    ledger.note(occurrence(), 361.0)
    (second,) = ledger.due(361.0)
    assert (second.count, second.name != first.name) == (1, True)


def test_another_note_is_another_event() -> None:
    ledger = Ledger()
    ledger.note(occurrence("replica 1 left"), 0.0)
    ledger.note(occurrence("replica 2 left"), 0.0)
    assert counts(ledger, 0.0) == [1, 1]


def test_what_is_quiet_and_told_is_forgotten() -> None:
    ledger = Ledger()
    ledger.note(occurrence(), 0.0)
    (series,) = ledger.due(0.0)
    series.sent = 1
    assert ledger.due(361.0) == []
    assert len(ledger) == 0


def test_memory_is_bounded_and_the_untold_is_counted() -> None:
    ledger = Ledger(bound=3)
    for number in range(5):
        ledger.note(occurrence(f"replica {number} left"), 0.0)
    assert (len(ledger), ledger.dropped) == (3, 2)


def test_an_event_object_says_all_the_server_requires() -> None:
    ledger = Ledger()
    ledger.note(occurrence(), 1_795_980_193.25)
    ledger.note(occurrence(), 1_795_980_194.5)
    (series,) = ledger.due(1_795_980_194.5)
    assert event(series, "models", "modeldeployment.io/operator", "operator-0") == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": series.name, "namespace": "models"},
        "eventTime": "2026-11-29T19:23:13.250000Z",
        "type": "Normal",
        "reason": "Retired",
        "action": "Retire",
        "note": "replica 1 left",
        "regarding": {"apiVersion": "v1", "kind": "Pod", "name": "engine-0", "namespace": "models", "uid": "u1"},
        "reportingController": "modeldeployment.io/operator",
        "reportingInstance": "operator-0",
        "series": {"count": 2, "lastObservedTime": "2026-11-29T19:23:14.500000Z"},
    }


def sent(server: Script) -> list[tuple[str, dict[str, Any]]]:
    return [(seen.method, json.loads(seen.body)) for seen in server.seen]


async def test_a_series_is_one_create_and_then_patches() -> None:
    now = [1000.0]
    async with serving(CREATED, CREATED) as server, Client(server.access) as client:
        recorder = Recorder(client, "c", "i", clock=lambda: now[0])
        await recorder.emit(POD, "Warning", "Stuck", "no quota", "Admit")
        await recorder.flush()
        await recorder.emit(POD, "Warning", "Stuck", "no quota", "Admit")
        await recorder.flush()
        await recorder.flush()
    (first, create), (second, patch) = sent(server)
    assert (first, second) == ("POST", "PATCH")
    assert "series" not in create
    assert patch == {"series": {"count": 2, "lastObservedTime": "1970-01-01T00:16:40.000000Z"}}


async def test_a_series_whose_event_the_server_forgot_is_created_again() -> None:
    async with serving(CREATED, refuse(404, "NotFound"), CREATED) as server, Client(server.access) as client:
        recorder = Recorder(client, "c", "i")
        for _ in range(2):
            await recorder.emit(POD, "Warning", "Stuck", "no quota", "Admit")
            await recorder.flush()
    assert [method for method, _ in sent(server)] == ["POST", "PATCH", "POST"]


async def test_a_refused_event_is_counted_and_forgotten() -> None:
    async with serving(refuse(403, "Forbidden")) as server, Client(server.access) as client:
        recorder = Recorder(client, "c", "i")
        await recorder.emit(POD, "Normal", "Retired", "n", "Retire")
        await recorder.flush()
        await recorder.flush()
    assert (len(server.seen), recorder.refused) == (1, 1)


async def test_a_long_note_is_cropped_to_what_the_server_takes() -> None:
    async with serving(CREATED) as server, Client(server.access) as client:
        recorder = Recorder(client, "c", "i")
        await recorder.emit(POD, "Normal", "Retired", "ä" * 2000, "Retire")
        await recorder.flush()
    (_, body) = sent(server)[0]
    assert body["note"] == "ä" * 510 + "…"


async def test_running_sends_by_itself_and_once_more_at_the_end() -> None:
    async with serving(CREATED, CREATED, CREATED) as server, Client(server.access) as client:
        recorder = Recorder(client, "c", "i")
        running = asyncio.create_task(recorder.run())
        await recorder.emit(POD, "Normal", "Retired", "one", "Retire")
        await server.saw(1)
        await recorder.emit(POD, "Normal", "Retired", "two", "Retire")
        running.cancel()
        await asyncio.wait({running})
        assert running.cancelled()
    # The first may be sent twice, when the cancellation came between its commit and its answer.
    assert {body["note"] for _, body in sent(server)} == {"one", "two"}


async def test_events_of_a_storm_are_sent_one_after_another_with_a_pause() -> None:
    async with serving(*[CREATED] * 4) as server, Client(server.access) as client:
        recorder, loop = Recorder(client, "c", "i"), asyncio.get_running_loop()
        for number in range(4):
            await recorder.emit(POD, "Warning", "Stuck", f"replica {number}", "Admit")
        began = loop.time()
        await recorder.flush()
        assert loop.time() - began >= 4 * 0.02
    assert len(server.seen) == 4
