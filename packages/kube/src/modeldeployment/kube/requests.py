"""The half of the client that needs no network: requests out of intentions, values out of answers."""

import enum
import random
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Generic, TypeAlias, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from modeldeployment.kube import errors
from modeldeployment.kube.kinds import Kind, T

Body: TypeAlias = bytes | Mapping[str, Any] | list[Any]

_PARTIAL: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
_PARTIAL_LIST: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
_CROP: Final = 1000

GZIP: Final = "gzip"
"""The one encoding of answers that is asked for."""


class Verb(enum.StrEnum):
    """What is wanted; the value is the HTTP method."""

    GET = "GET"
    LIST = "LIST"
    WATCH = "WATCH"
    CREATE = "POST"
    REPLACE = "PUT"
    PATCH = "PATCH"
    DELETE = "DELETE"


class PatchType(enum.StrEnum):
    """How a patch body is read; the value is its content type."""

    MERGE = "application/merge-patch+json"
    JSON = "application/json-patch+json"
    APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request: `target` is path and query, percent-encoded.

    `repeatable` says that sending it twice has the effect of sending it once, so that a lost answer may be
    answered by asking again. `urgent` requests do not wait for a free slot. `compressed` asks for an answer in gzip:
    for long lists, of which reading through TLS costs more than unpacking.
    """

    method: str
    target: str
    body: bytes | None = None
    content_type: str = "application/json"
    accept: str = "application/json"
    repeatable: bool = False
    urgent: bool = False
    compressed: bool = False


def request_for(
    verb: Verb,
    kind: Kind[Any],
    namespace: str | None = None,
    name: str = "",
    *,
    subresource: str | None = None,
    body: Body | None = None,
    how: PatchType = PatchType.MERGE,
    query: Mapping[str, str] | None = None,
    repeatable: bool | None = None,
) -> Request:
    """Build the request for one verb on one kind.

    Reads may always be repeated, and so may replacing (a stale resourceVersion is refused) and merging or applying a
    patch; creating, deleting by bare name and JSON patches may not, unless `repeatable` says so.
    Raises ValueError when a namespaced kind is written without a namespace.
    """
    many = verb in (Verb.LIST, Verb.WATCH)
    if kind.namespaced and not namespace and not many:
        raise ValueError(f"{verb.name.lower()} {kind} {name}: namespace is missing; the kind is namespaced")
    parts = ["/apis" if kind.group else "/api", kind.api_version]
    if kind.namespaced and namespace:
        parts += ["namespaces", quote(namespace, safe="")]
    parts += [kind.plural, *([quote(name, safe="")] if name else ()), *([subresource] if subresource else ())]
    target = "/".join(parts) + (f"?{urlencode(query)}" if query else "")
    if repeatable is None:
        repeatable = verb in (Verb.GET, Verb.LIST, Verb.WATCH, Verb.REPLACE) or (
            verb is Verb.PATCH and how is not PatchType.JSON
        )
    accept = (_PARTIAL_LIST if verb is Verb.LIST else _PARTIAL) if kind.metadata_only else "application/json"
    return Request(
        method="GET" if many else verb.value,
        target=target,
        body=None if body is None else encode(body),
        content_type=how.value if verb is Verb.PATCH else "application/json",
        accept=accept,
        repeatable=repeatable,
        urgent=kind.urgent,
        compressed=verb is Verb.LIST,
    )


def encode(body: Body) -> bytes:
    """Serialise a body once; bytes pass as they are."""
    return body if isinstance(body, bytes) else msgspec.json.encode(body)


def delete_options(
    uid: str | None, resource_version: str | None, grace_seconds: int | None, propagation: str | None
) -> dict[str, Any]:
    """Build the body of a delete; absent wishes are left out."""
    preconditions = {"uid": uid, "resourceVersion": resource_version}
    options = {
        "preconditions": {key: value for key, value in preconditions.items() if value is not None} or None,
        "gracePeriodSeconds": grace_seconds,
        "propagationPolicy": propagation,
    }
    return {key: value for key, value in options.items() if value is not None}


# --- answers ---------------------------------------------------------------------------------------------------------

D = TypeVar("D")


def unpacked(body: bytes) -> bytes:
    """Answer a body in gzip as it was before the server compressed it. Raises Malformed."""
    try:
        return zlib.decompress(body, wbits=16 + zlib.MAX_WBITS)
    except zlib.error as error:
        raise errors.Malformed(f"an answer of {len(body)} bytes that says it is gzip is none: {error}") from error


def decode(decoder: msgspec.json.Decoder[D], data: bytes) -> D:
    """Decode an answer; a key whose value is null reads as absent.

    The first try is the fast one; only an answer with a null where a shape wants a value is cleaned and read again.
    Raises Malformed.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        cleaned = _without_nulls(data)
    except msgspec.DecodeError as error:
        raise errors.Malformed(f"not JSON: {error}: {_cropped(data)}") from error
    try:
        return decoder.decode(cleaned)
    except msgspec.DecodeError as error:
        raise errors.Malformed(f"unexpected shape: {error}: {_cropped(data)}") from error


def _without_nulls(data: bytes) -> bytes:
    """Empty the name of each key whose value is null, so that it is a field nobody reads."""
    pieces: list[bytes] = []
    kept = 0
    at = data.find(b'":null')
    while at >= 0:
        # A quote after a letter or digit closes a string; inside a string it would follow a backslash.
        if data[at - 1 : at].isalnum():
            pieces.append(data[kept : data.rfind(b'"', 0, at) + 1])
            kept = at
        at = data.find(b'":null', at + 6)
    pieces.append(data[kept:])
    return b"".join(pieces)


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    message: str = ""
    reason: str = ""
    code: int = 0
    details: errors.Details = errors.Details()


_STATUS: Final = msgspec.json.Decoder(_Status)

_REFUSALS: Final[Mapping[int, type[errors.ApiError]]] = {
    400: errors.Invalid,
    401: errors.Unauthorized,
    403: errors.Forbidden,
    404: errors.NotFound,
    409: errors.Conflict,
    410: errors.Gone,
    422: errors.Invalid,
    429: errors.TooManyRequests,
}


def error_of(status: int, headers: Mapping[str, str], body: bytes) -> errors.ApiError:
    """Turn a refusal into a typed error; a body that is no Status object becomes the message, cropped.

    `Retry-After` (seconds) is read from the headers and, failing that, from the body.
    """
    try:
        read = decode(_STATUS, body)
    except errors.Malformed:
        read = _Status(message=_cropped(body))
    return _refusal(status, _retry_after(headers), read)


def _refusal(status: int, retry_after: int, read: _Status) -> errors.ApiError:
    leaf = _REFUSALS.get(status, errors.ServerFailure if status >= 500 else errors.ApiError)
    if status == 409 and read.reason == "AlreadyExists":
        leaf = errors.AlreadyExists
    details = read.details
    if retry_after:
        details = msgspec.structs.replace(details, retry_after_seconds=retry_after)
    return leaf(status, read.reason or "Unknown", read.message[:_CROP], details)


def _retry_after(headers: Mapping[str, str]) -> int:
    value = headers.get("Retry-After", "")
    return int(value) if value.isascii() and value.isdigit() else 0


def _cropped(body: bytes) -> str:
    text = body[: _CROP // 2].decode(errors="replace")
    return text if len(body) <= _CROP // 2 else f"{text}… ({len(body)} bytes)"


# --- watches ---------------------------------------------------------------------------------------------------------

_INITIAL_END: Final = "k8s.io/initial-events-end"


@dataclass(frozen=True, slots=True)
class Added(Generic[T]):
    """An object is there that was not there before."""

    object: T


@dataclass(frozen=True, slots=True)
class Changed(Generic[T]):
    """An object has a new version."""

    object: T


@dataclass(frozen=True, slots=True)
class Gone(Generic[T]):
    """An object is gone; this was its last version."""

    object: T


@dataclass(frozen=True, slots=True)
class Bookmark:
    """Nothing happened up to this resourceVersion; `initial_end` closes a streamed list."""

    resource_version: str
    initial_end: bool = False


@dataclass(frozen=True, slots=True)
class Expired:
    """The resourceVersion asked from is too old (410): list again."""

    message: str


WatchEvent: TypeAlias = Added[T] | Changed[T] | Gone[T] | Bookmark | Expired


class WatchLine(msgspec.Struct, Generic[T], frozen=True):
    """One line of a watch as it stands on the wire."""

    type: str
    object: T


class _ErrorLine(msgspec.Struct, frozen=True):
    object: _Status


_ERROR_LINE: Final = msgspec.json.Decoder(_ErrorLine)


def read_watch_line(line: bytes, decoder: msgspec.json.Decoder[WatchLine[T]]) -> WatchEvent[T]:
    """Read one line of a watch.

    Raises ApiError for an ERROR event other than 410 (the server's state, not the object's), Malformed otherwise.
    """
    if line.startswith(b'{"type":"ERROR"'):
        return _expiry(line)
    read = decode(decoder, line)
    match read.type:
        case "ADDED":
            return Added(read.object)
        case "MODIFIED":
            return Changed(read.object)
        case "DELETED":
            return Gone(read.object)
        case "BOOKMARK":
            metadata = read.object.metadata
            return Bookmark(metadata.resource_version, metadata.annotations.get(_INITIAL_END) == "true")
        case "ERROR":
            return _expiry(line)
        case other:
            raise errors.Malformed(f"watch event of unknown type {other!r}")


def _expiry(line: bytes) -> Expired:
    status = decode(_ERROR_LINE, line).object
    if status.code == 410:
        return Expired(status.message[:_CROP])
    raise _refusal(status.code, 0, status)


class Lines:
    """Cuts a stream of chunks into lines; an unfinished last line is never given out."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take a chunk, give back the lines it completes, without their line ends; empty lines are dropped."""
        head, *tail = chunk.split(b"\n")
        self._rest.append(head)
        if not tail:
            return []
        first, self._rest = b"".join(self._rest), [tail.pop()]
        return [line for line in (first, *tail) if line]


# --- time ---------------------------------------------------------------------------------------------------------


def micro_time(seconds: float) -> str:
    """Spell epoch seconds as the MicroTime of Leases and Events."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def backoff(attempt: int, seed: int, *, first: float = 0.1, most: float = 30.0) -> float:
    """Seconds to wait after failed attempt number `attempt` (from 1): doubling, and a half of it jitter."""
    whole = min(most, first * 2.0 ** min(attempt - 1, 60))
    spread = random.Random(seed * 1_000_003 + attempt).random()  # noqa: S311 - spreads load, keeps no secret
    return whole * (0.5 + 0.5 * spread)
