"""A real HTTP server on a loopback socket that answers by script, byte for byte, and can cut, hang and hang up."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from kube_worlds import status_body, wire
from modeldeployment.kube import Access, Credential


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


Answer: TypeAlias = Callable[[asyncio.StreamWriter], Awaitable[None]]


def reply(status: int, body: object, **headers: str) -> Answer:
    """Answer whole; header names with underscores for dashes."""
    content = body if isinstance(body, bytes) else wire(body)
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    head = "\r\n".join([f"HTTP/1.1 {status} X", f"Content-Length: {len(content)}", *lines])

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(head.encode() + b"\r\n\r\n" + content)

    return answer


def refuse(status: int, reason: str, message: str = "no", **headers: str) -> Answer:
    """Answer with a Status object."""
    return reply(status, status_body(status, reason, message), **headers)


def stream(*chunks: bytes, end: bool = True) -> Answer:
    """Answer in chunks, each sent on its own; without `end` the connection is cut after the last."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for chunk in chunks:
            writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            await writer.drain()
            await asyncio.sleep(0)
        if end:
            writer.write(b"0\r\n\r\n")
        else:
            writer.close()

    return answer


async def stay_open(writer: asyncio.StreamWriter) -> None:
    """Agree to a watch and let nothing happen."""
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    await writer.drain()
    await asyncio.Event().wait()


async def hang_up(writer: asyncio.StreamWriter) -> None:
    """Read the request and close the connection."""
    writer.close()


async def hang(_: asyncio.StreamWriter) -> None:
    """Read the request and say nothing."""
    await asyncio.Event().wait()


@dataclass
class Script:
    """The server's answers, in order, and the requests it saw; when the script is over it hangs."""

    answers: list[Answer]
    seen: list[Seen] = field(default_factory=list)
    port: int = 0
    arrived: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def access(self) -> Access:
        """The way to this server, without a credential."""
        return Access(lambda: Credential(server=f"http://127.0.0.1:{self.port}"))

    async def saw(self, requests: int) -> None:
        """Wait until so many requests have arrived."""
        async with self.arrived:
            await self.arrived.wait_for(lambda: len(self.seen) >= requests)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError), contextlib.closing(writer):
            while not writer.is_closing():
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                method, target, _ = head[0].split(" ")
                headers = {
                    name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)
                }
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                async with self.arrived:
                    self.seen.append(Seen(method, target, headers, body))
                    self.arrived.notify_all()
                await (self.answers.pop(0) if self.answers else hang)(writer)
                await writer.drain()


@contextlib.asynccontextmanager
async def serving(*answers: Answer) -> AsyncIterator[Script]:
    """Run a server with this script on a free port."""
    script = Script(list(answers))
    tasks: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.ensure_future(script.serve(reader, writer)))

    server = await asyncio.start_server(begin, "127.0.0.1", 0)
    script.port = server.sockets[0].getsockname()[1]
    try:
        yield script
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
