"""The components as running processes: started, awaited, watched, stopped. Owned by the supervisor's one thread."""

import asyncio
import dataclasses
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from modeldeployment.lab.controlplane import processes
from modeldeployment.lab.controlplane.arguments import arguments, environment
from modeldeployment.lab.controlplane.layout import Layout
from modeldeployment.lab.controlplane.options import Component, Options, Ports
from modeldeployment.lab.controlplane.record import ComponentPhase, ComponentRecord
from modeldeployment.lab.errors import ComponentFailed, NotReady, UnknownComponent, tail

_POLL: Final = 0.03
_STOP_TOGETHER: Final = (
    (Component.KUEUE, Component.KWOK, Component.SCHEDULER, Component.CONTROLLER_MANAGER),
    (Component.API_SERVER,),
    (Component.ETCD,),
)
_GRACE: Final = 0.8
"""Seconds a component gets after SIGTERM: its data is thrown away, and kube-apiserver would wait for its watchers."""


@dataclass(slots=True)
class Running:
    """The processes of one control plane; `on_change` is called after every change of `records`."""

    bin: Path
    layout: Layout
    ports: Ports
    options: Options
    on_change: Callable[[], None]
    records: dict[Component, ComponentRecord] = field(default_factory=dict)
    _processes: dict[Component, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """List every component as waiting."""
        self.records = dict.fromkeys(self.options.components, ComponentRecord())

    def all_run(self) -> bool:
        """Tell whether every component is running."""
        return all(record.phase is ComponentPhase.RUNNING for record in self.records.values())

    def start(self, component: Component, extra_args: Sequence[str] = ()) -> None:
        """Start one component; its log is appended to."""
        command = [
            str(self.bin / component),
            *arguments(component, self.layout, self.ports, self.options),
            *extra_args,
        ]
        log = self.layout.log(component)
        try:
            process = processes.start(command, environment(component, self.layout), self.layout.root, log)
        except OSError as error:
            raise ComponentFailed(component, f"could not be started ({error})", log, tail(log)) from error
        self._processes[component] = process
        starts = self.records[component].starts + 1
        self._note(component, ComponentRecord(ComponentPhase.STARTING, process.pid, starts=starts))

    async def until(self, component: Component, ready: Callable[[], Awaitable[bool]]) -> None:
        """Wait until a started component answers; raise ComponentFailed if it ends first, NotReady if it is late."""
        deadline = time.monotonic() + self.options.ready_seconds
        while not await ready():
            self.check(component)
            if time.monotonic() > deadline:
                raise NotReady(
                    f"{component} was not ready after {self.options.ready_seconds:g} s though it runs; its log is "
                    f"{self.layout.log(component)}"
                )
            await asyncio.sleep(_POLL)
        self.check(component)
        if self.records[component].phase is ComponentPhase.STARTING:
            self._note(component, dataclasses.replace(self.records[component], phase=ComponentPhase.RUNNING))

    def check(self, component: Component) -> None:
        """Raise ComponentFailed, with the tail of its log, if a component has ended."""
        self.reap()
        record = self.records[component]
        if record.exit_code is not None:
            log = self.layout.log(component)
            raise ComponentFailed(component, why_ended(record.exit_code), log, tail(log))

    def check_all(self) -> None:
        """Raise ComponentFailed if any component has ended."""
        for component in self.records:
            self.check(component)

    def reap(self) -> None:
        """Note components that have ended by themselves since the last call."""
        for component, process in self._processes.items():
            record = self.records[component]
            if record.exit_code is None and process.poll() is not None:
                self._note(
                    component,
                    dataclasses.replace(record, phase=ComponentPhase.DIED, exit_code=process.returncode),
                )

    def kill(self, component: Component) -> None:
        """End a component at once (SIGKILL)."""
        process = self._process(component)
        if process.poll() is None:
            process.kill()
            process.wait()
            killed = ComponentPhase.KILLED
            self._note(
                component,
                dataclasses.replace(self.records[component], phase=killed, exit_code=process.returncode),
            )

    def pause(self, component: Component) -> None:
        """Freeze a component (SIGSTOP): it keeps its connections and answers nothing."""
        self.check(component)
        self._process(component).send_signal(signal.SIGSTOP)
        self._note(component, dataclasses.replace(self.records[component], phase=ComponentPhase.PAUSED))

    def resume(self, component: Component) -> None:
        """Let a frozen component go on."""
        self.check(component)
        self._process(component).send_signal(signal.SIGCONT)
        self._note(component, dataclasses.replace(self.records[component], phase=ComponentPhase.RUNNING))

    def stop_all(self) -> None:
        """Stop everything, clients first, kube-apiserver after them, etcd last."""
        self.reap()
        for together in _STOP_TOGETHER:
            living = [part for part in together if part in self._processes and self._processes[part].poll() is None]
            processes.stop([self._processes[part] for part in living], _GRACE)
            for part in living:
                stopped = dataclasses.replace(self.records[part], phase=ComponentPhase.STOPPED, exit_code=0)
                self.records[part] = stopped
        self.on_change()

    def _process(self, component: Component) -> subprocess.Popen[bytes]:
        if component not in self._processes:
            raise UnknownComponent(
                f"component {component} is not part of this control plane; it has {', '.join(self.records)}"
            )
        return self._processes[component]

    def _note(self, component: Component, record: ComponentRecord) -> None:
        self.records[component] = record
        self.on_change()


def why_ended(exit_code: int) -> str:
    """Say how a process ended: 'exited with status 1', 'was killed by SIGKILL'."""
    if exit_code < 0:
        return f"was killed by {signal.Signals(-exit_code).name}"
    return f"exited with status {exit_code}"
