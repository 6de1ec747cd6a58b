"""The command line of `kubectl md`."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from modeldeployment.operator import versions
from modeldeployment.operator.errors import OperatorError

_WRONG_USE = 2

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="What the ModelDeployment webhook would say, and what its codes mean.",
)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit status; what cannot be used is one sentence and 2."""
    try:
        app(arguments, prog_name="kubectl md")
    except OperatorError as error:
        return _cannot(error)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else _WRONG_USE
    except Exception as error:
        # Imported here rather than above: only a command that asked a cluster can have failed for it.
        from modeldeployment.kube import KubeError

        if not isinstance(error, KubeError):
            raise
        return _cannot(error)
    return 0


def _cannot(error: Exception) -> int:
    typer.echo(f"kubectl md: {error}", err=True)
    return _WRONG_USE


def _version(asked: bool) -> None:
    if asked:
        typer.echo("\n".join(versions.lines()))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version of every member.")
    ] = False,
) -> None:
    pass


_Files = Annotated[
    list[str],
    typer.Option("-f", "--filename", metavar="FILE", help="File or directory of objects; - is the standard input."),
]
_Old = Annotated[
    list[str] | None, typer.Option("--old", metavar="FILE", help="The objects as they are stored; makes it an update.")
]
_Facts = Annotated[
    list[str] | None,
    typer.Option("--facts", metavar="FILE", help="Objects to look up: InstanceTypes, bindings, pools, backends."),
]


@app.command()
def validate(
    files: _Files,
    old: _Old = None,
    facts: _Facts = None,
    cluster: Annotated[bool, typer.Option("--cluster", help="Look up in the cluster what is not given.")] = False,
    kubeconfig: Annotated[Path | None, typer.Option(help="Kubeconfig, for --cluster.")] = None,
    context: Annotated[str | None, typer.Option(help="Context of the kubeconfig, for --cluster.")] = None,
    namespace: Annotated[
        str, typer.Option("-n", "--namespace", help="Namespace of objects that name none.")
    ] = "default",
    settings: Annotated[
        Path | None, typer.Option(help="Settings file of the operator; without it every setting has its default.")
    ] = None,
    user: Annotated[Literal["user", "operator"], typer.Option("--user", help="Who writes the object.")] = "user",
    output: Annotated[Literal["text", "json"], typer.Option("-o", "--output", help="Form of the answer.")] = "text",
) -> None:
    """Say whether objects would be let in, and what is wrong with them.

    Exit status: 0 all are allowed, 1 one is refused, 2 they could not be judged.
    """
    from modeldeployment.admission.facts import Actor, Policy
    from modeldeployment.operator.people import printing
    from modeldeployment.operator.people.validating import Wish, validate

    policy = Policy()
    if settings is not None:
        from modeldeployment.operator.settings import load

        policy = load(settings).admission_policy()
    outcome = validate(
        Wish(files, old or (), facts or (), cluster, kubeconfig, context, namespace, Actor(user), policy)
    )
    for note in outcome.notes:
        typer.echo(f"kubectl md: {note}", err=True)
    if output == "json":
        typer.echo(printing.for_programs(outcome.judged))
    else:
        colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        for line in printing.for_people(outcome.judged, colours=colours):
            typer.echo(line)
    if not all(each.verdict.allowed for each in outcome.judged):
        raise typer.Exit(1)


@app.command()
def explain(
    code: Annotated[
        str | None, typer.Argument(help="A code such as MD012 or MDW03; without one all are listed.")
    ] = None,
) -> None:
    """Print the page of a refusal or a warning: what, why, and the way out."""
    from modeldeployment.operator.people import explaining

    typer.echo(explaining.index() if code is None else explaining.page(code))
