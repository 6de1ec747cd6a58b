"""When objects appear and go: one watch whose bytes are scanned and never parsed."""

import asyncio
import contextlib
import json
import re
import time
from collections.abc import AsyncIterator
from typing import Final

from modeldeployment.lab.bench.errors import TooSlow
from modeldeployment.lab.bench.wire import METADATA_LIST, METADATA_OBJECTS, Address, Connection

_VERSION: Final = re.compile(rb'"resourceVersion":"(\d+)"')
_PAUSE: Final = 0.25


class Arrivals:
    """Counts ADDED events of one collection and notes the time of the latest (`time.perf_counter`)."""

    def __init__(self) -> None:
        self.added = 0
        self.latest = 0.0
        self.version = ""
        self._rest = b""
        self._changed = asyncio.Event()

    def feed(self, chunk: bytes) -> None:
        """Take in bytes of the watch; lines may be cut anywhere."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        added = sum(line.startswith(b'{"type":"ADDED"') for line in lines)
        if lines and (found := _VERSION.search(lines[-1])):
            self.version = found[1].decode()
        if added:
            self.added += added
            self.latest = time.perf_counter()
            self._changed.set()

    async def until(self, count: int, seconds: float) -> float:
        """Wait for so many ADDED events; the answer is the time of the last. Raises TooSlow."""
        try:
            async with asyncio.timeout(seconds):
                while self.added < count:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError as error:
            raise TooSlow(f"{self.added} of {count} objects appeared within {seconds:.0f} s") from error
        return self.latest


@contextlib.asynccontextmanager
async def arrivals(address: Address, path: str) -> AsyncIterator[Arrivals]:
    """Watch a collection from now on.

    The watch asks for metadata alone, so that JSON of whole objects is made only for those who ask for it.
    """
    seen = Arrivals()
    connection = await Connection.open(address)
    _, listing = await connection.call("GET", f"{path}?limit=1", accept=METADATA_LIST)
    await connection.close()
    found = _VERSION.search(listing)
    seen.version = found[1].decode() if found else ""
    following = asyncio.create_task(_follow(address, path, seen))
    await asyncio.sleep(0.3)  # the watch is open before anything happens
    try:
        yield seen
    finally:
        following.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await following


async def _follow(address: Address, path: str, seen: Arrivals) -> None:
    # The server ends watches under load (facts control-plane §9); one goes on from the last version seen.
    while True:
        connection = await Connection.open(address)
        try:
            target = f"{path}?watch=1&resourceVersion={seen.version}&timeoutSeconds=900"
            async with contextlib.aclosing(connection.follow(target, METADATA_OBJECTS)) as chunks:
                async for chunk in chunks:
                    seen.feed(chunk)
        except (OSError, asyncio.IncompleteReadError):
            await asyncio.sleep(0.05)
        finally:
            await connection.close()


async def count(connection: Connection, path: str) -> int:
    """How many objects a collection holds, asked without reading them (an empty list of metadata is null)."""
    _, body = await connection.call("GET", f"{path}?limit=1", accept=METADATA_LIST)
    listing = json.loads(body)
    return len(listing["items"] or ()) + int(listing["metadata"].get("remainingItemCount", 0))


async def until_count(address: Address, path: str, wanted: int, seconds: float) -> None:
    """Wait until a collection holds exactly so many objects. Raises TooSlow."""
    connection = await Connection.open(address)
    held = -1
    try:
        async with asyncio.timeout(seconds):
            while True:
                held = await count(connection, path)
                if held == wanted:
                    return
                await asyncio.sleep(_PAUSE)
    except TimeoutError as error:
        raise TooSlow(f"{path} still holds {held} objects instead of {wanted} after {seconds:.0f} s") from error
    finally:
        await connection.close()
