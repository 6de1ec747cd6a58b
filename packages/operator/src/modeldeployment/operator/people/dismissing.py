"""`kubectl md retire` and `retry`: what would happen if a replica left, and asking once more for one that was kept."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from modeldeployment.operator.people import options
from modeldeployment.operator.people.situating import (
    Context,
    Form,
    Kubeconfig,
    Name,
    Namespace,
    Said,
    as_json,
    looking_at,
    say,
)

if TYPE_CHECKING:
    from modeldeployment.operator.people.retrying import Ended
    from modeldeployment.reconcile.explaining.rehearsal import Rehearsal

_REFUSED = 1
_PATIENCE = 360.0

_Seat: TypeAlias = Annotated[str, typer.Argument(metavar="ROLE/ORDINAL", help="The replica.")]


def retire(
    name: Name,
    replica: _Seat,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen; there is nothing else.")] = False,
    namespace: Namespace = "default",
    output: Form = "text",
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    settings: options.SettingsFile = None,
) -> None:
    """Say what would happen if a replica were to leave now: who would be asked what, in what time, and what holds it.

    Nothing is written and no router or engine is asked. A replica leaves when its role declares fewer, highest ordinal
    first, and by no command.

    Exit status: 0 it would leave, or is leaving, 1 it would wait, stay or be given up, 2 wrong use or no answer.
    """
    from modeldeployment.operator.errors import UsageError
    from modeldeployment.operator.people import retrying, telling

    role, ordinal = retrying.seat(replica)
    if not dry_run:
        raise UsageError(
            f"retire shows what would happen and retires nothing: add --dry-run; to let {replica} leave, set replicas "
            f"of role {role} to {ordinal}, since the highest ordinals leave first"
        )

    async def work() -> tuple[Rehearsal, tuple[str, ...]]:
        from modeldeployment.operator.people import reasoning
        from modeldeployment.reconcile.explaining import chains, rehearsal

        async with looking_at(name, namespace, kubeconfig, context, settings) as looker:
            picture = await looker.look_with_routers()
        reasoning.asked(replica, picture, chains.explain(picture))
        return rehearsal.of(picture, role, ordinal), picture.unread

    told, unread = asyncio.run(work())
    if output == "json":
        say(Said(as_json(telling.table(told))))
    else:
        say(Said("\n".join(telling.lines(told)), unread))
    if not telling.leaves(told):
        raise typer.Exit(_REFUSED)


def retry(
    name: Name,
    replica: _Seat,
    token: Annotated[
        str | None, typer.Option("--token", help="A word that was not used before; without it a fresh one is made.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until the replica has left, or was kept again.")] = False,
    timeout: Annotated[float, typer.Option("--timeout", min=1, help="Seconds to wait at most.")] = _PATIENCE,
    namespace: Namespace = "default",
    output: Form = "text",
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    settings: options.SettingsFile = None,
) -> None:
    """Ask for the aborted retirement of a replica once more.

    A retirement that was aborted keeps its replica, and is begun anew for a new spec or for this. The request is the
    annotation retirement-retry on the deployment; the operator takes it off once it is heeded.

    Exit status: 0 asked for, or with --wait the replica has left, 1 refused, or it was kept again, 2 wrong use or no
    answer.
    """
    from modeldeployment.operator.people import retrying

    asked = retrying.request(replica, token, lambda: secrets.token_hex(4))

    async def work() -> Ended | str:
        from modeldeployment.reconcile.explaining import chains

        async with looking_at(name, namespace, kubeconfig, context, settings) as looker:
            picture = await looker.look()
            explained = chains.explain(picture)
            if refused := retrying.refusal(picture, explained, asked):
                return refused
            before = explained.leaving.operation
            assert before is not None
            await retrying.ask(looker.client, looker.key, picture.snapshot.deployment.metadata.uid, asked)
            ended = retrying.Ended(asked, retrying.Outcome.ASKED)
            if not wait:
                return ended
            _note(ended.line())
            return await retrying.wait(looker.client, looker.key, before, asked, timeout, _note)

    ended = asyncio.run(work())
    if isinstance(ended, str):
        _note(ended)
        raise typer.Exit(_REFUSED)
    table: dict[str, Any] = ended.table()
    say(Said(as_json(table) if output == "json" else ended.line()))
    if not ended.good:
        raise typer.Exit(_REFUSED)


def _note(line: str) -> None:
    typer.echo(f"kubectl md: {line}", err=True)
