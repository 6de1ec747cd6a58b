"""One bounded request over HTTP to a Pod's own address, whoever answers there (decisions D23).

Nobody is trusted: no redirect is followed, no proxy asked, no certificate wanted (a Pod's address is in none), no
cookie kept, nothing unpacked, a long answer is not read to its end, and an answer that is slow is none.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import yarl
from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

LARGEST: Final = 2**20
"""Bytes of the largest answer of an engine that is read."""
PATIENCE: Final = 2.0
"""Seconds that one answer may take, from the request to its last byte."""


class Failure(StrEnum):
    """Why there is no answer that can be read."""

    UNREACHABLE = "Unreachable"
    LATE = "Late"
    TOO_LARGE = "TooLarge"


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came back: a status and a body, or why there is none that can be read (then `status` is None)."""

    status: int | None
    body: bytes = b""
    why: str = ""
    failure: Failure | None = None


def session(at_once: int, *, keep: bool = False) -> ClientSession:
    """Make a session for requests to Pods, so many at once; `keep` lets connections stand between two requests."""
    return ClientSession(
        connector=TCPConnector(
            ssl=False, limit=at_once, force_close=not keep, keepalive_timeout=None if not keep else 4.0
        ),
        timeout=ClientTimeout(total=None, sock_connect=None),  # each request has a time of its own, kept in one place
        headers={"Accept-Encoding": "identity"},
        cookie_jar=DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
    )


async def fetch(
    http: ClientSession,
    url: str,
    method: str = "GET",
    *,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    largest: int = LARGEST,
    patience: float = PATIENCE,
) -> Fetched:
    """Send one request to `url`, which is sent as it is written, and read what comes back.

    `patience` are the seconds it may take. Raises nothing but a cancellation.
    """
    try:
        async with asyncio.timeout(patience):
            return await _read(http, yarl.URL(url, encoded=True), method, body, headers or {}, largest)
    except TimeoutError:
        return Fetched(None, why=f"no answer within {patience:g} s", failure=Failure.LATE)
    except (ClientError, OSError, ValueError) as error:  # ValueError: a line longer than it may be, a URL that is none
        return Fetched(None, why=type(error).__name__, failure=Failure.UNREACHABLE)


async def _read(
    http: ClientSession, url: yarl.URL, method: str, body: bytes, headers: Mapping[str, str], largest: int
) -> Fetched:
    sent = {"Content-Type": "application/json", **headers} if body else headers
    async with http.request(method, url, data=body or None, headers=sent, allow_redirects=False) as response:
        read = bytearray()
        async for chunk in response.content.iter_any():
            read += chunk
            if len(read) > largest:
                response.close()
                return Fetched(None, why=f"more than {largest} bytes", failure=Failure.TOO_LARGE)
        return Fetched(response.status, bytes(read))
