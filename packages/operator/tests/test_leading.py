"""Work beside which loops run, and work that needs no Lease."""

import asyncio

import pytest
from modeldeployment.operator.leading import Leadership, beside


async def test_whoever_needs_no_lease_leads_from_the_moment_it_works() -> None:
    leadership = Leadership(None)
    seen = [leadership.leading]

    async def work() -> None:
        seen.append(leadership.leading)

    await leadership.work(work, asyncio.Event())
    assert seen == [False, True]


async def test_loops_end_with_what_they_run_beside() -> None:
    told: list[str] = []

    async def loop() -> None:
        told.append("begun")
        try:
            await asyncio.Event().wait()
        finally:
            told.append("ended")

    async with beside(loop()):
        await asyncio.sleep(0)
        told.append("meanwhile")
    assert told == ["begun", "meanwhile", "ended"]


async def test_a_loop_that_breaks_ends_what_it_runs_beside() -> None:
    async def loop() -> None:
        raise RuntimeError("blind")

    with pytest.raises(ExceptionGroup) as raised:
        async with beside(loop()):
            await asyncio.Event().wait()
    assert [str(each) for each in raised.value.exceptions] == ["blind"]
