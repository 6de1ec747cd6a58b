"""The work queue on a real event loop, and the controller that empties it."""

import asyncio
import logging

import pytest
from modeldeployment.kube import Closed, Controller, WorkQueue
from modeldeployment.kube.controller import Stopwatch


async def test_a_waiting_worker_gets_a_key_as_soon_as_it_comes() -> None:
    queue: WorkQueue[str] = WorkQueue()
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.add("a")
    assert await waiting == "a"


async def test_every_waiting_worker_gets_one_key() -> None:
    queue: WorkQueue[str] = WorkQueue()
    waiting = [asyncio.create_task(queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    for key in "abc":
        queue.add(key)
    assert sorted(await asyncio.gather(*waiting)) == ["a", "b", "c"]


async def test_a_delayed_key_comes_by_itself() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.wake("a", after=0.05)
    assert await asyncio.wait_for(queue.get(), 5) == "a"


async def test_a_cancelled_worker_does_not_take_a_key_with_it() -> None:
    queue: WorkQueue[str] = WorkQueue()
    first = asyncio.create_task(queue.get())
    second = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.add("a")
    first.cancel()
    assert await asyncio.wait_for(second, 5) == "a"
    assert first.cancelled()


async def test_a_closed_queue_tells_whoever_waits() -> None:
    queue: WorkQueue[str] = WorkQueue()
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.close()
    with pytest.raises(Closed):
        await waiting
    assert [key async for key in queue] == []


async def test_a_controller_visits_each_key_and_again_after_the_time_it_names() -> None:
    visits: list[str] = []

    async def reconcile(key: str) -> float | None:
        visits.append(key)
        if visits.count("a") == 2:
            controller.stop()
        return 0.01 if key == "a" else None

    controller = Controller("test", reconcile, workers=2)
    controller.queue.add("a")
    controller.queue.add("b")
    await asyncio.wait_for(controller.run(), 5)
    assert sorted(visits) == ["a", "a", "b"]
    assert (controller.counters.passes, controller.counters.failures, controller.counters.busy) == (3, 0, 0)


async def test_a_key_is_never_in_two_passes_at_once() -> None:
    inside: list[str] = []
    passes = 0

    async def reconcile(key: str) -> None:
        nonlocal passes
        assert key not in inside
        inside.append(key)
        controller.queue.add(key)
        await asyncio.sleep(0.005)
        inside.remove(key)
        passes += 1
        if passes == 10:
            controller.stop()

    controller = Controller("test", reconcile, workers=4)
    controller.queue.add("a")
    await asyncio.wait_for(controller.run(), 5)
    assert controller.counters.failures == 0


async def test_a_failure_is_told_once_and_retried_until_it_succeeds(caplog: pytest.LogCaptureFixture) -> None:
    tries = 0

    async def reconcile(_: str) -> None:
        nonlocal tries
        tries += 1
        if tries < 4:
            raise ValueError("the quota is missing")
        controller.stop()

    controller = Controller("test", reconcile, workers=1)
    controller.queue.add("models/qwen")
    with caplog.at_level(logging.ERROR):
        await asyncio.wait_for(controller.run(), 10)
    said = [(each.getMessage(), each.__dict__["object"], each.__dict__["reason"]) for each in caplog.records]
    assert said == [("pass failed", "models/qwen", "ValueError: the quota is missing")]
    assert (controller.counters.passes, controller.counters.failures) == (4, 3)


async def test_stopping_finishes_the_pass_in_hand() -> None:
    finished: list[str] = []
    begun = asyncio.Event()

    async def reconcile(key: str) -> None:
        begun.set()
        await asyncio.sleep(0.05)
        finished.append(key)

    controller = Controller("test", reconcile, workers=1)
    controller.queue.add("a")
    controller.queue.add("b")
    running = asyncio.create_task(controller.run())
    await begun.wait()
    controller.stop()
    await running
    assert finished == ["a"]


async def test_a_stopwatch_leaves_waiting_out() -> None:
    now = [0.0]

    def somebody_else_works() -> None:
        now[0] += 100.0

    async def works_and_waits() -> str:
        now[0] += 1.0
        asyncio.get_running_loop().call_soon(somebody_else_works)
        await asyncio.sleep(0.01)
        now[0] += 2.0
        return "done"

    stopwatch = Stopwatch(works_and_waits(), clock=lambda: now[0])
    assert await stopwatch == "done"
    assert stopwatch.worked == 3.0


async def test_a_cancellation_passes_through_a_stopwatch() -> None:
    undone: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            undone.append("yes")

    async def outer() -> None:
        await Stopwatch(waits())

    task = asyncio.create_task(outer())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert undone == ["yes"]
