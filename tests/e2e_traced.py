"""Scalers on deployments that are really served, what they say, and the counts they leave behind."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from e2e_board import PATIENCE
from e2e_worlds import JSON, World
from modeldeployment.api import keys, kueue
from modeldeployment.kube import NotFound, PatchType, Reflector, Store
from modeldeployment.kube.kinds import CLUSTER_QUEUES
from modeldeployment.kube.shapes import Custom
from modeldeployment.lab.engines import FakeEngine
from modeldeployment.lab.serving import Serving
from modeldeployment.reconcile import DEPLOYMENTS
from modeldeployment.scaler import SCALERS

HOUR: Final = Path(__file__).parent / "traces" / "azure2023_conv_20th.csv.gz"
"""A recorded hour, every twentieth request of it: played twenty times as fast it has the rates of the whole."""
INTERVAL: Final = 5
PENDING: Final = 60
"""Seconds, both the least there are."""


@dataclass(slots=True)
class Scalers:
    """The scalers of a world as a watch tells of them."""

    world: World
    store: Store[Custom]
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def create(self, name: str = "chat", *, roles: Iterable[JSON], **spec: Any) -> None:
        """Create an Active scaler of the deployment of the same name, as fast as one may be."""
        body = {
            "apiVersion": keys.API_VERSION,
            "kind": "ModelDeploymentScaler",
            "metadata": {"name": name, "namespace": self.world.namespace},
            "spec": {
                "targetRef": {"name": name},
                "mode": "Active",
                "sampling": {"intervalSeconds": INTERVAL, "pendingTimeoutSeconds": PENDING},
                "roles": list(roles),
                **spec,
            },
        }
        await self.world.client.create(SCALERS, body, self.world.namespace)

    def status(self, name: str = "chat") -> JSON:
        """The status of a scaler; empty where it has none."""
        found = self.store.get(self.world.namespace, name)
        said: JSON = (msgspec.json.decode(found.status or b"{}") if found is not None else None) or {}
        return said

    def condition(self, kind: str, name: str = "chat") -> JSON:
        """One condition of a scaler; empty where it does not say it."""
        return next((each for each in self.status(name).get("conditions", ()) if each["type"] == kind), {})

    async def until(self, holds: Callable[[], object], what: str, within: float = PATIENCE) -> None:
        """Wait until it holds, asked again after every change of a scaler; fail the test otherwise."""
        try:
            async with asyncio.timeout(within):
                while not holds():
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            told = json.dumps(self.status(), indent=1)
            pytest.fail(f"not so within {within:.0f} s: {what}\n{told}\n{self.world.board.picture()}")

    async def clear(self) -> None:
        """Take every scaler away, whether or not an operator still runs."""
        for found in list(self.store.items()):
            name, space = found.metadata.name, self.world.namespace
            with contextlib.suppress(NotFound):
                await self.world.client.delete(SCALERS, name, space)
            with contextlib.suppress(NotFound):
                unheld = {"metadata": {"finalizers": None}}
                await self.world.client.patch(SCALERS, name, unheld, space, how=PatchType.MERGE)


@contextlib.asynccontextmanager
async def watching_scalers(world: World) -> AsyncIterator[Scalers]:
    """Watch the scalers of a world while open, and take them away at the end."""
    store: Store[Custom] = Store()
    scalers = Scalers(world, store)
    store.subscribe(lambda _old, _new: scalers.changed.set())
    watching = asyncio.create_task(Reflector(world.client, SCALERS, store, world.namespace).run())
    try:
        await store.wait_synced()
        yield scalers
    finally:
        await scalers.clear()
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


def vectors(world: World, name: str = "chat") -> list[tuple[int, ...]]:
    """Every vector of counts that a deployment was declared with, in order and without repeats."""
    seen: list[tuple[int, ...]] = []
    for change in world.board.story:
        if change.kind == str(DEPLOYMENTS) and isinstance(change.new, Custom) and change.new.metadata.name == name:
            roles = msgspec.json.decode(change.new.spec)["roles"]
            vector = tuple(role["replicas"] for role in roles)
            if not seen or seen[-1] != vector:
                seen.append(vector)
    return seen


async def declares(world: World, *counts: int, within: float = PATIENCE, name: str = "chat") -> None:
    """Wait until a deployment has been declared with these counts."""
    await world.board.until(lambda: counts in vectors(world, name), within=within, what=f"{name} is declared {counts}")


async def limit(world: World, cards: int) -> None:
    """Give the world's queue quota for so many cards, and no more."""
    path = "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota"
    change = [{"op": "replace", "path": path, "value": str(cards * kueue.CREDITS_PER_CARD)}]
    body = json.dumps(change).encode()
    await world.client.patch(CLUSTER_QUEUES, world.provision.cluster_queue, body, how=PatchType.JSON)


def engines(world: World, serving: Serving, role: str, name: str = "chat") -> list[FakeEngine]:
    """The engines of a role's replicas that stay, by ordinal."""
    return [serving.engine(members[0].metadata.name) for members in world.board.replicas(name, role).values()]


async def asked_again(fakes: Iterable[FakeEngine], times: int = 2) -> None:
    """Wait until each engine was asked for its metrics so many times more."""
    wanted = {each.address: len(each.asked("/metrics")) + times for each in fakes}
    async with asyncio.timeout(PATIENCE):
        while any(len(each.asked("/metrics")) < wanted[each.address] for each in fakes):  # noqa: ASYNC110 -- polled
            await asyncio.sleep(0.2)
