"""The `md-lab demo` command."""

import asyncio
import io
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from modeldeployment.lab import toolchain
from modeldeployment.lab.demo import place as places
from modeldeployment.lab.demo.errors import DemoRefused
from modeldeployment.lab.demo.giving import Wishes, give
from modeldeployment.lab.demo.place import Place
from modeldeployment.lab.demo.showing import Teller, console
from modeldeployment.lab.terminal import build_report, say

NAME: Final = "demo"
INTERRUPTED: Final = 130
KEEP: Final = "KEEP"


def demo(
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave the control plane and the operator up afterwards; KEEP=1 does too.")
    ] = False,
    kubeconfig: Annotated[
        Path | None, typer.Option(help="Use this cluster, which needs Kueue and kwok, and leave it as it was.")
    ] = None,
    namespace: Annotated[str, typer.Option(help="Namespace of the deployment.")] = "team-a",
    nodes: Annotated[int, typer.Option(min=1, max=5000, help="Fake nodes of 8 cards; the story needs 2.")] = 20,
    patience: Annotated[float, typer.Option(min=1, help="Seconds a step may take.")] = 60.0,
    name: Annotated[str, typer.Option("--name", help="Which control plane to start.")] = NAME,
    state: Annotated[Path | None, typer.Option("--state", help="Its state directory.")] = None,
) -> None:
    """Watch a wrong deployment be refused, a right one come, scale, retire replicas, roll and go, then a routed pair.

    Every claim is checked.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    keep = keep or os.environ.get(KEEP, "") not in ("", "0")
    if keep and kubeconfig is not None:
        raise DemoRefused("KEEP=1 and --keep are for the demo's own control plane; leave them out, or --kubeconfig")
    wishes = Wishes(namespace, nodes, patience, keep=keep)
    teller = Teller(console(sys.stdout))
    try:
        with _signals(), teller:
            good = _perform(teller, wishes, _place(kubeconfig, name, state, keep=keep))
    except KeyboardInterrupt:
        say("md-lab demo: interrupted; everything it started has ended")
        raise typer.Exit(INTERRUPTED) from None
    if not good:
        raise typer.Exit(1)


def _perform(teller: Teller, wishes: Wishes, place: AbstractContextManager[Place]) -> bool:
    began = time.monotonic()
    teller.say("getting a cluster")
    with place as where:
        teller.say(f"the cluster of {where.kubeconfig} answers ({time.monotonic() - began:.1f} s)")
        good = asyncio.run(give(where, wishes, teller))
    if not wishes.keep:
        teller.say("")
        teller.say(teller.summary(time.monotonic() - began))
        teller.say("everything the demo started has ended")
    return good


def _place(kubeconfig: Path | None, name: str, state: Path | None, *, keep: bool) -> AbstractContextManager[Place]:
    if kubeconfig is not None:
        return places.given(kubeconfig, name, state)
    return places.own(name, state, _programs, keep=keep)


def _programs() -> toolchain.Toolchain:
    with build_report() as report:
        return toolchain.ensure(os.environ, report)


@contextmanager
def _signals() -> Iterator[None]:
    """Take being told to end, or losing the terminal, like Ctrl-C: what was started is ended in order."""
    before = {signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler)}
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            before[number] = signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
