"""Work that only the holder of a Lease does, in a process that may be asked to stop."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from modeldeployment.kube import Elector


async def campaign(elector: Elector, work: Callable[[], Awaitable[None]], stop: asyncio.Event) -> None:
    """Do the work whenever the Lease is ours, until asked to stop; passes in hand are then finished."""
    while not stop.is_set():
        running = asyncio.create_task(elector.run(work))
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait({running, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not elector.leading:
            running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
