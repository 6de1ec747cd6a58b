"""`kubectl md render`, `explain-render` and `diff`: from the command line to what is printed."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from modeldeployment.operator.people import options

if TYPE_CHECKING:
    from modeldeployment.operator.people.rendering import Sources

NOTHING, CHANGES, REFUSED = 0, 1, 3
"""Exit statuses of `diff`; 2 stays wrong use, as everywhere."""

_Role = Annotated[str | None, typer.Option("--role", help="Print the Pods of this role alone.")]
_Replica = Annotated[
    int | None, typer.Option("--replica", min=0, metavar="N", help="Print the Pods of this replica alone, from 0.")
]
_Member = Annotated[
    int | None, typer.Option("--member", min=0, metavar="M", help="Print this member of each replica alone, from 0.")
]
_Form = Annotated[Literal["yaml", "json"], typer.Option("-o", "--output", help="Form of what is printed.")]


def render(
    files: options.Files,
    facts: options.Facts = None,
    role: _Role = None,
    replica: _Replica = None,
    member: _Member = None,
    output: _Form = "yaml",
    explain: Annotated[bool, typer.Option("--explain", help="Say where every value comes from.")] = False,
    cluster: options.Cluster = False,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    namespace: options.Namespace = "default",
    settings: options.SettingsFile = None,
) -> None:
    """Print what the controller would create, byte for byte.

    Every deployment in the files is defaulted and judged as the webhook does it, then rendered. Objects come in this
    order: the router's, the Services, the Pods role by role; --role, --replica and --member print Pods alone.

    -o json prints the very bytes the controller sends, one object a line; a single object is printed exactly as it is
    sent, without an end of line. -o yaml prints documents that load to the same objects.

    The owner's uid is that of the stored object (from --cluster, or from a deployment among the facts), else the
    metadata.uid of the file, else empty, which no API server takes. A fact that is not given counts as not there, and
    standard error says so: no shared store, no artifact, no RuntimeClass.

    --explain prints YAML with the origin of each value as a comment: whose it is (owned, defaulted, user), which Part
    placed it, and why; of each role the first Pod, unless --replica or --member picks others. With -o json it prints a
    list of {object, path, value, part, standing, rule}.

    Exit status: 0 printed, 1 refused by admission or not to be rendered (nothing is printed of that deployment; of one
    whose router alone is refused the rest is), 2 wrong use or no answer.
    """
    sources = options.sources(facts, cluster, kubeconfig, context, namespace, settings)
    _render(files, sources, (role, replica, member), output, explained=explain)


def explain_render(
    files: options.Files,
    facts: options.Facts = None,
    role: _Role = None,
    replica: _Replica = None,
    member: _Member = None,
    output: _Form = "yaml",
    cluster: options.Cluster = False,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    namespace: options.Namespace = "default",
    settings: options.SettingsFile = None,
) -> None:
    """Print what the controller would create with the origin of every value: `render --explain`."""
    sources = options.sources(facts, cluster, kubeconfig, context, namespace, settings)
    _render(files, sources, (role, replica, member), output, explained=True)


def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="File with the deployment as it runs.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="File with the deployment as it is meant to be.")],
    facts: options.Facts = None,
    output: Annotated[Literal["text", "json"], typer.Option("-o", "--output", help="Form of the answer.")] = "text",
    cluster: options.Cluster = False,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    namespace: options.Namespace = "default",
    settings: options.SettingsFile = None,
) -> None:
    """Foretell what an edit does to running Pods: nothing, scale only, a roll, or a refusal, role by role.

    Both files are whole objects, rendered from the same facts; NEW is judged as an update of OLD, the scaler's fence
    included. The fields told beside a roll are those that change the role's Pods when put in, or taken back, alone.

    -o json prints {roles: [{name, outcome (nothing, scale, rolls, refused), changed, replicas: [old, new],
    podsReplaced, podsCreated, podsDeleted, values}], router (null without one), services, podsTurnedOver, podsCreated,
    podsDeleted, refusals}. A replaced Pod counts neither as created nor as deleted; podsTurnedOver are all replaced.

    Exit status: 0 nothing changes, 1 something does, 2 wrong use or no answer, 3 refused: nothing of the edit happens,
    or only its router is refused.
    """
    from modeldeployment.operator.people import contrasting, foretelling

    told = foretelling.foretell(old, new, options.sources(facts, cluster, kubeconfig, context, namespace, settings))
    _say(told.notes)
    if output == "json":
        typer.echo(contrasting.for_programs(told))
    else:
        for line in contrasting.for_people(told, colours=options.colours()):
            typer.echo(line)
    if told.refused:
        raise typer.Exit(REFUSED)
    if told.foreseen is not None and not told.foreseen.nothing:
        raise typer.Exit(CHANGES)


def _render(
    files: list[str],
    sources: "Sources",
    picked: tuple[str | None, int | None, int | None],
    output: str,
    *,
    explained: bool,
) -> None:
    import json

    from modeldeployment.operator.people import annotating, contrasting, emitting, printing, rendering
    from modeldeployment.render import Rendering, RenderRefusal

    selection = emitting.Selection(*picked)
    refused = False
    good: list[tuple[rendering.Rendered, Rendering]] = []
    for each in rendering.rendered(files, sources):
        _say(each.notes)
        if each.outcome is None:
            _say(printing.for_people([each.judged], colours=False), mark=False)
        elif isinstance(each.outcome, RenderRefusal):
            _say([f"{each.judged.manifest.name}: {contrasting.refusal(each.outcome)}"])
        else:
            selection.roles(each.outcome)
            if isinstance(each.outcome.router, RenderRefusal):
                _say([f"{each.judged.manifest.name}: router {contrasting.refusal(each.outcome.router)}"])
                refused = True
            good.append((each, each.outcome))
            continue
        refused = True
    if explained:
        objects = (
            one
            for each, outcome in good
            if each.deployment is not None
            for one in annotating.explained(each.deployment, outcome, selection)
        )
        if output == "json":
            typer.echo(json.dumps(annotating.for_programs(objects), indent=2, ensure_ascii=False))
        else:
            _print(f"{line}\n" for line in annotating.for_people(objects))
    else:
        bodies = (body for _, outcome in good for body in emitting.bodies(outcome, selection))
        _print(emitting.as_json(bodies) if output == "json" else emitting.as_yaml(bodies))
    if refused:
        raise typer.Exit(1)


def _print(texts: Iterable[str]) -> None:
    last = ""
    for last in texts:
        typer.echo(last, nl=False)
    if sys.stdout.isatty() and not last.endswith("\n"):
        typer.echo()


def _say(lines: Iterable[str], *, mark: bool = True) -> None:
    for line in lines:
        typer.echo(f"kubectl md: {line}" if mark else line, err=True)
