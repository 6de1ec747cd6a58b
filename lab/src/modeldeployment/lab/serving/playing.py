"""One Pod's life as its kubelet leads it: start, probe, restart, and leave as its preStop hook and grace period say."""

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from modeldeployment.kube import Client, KubeError, NotFound
from modeldeployment.kube.kinds import PODS
from modeldeployment.lab.errors import LabError
from modeldeployment.lab.serving import hooks, pods, reports
from modeldeployment.lab.serving.programs import InPod
from modeldeployment.lab.serving.reports import Report

_PROBE_SECONDS: Final = 0.5
_CRASH_SECONDS: Final = 0.2
_TERMINATED: Final = 143
_KILLED: Final = 137

JSON = Mapping[str, Any]


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class PlayedPod:
    """A Pod that is played from its binding to a node until it is gone.

    `pod` is its newest version, `inside` what runs in it, `report` what was said of it last, None before it ran.
    """

    def __init__(self, pod: JSON, inside: InPod, client: Client, began: Callable[["PlayedPod"], None]) -> None:
        self.pod = pod
        self.inside = inside
        self.report: Report | None = None
        self._client = client
        self._began = began
        self._told: Report | None = None
        self._changed = asyncio.Event()
        self._restart: float | None = None

    @property
    def name(self) -> str:
        """The Pod's name."""
        return str(self.pod["metadata"]["name"])

    @property
    def node(self) -> str:
        """The node it is bound to, empty before that."""
        return str(self.pod["spec"].get("nodeName", ""))

    @property
    def leaving(self) -> bool:
        """Whether it is being deleted."""
        return "deletionTimestamp" in self.pod["metadata"]

    def heard(self, pod: JSON) -> None:
        """Take in a newer version."""
        self.pod = pod
        self._changed.set()

    def restart(self, seconds: float) -> None:
        """Let its container crash, and start again some seconds later."""
        self._restart = seconds
        self._changed.set()

    async def run(self) -> None:
        """Play it to its end; cancelled when the Pod is gone or its node is."""
        try:
            while not self.node and not self.leaving:
                await self._change(None)
            if self.node and not self.leaving:
                address = await self.inside.start()
                self.report = Report(address, _now())
                self._began(self)
                while not self.leaving:
                    await self._look()
            await self._leave()
        finally:
            await asyncio.shield(self.inside.kill())

    async def _look(self) -> None:
        assert self.report is not None
        if self._restart is not None or self.inside.died:
            seconds, self._restart = self._restart or _CRASH_SECONDS, None
            self.report = replace(self.report, ready=False, up=False, started=False)
            await self._tell()
            with contextlib.suppress(LabError):  # what does not come up crashes again
                await self.inside.again(seconds)
            self.report = replace(self.report, up=True, restarts=self.report.restarts + 1)
        ready = await self.inside.ready()
        self.report = replace(self.report, ready=ready, started=ready or self.report.started)
        await self._tell()
        await self._change(_PROBE_SECONDS)

    async def _leave(self) -> None:
        """Run the hook, then tell it to end, then kill it at the end of its grace period (facts shutdown §1)."""
        code = _TERMINATED
        if self.report is not None:
            try:
                async with asyncio.timeout(pods.grace(self.pod)):
                    await self._hook(self.report.address)
                    await self.inside.terminate()
            except TimeoutError:
                code = _KILLED
                await self.inside.kill()
        report = self.report or Report("", _now())
        await self._patch(reports.ended(self.pod, report, code, _now()))
        with contextlib.suppress(KubeError):
            metadata = self.pod["metadata"]
            await self._client.delete(PODS, self.name, metadata["namespace"], uid=metadata["uid"], grace_seconds=0)

    async def _hook(self, address: str) -> None:
        names = [each["name"] for each in self.pod["spec"]["containers"]]
        command = hooks.hook(self.pod, address) if hooks.ENGINE in names else None
        if command is None:
            return
        process = await asyncio.create_subprocess_exec(
            *command,
            env={"PATH": os.environ.get("PATH", os.defpath)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def _tell(self) -> None:
        assert self.report is not None
        if self.report != self._told and await self._patch(reports.running(self.pod, self.report, _now())):
            self._told = self.report

    async def _patch(self, body: dict[str, Any]) -> bool:
        """Report a status; one that could not be reported is reported again at the next look."""
        try:
            await self._client.patch(PODS, self.name, body, self.pod["metadata"]["namespace"], subresource="status")
        except NotFound:
            return True
        except KubeError:
            return False
        return True

    async def _change(self, seconds: float | None) -> None:
        """Wait until the Pod changed, at most so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        self._changed.clear()
