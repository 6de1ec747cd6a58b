"""Work that goes on as long as a hat is worn, and work that only the holder of a Lease does."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any

from modeldeployment.kube import Elector


@contextlib.asynccontextmanager
async def beside(*loops: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run loops meanwhile.

    None of them ends by itself: one that does is a defect, and ends the process rather than leave it blind.
    """
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(loop) for loop in loops]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


class Leadership:
    """A Lease; without an elector there is no need of one, and whoever works leads."""

    def __init__(self, elector: Elector | None) -> None:
        self._elector = elector
        self._begun = False

    @property
    def leading(self) -> bool:
        """Whether this process does the work now."""
        return self._begun if self._elector is None else self._elector.leading

    async def work(self, work: Callable[[], Awaitable[None]], stop: asyncio.Event) -> None:
        """Do the work whenever it is ours, until asked to stop; passes in hand are then finished."""
        if self._elector is None:
            self._begun = True
            await work()
            return
        while not stop.is_set():
            running = asyncio.create_task(self._elector.run(work))
            stopped = asyncio.create_task(stop.wait())
            await asyncio.wait({running, stopped}, return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            if not self._elector.leading:
                running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
