"""The end of listening, after which no connection is left that nobody knows of."""

import asyncio
from collections.abc import Iterable
from typing import Final

_TURNS: Final = 3
"""Turns of the event loop from a connection's acceptance until whoever serves it has begun."""


async def cease(servers: Iterable[asyncio.Server]) -> None:
    """Accept nothing more, let what was accepted begin, and close the servers; what is open stays open.

    A server that is closed between accepting a connection and making its transport forgets the socket (CPython 3.11
    to 3.13), which then stays open until it is collected.
    """
    closing = list(servers)
    loop = asyncio.get_running_loop()
    for server in closing:
        for listening in server.sockets:
            loop.remove_reader(listening)
    for _ in range(_TURNS):
        await asyncio.sleep(0)
    for server in closing:
        server.close()
