"""Ways into a network of its own and out of it."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from modeldeployment.lab.engines import addresses
from modeldeployment.lab.networks import Carrier, Network, NoNetwork, alone, lonely

PORT = 20_001
HERE = "127.1.250.7"
ECHO = f"""
import socket
with socket.create_server(('0.0.0.0', {PORT})) as server:
    while True:
        made, _ = server.accept()
        with made:
            made.sendall(b'inside: ' + made.recv(100))
"""
CALL = f"""
import socket
with socket.create_connection(('{HERE}', {PORT})) as made:
    made.sendall(b'hello')
    made.shutdown(socket.SHUT_WR)
    print(made.recv(100).decode(), end='')
"""


@pytest.fixture
def network() -> Iterator[Network]:
    if why := lonely():
        pytest.skip(why)
    with alone() as made:
        yield made


@asynccontextmanager
async def runs(network: Network, program: str) -> AsyncIterator[asyncio.subprocess.Process]:
    command = network.inside(sys.executable, "-c", program)
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def said(port: int) -> bytes:
    reader, writer = await asyncio.open_connection(HERE, port)
    try:
        writer.write(b"hello")
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def test_an_address_of_this_machine_leads_to_a_program_inside(network: Network) -> None:
    (listening,) = addresses.listen(HERE, (PORT,))
    async with Carrier() as carrier, runs(network, ECHO):
        while not network.listens(PORT):  # noqa: ASYNC110 -- what another process does is polled
            await asyncio.sleep(0.02)
        await carrier.inward(network, listening, PORT)
        assert await said(PORT) == b"inside: hello"
        assert await said(PORT) == b"inside: hello"


async def test_who_calls_where_nobody_listens_inside_is_hung_up_on(network: Network) -> None:
    (listening,) = addresses.listen(HERE, (PORT,))
    async with Carrier() as carrier:
        await carrier.inward(network, listening, PORT)
        assert await said(PORT) == b""


async def test_a_program_inside_reaches_the_address_that_it_dials(network: Network) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"outside: " + await reader.read())
        writer.close()

    (listening,) = addresses.listen(HERE, (PORT,))
    async with Carrier() as carrier:
        server = await asyncio.start_server(answer, sock=listening)
        await carrier.outward(network, PORT)
        async with runs(network, CALL) as process:
            assert process.stdout is not None
            assert await process.stdout.read() == b"outside: hello"
        server.close()


async def test_a_network_that_is_gone_hands_out_no_socket() -> None:
    if why := lonely():
        pytest.skip(why)
    with alone() as network:
        network.door().close()
    with pytest.raises(NoNetwork, match="is gone"):
        network.door()
