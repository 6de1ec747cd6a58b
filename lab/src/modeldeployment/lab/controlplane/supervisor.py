"""The process that owns the components: starts them, watches them, obeys its control port, ends with them.

Run as `python -m modeldeployment.lab.controlplane.supervisor OPTIONS BIN`, with Options as JSON; `up` does it.
Exit codes: 0 stopped as asked, 1 did not start, 3 another supervisor holds this state directory.
"""

import asyncio
import contextlib
import json
import os
import secrets
import signal
import sys
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, Final

import filelock

from modeldeployment.lab.controlplane import ports, processes, serving
from modeldeployment.lab.controlplane.api import Api
from modeldeployment.lab.controlplane.layout import Layout
from modeldeployment.lab.controlplane.options import HOST, Options
from modeldeployment.lab.controlplane.preparing import prepare
from modeldeployment.lab.controlplane.record import ComponentPhase, Phase, Record
from modeldeployment.lab.controlplane.running import Running, why_ended
from modeldeployment.lab.controlplane.starting import Starting
from modeldeployment.lab.errors import ComponentFailed, ControlPlaneError
from modeldeployment.lab.toolchain import Toolchain

ALREADY_UP: Final = 3
_PORT_ATTEMPTS: Final = 3
_PORT_IN_USE: Final = "address already in use"
_LIFELINE_POLL: Final = 0.5


class Supervisor:
    """One control plane's owner; everything runs in one thread, whose end ends the components."""

    def __init__(self, options: Options, toolchain: Toolchain) -> None:
        self._options = options
        self._toolchain = toolchain
        self._layout = Layout(options.folder)
        self._token = secrets.token_urlsafe(24)
        self._phase = Phase.STARTING
        self._error: ControlPlaneError | None = None
        self._running = self._fresh()
        self._stop = asyncio.Event()
        self._ended = asyncio.Event()

    async def run(self) -> int:
        """Live until told to stop; return the exit code."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        loop.add_signal_handler(signal.SIGCHLD, self._someone_ended)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            with _lifeline(self._options.lifeline, self._stop):
                await self._live()
        except ControlPlaneError as error:
            self._error = error
        finally:
            self._running.stop_all()
        self._layout.forget()
        self._turn(Phase.FAILED if self._error else Phase.STOPPED)
        return 1 if self._error else 0

    async def _live(self) -> None:
        for attempts_left in reversed(range(_PORT_ATTEMPTS)):
            self._layout.wipe()
            prepare(self._layout, self._running.ports, self._options)
            self._turn(Phase.STARTING)
            try:
                async with Api(self._layout, self._running.ports) as api:
                    starting = Starting(self._running, api, self._toolchain.kueue_config)
                    if await self._unless_stopped(starting.everything()):
                        await self._serve(starting)
                    return
            except ComponentFailed as error:
                # Somebody took a port between choosing it and using it: start over on other ports.
                if not attempts_left or not any(_PORT_IN_USE in line for line in error.tail):
                    raise
                self._running.stop_all()
                self._running = self._fresh()
                self._ended.clear()

    async def _serve(self, starting: Starting) -> None:
        answer = serving.answering(starting, self._token)
        async with await asyncio.start_server(answer, HOST, self._running.ports.control):
            self._turn(Phase.READY)
            self._changed()
            await self._stop.wait()
            self._turn(Phase.STOPPING)

    async def _unless_stopped(self, start: Coroutine[Any, Any, None]) -> bool:
        """Run the start to its end, or cancel it when told to stop; tell whether it came to its end.

        Raises ComponentFailed as soon as any component ends, whichever one the start is waiting for.
        """
        task = asyncio.ensure_future(start)
        stop = asyncio.ensure_future(self._stop.wait())
        ended = asyncio.ensure_future(self._ended.wait())
        await asyncio.wait((task, stop, ended), return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        ended.cancel()
        if task.done():
            task.result()
            return True
        task.cancel()
        await asyncio.wait((task,))
        self._running.check_all()
        return False

    def _someone_ended(self) -> None:
        self._running.reap()
        if any(record.exit_code is not None for record in self._running.records.values()):
            self._ended.set()

    def _fresh(self) -> Running:
        chosen = ports.choose(self._options.api_port)
        return Running(self._toolchain.bin, self._layout, chosen, self._options, self._changed)

    def _changed(self) -> None:
        if self._phase in (Phase.READY, Phase.DEGRADED):
            self._phase = Phase.READY if self._running.all_run() else Phase.DEGRADED
        self._write()

    def _turn(self, phase: Phase) -> None:
        self._phase = phase
        self._write()

    def _write(self) -> None:
        failure, culprit = self._complaint()
        Record(
            phase=self._phase,
            options=self._options,
            bin=self._toolchain.bin,
            ports=self._running.ports,
            supervisor=os.getpid(),
            token=self._token,
            components=self._running.records,
            failure=failure,
            culprit=culprit,
        ).write(self._layout.record)

    def _complaint(self) -> tuple[str, str]:
        """Return the sentence about what is wrong and the component it is about, both empty if nothing is."""
        if isinstance(self._error, ComponentFailed):
            return self._error.why, self._error.component
        if self._error is not None:
            return str(self._error), ""
        for component, record in self._running.records.items():
            if record.phase is ComponentPhase.DIED:
                return why_ended(record.exit_code or 0), component
            if record.phase in (ComponentPhase.KILLED, ComponentPhase.PAUSED):
                return f"was {record.phase.lower()} on request", component
        return "", ""


@contextlib.contextmanager
def _lifeline(pid: int | None, stop: asyncio.Event) -> Iterator[None]:
    """Set `stop` when the process `pid` ends, as long as the context is open."""
    if pid is None:
        yield
        return
    loop = asyncio.get_running_loop()
    if hasattr(os, "pidfd_open"):
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            raise ControlPlaneError(f"the lifeline process {pid} has ended already") from None
        loop.add_reader(descriptor, stop.set)
        try:
            yield
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)
        return
    polling = loop.create_task(_poll(pid, stop))
    try:
        yield
    finally:
        polling.cancel()


async def _poll(pid: int, stop: asyncio.Event) -> None:
    while processes.exists(pid):  # noqa: ASYNC110 - where no event says that a foreign process ended
        await asyncio.sleep(_LIFELINE_POLL)
    stop.set()


def main(arguments: list[str]) -> int:
    """Take the state directory, or leave it to the supervisor that holds it; then live."""
    options = Options.from_json(json.loads(arguments[0]))
    layout = Layout(options.folder)
    try:
        with filelock.FileLock(layout.lock, timeout=1):
            sys.stderr.flush()
            os.ftruncate(sys.stderr.fileno(), 0)
            return asyncio.run(_run(options, Toolchain(Path(arguments[1]))))
    except filelock.Timeout:
        return ALREADY_UP


async def _run(options: Options, toolchain: Toolchain) -> int:
    return await Supervisor(options, toolchain).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
