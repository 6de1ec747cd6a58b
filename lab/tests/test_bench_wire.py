import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from modeldeployment.lab.bench.errors import Unexpected
from modeldeployment.lab.bench.wire import Address, Connection, post_all, send_all

ADDRESS = Address("http://127.0.0.1:1", Path("unused"), "secret")


@contextlib.asynccontextmanager
async def answering(*answers: bytes) -> AsyncIterator[tuple[Connection, list[bytes]]]:
    """A connection to a local server that sends these answers, one to each request, and keeps what it was asked."""
    asked: list[bytes] = []
    left = iter(answers)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                asked.append(head + await reader.readexactly(length))
                writer.write(next(left))
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        connection = Connection(ADDRESS, reader, writer)
        try:
            yield connection, asked
        finally:
            await connection.close()


async def test_a_request_carries_token_length_and_body_and_its_answer_is_read_whole() -> None:
    answer = b"HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nhello"
    async with answering(answer) as (connection, asked):
        assert await connection.call("POST", "/pods", b"{}") == (201, b"hello")
    sent = (
        b"POST /pods HTTP/1.1\r\nHost: 127.0.0.1:1\r\nAuthorization: Bearer secret\r\nAccept: application/json\r\n"
        b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    )
    assert asked == [sent]


async def test_a_chunked_answer_is_joined() -> None:
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n"
    async with answering(answer, answer) as (connection, _):
        assert await connection.call("GET", "/pods") == (200, b"abc0123456789")
        assert [chunk async for chunk in connection.follow("/pods?watch=1", "application/json")] == [
            b"abc",
            b"0123456789",
        ]


async def test_a_body_that_is_refused_ends_the_sending_with_the_servers_words() -> None:
    refusal = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 8\r\n\r\nno quota"
    async with answering(refusal) as (connection, asked):
        with pytest.raises(Unexpected, match="POST /pods: the API server answered 403: no quota"):
            await post_all([connection], "/pods", [b"1", b"2"])
    assert len(asked) == 1


async def test_answers_come_in_the_order_of_their_requests_and_bodies_may_be_patches() -> None:
    one, two = (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + text for text in (b"1", b"2"))
    async with answering(one, two) as (connection, asked):
        requests = [("PATCH", "/a", b"{}"), ("PATCH", "/b", b"{}")]
        assert await send_all([connection], requests, content="application/merge-patch+json") == [b"1", b"2"]
    assert all(b"Content-Type: application/merge-patch+json\r\n" in each for each in asked)
