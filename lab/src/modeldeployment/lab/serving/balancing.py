"""The address of a Service: what a kube-proxy does for it, connection by connection.

A new connection goes to the next ready endpoint that the EndpointSlices list, or, where none is ready, to one that is
still serving while it leaves; a connection that is open stays where it is.
"""

import asyncio
import socket
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack
from typing import Self

from modeldeployment.api import keys
from modeldeployment.kube import Client, Reflector, Store
from modeldeployment.kube.kinds import ENDPOINT_SLICES
from modeldeployment.kube.shapes import EndpointSlice
from modeldeployment.lab.engines import addresses
from modeldeployment.lab.engines.errors import AddressTaken
from modeldeployment.lab.networks import Carrier, Stream


def backends(slices: Iterable[EndpointSlice]) -> tuple[tuple[str, int], ...]:
    """Answer where new connections of a Service go: address and port, in an order of their own."""
    ready: set[tuple[str, int]] = set()
    serving: set[tuple[str, int]] = set()
    for each in slices:
        port = each.ports[0].port if each.ports else 0
        for endpoint in each.endpoints:
            if endpoint.conditions.ready:
                ready |= {(address, port) for address in endpoint.addresses}
            elif endpoint.conditions.serving and endpoint.conditions.terminating:
                serving |= {(address, port) for address in endpoint.addresses}
    return tuple(sorted(ready or serving))


class ServiceAddress:
    """Listens for a Service at a free address while it is open; `url` is where."""

    def __init__(self, client: Client, namespace: str, service: str, free: Iterator[str], port: int = 8000) -> None:
        self._client = client
        self._namespace = namespace
        self._service = service
        self._free = free
        self._port = port
        self._turn = 0
        self._store: Store[EndpointSlice] = Store()
        self._open = AsyncExitStack()
        self.url = ""

    async def __aenter__(self) -> Self:
        labels = f"{keys.SERVICE_NAME}={self._service}"
        reflector = Reflector(self._client, ENDPOINT_SLICES, self._store, self._namespace, labels=labels)
        async with AsyncExitStack() as opened:
            watching = asyncio.create_task(reflector.run())
            opened.push_async_callback(_cancelled, watching)
            await self._store.wait_synced()
            carrier = await opened.enter_async_context(Carrier())
            await carrier.take(self._listen(), self._next)
            self._open = opened.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    @property
    def backends(self) -> tuple[tuple[str, int], ...]:
        """Where new connections go now."""
        return backends(self._store.items())

    def _listen(self) -> socket.socket:
        for address in self._free:
            try:
                (listening,) = addresses.listen(address, (self._port,))
            except AddressTaken:
                continue
            self.url = f"http://{address}:{self._port}"
            return listening
        raise AddressTaken(f"no address of {addresses.POD_NETWORK} is free on port {self._port}; end other programs")

    async def _next(self, address: str, port: int) -> Stream:
        del address, port
        known = self.backends
        self._turn += 1
        if not known:
            raise ConnectionRefusedError(f"Service {self._service} has no endpoint")
        return await asyncio.open_connection(*known[self._turn % len(known)])


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
