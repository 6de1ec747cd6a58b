"""The operator's command line."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer
import yaml

from modeldeployment import kube
from modeldeployment.api import crds as api_crds
from modeldeployment.operator import logs, process, rbac, versions
from modeldeployment.operator.errors import OperatorError
from modeldeployment.operator.process import Hat
from modeldeployment.operator.settings import load

app = typer.Typer(no_args_is_help=True, add_completion=False, help="The ModelDeployment operator.")


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


@app.command()
def run(
    kubeconfig: Annotated[
        Path | None, typer.Option(help="Kubeconfig; default: KUBECONFIG, ~/.kube/config, or the Pod's service account.")
    ] = None,
    context: Annotated[str | None, typer.Option(help="Context of the kubeconfig.")] = None,
    settings: Annotated[Path | None, typer.Option(help="Settings file (YAML), read again when it changes.")] = None,
    only: Annotated[list[Hat] | None, typer.Option(help="Do this alone; may be given more than once.")] = None,
    journal_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Record every pass of every scaler there; wins over scaler-journal-dir."),
    ] = None,
) -> None:
    """Review writes of ModelDeployments, reconcile and scale them until told to stop."""
    chosen = load(settings)
    if journal_dir is not None:
        chosen = chosen.model_copy(update={"scaler_journal_dir": journal_dir})
    logs.configure(chosen)
    access = kube.load(kubeconfig=kubeconfig, context=context)
    asyncio.run(process.run(chosen, access, settings, only or tuple(Hat)))


@app.command()
def crds() -> None:
    """Print the CustomResourceDefinitions, for `kubectl apply --server-side -f -`."""
    yaml.safe_dump_all(api_crds.crds(), sys.stdout, sort_keys=False, width=120)


@app.command("rbac")
def rights(
    namespace: Annotated[str, typer.Option(help="Namespace the operator runs in, and keeps its Lease in.")] = "default",
) -> None:
    """Print the ServiceAccount and the rights it needs, for `kubectl apply --server-side -f -`."""
    yaml.safe_dump_all(rbac.manifests(namespace), sys.stdout, sort_keys=False, width=120)


def main() -> None:
    """Run the command line; what goes wrong on purpose is one sentence and exit status 1."""
    try:
        app()
    except (OperatorError, kube.KubeError) as error:
        typer.echo(f"modeldeployment-operator: {error}", err=True)
        raise SystemExit(1) from error
