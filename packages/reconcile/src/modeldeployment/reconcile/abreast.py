"""Work on many things at once, with a bounded number of them in hand."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, TypeVar

WIDTH: Final = 64
"""Requests of one run under way at once, the client's own cap permitting.

About 30 in flight keep an API server of two cores busy (facts peers-measured §1); on a machine that busy, a third of
ours are between an answer and the next request.
"""

Item = TypeVar("Item")


async def abreast(items: Iterable[Item], work: Callable[[Item], Awaitable[None]]) -> None:
    """Work through items with at most `WIDTH` in hand; the first error stops the rest and is raised."""
    pending = iter(items)

    async def drain() -> None:
        for item in pending:
            await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(WIDTH):
                group.create_task(drain())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from errors
