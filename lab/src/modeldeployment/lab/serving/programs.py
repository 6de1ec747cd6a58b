"""What runs in a Pod, as its kubelet sees it: started at an address, ready or not, ended politely or not."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol

from modeldeployment.lab.engines import Behaviour, EngineServer, FakeEngine, Phase, addresses
from modeldeployment.lab.engines.errors import AddressTaken
from modeldeployment.lab.packaged import Program
from modeldeployment.lab.routers import RouterFailed, RunningRouter, entry
from modeldeployment.lab.routers.commanding import listening_at
from modeldeployment.lab.serving.pods import RunsEngine, RunsRouter

_POLL: Final = 0.02


class InPod(Protocol):
    """The program of one Pod."""

    async def start(self) -> str:
        """Start it and answer the Pod's address."""

    async def ready(self) -> bool:
        """Ask its readiness probe."""

    @property
    def died(self) -> bool:
        """Whether it ended although nobody told it to."""

    async def again(self, seconds: float) -> None:
        """Crash, and start again at the same address some seconds later."""

    async def terminate(self) -> None:
        """Tell it to end and wait until it has."""

    async def kill(self) -> None:
        """End it at once."""


@dataclass(slots=True)
class Silent:
    """A Pod in which nothing listens."""

    free: Iterator[str]

    async def start(self) -> str:
        """Answer an address."""
        return next(self.free)

    async def ready(self) -> bool:
        """It is ready once it runs."""
        return True

    @property
    def died(self) -> bool:
        """It never does."""
        return False

    async def again(self, seconds: float) -> None:
        """Nothing happens for some seconds."""
        await asyncio.sleep(seconds)

    async def terminate(self) -> None:
        """It has ended."""

    async def kill(self) -> None:
        """It has ended."""


class EngineInPod:
    """A fake engine at a Pod's address."""

    def __init__(self, runs: RunsEngine, server: EngineServer, behaviour: Behaviour, free: Iterator[str]) -> None:
        self._runs = runs
        self._server = server
        self._behaviour = replace(behaviour, half=runs.half, transfer=runs.transfer)
        self._free = free
        self.engine: FakeEngine | None = None

    async def start(self) -> str:
        """Open it at the next free address."""
        runs = self._runs
        for address in self._free:
            try:
                self.engine = await self._server.open(
                    runs.engine, address=address, ports=runs.ports, served=runs.served, behaviour=self._behaviour
                )
            except AddressTaken:
                continue
            return address
        raise AddressTaken(f"no address of {addresses.POD_NETWORK} is free on ports {runs.ports}; end other programs")

    async def ready(self) -> bool:
        """Answer what its health route would say."""
        engine = self.engine
        return engine is not None and engine.phase is Phase.SERVING and engine.behaviour.health == 200

    @property
    def died(self) -> bool:
        """Whether somebody closed it."""
        return self.engine is not None and self.engine.phase is Phase.ENDED

    async def again(self, seconds: float) -> None:
        """Restart it; it has forgotten everything."""
        if self.engine is not None:
            await self._server.restart(self.engine, seconds=seconds)

    async def terminate(self) -> None:
        """Do what the engine does on SIGTERM."""
        if self.engine is not None:
            await self._server.terminate(self.engine)

    async def kill(self) -> None:
        """Cut everything."""
        if self.engine is not None:
            await self._server.close(self.engine)


class RouterInPod:
    """A real router at a Pod's address, on the ports it is rendered with."""

    def __init__(
        self,
        runs: RunsRouter,
        program: Callable[[str], Program],
        kubeconfig: Callable[[], Awaitable[Path]],
        folder: Path,
        free: Iterator[str],
    ) -> None:
        self._runs = runs
        self._program = program
        self._kubeconfig = kubeconfig
        self._folder = folder
        self._free = free
        self._address = ""
        self._open = AsyncExitStack()
        self.router: RunningRouter | None = None

    async def start(self) -> str:
        """Start it at the next free address; it listens a moment later."""
        for address in self._free:
            listening = listening_at(self._runs.container, address)
            try:
                sockets = addresses.listen(address, (listening.port, listening.metrics))
            except AddressTaken:
                continue
            for each in sockets:
                each.close()
            self._address = address
            await self._run()
            return address
        raise AddressTaken(f"no address of {addresses.POD_NETWORK} is free for a router; end other programs")

    async def ready(self) -> bool:
        """Ask the path it is rendered with."""
        if self.router is None:
            return False
        try:
            status, _ = await self.router.ask("GET", self._runs.readiness)
        except RouterFailed:
            return False
        return status == 200

    @property
    def died(self) -> bool:
        """Whether the process ended."""
        return self.router is None or self.router.ended is not None

    async def again(self, seconds: float) -> None:
        """Kill it, and run it again."""
        await self.kill()
        await asyncio.sleep(seconds)
        await self._run()

    async def terminate(self) -> None:
        """Send SIGTERM and wait until it has finished what it had."""
        if self.router is not None:
            self.router.terminate()
            while self.router.ended is None:  # noqa: ASYNC110 -- a process ends when it ends
                await asyncio.sleep(_POLL)

    async def kill(self) -> None:
        """Send SIGKILL."""
        if self.router is not None:
            self.router.kill()
            self.router = None
        await self._open.aclose()

    async def _run(self) -> None:
        program = await asyncio.to_thread(self._program, entry(self._runs.container).program)
        variables = _variables(self._runs.container)
        router = RunningRouter(
            self._runs.container,
            program,
            await self._kubeconfig(),
            self._folder,
            environment=variables,
            address=self._address,
        )
        self.router = await self._open.enter_async_context(router)


def _variables(container: Mapping[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in container.get("env", ()) if "value" in each}
