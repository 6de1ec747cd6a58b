"""The one sender: requests out, typed values back; it waits when told to and repeats only what is safe to repeat."""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, Self

import aiohttp
import msgspec
import yarl

from modeldeployment.kube import errors, requests, shapes
from modeldeployment.kube.access import Access
from modeldeployment.kube.kinds import Kind, T
from modeldeployment.kube.pages import Pages, following
from modeldeployment.kube.requests import Body, PatchType, Request, Verb, WatchEvent, WatchLine

_log: Final = logging.getLogger(__name__)

_TRIES: Final = 6
_LONGEST_WAIT: Final = 30.0
_PAGE: Final = 500
_STRIDE: Final = 50
"""Objects that are read before others have their turn."""
_QUIET_SECONDS: Final = 150.0  # bookmarks come once a minute, so a watch silent for this long is dead


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """All objects of a list and the version at which they were read."""

    items: tuple[T, ...]
    resource_version: str


class _KindOnly(msgspec.Struct, frozen=True):
    kind: str = ""


_CLOSING_TURNS: Final = 4
_CUT_SECONDS: Final = 0.05  # requests cut short by an error end their connections politely, with a word of the server


def _cut(response: aiohttp.ClientResponse) -> None:
    """Drop a watch's connection at once; a polite end of TLS would wait for the server, which is in no hurry."""
    if response.connection is not None and response.connection.transport is not None:
        response.connection.transport.abort()


_KIND_ONLY: Final = msgspec.json.Decoder(_KindOnly)


class _Decoders(Generic[T]):
    """The ways in which objects of one shape arrive: alone, in a watch, in pages."""

    def __init__(self, shape: type[T]) -> None:
        self.one: Final = msgspec.json.Decoder(shape)
        self.line: Final[msgspec.json.Decoder[WatchLine[T]]] = msgspec.json.Decoder(WatchLine[shape])  # type: ignore[valid-type]
        self.pages: Final = Pages(shape)


class Client:
    """An asynchronous client of one API server; use it as an async context manager.

    At most `concurrency` requests are under way; there is no other limit on our side, and a server that says 429 is
    obeyed. `timeout` (seconds) bounds the wait for one answer. `field_manager` signs our writes.
    """

    def __init__(
        self, access: Access, *, concurrency: int = 32, field_manager: str = "modeldeployment", timeout: float = 60.0
    ) -> None:
        self._access = access
        self._slots = asyncio.Semaphore(concurrency)
        self._field_manager = field_manager
        self._timeout = aiohttp.ClientTimeout(total=timeout, sock_connect=min(timeout, 10.0))
        self._seed = secrets.randbits(32)
        self._decoders: dict[type[Any], _Decoders[Any]] = {}
        self._open: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._open = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._access.tls or False, limit=0),
            headers={"User-Agent": self._field_manager},
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            read_bufsize=2**18,
        )
        # aiohttp would send a DELETE again by itself after a lost connection; what may be repeated is decided here.
        self._open._retry_connection = False  # noqa: SLF001
        return self

    async def __aexit__(self, error: type[BaseException] | None, *_: object) -> None:
        if self._open is not None:
            if self._open.connector is not None:
                # A polite end of TLS waits for the server, and a loop that ends before it leaves the socket open.
                await self._open.connector.close(abort_ssl=True)
            await self._open.close()
            self._open = None
            # Sockets are closed in callbacks: a loop that ends before them would leave them to the garbage collector.
            for _turn in range(_CLOSING_TURNS):
                await asyncio.sleep(0)
            if error is not None:
                await asyncio.sleep(_CUT_SECONDS)

    # --- reading ---

    async def get(self, kind: Kind[T], name: str, namespace: str | None = None) -> T:
        """Read one object as it is now. Raises NotFound."""
        return self._one(kind, await self.raw(requests.request_for(Verb.GET, kind, namespace, name)))

    async def list(
        self,
        kind: Kind[T],
        namespace: str | None = None,
        *,
        labels: str | None = None,
        fields: str | None = None,
        resource_version: str | None = None,
    ) -> Listing[T]:
        """Read all objects that match the selectors, in pages.

        Without `resource_version` the answer is as new as the last write; with it, at least that new, which the server
        may serve from memory ("0" means whatever it has). When a continue token expires (410) the list is read
        again in one piece, so the answer is always of one version.
        """
        query = _selectors(labels, fields)
        if resource_version is not None:
            query |= {"resourceVersion": resource_version, "resourceVersionMatch": "NotOlderThan"}
        try:
            return await self._pages(kind, namespace, query | {"limit": str(_PAGE)})
        except errors.Gone:
            return await self._pages(kind, namespace, query)

    async def list_metadata(
        self, kind: Kind[Any], namespace: str | None = None, *, labels: str | None = None, fields: str | None = None
    ) -> Listing[shapes.Partial]:
        """Read only the metadata of all objects that match."""
        return await self.list(kind.partial(), namespace, labels=labels, fields=fields)

    async def watch(
        self,
        kind: Kind[T],
        namespace: str | None = None,
        *,
        labels: str | None = None,
        fields: str | None = None,
        resource_version: str | None = None,
        initial: bool = False,
        seconds: int = 300,
        on_open: Callable[[], None] = lambda: None,
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Follow changes from `resource_version` on until the server ends the watch, which is normal and says nothing.

        `initial` asks for the present objects first, closed by a Bookmark with `initial_end`. `on_open` is called once
        the server has agreed, which may be long before anything happens. The iteration ends after an Expired;
        whoever leaves it early closes it (`contextlib.aclosing`). Raises Unreachable when the connection
        cannot be made or breaks, ApiError when the server refuses.
        """
        query = _selectors(labels, fields) | {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(seconds),
        }
        if resource_version is not None:
            query["resourceVersion"] = resource_version
        if initial:
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        request = requests.request_for(Verb.WATCH, kind, namespace, query=query)
        timeout = aiohttp.ClientTimeout(total=seconds + 30.0, sock_connect=10.0, sock_read=_QUIET_SECONDS)
        decoder = self._decoders_of(kind).line
        lines = requests.Lines()
        try:
            async with self._sent(request, timeout) as response:
                if response.status != 200:
                    refusal = requests.error_of(response.status, response.headers, await response.read())
                    if isinstance(refusal, errors.Unauthorized):
                        await self._access.refused(_sent_credential(response))
                    raise refusal
                on_open()
                try:
                    async for chunk in response.content.iter_any():
                        for line in lines.feed(chunk):
                            event = requests.read_watch_line(line, decoder)
                            yield event
                            if isinstance(event, requests.Expired):
                                return
                finally:
                    _cut(response)
        except errors.Gone as error:
            yield requests.Expired(error.message)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise self._unreachable(request, error) from error

    # --- writing ---

    async def create(self, kind: Kind[T], body: Body, namespace: str | None = None) -> T:
        """Create an object; bytes are sent as they are. Raises AlreadyExists, and Uncertain when the answer is lost."""
        query = {"fieldManager": self._field_manager}
        return self._one(
            kind, await self.raw(requests.request_for(Verb.CREATE, kind, namespace, body=body, query=query))
        )

    async def patch(
        self,
        kind: Kind[T],
        name: str,
        body: Body,
        namespace: str | None = None,
        *,
        how: PatchType = PatchType.MERGE,
        subresource: str | None = None,
        force: bool = False,
        manager: str | None = None,
    ) -> T:
        """Change an object; with APPLY, create it if need be, and with `force` take fields from other owners.

        `manager` signs this write in place of the client's own name.
        Raises Conflict when another owner holds a field or the body's resourceVersion is old.
        """
        query = {"fieldManager": manager or self._field_manager}
        if how is PatchType.APPLY and force:
            query["force"] = "true"
        request = requests.request_for(
            Verb.PATCH, kind, namespace, name, subresource=subresource, body=body, how=how, query=query
        )
        return self._one(kind, await self.raw(request))

    async def replace(
        self, kind: Kind[T], name: str, body: Body, namespace: str | None = None, *, subresource: str | None = None
    ) -> T:
        """Put a whole object in place of the version named in its body. Raises Conflict when that version is old."""
        query = {"fieldManager": self._field_manager}
        request = requests.request_for(
            Verb.REPLACE, kind, namespace, name, subresource=subresource, body=body, query=query
        )
        return self._one(kind, await self.raw(request))

    async def delete(
        self,
        kind: Kind[T],
        name: str,
        namespace: str | None = None,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        grace_seconds: int | None = None,
        propagation: str | None = None,
    ) -> T | None:
        """Delete an object; the answer is the object while it is still terminating, None when it is gone.

        With `uid` or `resource_version` only that very object is deleted, else Conflict; only then is a lost answer
        answered by asking again. Raises NotFound.
        """
        options = requests.delete_options(uid, resource_version, grace_seconds, propagation)
        request = requests.request_for(
            Verb.DELETE, kind, namespace, name, body=options, repeatable=bool(uid or resource_version)
        )
        answer = await self.raw(request)
        if requests.decode(_KIND_ONLY, answer).kind == "Status":
            return None
        return self._one(kind, answer)

    # --- sending ---

    async def raw(self, request: Request) -> bytes:
        """Send any request and give back the body of a 2xx answer; waits and repeats as every other method does.

        Raises ApiError, Unreachable, or Uncertain for a write whose answer was lost.
        """
        if request.urgent:
            return await self._tried(request)
        async with self._slots:
            return await self._tried(request)

    async def _tried(self, request: Request) -> bytes:
        for attempt in range(1, _TRIES + 1):
            try:
                async with self._sent(request, self._timeout) as response:
                    body = await _read(response)
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                never_sent = isinstance(error, (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError))
                if not never_sent and not request.repeatable:
                    raise errors.Uncertain(f"{_what(request)}: answer lost: {_why(error)}") from error
                if attempt == _TRIES:
                    raise self._unreachable(request, error) from error
                wait = requests.backoff(attempt, self._seed)
            else:
                if response.status < 300:
                    return body
                refusal = requests.error_of(response.status, response.headers, body)
                if not request.repeatable and _may_be_committed(refusal):
                    raise errors.Uncertain(f"{_what(request)}: {refusal}") from refusal
                if attempt == _TRIES or not await self._again(request, refusal, response):
                    raise _named(request, refusal)
                # Jitter on top of what was asked, or all that were refused together come back together.
                wait = requests.backoff(attempt, self._seed) + refusal.details.retry_after_seconds
            await asyncio.sleep(min(wait, _LONGEST_WAIT))
        raise AssertionError("the last try returns or raises")

    async def _again(self, request: Request, refusal: errors.ApiError, response: aiohttp.ClientResponse) -> bool:
        match refusal:
            case errors.Unauthorized():
                return await self._access.refused(_sent_credential(response))
            case errors.TooManyRequests():
                return not request.target.endswith("/eviction")  # there it is a budget's answer, not an overload
            case errors.ServerFailure():
                # With a Retry-After the server says that it did not begin.
                return request.repeatable or refusal.details.retry_after_seconds > 0
            case _:
                return False

    @contextlib.asynccontextmanager
    async def _sent(self, request: Request, limits: aiohttp.ClientTimeout) -> AsyncIterator[aiohttp.ClientResponse]:
        if self._open is None:
            raise RuntimeError("the client is not open; use `async with Client(access) as client`")
        headers = {"Accept": request.accept, "Accept-Encoding": requests.GZIP if request.compressed else "identity"}
        if request.body is not None:
            headers["Content-Type"] = request.content_type
        if authorization := await self._access.authorization():
            headers["Authorization"] = authorization
        async with self._open.request(
            request.method,
            yarl.URL(self._access.server + request.target, encoded=True),
            data=request.body,
            headers=headers,
            timeout=limits,
            allow_redirects=False,
            server_hostname=self._access.server_name,
            proxy=self._access.proxy,
        ) as response:
            yield response

    def _unreachable(self, request: Request, error: BaseException) -> errors.Unreachable:
        return errors.Unreachable(
            f"{_what(request)}: no answer from {self._access.server}: {_why(error)}\n"
            "hint: check that the server runs, the address and the certificate authority"
        )

    # --- decoding ---

    def _decoders_of(self, kind: Kind[T]) -> _Decoders[T]:
        found = self._decoders.get(kind.shape)
        if found is None:
            found = self._decoders[kind.shape] = _Decoders(kind.shape)
        return found

    def _one(self, kind: Kind[T], body: bytes) -> T:
        return requests.decode(self._decoders_of(kind).one, body)

    async def _pages(self, kind: Kind[T], namespace: str | None, query: dict[str, str]) -> Listing[T]:
        items: list[T] = []
        pages = self._decoders_of(kind).pages
        under_way = asyncio.create_task(self.raw(requests.request_for(Verb.LIST, kind, namespace, query=query)))
        # A continue token stands for the version of the first page and allows no other.
        later = {key: value for key, value in query.items() if not key.startswith("resourceVersion")}
        try:
            while True:
                page = await under_way
                token, version = following(page)
                if token:
                    asked = requests.request_for(Verb.LIST, kind, namespace, query=later | {"continue": token})
                    under_way = asyncio.create_task(self.raw(asked))
                # Meanwhile the server makes the next page; it is asked for before this one is read.
                await asyncio.sleep(0)
                for item in pages.read(page):
                    items.append(item)
                    if len(items) % _STRIDE == 0:
                        await asyncio.sleep(0)
                if not token:
                    return Listing(tuple(items), version)
        finally:
            under_way.cancel()


def _selectors(labels: str | None, fields: str | None) -> dict[str, str]:
    chosen = {"labelSelector": labels, "fieldSelector": fields}
    return {key: value for key, value in chosen.items() if value}


def _what(request: Request) -> str:
    return f"{request.method} {request.target.partition('?')[0]}"


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """The body, unpacked; beside the loop, since a page of a list takes ten milliseconds that need none of Python."""
    body = await response.read()
    if response.headers.get("Content-Encoding", "").lower() != requests.GZIP:
        return body
    return await asyncio.to_thread(requests.unpacked, body)


def _sent_credential(response: aiohttp.ClientResponse) -> str:
    return response.request_info.headers.get("Authorization", "")


def _why(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _may_be_committed(refusal: errors.ApiError) -> bool:
    # The server, or etcd behind it, gave up waiting; what it waited for may still happen.
    return refusal.status == 504 or "etcdserver: request timed out" in refusal.message


def _named(request: Request, refusal: errors.ApiError) -> errors.ApiError:
    refusal.add_note(_what(request))
    return refusal
