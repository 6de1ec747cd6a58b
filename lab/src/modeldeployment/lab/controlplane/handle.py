"""The handle others use: start a control plane, attach to one, look at it, disturb it, stop it. Synchronous."""

import json
import os
import signal
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from modeldeployment.lab.controlplane import commands, ports, processes
from modeldeployment.lab.controlplane.commands import Command, Verb
from modeldeployment.lab.controlplane.layout import Layout
from modeldeployment.lab.controlplane.options import Component, Options, Ports
from modeldeployment.lab.controlplane.options import component as named
from modeldeployment.lab.controlplane.record import ComponentPhase, Phase, Record
from modeldeployment.lab.errors import (
    AlreadyUp,
    ComponentFailed,
    ControlPlaneError,
    NotUp,
    PortTaken,
    SupervisorLost,
    tail,
)
from modeldeployment.lab.toolchain import Toolchain

SUPERVISOR: Final = "modeldeployment.lab.controlplane.supervisor"
_POLL: Final = 0.02
_STOP_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """A control plane that is up (or was, when the handle was made).

    `pids` are the processes at that moment; restarted components have new ones (see `status`).
    """

    name: str
    state: Path
    kubeconfig: Path
    bin: Path
    ports: Ports
    pids: Mapping[Component, int]

    @classmethod
    def of(cls, record: Record) -> Self:
        """Make a handle from what the supervisor recorded."""
        assert record.ports is not None
        folder = record.options.folder
        pids = {part: entry.pid for part, entry in record.components.items() if entry.exit_code is None}
        return cls(record.options.name, folder, Layout(folder).kubeconfig, record.bin, record.ports, pids)

    @property
    def server(self) -> str:
        """The URL of kube-apiserver."""
        return self.ports.url(self.ports.api_server, scheme="https")

    @property
    def authority(self) -> Path:
        """The CA certificate that every certificate of this control plane is signed by."""
        return Layout(self.state).certificate("ca")

    @property
    def serving_certificate(self) -> tuple[Path, Path]:
        """A (certificate, key) pair for servers on 127.0.0.1 or localhost, such as webhooks under test."""
        layout = Layout(self.state)
        return layout.certificate("tls"), layout.key("tls")

    @property
    def token(self) -> str:
        """An administrator's bearer token, also good for the components' metrics."""
        return (Layout(self.state).pki / "token").read_text()

    def log(self, component: Component | str) -> Path:
        """Return the log file of a component."""
        return Layout(self.state).log(component)

    def restart(self, component: Component | str, extra_args: Sequence[str] = ()) -> None:
        """Kill a component and start it again, `extra_args` after its own; return when it is ready again."""
        self._do(Verb.RESTART, component, tuple(extra_args))

    def kill(self, component: Component | str) -> None:
        """Kill a component (SIGKILL); the others keep running and the state is Degraded until `restart`."""
        self._do(Verb.KILL, component)

    def pause(self, component: Component | str) -> None:
        """Freeze a component: it keeps its connections and answers nothing until `resume`."""
        self._do(Verb.PAUSE, component)

    def resume(self, component: Component | str) -> None:
        """Let a frozen component go on."""
        self._do(Verb.RESUME, component)

    def compact(self) -> int:
        """Compact etcd to its present revision and return that revision.

        Old watches and lists answer 410 only once kube-apiserver has been restarted too, since it serves them from
        its watch cache (facts control-plane §8).
        """
        header = self._etcd("/v3/kv/range", {"key": "AA==", "limit": 1})["header"]
        revision = int(header["revision"])
        self._etcd("/v3/kv/compaction", {"revision": str(revision), "physical": True})
        return revision

    def _etcd(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(self.ports.url(self.ports.etcd) + path, json.dumps(body).encode())
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
                value: dict[str, Any] = json.load(answer)
        except OSError as error:
            raise ControlPlaneError(f"etcd did not answer {path} ({error}); see {self.log(Component.ETCD)}") from error
        return value

    def _do(self, verb: Verb, component: Component | str, extra_args: tuple[str, ...] = ()) -> None:
        commands.send(_living_record(self.state), Command(verb, named(component), extra_args))


@dataclass(frozen=True, slots=True)
class ComponentStatus:
    """One component as it is now; memory in bytes and processor seconds are 0 when it does not run."""

    name: Component
    phase: ComponentPhase
    pid: int
    starts: int
    exit_code: int | None
    rss: int
    cpu_seconds: float
    log: Path
    log_tail: tuple[str, ...]
    """The last lines of the log of a component that ended by itself; empty otherwise."""


@dataclass(frozen=True, slots=True)
class Status:
    """A control plane as it is now; `failure` is a sentence, empty while all is well."""

    name: str
    phase: Phase
    state: Path
    kubeconfig: Path
    server: str
    supervisor: int
    failure: str
    components: tuple[ComponentStatus, ...]


def up(
    options: Options, toolchain: Toolchain, on_wait: Callable[[Record], None] = lambda _record: None
) -> ControlPlane:
    """Start a control plane and return when it is ready; `on_wait` sees the record while it starts.

    Raises AlreadyUp, StateUnusable, PortTaken, ComponentFailed (with the log's tail) or another ControlPlaneError;
    nothing is left running then.
    """
    layout = Layout(options.folder)
    layout.claim()
    if (record := Record.read(layout.record)) is not None and _lives(record.supervisor):
        raise _already_up(record)
    if record is not None:
        _end_orphans(record)
    if options.lifeline is not None and not processes.exists(options.lifeline):
        raise ControlPlaneError(f"the lifeline process {options.lifeline} does not exist; name a process that runs")
    if options.api_port and not ports.is_free(options.api_port):
        raise PortTaken(
            f"port {options.api_port} is in use on 127.0.0.1; choose another one, or leave it out",
            port=options.api_port,
        )
    supervisor = _spawn(options, toolchain, layout)
    try:
        return _await_ready(layout, supervisor, on_wait)
    except BaseException:
        if _lives(supervisor):
            _end(supervisor)
        raise


def attach(state: Path) -> ControlPlane:
    """Return a handle to the control plane running with this state directory, or raise NotUp."""
    return ControlPlane.of(_living_record(state))


def down(state: Path) -> bool:
    """Stop the control plane of this state directory, clients first; tell whether one was running. Logs stay."""
    layout = Layout(state)
    record = Record.read(layout.record)
    if record is None or not _lives(record.supervisor):
        if record is not None:
            _end_orphans(record)
        layout.forget()
        return False
    _end(record.supervisor)
    return True


def status(state: Path) -> Status:
    """Say what is running; raise NotUp if there never was a control plane here."""
    layout = Layout(state)
    record = Record.read(layout.record)
    if record is None:
        raise NotUp(f"there is no control plane in {state}; start one with `md-lab up`")
    phase, failure = record.phase, record.failure
    if record.culprit:
        failure = f"{record.culprit} {record.failure}; see {layout.log(record.culprit)}"
    alive = _lives(record.supervisor)
    if not alive and phase not in (Phase.STOPPED, Phase.FAILED):
        phase, failure = Phase.LOST, "the supervisor was killed, and its components ended with it"
    return Status(
        name=record.options.name,
        phase=phase,
        state=state,
        kubeconfig=layout.kubeconfig,
        server=record.ports.url(record.ports.api_server, scheme="https") if record.ports else "",
        supervisor=record.supervisor if alive else 0,
        failure=failure,
        components=tuple(_component_status(part, record, layout, alive=alive) for part in record.components),
    )


def _component_status(part: Component, record: Record, layout: Layout, *, alive: bool) -> ComponentStatus:
    entry = record.components[part]
    runs = alive and entry.pid != 0 and entry.exit_code is None
    rss, cpu = processes.usage(entry.pid) if runs else (0, 0.0)
    return ComponentStatus(
        name=part,
        phase=entry.phase if alive or entry.exit_code is not None else ComponentPhase.STOPPED,
        pid=entry.pid if runs else 0,
        starts=entry.starts,
        exit_code=entry.exit_code,
        rss=rss,
        cpu_seconds=cpu,
        log=layout.log(part),
        log_tail=tail(layout.log(part)) if entry.phase is ComponentPhase.DIED else (),
    )


def _living_record(state: Path) -> Record:
    record = Record.read(Layout(state).record)
    if record is None or not _lives(record.supervisor) or record.phase in (Phase.FAILED, Phase.STOPPED):
        raise NotUp(f"no control plane is up in {state}; start one with `md-lab up`")
    if record.phase is Phase.STARTING:
        raise NotUp(f"the control plane in {state} is still starting; wait for `md-lab up` to return")
    return record


def _already_up(record: Record) -> AlreadyUp:
    return AlreadyUp(
        f"{record.options.name} is already up ({record.phase}) with state {record.options.folder}; "
        "use it, or stop it with `md-lab down`"
    )


def _spawn(options: Options, toolchain: Toolchain, layout: Layout) -> int:
    command = [sys.executable, "-P", "-m", SUPERVISOR, json.dumps(options.as_json()), str(toolchain.bin)]
    output = os.open(layout.supervisor_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    try:
        files = [(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, output, 2)]
        return os.posix_spawn(sys.executable, command, os.environ, file_actions=files, setsid=True)
    finally:
        os.close(output)
        os.close(null)


def _await_ready(layout: Layout, supervisor: int, on_wait: Callable[[Record], None]) -> ControlPlane:
    while True:
        alive = _lives(supervisor)
        record = Record.read(layout.record)
        if record is not None and record.supervisor == supervisor:
            match record.phase:
                case Phase.READY:
                    return ControlPlane.of(record)
                case Phase.FAILED | Phase.DEGRADED:
                    raise _failure_of(record, layout)
                case Phase.STOPPED:
                    raise ControlPlaneError(f"{record.options.name} was stopped while it started; start it again")
                case _:
                    on_wait(record)
        if not alive:
            if record is not None and record.supervisor != supervisor and _lives(record.supervisor):
                raise _already_up(record)
            said = "\n".join(f"  | {line}" for line in tail(layout.supervisor_log))
            raise SupervisorLost(f"the supervisor ended while starting; it said:\n{said or '  | (nothing)'}")
        time.sleep(_POLL)


def _failure_of(record: Record, layout: Layout) -> ControlPlaneError:
    if record.culprit:
        log = layout.log(record.culprit)
        return ComponentFailed(record.culprit, record.failure, log, tail(log))
    return ControlPlaneError(record.failure)


def _end(supervisor: int) -> None:
    """Stop a supervisor; if it does not obey in time, kill its whole process group, which holds the components."""
    os.kill(supervisor, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while _lives(supervisor):
        if time.monotonic() > deadline:
            os.killpg(supervisor, signal.SIGKILL)
            return
        time.sleep(_POLL)


def _end_orphans(record: Record) -> None:
    """Kill what a killed supervisor left behind, which only happens where the kernel does not end its children."""
    for entry in record.components.values():
        if entry.pid and any(str(record.options.folder) in word for word in processes.command_line(entry.pid)):
            os.kill(entry.pid, signal.SIGKILL)


def _lives(supervisor: int) -> bool:
    """Tell whether this process id is a running supervisor; reaps it if it was our own child and has ended."""
    try:
        ended, _ = os.waitpid(supervisor, os.WNOHANG)
    except ChildProcessError:
        return SUPERVISOR in processes.command_line(supervisor)
    return ended == 0
