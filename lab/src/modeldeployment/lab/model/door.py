"""The door of the API server: requests as the client sends them, answers as bytes."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

import msgspec

from modeldeployment.kube.requests import PatchType, Request
from modeldeployment.lab.model import answers, patches, selectors
from modeldeployment.lab.model.errors import Unmodelled
from modeldeployment.lab.model.resources import JSON, RESOURCES, Resource
from modeldeployment.lab.model.server import Server

VERSION: Final = {"major": "1", "minor": "36", "gitVersion": "v1.36.3"}
_READS: Final = ("GET",)


def writes(request: Request) -> bool:
    """Whether a request may change something."""
    return request.method not in _READS


def kind_of(request: Request) -> str:
    """The plural of the kind that a request is about."""
    return _place(request.target.partition("?")[0])[0].plural


def answer(server: Server, request: Request, *, by: str) -> bytes:
    """Carry out a request in the name of a process. Raises ApiError, and Unmodelled for what is not known here."""
    path, _, query_text = request.target.partition("?")
    if path == "/version":
        return msgspec.json.encode(VERSION)
    query = dict(parse_qsl(query_text))
    of, namespace, name, subresource = _place(path)
    partial = "as=PartialObjectMetadata" in request.accept
    body: Any = msgspec.json.decode(request.body) if request.body else {}
    match request.method:
        case "GET" if name:
            found = _reduced(server.get(of.plural, name, namespace), partial=partial)
        case "GET":
            found = _listing(server, of, namespace, query, partial=partial)
        case "POST" if not name:
            found = _reduced(server.create(of.plural, body, namespace, by=by), partial=partial)
        case "POST" if subresource == "eviction":
            server.delete(of.plural, name, namespace, by=by)
            found = {"kind": "Status", "apiVersion": "v1", "status": "Success"}
        case "PUT":
            whole = body
            found = server.update(
                of.plural, name, namespace, lambda _: whole, by=by, verb="replace", subresource=subresource
            )
        case "PATCH":
            manager = query.get("fieldManager", by)
            found = _patched(server, request.content_type, of, (name, namespace, subresource), body, (by, manager))
            found = _reduced(found, partial=partial)
        case "DELETE":
            found = _deleted(server, of, name, namespace, body, by=by)
        case other:
            raise Unmodelled(f"{other} {request.target}")
    return msgspec.json.encode(found)


def _place(path: str) -> tuple[Resource, str, str, str]:
    """Which kind, namespace, name and subresource a path is about."""
    parts = [unquote(part) for part in path.split("/")[1:]]
    rest = parts[2:] if parts[0] == "api" else parts[3:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    of = RESOURCES.get(rest[0])
    if of is None:
        raise Unmodelled(f"{path}: the fake world has no kind {rest[0]}")
    name, subresource = (*rest[1:], "", "")[:2]
    return of, namespace, name, subresource


def _listing(server: Server, of: Resource, namespace: str, query: Mapping[str, str], *, partial: bool) -> JSON:
    labels = selectors.by_labels(query.get("labelSelector", ""))
    fields = selectors.by_fields(query.get("fieldSelector", ""))
    found = [thing for thing in server.items(of.plural, namespace) if labels(thing) and fields(thing)]
    return {
        "apiVersion": of.api_version,
        "kind": f"{of.kind}List",
        "metadata": {"resourceVersion": str(server.revision)},
        "items": [_reduced(each, partial=partial) for each in found],
    }


def _reduced(thing: JSON, *, partial: bool) -> JSON:
    if not partial:
        return thing
    return {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": thing["metadata"]}


def _patched(
    server: Server, how: str, of: Resource, where: tuple[str, str, str], body: Any, who: tuple[str, str]
) -> JSON:
    (name, namespace, subresource), (by, manager) = where, who
    match how:
        case PatchType.MERGE.value:
            return server.merge(of.plural, name, namespace, body, by=by, subresource=subresource)
        case PatchType.APPLY.value:
            return server.apply(of.plural, name, namespace, body, by=by, manager=manager, subresource=subresource)
        case PatchType.JSON.value:
            try:
                return server.update(
                    of.plural,
                    name,
                    namespace,
                    lambda old: patches.edited(old, body),
                    by=by,
                    verb="patch",
                    subresource=subresource,
                )
            except (LookupError, ValueError) as error:
                raise answers.invalid(of, name, str(error), "the path of the patch is not there") from error
        case other:
            raise Unmodelled(f"patch of type {other}")


def _deleted(server: Server, of: Resource, name: str, namespace: str, options: JSON, *, by: str) -> JSON:
    wanted = options.get("preconditions") or {}
    last = server.find(of.plural, name, namespace)
    left = server.delete(
        of.plural,
        name,
        namespace,
        by=by,
        uid=wanted.get("uid"),
        resource_version=wanted.get("resourceVersion"),
        grace=options.get("gracePeriodSeconds"),
    )
    if left is not None:
        return left
    if of.shown and last is not None:
        return {**last, "metadata": {**last["metadata"], "resourceVersion": str(server.revision)}}
    return {"kind": "Status", "apiVersion": "v1", "status": "Success"}
