import asyncio
import socket

import pytest
from modeldeployment.lab.networks import cease


@pytest.mark.parametrize("turns", range(6))
async def test_who_is_connected_when_listening_ends_is_served_or_hung_up_and_never_forgotten(turns: int) -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"served")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    address = server.sockets[0].getsockname()
    with socket.create_connection(address) as caller:
        caller.setblocking(False)
        for _ in range(turns):
            await asyncio.sleep(0)
        await cease([server])
        async with asyncio.timeout(10):
            try:
                said = await asyncio.get_running_loop().sock_recv(caller, 100)
            except ConnectionResetError:
                said = b""
    assert said == (b"served" if turns > 1 else b"")  # at once, and a turn later, nobody has accepted it yet
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)
