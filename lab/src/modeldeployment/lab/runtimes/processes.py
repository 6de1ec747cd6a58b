"""The lab's own control plane: child processes on loopback, without containers."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from modeldeployment.lab.controlplane import Options, Phase, attach, down, status, up
from modeldeployment.lab.errors import NotUp
from modeldeployment.lab.toolchain import Toolchain

from .runtime import RuntimeStatus


@dataclass(frozen=True, slots=True)
class Processes:
    """The lab's own control plane with these options; `toolchain` finds or builds its programs when they are needed."""

    options: Options
    toolchain: Callable[[], Toolchain]

    @property
    def name(self) -> str:
        """The word for it on the command line."""
        return "processes"

    async def up(self) -> Path:
        """Start it unless it runs, and return its kubeconfig; raises the control plane's and the toolchain's errors."""
        return await asyncio.to_thread(self._up)

    async def down(self) -> None:
        """Stop it; raises the control plane's errors."""
        await asyncio.to_thread(down, self.options.folder)

    async def status(self) -> RuntimeStatus:
        """Say whether every component runs."""
        try:
            seen = await asyncio.to_thread(status, self.options.folder)
        except NotUp as error:
            return RuntimeStatus(running=False, message=str(error))
        return RuntimeStatus(running=seen.phase is Phase.READY, message=seen.failure or f"{seen.name} is {seen.phase}")

    def _up(self) -> Path:
        try:
            return attach(self.options.folder).kubeconfig
        except NotUp:
            return up(self.options, self.toolchain()).kubeconfig
