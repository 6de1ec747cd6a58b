"""Raw keep-alive connections to an API server: as little work a request as Python can do."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

from modeldeployment.lab.bench.errors import Unexpected

_LIMIT: Final = 1 << 22
_METADATA: Final = "application/json;as={};g=meta.k8s.io;v=v1"
JSON: Final = "application/json"
METADATA_OBJECTS: Final = _METADATA.format("PartialObjectMetadata")
METADATA_LIST: Final = _METADATA.format("PartialObjectMetadataList")


@dataclass(frozen=True, slots=True)
class Address:
    """Where the API server is and who we are: its URL, its CA's file, and a bearer token."""

    server: str
    authority: Path
    token: str


class Connection:
    """One HTTP/1.1 connection; requests follow one another on it."""

    def __init__(self, address: Address, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._host = urlsplit(address.server).netloc
        self._token = address.token
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, address: Address) -> Self:
        """Connect; TLS without a client certificate."""
        parts = urlsplit(address.server)
        context = ssl.create_default_context(cafile=address.authority)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port, ssl=context, limit=_LIMIT)
        return cls(address, reader, writer)

    async def close(self) -> None:
        """End the connection."""
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def call(
        self, method: str, path: str, body: bytes = b"", accept: str = JSON, content: str = JSON
    ) -> tuple[int, bytes]:
        """Send one request and read the whole answer: its status and body. Raises Unexpected when it breaks off."""
        try:
            status, length = await self._begin(method, path, body, accept, content)
            if length is not None:
                return status, await self._reader.readexactly(length)
            return status, b"".join([chunk async for chunk in self._chunks()])
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Unexpected(f"{method} {path}: the API server closed the connection before its answer") from error

    async def follow(self, path: str, accept: str) -> AsyncGenerator[bytes, None]:
        """Send a watch and yield its chunks until the server ends it. Raises Unexpected when it refuses."""
        status, length = await self._begin("GET", path, b"", accept)
        if status != 200:
            said = b"" if length is None else await self._reader.readexactly(length)
            raise Unexpected(f"watch {path}: the API server answered {status}: {said[:300].decode(errors='replace')}")
        async for chunk in self._chunks():
            yield chunk

    async def _begin(
        self, method: str, path: str, body: bytes, accept: str, content: str = JSON
    ) -> tuple[int, int | None]:
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\nAuthorization: Bearer {self._token}\r\n"
            f"Accept: {accept}\r\nContent-Type: {content}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode() + body)
        answer = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        at = answer.find(b"content-length:")
        length = None if at < 0 else int(answer[at + 15 : answer.index(b"\r\n", at)])
        return int(answer[9:12]), length

    async def _chunks(self) -> AsyncIterator[bytes]:
        while size := int((await self._reader.readuntil(b"\r\n"))[:-2], 16):
            yield await self._reader.readexactly(size)
            await self._reader.readexactly(2)
        await self._reader.readexactly(2)


@contextlib.asynccontextmanager
async def connections(address: Address, count: int) -> AsyncIterator[tuple[Connection, ...]]:
    """Open connections side by side and close them at the end."""
    opened = await asyncio.gather(*(Connection.open(address) for _ in range(count)))
    try:
        yield tuple(opened)
    finally:
        for connection in opened:
            await connection.close()


async def post_all(senders: Iterable[Connection], path: str, bodies: Iterable[bytes]) -> None:
    """POST every body once; each connection takes the next one as soon as it is free. Raises Unexpected."""
    await send_all(senders, (("POST", path, body) for body in bodies), (201,))


async def delete_all(senders: Iterable[Connection], paths: Iterable[str]) -> None:
    """DELETE every path once, many at a time; what is gone already is as good. Raises Unexpected."""
    await send_all(senders, (("DELETE", path, b"") for path in paths), (200, 202, 404))


async def send_all(
    senders: Iterable[Connection],
    requests: Iterable[tuple[str, str, bytes]],
    expected: tuple[int, ...] = (200, 201),
    *,
    accept: str = JSON,
    content: str = JSON,
) -> list[bytes]:
    """Send requests (method, path, body), many at a time; the answers in the same order. Raises Unexpected."""
    pending = enumerate(requests)
    answers: dict[int, bytes] = {}

    async def send(connection: Connection) -> None:
        for number, (method, path, body) in pending:
            status, said = await connection.call(method, path, body, accept, content)
            if status not in expected:
                raise Unexpected(
                    f"{method} {path}: the API server answered {status}: {said[:300].decode(errors='replace')}"
                )
            answers[number] = said

    await asyncio.gather(*(send(connection) for connection in senders))
    return [answers[number] for number in range(len(answers))]
