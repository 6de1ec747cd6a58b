"""`kubectl md status` and `why`: from the command line to what is printed."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from modeldeployment.operator.people import options

if TYPE_CHECKING:
    from modeldeployment.operator.people.looking import Looker

_HELD = 1

Name = Annotated[str, typer.Argument(metavar="NAME", help="The ModelDeployment.")]
Subject: TypeAlias = Annotated[
    str, typer.Argument(metavar="NAME", help="The ModelDeployment, or mds/NAME for a ModelDeploymentScaler.")
]
Namespace: TypeAlias = Annotated[str, typer.Option("-n", "--namespace", help="Its namespace.")]
Form: TypeAlias = Annotated[Literal["text", "json"], typer.Option("-o", "--output", help="Form of the answer.")]
Kubeconfig: TypeAlias = Annotated[Path | None, typer.Option(help="Kubeconfig to reach the cluster with.")]
Context: TypeAlias = Annotated[str | None, typer.Option(help="Context of the kubeconfig.")]


@dataclass(frozen=True, slots=True)
class Said:
    """What is printed, and notes on what could not be read."""

    text: str
    notes: tuple[str, ...] = ()


def status(
    name: Name,
    namespace: Namespace = "default",
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Print it anew whenever it changes.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Print replicas that are alike one by one.")] = False,
    output: Form = "text",
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    settings: options.SettingsFile = None,
) -> None:
    """Show a deployment as a tree: roles, replicas, and of each its Pods, Workload, queue, flavor and nodes.

    Of every replica that does not serve, the one reason that holds it is named; `kubectl md why` goes on to the cause.
    Replicas of which the same is true are shown as one. What you may not read is left out, and standard error says so.

    Exit status: 0 shown, 2 wrong use or no answer. With --watch Ctrl-C ends it with 0.
    """
    from modeldeployment.operator.people import growing
    from modeldeployment.reconcile.explaining import chains

    async def once(looker: Looker) -> Said:
        picture = await looker.look()
        explained = chains.explain(picture)
        if output == "json":
            return Said(as_json(growing.table(picture, explained), one_line=watch))
        return Said("\n".join(growing.tree(picture, explained, everything=everything).lines()), picture.unread)

    async def work() -> None:
        async with looking_at(name, namespace, kubeconfig, context, settings) as looker:
            said = await once(looker)
            say(said)
            if watch:
                await _follow(looker, lambda: once(looker), said)

    with contextlib.suppress(KeyboardInterrupt) if watch else contextlib.nullcontext():
        asyncio.run(work())


def why(
    name: Subject,
    replica: Annotated[
        str | None, typer.Argument(metavar="[ROLE[/ORDINAL]]", help="A role or one replica; without it all of them.")
    ] = None,
    namespace: Namespace = "default",
    output: Form = "text",
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    settings: options.SettingsFile = None,
    journal: options.Journal = None,
    operator: options.Operator = None,
    at: options.At = None,
) -> None:
    """Say why a deployment, a role or a replica does not serve: from what is seen to its cause, and what helps.

    Of mds/NAME it says why a scaler's counts are what they are: what was read, what is recommended, and every rule that
    changed it or held it. That is told from the journal's files (--journal), from what the leading operator keeps
    (--operator), or, where neither is given, from status alone.

    Exit status: 0 everything that was asked about serves, or has the count that is recommended, 1 something is held,
    2 wrong use or no answer.
    """
    from modeldeployment.operator.people import reasoning

    if (scaler := options.scaler(name)) is not None:
        from modeldeployment.operator.people.scalers import commands

        commands.why(scaler, replica, namespace, output, (journal, operator), at, (kubeconfig, context))
        return
    options.of_scalers_alone(journal, operator, at)
    from modeldeployment.reconcile.explaining import chains

    async def work() -> reasoning.Answer:
        async with looking_at(name, namespace, kubeconfig, context, settings) as looker:
            picture = await looker.look()
        explained = chains.explain(picture)
        return reasoning.answer(picture, explained, reasoning.asked(replica, picture, explained))

    answer = asyncio.run(work())
    if output == "json":
        say(Said(as_json(answer.table())))
    else:
        say(Said("\n".join(answer.lines()), answer.picture.unread))
    if not answer.serves:
        raise typer.Exit(_HELD)


@contextlib.asynccontextmanager
async def looking_at(
    name: str, namespace: str, kubeconfig: Path | None, context: str | None, settings: Path | None
) -> AsyncIterator[Looker]:
    """Somebody who looks at that deployment; raises KubeError, and SettingsError for settings that cannot be used."""
    from modeldeployment.operator.people import asking, looking
    from modeldeployment.render import Policy

    policy, leader_namespace = Policy(), "default"
    if settings is not None:
        from modeldeployment.operator.settings import load

        chosen = load(settings)
        policy, leader_namespace = chosen.policy(), chosen.leader_namespace
    async with contextlib.AsyncExitStack() as stack:
        client = await stack.enter_async_context(asking.client(kubeconfig, context))
        yield await looking.looker(client, namespace, name, policy, leader_namespace)


async def _follow(looker: Looker, look: Callable[[], Awaitable[Said]], before: Said) -> None:
    """Print anew whenever what is to be said is other than before, until it is cancelled."""
    changed = asyncio.Event()
    async with asyncio.TaskGroup() as following:
        for reflector in looker.reflectors(changed.set):
            following.create_task(reflector.run())
        while True:
            await changed.wait()
            await asyncio.sleep(_BREATH)
            changed.clear()
            said = await look()
            if said != before:
                before = said
                say(said)


_BREATH = 0.3
"""Seconds that changes are given to come together; one look serves them all."""


def say(said: Said) -> None:
    """Print what is said on standard output, and the notes on standard error."""
    for note in said.notes:
        typer.echo(f"kubectl md: {note}", err=True)
    typer.echo(said.text)


def as_json(table: dict[str, Any], *, one_line: bool = False) -> str:
    """What programs read."""
    return json.dumps(table, indent=None if one_line else 2, ensure_ascii=False)
