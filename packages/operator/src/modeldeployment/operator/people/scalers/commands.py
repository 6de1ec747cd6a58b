"""`kubectl md plan`, `replay`, `gitops` and `why mds/NAME`: from the command line to what is printed."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people.situating import Context, Form, Kubeconfig, Said, as_json, say

if TYPE_CHECKING:
    from modeldeployment.operator.people.scalers.reasons import Reasons
    from modeldeployment.operator.people.scalers.standing import Standing
    from modeldeployment.scaler.journal import Line

_HELD: Final = 1
_DIFFERS: Final = 1


def plan(
    source: Annotated[str, typer.Option("--input", metavar="FILE", help="JSON of a pass; - is the standard input.")],
    output: Annotated[Literal["json", "text"], typer.Option("-o", "--output", help="Form of the answer.")] = "json",
) -> None:
    """Plan one pass of a scaler from a document, with no cluster, and print the plan.

    The document has the form of a journal's line (docs/journal.md). Only spec and target are needed: whatever else is
    left out is as on a quiet day (read just now, whole, all declared replicas ready and admitted, nothing remembered).
    A plan that a line carries already is passed over.

    Exit status: 0 planned, 2 the document cannot be used.
    """
    import msgspec

    from modeldeployment.operator.people.scalers import documents, reasons
    from modeldeployment.scaler.errors import Undecodable
    from modeldeployment.scaler.journal import repeat
    from modeldeployment.scaler.planning import coding

    line = documents.read(source, datetime.now(UTC))
    try:
        planned = repeat(line)
    except Undecodable as error:
        raise UsageError(f"{source}: {error}") from error
    if output == "json":
        say(Said(msgspec.json.format(coding.encode(planned), indent=2).decode()))
    else:
        line = msgspec.structs.replace(line, plan=planned, committed=False)
        say(Said("\n".join(reasons.of(line, planned, None, source).lines())))


def replay(
    journal: Annotated[Path, typer.Argument(metavar="JOURNAL", help="The journal's directory, or a file of it.")],
    output: Form = "text",
) -> None:
    """Plan every pass of a journal again, and say where a decision differs from the recorded one.

    Every field of a plan is compared, what is remembered included. It ends at the first difference.

    Exit status: 0 every decision is the same, 1 one differs, 2 the journal cannot be read.
    """
    from modeldeployment.operator.people.scalers import replays

    seen = replays.replay(journal)
    text = as_json(seen.table()) if output == "json" else seen.sentence()
    say(Said(text, () if output == "json" else tuple(seen.notes)))
    if seen.parted is not None:
        raise typer.Exit(_DIFFERS)


def gitops(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The ModelDeployment.")],
    whose: Annotated[Literal["argocd", "flux"], typer.Option("--for", help="Whose settings are printed.")],
    files: Annotated[
        list[str] | None,
        typer.Option(
            "-f", "--filename", metavar="FILE", help="Read it here and not in the cluster; - is standard input."
        ),
    ] = None,
    namespace: Annotated[
        str | None, typer.Option("-n", "--namespace", help="Its namespace; default where the file says none.")
    ] = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """Print what a GitOps controller has to ignore on a scaled deployment: its counts and the scaler's annotations.

    Roles are pointed at by their place in spec.roles: print it again when roles are added, taken out or put in another
    order.

    Exit status: 0 printed, 2 wrong use or no answer.
    """
    from modeldeployment.operator.people.scalers import ignores

    if files:
        body = ignores.in_files(files, name, namespace)
        where = namespace or (body.get("metadata") or {}).get("namespace") or "default"
    else:
        where = namespace or "default"
        body = asyncio.run(_deployment(name, where, kubeconfig, context))
    say(Said("\n".join(ignores.lines(body, where, ignores.For(whose)))))


def backtest(
    recordings: Annotated[
        list[Path], typer.Argument(metavar="TRACE...", help="CSV of requests or rates, .gz or not; or a directory.")
    ],
    files: Annotated[
        list[str] | None,
        typer.Option("-f", "--filename", metavar="FILE", help="Scalers to play; without it the three algorithms are."),
    ] = None,
    roles: Annotated[Literal["server", "pair"], typer.Option(help="One role, or prefill and decode.")] = "server",
    tokens: Annotated[
        int, typer.Option("--tokens-per-second", min=1, help="What one server replica serves at most.")
    ] = 8000,
    prefill: Annotated[
        int, typer.Option("--prefill-tokens-per-second", min=1, help="What one prefill replica serves at most.")
    ] = 8000,
    decode: Annotated[
        int, typer.Option("--decode-tokens-per-second", min=1, help="What one decode replica serves at most.")
    ] = 800,
    utilization: Annotated[
        float, typer.Option(min=0.01, max=1, help="Part of that with which the three algorithms plan.")
    ] = 0.8,
    minimum: Annotated[int, typer.Option("--min", min=1, max=1024, help="Fewest replicas of a role.")] = 1,
    maximum: Annotated[int, typer.Option("--max", min=1, max=1024, help="Most replicas of a role.")] = 64,
    cold: Annotated[int, typer.Option("--cold-start", min=0, help="Seconds until a new replica serves.")] = 120,
    leaving: Annotated[int, typer.Option(min=0, help="Seconds until a replica that leaves is gone.")] = 30,
    limit: Annotated[int, typer.Option(min=0, help="Seconds a request may wait before a role.")] = 2,
    interval: Annotated[int, typer.Option(min=5, max=300, help="Seconds between passes of the algorithms.")] = 15,
    seconds: Annotated[int | None, typer.Option(min=1, help="Play so much of a trace and no more.")] = None,
    scale: Annotated[float, typer.Option(min=0.001, help="Play it so many times as heavy.")] = 1.0,
    model: Annotated[str | None, typer.Option(help="Which model of a file with several.")] = None,
    prompt: Annotated[
        int, typer.Option("--input-tokens", min=0, help="Of a request, where only rates are told.")
    ] = 1000,
    generation: Annotated[
        int, typer.Option("--output-tokens", min=0, help="Of a request, where only rates are told.")
    ] = 200,
    output: Form = "text",
) -> None:
    """Say what scalers would have done with recorded traffic: requests served in time, replica hours, changes.

    Engines are played as fluid (docs/scaling.md says what that leaves out). Beside the scalers stand the cheapest
    schedule of somebody who knows the future, with the same cold start, and a fixed fleet of its largest size. The same
    trace and options give the same numbers, always.

    Exit status: 0 played, 2 wrong use, or a trace or scaler that cannot be read.
    """
    from fractions import Fraction

    from modeldeployment.operator.people.scalers import backtests
    from modeldeployment.operator.people.scalers import recordings as reading

    if minimum > maximum:
        raise UsageError(f"--min is {minimum} and --max is {maximum}: the least cannot be above the most")
    part = Fraction(str(utilization))
    wish = backtests.Wish(
        roles == "pair", tokens, prefill, decode, minimum, maximum, cold, leaving, limit, interval, part
    )
    wanted = reading.Wish(model, prompt, generation, seconds, Fraction(str(scale)))
    given = backtests.scalers(files) if files else {}
    played = [backtests.run(trace, wish, given) for path in recordings for trace in reading.read(path, wanted)]
    if output == "json":
        say(Said(as_json({"traces": [backtests.table(each) for each in played]})))
    else:
        say(Said("\n\n".join("\n".join(backtests.lines(each)) for each in played)))


def why(
    name: str,
    role: str | None,
    namespace: str,
    output: str,
    sources: tuple[Path | None, str | None],
    at: str | None,
    access: tuple[Path | None, str | None],
) -> None:
    """Say why a scaler's counts are what they are; raises UsageError, and Exit with 1 where something is held."""
    from modeldeployment.operator.people.scalers import passes, standing

    path, url = sources
    if path is not None and url is not None:
        raise UsageError(f"--journal is {path} and --operator is {url}: passes are read from one place; leave one out")
    instant = None if at is None else passes.instant(at)
    if path is None and url is None:
        if at is not None:
            raise UsageError(f"--at is {at}: status tells of no time but now; add --journal PATH or --operator URL")
        told: Standing | Reasons = asyncio.run(_standing(name, namespace, role, access))
        notes: tuple[str, ...] = (standing.NOTE,)
    else:
        if path is not None:
            found = passes.recorded(path, namespace, name, instant)
        else:
            found = asyncio.run(passes.kept(url or "", namespace, name, instant))
        told, notes = _reasons(found.line, role, found.source), found.notes
    say(Said(as_json(told.table())) if output == "json" else Said("\n".join(told.lines()), notes))
    if not told.settled:
        raise typer.Exit(_HELD)


def _reasons(line: Line, role: str | None, source: str) -> Reasons:
    from modeldeployment.operator.people.scalers import reasons

    if line.plan is None:
        raise UsageError(f"{source} has no plan in the line of {line.at.isoformat()}; kubectl md plan makes one of it")
    return reasons.of(line, line.plan, role, source)


async def _standing(name: str, namespace: str, role: str | None, access: tuple[Path | None, str | None]) -> Standing:
    from modeldeployment.operator.people import asking
    from modeldeployment.operator.people.scalers import standing

    async with asking.client(*access) as client:
        return await standing.look(client, namespace, name, role)


async def _deployment(name: str, namespace: str, kubeconfig: Path | None, context: str | None) -> dict[str, Any]:
    import json

    from modeldeployment import kube
    from modeldeployment.operator.people import asking
    from modeldeployment.reconcile.kinds import DEPLOYMENTS

    async with asking.client(kubeconfig, context) as client:
        try:
            found: dict[str, Any] = json.loads(
                await client.raw(kube.request_for(kube.Verb.GET, DEPLOYMENTS, namespace, name))
            )
        except kube.NotFound as error:
            raise UsageError(f"there is no ModelDeployment {namespace}/{name}") from error
        return found
