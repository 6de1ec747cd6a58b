"""A deployment that is really served, a scaler of it, and an operator that wears every hat."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import msgspec
import pytest
from e2e_board import PATIENCE
from e2e_installed import Hooks
from e2e_operators import Operator
from e2e_worlds import JSON, World
from modeldeployment.api import keys
from modeldeployment.kube import PatchType, Reflector, Store
from modeldeployment.kube.shapes import Custom
from modeldeployment.lab.serving import Serving
from modeldeployment.scaler import SCALERS

T = TypeVar("T")

HATS: Final = ("webhook", "controllers", "scaler")


@dataclass(slots=True)
class Scaled:
    """A world whose Pods are served, and its scalers as a watch shows them."""

    world: World
    serving: Serving
    hooks: Hooks
    scalers: Store[Custom] = field(default_factory=Store)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def start(self, *hats: str) -> Operator:
        """Start an operator and wait until it leads; with its webhook, until the API server calls it."""
        worn = hats or HATS
        # API servers call the first webhook's address, also when another process has taken its place.
        port = int(self.hooks.url.rpartition(":")[2] or 0)
        started = self.hooks.start(*worn) if "webhook" not in worn else await self.hooks.called(*worn, port=port)
        await started.ready()
        if "scaler" in worn:
            await started.until(lambda: started.metric("modeldeployment_scaler_leader") == 1, "it scales")
        return started

    async def deploy(self, **role: Any) -> None:
        """Create the deployment `chat` and wait until it is served."""
        await self.world.create(**role)
        await self.world.settled()

    async def scale(self, name: str = "chat", **spec: Any) -> None:
        """Create a scaler."""
        body = manifest(self.world, name, **spec)
        await self.world.client.create(SCALERS, body, self.world.namespace)

    async def edit(self, changes: JSON, name: str = "chat") -> None:
        """Merge a change into the spec of a scaler."""
        await self.world.client.patch(SCALERS, name, {"spec": changes}, self.world.namespace, how=PatchType.MERGE)

    async def delete(self, name: str = "chat") -> None:
        """Delete a scaler and wait until it is gone."""
        await self.world.client.delete(SCALERS, name, self.world.namespace)
        await self.until(lambda: self.scaler(name) is None, f"scaler {name} is gone")

    def busy(self, waiting: int) -> None:
        """Let every engine say that so many requests wait, from now on, the new ones too."""
        for _, engine in self.serving.history:
            engine.tell(lies={"vllm:num_requests_waiting": str(waiting)})

    # --- what is there ---

    def scaler(self, name: str = "chat") -> Custom | None:
        """A scaler."""
        return self.scalers.get(self.world.namespace, name)

    def status(self, name: str = "chat") -> JSON:
        """The status of a scaler; empty where there is none."""
        found = self.scaler(name)
        table: JSON = msgspec.json.decode(found.status) if found is not None and bytes(found.status) else {}
        return table

    def reasons(self, name: str = "chat") -> dict[str, str]:
        """The reason of each condition of a scaler."""
        return {each["type"]: each["reason"] for each in self.status(name).get("conditions", ())}

    def message(self, condition: str, name: str = "chat") -> str:
        """What a condition of a scaler says."""
        told = (each["message"] for each in self.status(name).get("conditions", ()) if each["type"] == condition)
        return next(told, "")

    def role(self, name: str = "chat") -> JSON:
        """What a scaler says of its one role."""
        return next(iter(self.status(name).get("roles", ())), {})

    def binding(self) -> JSON:
        """The binding on the deployment; empty where there is none."""
        return self._annotation(keys.SCALER_BINDING)

    def decision(self) -> JSON:
        """The decision on the deployment; empty where there is none."""
        return self._annotation(keys.SCALER_DECISION)

    @property
    def replicas(self) -> int:
        """The declared count."""
        return int(self.world.board.spec("chat")["roles"][0]["replicas"])

    def _annotation(self, key: str) -> JSON:
        found = self.world.board.deployments.get(self.world.namespace, "chat")
        read: JSON = json.loads(found.metadata.annotations.get(key, "{}")) if found is not None else {}
        return read

    async def until(self, holds: Callable[[], T], what: str, within: float = PATIENCE) -> T:
        """Wait until `holds()`, asked ten times a second."""
        try:
            async with asyncio.timeout(within):
                while not (answer := holds()):  # noqa: ASYNC110 (what is asked is of several watches)
                    await asyncio.sleep(0.1)
                return answer
        except TimeoutError:
            tails = "\n".join(each.tail() for each in self.hooks.started)
            pytest.fail(f"not so within {within:.0f} s: {what}\n{self.status()}\n{self.world.board.picture()}\n{tails}")


def manifest(world: World, name: str = "chat", **spec: Any) -> JSON:
    """A scaler of `chat` that owns its counts: one replica for eight requests, looked at every five seconds."""
    wanted = {
        "targetRef": {"name": "chat"},
        "mode": "Active",
        "sampling": {"intervalSeconds": 5},
        "roles": [{"name": "server", "minReplicas": 1, "maxReplicas": 5}],
        "algorithm": {
            "type": "Proportional",
            "proportional": {"metric": "QueueDepth", "roleTargets": [{"name": "server", "target": "8"}]},
        },
        **spec,
    }
    meta = {"name": name, "namespace": world.namespace}
    return {"apiVersion": keys.API_VERSION, "kind": "ModelDeploymentScaler", "metadata": meta, "spec": wanted}


@pytest.fixture
async def scaled(breakable: World, breakable_serving: Serving, hooks: Hooks) -> AsyncIterator[Scaled]:
    """Return the world with its scalers watched; they are let go of after the test."""
    made = Scaled(breakable, breakable_serving, hooks)
    watching = asyncio.create_task(Reflector(breakable.client, SCALERS, made.scalers, breakable.namespace).run())
    await made.scalers.wait_synced()
    yield made
    await hooks.clear()
    for each in list(made.scalers.items()):
        unheld = {"metadata": {"finalizers": None}}
        await breakable.client.patch(SCALERS, each.metadata.name, unheld, breakable.namespace, how=PatchType.MERGE)
        await breakable.client.delete(SCALERS, each.metadata.name, breakable.namespace)
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
