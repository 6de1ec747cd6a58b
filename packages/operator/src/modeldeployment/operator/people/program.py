"""The command line of `kubectl md`."""

from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from modeldeployment.operator import versions
from modeldeployment.operator.errors import OperatorError
from modeldeployment.operator.people import commands, dismissing, options, situating
from modeldeployment.operator.people.scalers import commands as scalers

_WRONG_USE = 2

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="What the ModelDeployment webhook would say, what its codes mean, what the controller would create, how a "
    "deployment stands, and why a scaler decides as it does.",
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


_Old = Annotated[
    list[str] | None, typer.Option("--old", metavar="FILE", help="The objects as they are stored; makes it an update.")
]


@app.command()
def validate(
    files: options.Files,
    old: _Old = None,
    facts: options.Facts = None,
    cluster: options.Cluster = False,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    namespace: options.Namespace = "default",
    settings: options.SettingsFile = None,
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
        for line in printing.for_people(outcome.judged, colours=options.colours()):
            typer.echo(line)
    if not all(each.verdict.allowed for each in outcome.judged):
        raise typer.Exit(1)


app.command()(commands.render)
app.command("explain-render")(commands.explain_render)
app.command()(commands.diff)
app.command()(situating.status)
app.command()(situating.why)
app.command()(dismissing.retire)
app.command()(dismissing.retry)
app.command()(scalers.plan)
app.command()(scalers.replay)
app.command()(scalers.gitops)
app.command()(scalers.backtest)


@app.command()
def explain(
    code: Annotated[
        str | None, typer.Argument(help="A code such as MD012 or MDW03; without one all are listed.")
    ] = None,
) -> None:
    """Print the page of a refusal or a warning: what, why, and the way out."""
    from modeldeployment.operator.people import explaining

    typer.echo(explaining.index() if code is None else explaining.page(code))
