"""The kinds that providing writes: ours are installed where absent, Kueue's are asked for."""

import asyncio
from typing import Any, Final

from modeldeployment.api import kueue
from modeldeployment.api.crds import crds
from modeldeployment.api.keys import GROUP, VERSION
from modeldeployment.kube import Client, Kind, NotFound, Verb, custom, request_for
from modeldeployment.kube.kinds import CUSTOM_RESOURCE_DEFINITIONS
from modeldeployment.kube.shapes import Custom
from modeldeployment.lab.fleets.errors import KueueAbsent

from .writing import apply

INSTANCE_TYPES: Final = custom(GROUP, VERSION, "instancetypes", "InstanceType", namespaced=False)
TOPOLOGIES: Final = custom(kueue.GROUP, kueue.VERSION, "topologies", "Topology", namespaced=False)

_PATIENCE: Final = 60.0
"""Seconds for a new kind to be served."""


async def install_kinds(client: Client) -> None:
    """Install this project's CRDs where one is absent and wait until all are served; raises the client's errors."""
    definitions = crds()
    for definition in definitions:
        name = definition["metadata"]["name"]
        try:
            await client.get(CUSTOM_RESOURCE_DEFINITIONS, name)
        except NotFound:
            await apply(client, CUSTOM_RESOURCE_DEFINITIONS, definition)
    async with asyncio.timeout(_PATIENCE):
        for definition in definitions:
            await _until_served(client, _kind_of(definition))


async def require_kueue(client: Client) -> None:
    """Return if the cluster has Kueue's kinds; raises KueueAbsent and the client's errors."""
    name = str(TOPOLOGIES)
    try:
        await client.get(CUSTOM_RESOURCE_DEFINITIONS, name)
    except NotFound as error:
        raise KueueAbsent(
            f"this cluster has no kind {name}, so Kueue is not installed; start the lab with Kueue, or add nodes alone"
        ) from error


async def _until_served(client: Client, kind: Kind[Custom]) -> None:
    # An API server calls a definition Established a moment before it serves the kind.
    request = request_for(Verb.LIST, kind, query={"limit": "1"})
    while True:
        try:
            await client.raw(request)
        except NotFound:
            await asyncio.sleep(0.05)
        else:
            return


def _kind_of(definition: dict[str, Any]) -> Kind[Custom]:
    spec = definition["spec"]
    return custom(spec["group"], spec["versions"][0]["name"], spec["names"]["plural"], spec["names"]["kind"])
