"""The reflector against the real API server, which is restarted under it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from kube_forwarder import forwarding
from modeldeployment.kube import Client, NotFound, Reflector, Store, Unreachable, kinds, load, shapes

pytestmark = pytest.mark.lab


def config_map(name: str, value: str = "") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"of": "test", "v": value}}}


class Mirror:
    """A store, and waiting for what it holds."""

    def __init__(self) -> None:
        self.store: Store[shapes.Partial] = Store()
        self._changed = asyncio.Condition()
        self.store.subscribe(lambda _old, _new: self._tasks.append(asyncio.ensure_future(self._notify())))
        self._tasks: list[asyncio.Future[None]] = []

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def until(self, holds: Callable[[dict[str, str]], bool]) -> None:
        async with asyncio.timeout(60), self._changed:
            await self._changed.wait_for(lambda: holds(self.now))

    @property
    def now(self) -> dict[str, str]:
        return {one.metadata.name: one.metadata.labels.get("v", "") for one in self.store.items()}


@contextlib.asynccontextmanager
async def mirrored(client: Client, namespace: str) -> AsyncIterator[tuple[Mirror, Reflector[shapes.Partial]]]:
    mirror = Mirror()
    reflector = Reflector(client, kinds.CONFIG_MAPS, mirror.store, namespace, "of=test", seed=1)
    running = asyncio.create_task(reflector.run())
    try:
        yield mirror, reflector
    finally:
        running.cancel()
        await asyncio.wait({running})


async def test_the_store_follows_creates_changes_and_deletes(control_plane: Any, namespace: str) -> None:
    async with Client(load(control_plane.kubeconfig)) as client:
        await client.create(kinds.CONFIG_MAPS, config_map("a"), namespace)
        async with mirrored(client, namespace) as (mirror, reflector):
            await mirror.store.wait_synced()
            assert mirror.now == {"a": ""}
            await client.create(kinds.CONFIG_MAPS, config_map("b"), namespace)
            await client.patch(kinds.CONFIG_MAPS, "b", {"metadata": {"labels": {"v": "2"}}}, namespace)
            deleted = await client.get(kinds.CONFIG_MAPS, "a", namespace)
            await client.delete(kinds.CONFIG_MAPS, "a", namespace, uid=deleted.metadata.uid)
            await mirror.until(lambda now: now == {"b": "2"})
            assert mirror.store.revision > int(deleted.metadata.resource_version)
            assert reflector.lists == 1


async def test_cut_connections_are_resumed_without_a_new_list(control_plane: Any, namespace: str) -> None:
    async with (
        Client(load(control_plane.kubeconfig)) as direct,
        forwarding(load(control_plane.kubeconfig)) as (forwarder, access),
        Client(access) as client,
        mirrored(client, namespace) as (mirror, reflector),
    ):
        for number in range(5):
            name = f"c-{number}"
            await direct.create(kinds.CONFIG_MAPS, config_map(name), namespace)
            await mirror.until(lambda now, name=name: name in now)  # type: ignore[misc]
            forwarder.drop()
        await direct.delete(kinds.CONFIG_MAPS, "c-2", namespace)
        await mirror.until(lambda now: set(now) == {"c-0", "c-1", "c-3", "c-4"})
        assert reflector.lists == 1


async def again(client: Client) -> None:
    """Wait until the restarted server answers."""
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(Unreachable, NotFound):
                await client.get(kinds.NAMESPACES, "default")
                return


async def test_a_restarted_server_is_followed_again_without_a_new_list(own_control_plane: Any) -> None:
    async with (
        Client(load(own_control_plane.kubeconfig)) as client,
        mirrored(client, "default") as (mirror, reflector),
    ):
        await client.create(kinds.CONFIG_MAPS, config_map("a"), "default")
        await mirror.until(lambda now: now == {"a": ""})
        await asyncio.to_thread(own_control_plane.restart, "kube-apiserver", [])
        await again(client)
        await client.create(kinds.CONFIG_MAPS, config_map("b"), "default")
        await mirror.until(lambda now: now == {"a": "", "b": ""})
        assert reflector.lists == 1


async def test_a_version_compacted_away_leads_to_a_new_list_and_no_delete_is_lost(own_control_plane: Any) -> None:
    """Events of the core API have no watch cache, and a restarted server has lost its own: both answer 410."""
    async with Client(load(own_control_plane.kubeconfig)) as client:
        await client.create(kinds.CONFIG_MAPS, config_map("a"), "default")
        await client.create(kinds.CONFIG_MAPS, config_map("b"), "default")
        async with mirrored(client, "default") as (mirror, reflector):
            await mirror.until(lambda now: set(now) == {"a", "b"})
            since = reflector._since
        # While nobody watches, "a" goes, much else happens, and history is compacted away.
        await client.delete(kinds.CONFIG_MAPS, "a", "default")
        for number in range(20):
            await client.patch(kinds.CONFIG_MAPS, "b", {"metadata": {"labels": {"v": str(number)}}}, "default")
        await asyncio.to_thread(own_control_plane.compact)
        await asyncio.to_thread(own_control_plane.restart, "kube-apiserver", [])
        await again(client)
        await client.patch(kinds.CONFIG_MAPS, "b", {"metadata": {"labels": {"v": "last"}}}, "default")
        gone: list[str] = []
        mirror.store.subscribe(lambda old, new: gone.append(old.metadata.name) if old and not new else None)
        resumed = Reflector(client, kinds.CONFIG_MAPS, mirror.store, "default", "of=test", seed=1)
        resumed._since = since
        running = asyncio.create_task(resumed.run())
        await mirror.until(lambda now: now == {"b": "last"})
        running.cancel()
        await asyncio.wait({running})
        assert (gone, resumed.lists) == (["a"], 1)
