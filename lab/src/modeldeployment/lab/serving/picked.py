"""What `llm-d-router` brings into Pods: the router of two programs, and the engine behind a routing proxy."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

from modeldeployment.lab.engines import FakeEngine, addresses
from modeldeployment.lab.engines.errors import AddressTaken
from modeldeployment.lab.packaged import Program
from modeldeployment.lab.routers import Placed, Rendered, RunningPicker, RunningSidecar
from modeldeployment.lab.serving.pods import JSON, RunsEngine, RunsPicker
from modeldeployment.lab.serving.programs import EngineInPod
from modeldeployment.lab.toolchain.picker import Picker
from modeldeployment.render import BOOTSTRAP_PORT


def placed(pod: JSON, address: str, folder: Path) -> Placed:
    """Answer where a container of a Pod runs."""
    metadata = pod["metadata"]
    return Placed(str(metadata["name"]), str(metadata["namespace"]), address, folder)


class PickerInPod:
    """A real proxy and picker at a Pod's address, on the ports they are rendered with."""

    def __init__(
        self,
        pod: JSON,
        runs: RunsPicker,
        programs: Callable[[], tuple[Picker, Program]],
        given: Callable[[Picker], Awaitable[tuple[Path, Mapping[str, str]]]],
        folder: Path,
        free: Iterator[str],
    ) -> None:
        self._pod = pod
        self._runs = runs
        self._programs = programs
        self._given = given
        self._folder = folder
        self._free = free
        self._open = AsyncExitStack()
        self.router: RunningPicker | None = None

    async def start(self) -> str:
        """Start both at the next free address."""
        programs = await asyncio.to_thread(self._programs)
        kubeconfig, data = await self._given(programs[0])
        rendered = Rendered(self._runs.proxy, self._runs.picker, self._runs.config, data)
        for address in self._free:
            running = RunningPicker(rendered, programs, kubeconfig, placed(self._pod, address, self._folder))
            try:
                self.router = await self._open.enter_async_context(running)
            except AddressTaken:
                continue
            return address
        raise AddressTaken(f"no address of {addresses.POD_NETWORK} is free for a router; end other programs")

    async def ready(self) -> bool:
        """Ask whether both listen."""
        return self.router is not None and self.router.ready

    @property
    def died(self) -> bool:
        """Whether one of them ended."""
        return self.router is None or self.router.ended is not None

    async def again(self, seconds: float) -> None:
        """Kill the picker, and run again what does not run."""
        assert self.router is not None, "a Pod is started before it crashes"
        self.router.crash()
        await asyncio.sleep(seconds)
        await self.router.start()

    async def terminate(self) -> None:
        """Send both SIGTERM and wait until they have ended."""
        if self.router is not None:
            await self.router.terminate()

    async def kill(self) -> None:
        """Send both SIGKILL."""
        await self._open.aclose()


class ProxiedInPod:
    """A fake engine at a Pod's address, and before it the real routing proxy, which ends after it."""

    def __init__(
        self, pod: JSON, runs: RunsEngine, engine: Callable[[], EngineInPod], picker: Callable[[], Picker], folder: Path
    ) -> None:
        self._pod = pod
        self._runs = runs
        self._make = engine
        self._inside = engine()
        self._picker = picker
        self._folder = folder
        self._open = AsyncExitStack()
        self._proxy: RunningSidecar | None = None

    @property
    def engine(self) -> FakeEngine | None:
        """The engine, None before it is started."""
        return self._inside.engine

    async def start(self) -> str:
        """Open both at the next address that is free for both."""
        picker = await asyncio.to_thread(self._picker)
        assert self._runs.proxied is not None
        while True:
            address = await self._inside.start()
            where = placed(self._pod, address, self._folder)
            proxy = RunningSidecar(self._runs.proxied, picker, where, self._runs.ports[0], (BOOTSTRAP_PORT,))
            try:
                self._proxy = await self._open.enter_async_context(proxy)
            except AddressTaken:
                await self._inside.kill()
                self._inside = self._make()
                continue
            return address

    async def ready(self) -> bool:
        """Ask both."""
        return self._proxy is not None and self._proxy.ready and await self._inside.ready()

    @property
    def died(self) -> bool:
        """Whether somebody closed the engine."""
        return self._inside.died

    async def again(self, seconds: float) -> None:
        """Restart the engine; the proxy stays."""
        await self._inside.again(seconds)

    async def terminate(self) -> None:
        """End the engine, and then the proxy."""
        await self._inside.terminate()
        if self._proxy is not None:
            await self._proxy.terminate()

    async def kill(self) -> None:
        """End both at once."""
        await self._inside.kill()
        await self._open.aclose()
