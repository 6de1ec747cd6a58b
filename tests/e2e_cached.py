"""A shared cache of the end-to-end tests: the three objects on the way to its store, and their status."""

from dataclasses import dataclass
from typing import Any, Final

from e2e_worlds import JSON, World
from modeldeployment.api import keys
from modeldeployment.kube import Kind, PatchType
from modeldeployment.reconcile.kinds import BACKENDS, BINDINGS, POOLS

READY: Final = {
    "phase": "Ready",
    "conditions": [
        {
            "type": "QuotaGranted",
            "status": "True",
            "reason": "Granted",
            "message": "",
            "lastTransitionTime": "2030-01-01T00:00:00Z",
        }
    ],
}
"""The status of a binding that grants its quota."""


@dataclass(frozen=True, slots=True)
class Cache:
    """A binding of the world's namespace, its pool and its backend, all of one name."""

    world: World

    @property
    def name(self) -> str:
        return self.world.namespace

    async def grant(self, **status: Any) -> None:
        """Say that the binding can be used, or what else `status` says."""
        await self._status(BINDINGS, {**READY, **status}, self.world.namespace)

    async def answer(self, address: str) -> None:
        """Say where clients find the store; other figures of the pool move along."""
        await self._status(POOLS, {"phase": "Ready", "clientEndpoint": address, "usage": {"total": "1Gi"}})

    async def beat(self, used: str) -> None:
        """Move a figure of the pool and nothing else."""
        await self._status(POOLS, {"usage": {"total": used}})

    async def unbind(self) -> None:
        """Delete the binding."""
        await self.world.client.delete(BINDINGS, self.name, self.world.namespace)

    def attached(self, manifest: JSON) -> JSON:
        """Name the cache in a deployment."""
        manifest["spec"]["kvCache"] = {"poolRef": {"name": self.name}}
        return manifest

    async def users(self) -> list[JSON]:
        """Who claims the binding."""
        found = await self.world.whole(BINDINGS, self.name)
        users: list[JSON] = found.get("status", {}).get("usedBy", [])
        return users

    async def clear(self) -> None:
        """Take away what is not of the world's namespace."""
        for kind in (POOLS, BACKENDS):
            await self.world.client.delete(kind, self.name)

    async def _status(self, kind: Kind[Any], status: JSON, namespace: str | None = None) -> None:
        await self.world.client.patch(
            kind, self.name, {"status": status}, namespace, how=PatchType.MERGE, subresource="status"
        )


async def cache(world: World) -> Cache:
    """Make the three objects; nothing is ready yet."""
    external = {"endpoints": [{"name": "Client", "address": "10.0.0.1:50051"}]}
    domain = {"name": "team", "blockSize": 16, "dtype": "bfloat16"}
    pool = {"backends": [{"name": world.namespace}], "quota": {"total": "1Ti"}}
    binding = {"poolRef": {"name": world.namespace}, "quota": {"ceiling": "1Gi"}, "domain": domain}
    for kind, spec, namespace in (
        (BACKENDS, {"connection": {"external": external}}, None),
        (POOLS, pool, None),
        (BINDINGS, binding, world.namespace),
    ):
        body = {
            "apiVersion": keys.API_VERSION,
            "kind": kind.kind,
            "metadata": {"name": world.namespace},
            "spec": spec,
        }
        await world.client.create(kind, body, namespace)
    return Cache(world)
