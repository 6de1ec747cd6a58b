"""Our kinds on a real API server: writing objects of them, for good or for the answer alone."""

import json
from collections.abc import Mapping
from typing import Any

from modeldeployment.api import keys
from modeldeployment.api.crds import KINDS
from modeldeployment.kube import Client, Conflict, Kind, Verb, custom, request_for
from modeldeployment.kube.shapes import Custom

OURS: dict[str, Kind[Custom]] = {
    kind.name: custom(keys.GROUP, keys.VERSION, kind.plural, kind.name, namespaced=kind.namespaced) for kind in KINDS
}


def placed(document: Mapping[str, Any], name: str, namespace: str) -> dict[str, Any]:
    """The document under that name, in that namespace where its kind has one."""
    where = {"namespace": namespace} if OURS[document["kind"]].namespaced else {}
    metadata = {key: value for key, value in document["metadata"].items() if key != "namespace"}
    return {**document, "metadata": {**metadata, "name": name, **where}}


def _space(document: Mapping[str, Any]) -> str | None:
    space: str | None = document["metadata"].get("namespace")
    return space


async def create(client: Client, document: Mapping[str, Any], *, dry: bool = False) -> dict[str, Any]:
    """Create an object and return what is stored; `dry` asks what would be."""
    return await _sent(client, Verb.CREATE, document, "", dry=dry)


async def replace(client: Client, document: Mapping[str, Any]) -> dict[str, Any]:
    """Ask what would be stored if the object were replaced, whoever else writes to it meanwhile."""
    name = document["metadata"]["name"]
    while True:
        stored = await client.get(OURS[document["kind"]], name, _space(document))
        metadata = {**document["metadata"], "resourceVersion": stored.metadata.resource_version}
        try:
            return await _sent(client, Verb.REPLACE, {**document, "metadata": metadata}, name, dry=True)
        except Conflict:
            continue


async def _sent(client: Client, verb: Verb, document: Mapping[str, Any], name: str, *, dry: bool) -> dict[str, Any]:
    query = {"fieldValidation": "Strict"} | ({"dryRun": "All"} if dry else {})
    request = request_for(verb, OURS[document["kind"]], _space(document), name, body=document, query=query)
    stored: dict[str, Any] = json.loads(await client.raw(request))
    return stored
