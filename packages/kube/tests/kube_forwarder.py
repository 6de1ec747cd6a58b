"""A TCP forwarder of ours before the real API server, which can cut connections and lose answers."""

import asyncio
import contextlib
import copy
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

from modeldeployment.kube import Access


class Forwarder:
    """Passes bytes both ways; TLS stays between the two ends."""

    def __init__(self, access: Access) -> None:
        self._direct = access
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Future[Any]] = set()
        self._server: asyncio.Server | None = None
        self.losing_answers = False
        self.lost = asyncio.Event()

    async def start(self) -> Access:
        """Listen on a free port; the access leads through it."""
        self._server = await asyncio.start_server(self._begin, "127.0.0.1", 0)
        through = copy.copy(self._direct)
        vars(through)["server"] = f"https://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return through

    def drop(self) -> None:
        """Cut the connections there are; new ones work."""
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    def close(self) -> None:
        """Cut all connections and refuse new ones."""
        if self._server is not None:
            self._server.close()
        self.drop()

    async def closed(self) -> None:
        """Close and wait until nothing runs."""
        self.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.add(asyncio.ensure_future(self._forward(reader, writer)))

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        url = urlsplit(self._direct.server)
        far_reader, far_writer = await asyncio.open_connection(url.hostname, url.port)
        self._writers += [writer, far_writer]
        await asyncio.gather(
            self._pump(reader, far_writer, answers=False), self._pump(far_reader, writer, answers=True)
        )

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool) -> None:
        with contextlib.suppress(ConnectionError):
            while chunk := await reader.read(65536):
                if answers and self.losing_answers:
                    self.lost.set()
                    self.drop()
                    return
                writer.write(chunk)
        writer.close()


@contextlib.asynccontextmanager
async def forwarding(access: Access) -> AsyncIterator[tuple[Forwarder, Access]]:
    """Run a forwarder before the server of an access."""
    forwarder = Forwarder(access)
    try:
        yield forwarder, await forwarder.start()
    finally:
        await forwarder.closed()
