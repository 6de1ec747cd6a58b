"""A router's real program as a child process: started with what was rendered, asked, and ended."""

import asyncio
import random
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Self

import aiohttp
import yarl

from modeldeployment.lab.controlplane import ports, processes
from modeldeployment.lab.errors import tail
from modeldeployment.lab.packaged import Program
from modeldeployment.lab.routers import commanding, workers
from modeldeployment.lab.routers.commanding import Listening
from modeldeployment.lab.routers.errors import RouterFailed
from modeldeployment.lab.routers.workers import Worker

_PORTS: Final = range(20_000, 32_000)
_STARTS: Final = 3
_START_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 5.0
_POLL: Final = 0.05


class RunningRouter:
    """A router that runs while this context manager is open; it ends with this process, however that ends.

    `container` is what was rendered, `kubeconfig` says as whom it discovers Pods, `folder` gets its log. Entering
    waits until it listens and raises RouterFailed if it does not; `environment` adds variables. At a Pod's `address`
    it listens on the ports it is rendered with, else on free ones of loopback.
    """

    def __init__(
        self,
        container: Mapping[str, Any],
        program: Program,
        kubeconfig: Path,
        folder: Path,
        *,
        environment: Mapping[str, str] | None = None,
        address: str | None = None,
        seed: int | None = None,
    ) -> None:
        self._container = container
        self._program = program
        # Nothing is inherited: a proxy or a key of the caller's would change where the router connects.
        self._environment = {"KUBECONFIG": str(kubeconfig), "HOME": str(folder), **(environment or {})}
        self._folder = folder
        self._address = address
        self._random = random.Random(seed)
        self._process: subprocess.Popen[bytes] | None = None
        self._http: aiohttp.ClientSession | None = None
        self.listening = Listening(0, 0)

    async def __aenter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._http = aiohttp.ClientSession()
        try:
            chances = _STARTS if self._address is None else 1
            for chance in range(chances):
                if await self._started(last=chance == chances - 1):
                    break
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process is not None:
            await asyncio.to_thread(processes.stop, [self._process], _STOP_SECONDS)
        if self._http is not None:
            await self._http.close()

    @property
    def url(self) -> str:
        """Where it takes requests."""
        return f"http://{self.listening.host}:{self.listening.port}"

    @property
    def log(self) -> Path:
        """What it printed."""
        return self._folder / "router.log"

    @property
    def ended(self) -> int | None:
        """Its exit code, None while it runs."""
        return None if self._process is None else self._process.poll()

    def terminate(self) -> None:
        """Tell it to end, as a kubelet does, and do not wait."""
        if self._process is not None:
            self._process.terminate()

    def kill(self) -> None:
        """End it at once, and do not wait."""
        if self._process is not None:
            self._process.kill()

    async def ask(
        self, method: str, path: str, *, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        """Ask it something; return the status, and the answer as JSON where it is JSON, else as text.

        Raises RouterFailed when it does not answer. An encoded path is sent as it is.
        """
        assert self._http is not None, "a RunningRouter is entered before it is asked"
        url = yarl.URL(self.url + path, encoded=True)
        try:
            async with self._http.request(method, url, json=body, headers=headers) as response:
                is_json = response.content_type == "application/json"
                return response.status, await (response.json() if is_json else response.text())
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self._failed(f"the router did not answer {method} {path} ({error!r})") from error

    async def workers(self) -> tuple[Worker, ...]:
        """List its workers."""
        status, answer = await self.ask("GET", "/workers")
        if status != 200:
            raise self._failed(f"GET /workers answered {status} {answer!r:.200}")
        return workers.listed(answer)

    async def remove(self, url: str) -> None:
        """Remove a worker over the worker API; one that is not listed is left alone. Raises RouterFailed."""
        for worker in await self.workers():
            if worker.url == url:
                status, answer = await self.ask("DELETE", f"/workers/{worker.key}")
                if status >= 300:
                    raise self._failed(f"DELETE of worker {url} answered {status} {answer!r:.200}")

    async def metrics(self) -> str:
        """Read the text of its metrics."""
        assert self._http is not None, "a RunningRouter is entered before it is asked"
        async with self._http.get(f"http://{self.listening.host}:{self.listening.metrics}/metrics") as response:
            return await response.text()

    async def _started(self, *, last: bool) -> bool:
        """Start it on ports of its own; tell whether it listens. Somebody else may take a port first: try again."""
        if self._address is None:
            free = (port for port in self._random.sample(_PORTS, 1_000) if ports.is_free(port))
            self.listening = Listening(next(free), next(free))
        else:
            self.listening = commanding.listening_at(self._container, self._address)
        command = commanding.command_line(self._container, self._program.environment, self.listening)
        self._process = processes.start(command, self._environment, self._folder, self.log)
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                if last or "Address already in use" not in self.log.read_text(errors="replace"):
                    raise self._failed(f"the router ended with code {self._process.returncode}")
                return False
            if await self._listens():
                return True
            await asyncio.sleep(_POLL)
        raise self._failed(f"the router did not listen within {_START_SECONDS:.0f} s")

    async def _listens(self) -> bool:
        try:
            _, writer = await asyncio.open_connection(self.listening.host, self.listening.port)
        except OSError:
            return False
        writer.close()
        await writer.wait_closed()
        return True

    def _failed(self, why: str) -> RouterFailed:
        return RouterFailed(why, self.log, tail(self.log))
