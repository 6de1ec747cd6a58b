"""An API server that holds objects in memory and checks nothing: lists, watches, creates, patches, deletes.

It stands in where the real one would be what is measured. A resourceVersion is the microsecond of the monotonic clock
at which a version came to be, so that whoever sees the version knows how old it is.
"""

import asyncio
import contextlib
import ssl
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import msgspec
from aiohttp import web

from modeldeployment.lab.controlplane import ports
from modeldeployment.lab.model import patches

Json: TypeAlias = dict[str, Any]

TYPECODE: Final = "q"
"""Of arrays of times."""

_HISTORY: Final = 50_000
_encode: Final = msgspec.json.Encoder().encode


def now() -> int:
    """Microseconds of the monotonic clock, which all processes of a machine share."""
    return time.monotonic_ns() // 1000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request leads: a collection, and in it a namespace, a name and a subresource, each perhaps empty."""

    collection: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def place(path: str) -> Place:
    """Read a path such as `/apis/GROUP/VERSION/namespaces/NS/PLURAL/NAME/status`; the collection is what lists it."""
    parts = path.strip("/").split("/")
    depth = 2 if parts[0] == "api" else 3
    root, rest = parts[:depth], parts[depth:]
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource = (*rest, "", "", "")[:3]
    return Place("/" + "/".join([*root, plural]), namespace, name, subresource)


def merged(old: Any, patch: Any) -> Any:
    """A merge patch applied: null removes, objects merge, all else replaces (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    result = dict(old) if isinstance(old, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def selected(thing: Json, selector: str) -> bool:
    """Whether labels match a selector of equalities and keys that must be there."""
    labels = thing["metadata"].get("labels") or {}
    for term in filter(None, selector.split(",")):
        key, equals, value = term.partition("=")
        if key not in labels or (equals and labels[key] != value):
            return False
    return True


@dataclass(slots=True)
class _Watch:
    namespace: str
    selector: str
    send: asyncio.Queue[bytes]


@dataclass(slots=True)
class _Collection:
    objects: dict[tuple[str, str], Json] = field(default_factory=dict)
    history: deque[tuple[int, Json, bytes]] = field(default_factory=lambda: deque(maxlen=_HISTORY))
    watches: list[_Watch] = field(default_factory=list)


class Stub:
    """The objects and whoever watches them; `on_create` is called with the collection and each object created."""

    def __init__(self, on_create: Callable[[str, Json], None] = lambda _collection, _thing: None) -> None:
        self._collections: dict[str, _Collection] = {}
        self._on_create = on_create
        self._version = 0
        self.requests: dict[str, int] = {}
        self.written_at = 0

    def put(self, collection: str, thing: Json) -> bytes:
        """Store a new version of an object and tell whoever watches; the answer is its JSON."""
        held = self._collections.setdefault(collection, _Collection())
        meta = thing["metadata"]
        key = (meta.get("namespace", ""), meta["name"])
        kind = "MODIFIED" if key in held.objects else "ADDED"
        meta.setdefault("uid", str(uuid.uuid4()))
        meta.setdefault("creationTimestamp", "2026-01-01T00:00:00Z")
        meta.setdefault("generation", 1)
        held.objects[key] = thing
        return self._tell(held, kind, thing)

    def remove(self, collection: str, namespace: str, name: str) -> Json | None:
        """Take an object out and tell whoever watches."""
        held = self._collections.setdefault(collection, _Collection())
        thing = held.objects.pop((namespace, name), None)
        if thing is not None:
            self._tell(held, "DELETED", thing)
        return thing

    def objects(self, collection: str) -> list[Json]:
        """The objects of a collection."""
        return list(self._collections.setdefault(collection, _Collection()).objects.values())

    def get(self, collection: str, namespace: str, name: str) -> Json | None:
        """One object, or None."""
        return self._collections.setdefault(collection, _Collection()).objects.get((namespace, name))

    def _tell(self, held: _Collection, kind: str, thing: Json) -> bytes:
        self._version = max(self._version + 1, now())
        thing["metadata"]["resourceVersion"] = str(self._version)
        text = _encode(thing)
        line = b'{"type":"' + kind.encode() + b'","object":' + text + b"}\n"
        held.history.append((self._version, thing, line))
        for watch in held.watches:
            if _wanted(thing, watch.namespace, watch.selector):
                watch.send.put_nowait(line)
        return text

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer any request."""
        if request.path == "/version":
            return web.json_response({"major": "1", "minor": "36"})
        at = place(request.path)
        verb = "WATCH" if "watch" in request.query else request.method
        asked = f"{verb} {at.collection.rsplit('/', 1)[1]}" + (f"/{at.subresource}" if at.subresource else "")
        self.requests[asked] = self.requests.get(asked, 0) + 1
        if verb not in ("GET", "WATCH") and not at.collection.endswith("/leases"):
            self.written_at = now()
        match verb:
            case "WATCH":
                return await self._watch(request, at)
            case "GET" if not at.name:
                return self._list(request, at)
            case "POST":
                return self._create(at, msgspec.json.decode(await request.read()))
            case _:
                return self._change(verb, at, await request.read())

    def _list(self, request: web.Request, at: Place) -> web.Response:
        selector = request.query.get("labelSelector", "")
        items = [each for each in self.objects(at.collection) if _wanted(each, at.namespace, selector)]
        self._version = max(self._version + 1, now())
        return _json({"metadata": {"resourceVersion": str(self._version)}, "items": items})

    async def _watch(self, request: web.Request, at: Place) -> web.StreamResponse:
        held = self._collections.setdefault(at.collection, _Collection())
        watch = _Watch(at.namespace, request.query.get("labelSelector", ""), asyncio.Queue())
        since = int(request.query.get("resourceVersion") or 0)
        for version, thing, line in held.history:
            if version > since and _wanted(thing, watch.namespace, watch.selector):
                watch.send.put_nowait(line)
        held.watches.append(watch)
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        try:
            await response.prepare(request)
            while True:
                await response.write(await watch.send.get())
        except ConnectionResetError:  # whoever watched is gone
            return response
        finally:
            held.watches.remove(watch)

    def _create(self, at: Place, thing: Json) -> web.Response:
        meta = thing["metadata"]
        if at.namespace:
            meta["namespace"] = at.namespace
        if "generateName" in meta:
            meta.setdefault("name", f"{meta['generateName']}{uuid.uuid4().hex[:5]}")
        if self.get(at.collection, at.namespace, meta["name"]) is not None:
            return _refused(409, "AlreadyExists")
        text = self.put(at.collection, thing)
        self._on_create(at.collection, thing)
        return web.Response(body=text, status=201, content_type="application/json")

    def _change(self, verb: str, at: Place, body: bytes) -> web.Response:
        thing = self.get(at.collection, at.namespace, at.name)
        if thing is None:
            return _refused(404, "NotFound")
        match verb:
            case "GET":
                return _json(thing)
            case "DELETE":
                self.remove(at.collection, at.namespace, at.name)
                return _json({"kind": "Status", "status": "Success"})
            case _:
                return self._patch(at, thing, msgspec.json.decode(body))

    def _patch(self, at: Place, thing: Json, patch: Json | list[Json]) -> web.Response:
        if isinstance(patch, list):
            try:
                edited = patches.edited(thing, patch)
            except (LookupError, ValueError):
                return _refused(422, "Invalid")
            changed = {**thing, "status": edited["status"]} if at.subresource == "status" else edited
        else:
            wanted = patch.get("metadata", {}).get("resourceVersion")
            if wanted not in (None, thing["metadata"]["resourceVersion"]):
                return _refused(409, "Conflict")
            changed = merged(thing, {"status": patch.get("status", {})} if at.subresource == "status" else patch)
        if changed == thing:
            return _json(thing)
        changed["metadata"] = dict(changed["metadata"])
        if changed.get("spec") != thing.get("spec"):
            changed["metadata"]["generation"] = thing["metadata"].get("generation", 1) + 1
        return web.Response(body=self.put(at.collection, changed), content_type="application/json")


def _wanted(thing: Json, namespace: str, selector: str) -> bool:
    return (not namespace or thing["metadata"].get("namespace") == namespace) and selected(thing, selector)


def _json(document: Json) -> web.Response:
    return web.Response(body=_encode(document), content_type="application/json")


def _refused(code: int, reason: str) -> web.Response:
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": reason,
        "code": code,
        "message": reason,
    }
    return web.Response(body=_encode(body), status=code, content_type="application/json")


@contextlib.asynccontextmanager
async def serving(stub: Stub, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Serve it on a free loopback port; yields its URL."""
    app = web.Application(client_max_size=1 << 24)
    app.router.add_route("*", "/{path:.*}", stub.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None, handler_cancellation=True)
    await runner.setup()
    port = ports.choose().api_server
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=tls).start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    finally:
        await runner.cleanup()


def managed_fields(thing: Json, manager: str) -> list[Json]:
    """What the API server would remember of who wrote which field, for the size that it gives an object."""
    return [
        {
            "manager": manager,
            "operation": "Update",
            "apiVersion": thing.get("apiVersion", "v1"),
            "time": "2026-01-01T00:00:00Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {
                **{f"f:{part}": dict(_fields(thing.get(part))) for part in ("spec", "status")},
                "f:metadata": {
                    f"f:{part}": {".": {}, **dict(_fields(thing["metadata"].get(part)))}
                    for part in ("labels", "annotations")
                },
            },
        }
    ]


def _fields(value: Any) -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"f:{key}", dict(_fields(inner))
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict) and "name" in inner:
                named = _encode({"name": inner["name"]}).decode()
                yield f"k:{named}", {".": {}, **dict(_fields(inner))}
