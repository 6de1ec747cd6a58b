"""The three writes and reads that providing is made of; each may be repeated."""

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from modeldeployment.kube import Client, Kind, NotFound, PatchType
from modeldeployment.kube.shapes import ClusterQueue, Condition, CustomResourceDefinition, Object

S = TypeVar("S", bound=Object)
C = TypeVar("C", ClusterQueue, CustomResourceDefinition)


class _Conditions(Protocol):
    @property
    def conditions(self) -> tuple[Condition, ...]: ...


async def apply(
    client: Client,
    kind: Kind[S],
    manifest: Mapping[str, Any],
    *,
    namespace: str | None = None,
    subresource: str | None = None,
) -> None:
    """Make an object be as the manifest says, taking its fields from other owners; raises the client's errors."""
    await client.patch(
        kind,
        manifest["metadata"]["name"],
        manifest,
        namespace,
        how=PatchType.APPLY,
        subresource=subresource,
        force=True,
    )


async def remove(client: Client, kind: Kind[S], name: str, namespace: str | None = None) -> None:
    """Delete an object if it is there; raises the client's errors."""
    try:
        await client.delete(kind, name, namespace)
    except NotFound:
        return


async def until(client: Client, kind: Kind[C], name: str, condition: str) -> None:
    """Return once a condition of an object is True; the caller sets the time limit. Raises the client's errors."""
    while True:
        seen: C = await client.get(kind, name)
        if _is_true(seen.status, condition):
            return
        await asyncio.sleep(0.1)


def _is_true(status: _Conditions, condition: str) -> bool:
    return any(each.type == condition and each.status == "True" for each in status.conditions)
