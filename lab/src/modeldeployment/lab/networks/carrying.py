"""Connections that are taken on: whoever is connected to us is connected to somebody else, byte by byte."""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from typing import Final, Self

from modeldeployment.lab.networks.ceasing import cease
from modeldeployment.lab.networks.holding import Network

_PIECE: Final = 2**16

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Reach = Callable[[str, int], Awaitable[Stream]]
"""Connects for somebody who dialled an address and a port. OSError hangs up."""


class Carrier:
    """Takes connections on while it is open; those that are open at its end are cut."""

    def __init__(self) -> None:
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await cease(self._servers)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def take(self, listening: socket.socket, reach: Reach) -> None:
        """Take on, from now, whoever connects to a listening socket; what `reach` answers is where they get."""

        async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            try:
                # Nobody but this carrier cancels it, and asyncio would report what ends its own callback so.
                with contextlib.suppress(asyncio.CancelledError):
                    await _forward((reader, writer), reach)
            finally:
                self._tasks.discard(task)

        self._servers.append(await asyncio.start_server(forward, sock=listening))

    async def inward(self, network: Network, listening: socket.socket, port: int) -> None:
        """Take whoever connects to a socket of this machine to a port inside a network."""

        async def reach(address: str, dialled: int) -> Stream:
            del address, dialled
            return await _connected(network.door(), "127.0.0.1", port)

        await self.take(listening, reach)

    async def outward(self, network: Network, port: int, address: str | None = None) -> None:
        """Take who dials a port inside a network, at any address, to the same on this machine, or to `address` there.

        A connection inside is there before one outside is, so one that would have been refused is cut. Raises OSError
        where the port is taken inside.
        """

        async def reach(dialled: str, number: int) -> Stream:
            return await asyncio.open_connection(address or dialled, number)

        await self.take(network.listening(port), reach)


async def _connected(made: socket.socket, address: str, port: int) -> Stream:
    try:
        await asyncio.get_running_loop().sock_connect(made, (address, port))
        return await asyncio.open_connection(sock=made)
    except BaseException:
        made.close()
        raise


async def _forward(here: Stream, reach: Reach) -> None:
    writer = here[1]
    there: Stream | None = None
    try:
        there = await reach(*writer.get_extra_info("sockname")[:2])
        await _both(here, there)
        writer.close()  # what is still in its buffer goes out first
    except OSError:
        pass
    finally:
        if there is not None:
            there[1].transport.abort()
        if not writer.is_closing():
            writer.transport.abort()


async def _both(here: Stream, there: Stream) -> None:
    """Carry bytes both ways until both sides have ended; one that breaks breaks the other."""
    carrying = [
        asyncio.create_task(_carry(reader, writer)) for reader, writer in ((here[0], there[1]), (there[0], here[1]))
    ]
    try:
        await asyncio.gather(*carrying)
    except OSError:
        here[1].transport.abort()
    finally:
        for task in carrying:
            task.cancel()
        await asyncio.gather(*carrying, return_exceptions=True)


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(_PIECE):
        writer.write(piece)
        await writer.drain()
    writer.write_eof()
