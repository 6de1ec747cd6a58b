"""The two programs of `llm-d-router` as child processes, in a network of their own: the proxy, and the picker it asks.

Both listen on every address whatever they are told, so they run where there is none but loopback. A Pod's address leads
to their ports, and what they dial, the API server and members at theirs, leads out again.
"""

import asyncio
import json
import subprocess
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

from modeldeployment.lab.controlplane import processes
from modeldeployment.lab.engines import addresses
from modeldeployment.lab.errors import tail
from modeldeployment.lab.networks import Carrier, Network, alone
from modeldeployment.lab.packaged import Program
from modeldeployment.lab.routers import picking
from modeldeployment.lab.routers.errors import RouterFailed
from modeldeployment.lab.routers.picking import Placed
from modeldeployment.lab.toolchain.picker import Picker

_START_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 5.0
_POLL: Final = 0.05
_HTTPS: Final = 443


@dataclass(frozen=True, slots=True)
class Rendered:
    """What was rendered for one Pod of the router: both containers, and the ConfigMap of their documents.

    A picker that wants a pool is told of one of the name of the ConfigMap.
    """

    proxy: Mapping[str, Any]
    picker: Mapping[str, Any]
    name: str
    data: Mapping[str, str]

    @property
    def ports(self) -> tuple[int, int]:
        """Where requests are taken and numbers told."""
        return picking.port(self.proxy, "http"), picking.port(self.picker, "metrics")


class RunningPicker:
    """A proxy and its picker that run while this context manager is open, at a Pod's address.

    `programs` are the picker's and the proxy's, `kubeconfig` says as whom the picker discovers Pods; the folder of
    `placed` gets their documents and logs. Entering waits until both listen. Raises RouterFailed if they do not,
    AddressTaken, and NoNetwork.
    """

    def __init__(self, rendered: Rendered, programs: tuple[Picker, Program], kubeconfig: Path, placed: Placed) -> None:
        self._rendered = rendered
        self._picker_program, self._proxy_program = programs
        self._kubeconfig = kubeconfig
        self._placed = placed
        self._open = AsyncExitStack()
        self._network: Network | None = None
        self._proxy: subprocess.Popen[bytes] | None = None
        self._picker: subprocess.Popen[bytes] | None = None

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as opened:
            listening = addresses.listen(self._placed.address, self._rendered.ports)
            for each in listening:
                opened.callback(each.close)
            self._network = network = opened.enter_context(alone())
            opened.push_async_callback(self._stop)
            carrier = await opened.enter_async_context(Carrier())
            for socket, port in zip(listening, self._rendered.ports, strict=True):
                await carrier.inward(network, socket, port)
            for port in (self._api_port(), *picking.target_ports(self._rendered.data)):
                await carrier.outward(network, port)
            self._write()
            await self.start()
            self._open = opened.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    @property
    def url(self) -> str:
        """Where it takes requests."""
        return f"http://{self._placed.address}:{self._rendered.ports[0]}"

    @property
    def ready(self) -> bool:
        """Whether both listen, as their readiness probes ask."""
        if self._network is None or self.ended is not None:
            return False
        probed = (self._rendered.ports[0], picking.port(self._rendered.picker, "grpc-health"))
        return all(map(self._network.listens, probed))

    @property
    def ended(self) -> int | None:
        """The exit code of one of the two, None while both run."""
        codes = (each.poll() for each in (self._proxy, self._picker) if each is not None)
        return next((code for code in codes if code is not None), None)

    @property
    def logs(self) -> tuple[Path, Path]:
        """What the proxy and the picker printed; the proxy's has a line for each request."""
        return self._placed.folder / "envoy.log", self._placed.folder / "epp.log"

    async def start(self) -> None:
        """Start what does not run and wait until both listen. Raises RouterFailed."""
        network, given = self._network, self._rendered
        assert network is not None, "a RunningPicker is entered before it is started"
        placed, (proxy_log, picker_log) = self._placed, self.logs
        # Nothing is inherited: a proxy or a key of the caller's would change where they connect.
        home = {"HOME": str(placed.folder)}
        if self._picker is None or self._picker.poll() is not None:
            command = picking.picker_command(given.picker, placed, given.data, self._picker_program, given.name)
            known = {"KUBECONFIG": str(self._kubeconfig), **picking.variables(given.picker, placed, given.data)}
            self._picker = processes.start(network.inside(*command), home | known, placed.folder, picker_log)
        if self._proxy is None or self._proxy.poll() is not None:
            command = picking.proxy_command(given.proxy, placed, self._proxy_program.environment / "bin" / "envoy")
            self._proxy = processes.start(network.inside(*command), home, placed.folder, proxy_log)
        try:
            async with asyncio.timeout(_START_SECONDS):
                while not self.ready:
                    if self.ended is not None:
                        raise self._failed(f"a program of llm-d-router ended with code {self.ended}")
                    await asyncio.sleep(_POLL)
        except TimeoutError:
            raise self._failed(f"llm-d-router did not listen within {_START_SECONDS:.0f} s") from None

    def crash(self) -> None:
        """Kill the picker; the proxy runs on."""
        if self._picker is not None:
            self._picker.kill()
            self._picker.wait()

    async def terminate(self) -> None:
        """Tell both to end, as a kubelet does, and wait until they have."""
        running = [each for each in (self._proxy, self._picker) if each is not None]
        for each in running:
            each.terminate()
        while any(each.poll() is None for each in running):  # noqa: ASYNC110 -- a process ends when it ends
            await asyncio.sleep(_POLL)

    async def _stop(self) -> None:
        running = [each for each in (self._proxy, self._picker) if each is not None]
        await asyncio.to_thread(processes.stop, running, _STOP_SECONDS)

    def _write(self) -> None:
        self._placed.folder.mkdir(parents=True, exist_ok=True)
        for name, text in picking.documents(self._rendered.data, self._picker_program).items():
            (self._placed.folder / name).write_text(text, encoding="utf-8")

    def _api_port(self) -> int:
        (cluster,) = json.loads(self._kubeconfig.read_text(encoding="utf-8"))["clusters"]
        server: str = cluster["cluster"]["server"]
        return urlsplit(server).port or _HTTPS

    def _failed(self, why: str) -> RouterFailed:
        proxy, picker = self.logs
        log = proxy if self._proxy is not None and self._proxy.poll() is not None else picker
        return RouterFailed(why, log, tail(log) if log.exists() else ())
