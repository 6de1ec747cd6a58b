"""The routing proxy beside a decoder as a child process, in a network of its own. See `pickers`."""

import asyncio
import subprocess
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final, Self

from modeldeployment.lab.controlplane import processes
from modeldeployment.lab.engines import addresses
from modeldeployment.lab.errors import tail
from modeldeployment.lab.networks import Carrier, Network, alone
from modeldeployment.lab.routers import picking
from modeldeployment.lab.routers.errors import RouterFailed
from modeldeployment.lab.routers.picking import Placed
from modeldeployment.lab.toolchain.picker import Picker

_START_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 5.0
_POLL: Final = 0.05


class RunningSidecar:
    """The routing proxy beside a decoder, which runs while this context manager is open, at its Pod's address.

    `engine_port` is where the engine listens at that address, `others` are ports that it dials at other Pods. Entering
    waits until it listens. Raises RouterFailed if it does not, AddressTaken, and NoNetwork.
    """

    def __init__(
        self, container: Mapping[str, Any], picker: Picker, placed: Placed, engine_port: int, others: tuple[int, ...]
    ) -> None:
        self._container = container
        self._picker = picker
        self._placed = placed
        self._engine_port = engine_port
        self._others = others
        self._open = AsyncExitStack()
        self._process: subprocess.Popen[bytes] | None = None
        self._network: Network | None = None

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as opened:
            (serving,) = (each["containerPort"] for each in self._container["ports"])
            (listening,) = addresses.listen(self._placed.address, (serving,))
            opened.callback(listening.close)
            self._network = network = opened.enter_context(alone())
            opened.push_async_callback(self._stop)
            carrier = await opened.enter_async_context(Carrier())
            await carrier.inward(network, listening, picking.SIDECAR_PORT)
            # In its own Pod, loopback leads to the engine beside it; everything else is another Pod's.
            await carrier.outward(network, self._engine_port, self._placed.address)
            for port in dict.fromkeys((serving, *self._others)):
                await carrier.outward(network, port)
            self._placed.folder.mkdir(parents=True, exist_ok=True)
            await self._run(network)
            self._open = opened.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    @property
    def log(self) -> Path:
        """What it printed."""
        return self._placed.folder / "routing-proxy.log"

    @property
    def ready(self) -> bool:
        """Whether it listens."""
        running = self._process is not None and self._process.poll() is None
        return running and self._network is not None and self._network.listens(picking.SIDECAR_PORT)

    async def terminate(self) -> None:
        """Tell it to end and wait until it has."""
        if self._process is not None:
            self._process.terminate()
            while self._process.poll() is None:  # noqa: ASYNC110 -- a process ends when it ends
                await asyncio.sleep(_POLL)

    async def _run(self, network: Network) -> None:
        command = picking.sidecar_command(self._container, self._picker)
        given = {"HOME": str(self._placed.folder), **picking.variables(self._container, self._placed, {})}
        self._process = processes.start(network.inside(*command), given, self._placed.folder, self.log)
        try:
            async with asyncio.timeout(_START_SECONDS):
                while not self.ready:
                    if self._process.poll() is not None:
                        why = f"the routing proxy ended with code {self._process.returncode}"
                        raise RouterFailed(why, self.log, tail(self.log))
                    await asyncio.sleep(_POLL)
        except TimeoutError:
            why = f"the routing proxy did not listen within {_START_SECONDS:.0f} s"
            raise RouterFailed(why, self.log, tail(self.log)) from None

    async def _stop(self) -> None:
        if self._process is not None:
            await asyncio.to_thread(processes.stop, [self._process], _STOP_SECONDS)
