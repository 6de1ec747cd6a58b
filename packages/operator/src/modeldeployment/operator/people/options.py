"""Options that several commands share, and what they come to. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from modeldeployment.operator.errors import UsageError

if TYPE_CHECKING:
    from modeldeployment.operator.people.rendering import Sources

Files: TypeAlias = Annotated[
    list[str],
    typer.Option("-f", "--filename", metavar="FILE", help="File or directory of objects; - is the standard input."),
]
Facts: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--facts",
        metavar="FILE",
        help="Objects to look up: InstanceTypes, bindings, pools, backends, artifacts, RuntimeClasses, and the "
        "deployment as it is stored.",
    ),
]
Cluster: TypeAlias = Annotated[bool, typer.Option("--cluster", help="Look up in the cluster what is not given.")]
Kubeconfig: TypeAlias = Annotated[Path | None, typer.Option(help="Kubeconfig, for --cluster.")]
Context: TypeAlias = Annotated[str | None, typer.Option(help="Context of the kubeconfig, for --cluster.")]
Namespace: TypeAlias = Annotated[str, typer.Option("-n", "--namespace", help="Namespace of objects that name none.")]
Journal: TypeAlias = Annotated[
    Path | None,
    typer.Option("--journal", metavar="PATH", help="Of a scaler: the journal's directory, or a file of it."),
]
Operator: TypeAlias = Annotated[
    str | None, typer.Option("--operator", metavar="URL", help="Of a scaler: where the operator serves /metrics.")
]
At: TypeAlias = Annotated[
    str | None, typer.Option("--at", metavar="TIME", help="Of a scaler: the last pass at or before this instant.")
]
SettingsFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--settings", help="Settings file of the operator; without it every setting has its default."),
]


_NAME = re.compile(r"[a-z0-9]([-.a-z0-9]*[a-z0-9])?")


def sources(
    facts: list[str] | None,
    cluster: bool,
    kubeconfig: Path | None,
    context: str | None,
    namespace: str,
    settings: Path | None,
) -> Sources:
    """Where facts come from; raises SettingsError for settings that cannot be used."""
    from modeldeployment.operator.people.rendering import Sources

    given = Sources(facts or (), cluster, kubeconfig, context, namespace)
    if settings is None:
        return given
    from modeldeployment.operator.settings import load

    chosen = load(settings)
    return replace(given, admission=chosen.admission_policy(), policy=chosen.policy())


def colours() -> bool:
    """Whether standard output is a terminal whose owner has nothing against colours."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def scaler(name: str) -> str | None:
    """The name of a scaler that is named as mds/NAME, None where a deployment is; raises UsageError for no name."""
    kind, slash, rest = name.partition("/")
    if not slash or kind not in ("mds", "modeldeploymentscaler", "modeldeploymentscalers"):
        return None
    if not _NAME.fullmatch(rest):
        raise UsageError(f"{name} names no scaler: write mds/NAME, NAME as kubectl get mds shows it")
    return rest


def of_scalers_alone(journal: Path | None, operator: str | None, at: str | None) -> None:
    """Refuse what is told of scalers alone; raises UsageError."""
    for name, value in (("--journal", journal), ("--operator", operator), ("--at", at)):
        if value is not None:
            raise UsageError(f"{name} is {value}: it is for scalers; write mds/NAME for one, or leave it out")
