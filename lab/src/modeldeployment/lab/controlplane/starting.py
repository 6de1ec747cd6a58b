"""The start order, and what ready means: Kueue's webhooks are really called (facts control-plane §5)."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, assert_never

from modeldeployment.lab.controlplane import installing
from modeldeployment.lab.controlplane.api import Api
from modeldeployment.lab.controlplane.options import Component
from modeldeployment.lab.controlplane.preparing import authority_bundle
from modeldeployment.lab.controlplane.running import Running

_DEFAULT_ACCOUNT: Final = "/api/v1/namespaces/default/serviceaccounts/default"


@dataclass(frozen=True, slots=True)
class Starting:
    """One start of all components, over an open connection."""

    running: Running
    api: Api
    kueue_config: Path

    async def everything(self) -> None:
        """Start all components in order; return when Pods can be created and Kueue is asked about them."""
        for component in (Component.ETCD, Component.API_SERVER):
            self.running.start(component)
            await self.running.until(component, self.probe(component))
        try:
            async with asyncio.TaskGroup() as tasks:
                for component in (Component.CONTROLLER_MANAGER, Component.SCHEDULER, Component.KWOK):
                    self.running.start(component)
                    tasks.create_task(self.running.until(component, self.probe(component)))
                if Component.KUEUE in self.running.records:
                    tasks.create_task(self._kueue())
        except ExceptionGroup as group:
            raise group.exceptions[0] from group  # the others were cancelled because of it
        await self.running.until(Component.CONTROLLER_MANAGER, self._has_default_account)

    async def again(self, component: Component, extra_args: tuple[str, ...]) -> None:
        """Kill and start one component with `extra_args` after its own; return when it is ready."""
        if component in self.running.records:
            self.running.kill(component)
        self.running.start(component, extra_args)
        await self.running.until(component, self.probe(component))

    def probe(self, component: Component) -> Callable[[], Awaitable[bool]]:
        """Return the question whose yes means that a component is ready."""
        ports = self.running.ports

        def asks(url: str, containing: bytes = b"") -> Callable[[], Awaitable[bool]]:
            return lambda: self.api.answers(url, containing)

        match component:
            case Component.ETCD:
                return asks(f"{ports.url(ports.etcd)}/health", b'"true"')
            case Component.API_SERVER:
                return self.api.is_ready
            case Component.CONTROLLER_MANAGER:
                return asks(f"{ports.url(ports.controller_manager, scheme='https')}/healthz")
            case Component.SCHEDULER:
                return asks(f"{ports.url(ports.scheduler, scheme='https')}/readyz")
            case Component.KWOK:
                return asks(f"{ports.url(ports.kwok)}/readyz")
            case Component.KUEUE:
                return lambda: installing.hooks_are_called(self.api)
            case other:
                assert_never(other)

    async def _kueue(self) -> None:
        # The webhooks go in first: the API server needs about two seconds to heed them, the CRDs take as long.
        ports = self.running.ports
        url = ports.url(ports.kueue_webhook, scheme="https")
        authority = authority_bundle(self.running.layout)
        await installing.install_hooks(self.api, self.kueue_config, url, authority)
        await installing.install_definitions(self.api, self.kueue_config, url, authority)
        self.running.start(Component.KUEUE)
        await self.running.until(Component.KUEUE, self.probe(Component.KUEUE))

    async def _has_default_account(self) -> bool:
        return await self.api.get(_DEFAULT_ACCOUNT) is not None
