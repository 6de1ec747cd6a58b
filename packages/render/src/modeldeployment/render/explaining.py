"""Where every value of a rendered object comes from, whose it is, and the rule that put it there.

A Pod's values are those its Parts placed; the rule of a Part is the first sentence of its docstring. Source:
architecture §2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from modeldeployment.api import names
from modeldeployment.render import services
from modeldeployment.render.compose import ARGV, LISTS, Path
from modeldeployment.render.engine import Engine, Part
from modeldeployment.render.engines.takeover import TAKE_OVER
from modeldeployment.render.rendering import RoleRendering
from modeldeployment.render.template import Seat
from modeldeployment.router import RouterRendering, Standing

if TYPE_CHECKING:
    from modeldeployment.api.modeldeployment import Router

ROUTER_RULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ServiceAccount": "Whom the router's Pods run as",
        "Role": "What the router may read: the Pods of its namespace",
        "RoleBinding": "Give the router's account that right",
        "ConfigMap": "The documents the router reads",
        "Service": "How callers reach the router",
        "Deployment": "Run the router",
    }
)
"""Why each of a router's objects is there, by its kind."""


@dataclass(frozen=True, slots=True)
class Origin:
    """One value of an object: its path, the value as it stands there, what placed it, whose it is, and the rule.

    Entries of lists that Parts fill one by one go by their name; a run of arguments is the list of its tokens. An empty
    path is the whole object.
    """

    path: Path
    value: Any
    part: str
    standing: Standing
    rule: str


def pod(role: RoleRendering, seat: Seat, engine: Engine) -> tuple[Origin, ...]:
    """Say where every value of one seat's Pod comes from, in the order its Parts placed them.

    Raises IndexError for a seat the role does not have.
    """
    body, rules = role.template.pod(seat), _rules(TAKE_OVER if role.unmanaged else engine.parts)
    found: list[Origin] = []
    taken: dict[Path, int] = {}
    for path, entry in role.placed.items():
        *above, last = path
        if ARGV in above:
            first = taken.get(tuple(above), 0)
            taken[tuple(above)] = first + len(entry.value)
            value: Any = _at(body, tuple(above))[first : first + len(entry.value)]
        elif isinstance(holder := _at(body, tuple(above)), Mapping):
            if last not in holder:
                continue  # the eligibility label, on a member that does not answer
            value = holder[last]
        else:
            key = LISTS[above[-1]]
            value = {name: inner for name, inner in _named(holder, key, last).items() if name != key}
        found.append(Origin(path, value, entry.part, entry.standing, rules[entry.part]))
    return tuple(found)


def service(body: Mapping[str, Any]) -> Origin:
    """Say where a rendered Service comes from: each is made whole by one function."""
    metadata = body["metadata"]
    owner = next(each["name"] for each in metadata["ownerReferences"])
    made: Callable[..., object]
    if body["spec"].get("clusterIP") == "None":
        made = services.replica_service
    elif metadata["name"] == names.deployment_service(owner):
        made = services.deployment_service
    else:
        made = services.role_service
    return Origin((), body, made.__name__, Standing.OWNED, first_sentence(made.__doc__))


def router(body: Mapping[str, Any], rendering: RouterRendering, declared: Router) -> tuple[Origin, ...]:
    """Say where every value of one of a router's objects comes from.

    Each object is of one piece, but for what `spec.router` may say and for the runs of arguments, which bear their own
    reasons. A run goes by its first flag, the user's arguments by the name of their field.
    """
    part, kind = declared.name.value, body["kind"]
    whole = Origin((), body, part, Standing.OWNED, ROUTER_RULES[kind])
    if kind != "Deployment":
        return (whole,)
    inner = ("spec", "template", "spec")
    containers = _at(body, (*inner, "containers"))
    tokens = [token for run in rendering.runs for token in run.tokens]
    program = (*inner, "containers", next(each["name"] for each in containers if each.get("args") == tokens))
    stated: dict[Path, object] = {
        ("spec", "replicas"): declared.replicas,
        (*program, "image"): declared.image,
        (*inner, "imagePullSecrets"): declared.image_pull_secrets or None,
        **{(*inner, "containers", each["name"], "imagePullPolicy"): declared.image_pull_policy for each in containers},
    }
    special = {
        path: Origin(
            path,
            None,
            part,
            Standing.DEFAULTED if value is None else Standing.USER,
            f"From spec.router.{path[-1]}" + ("; unset, the operator's own choice" if value is None else ""),
        )
        for path, value in stated.items()
    }
    for run in rendering.runs:
        name = "extraArgs" if run.standing is Standing.USER else run.tokens[0].partition("=")[0]
        path = (*program, "args", name)
        special[path] = Origin(path, list(run.tokens), part, run.standing, run.why.removesuffix("."))
    return tuple(_covered(body, (), special, whole))


def _covered(node: Any, path: Path, special: Mapping[Path, Origin], rest: Origin) -> Iterator[Origin]:
    """One origin for each value: the special ones, and what is left in pieces as large as they can be."""
    if path in special:
        yield replace(special[path], value=node)
    elif not any(each[: len(path)] == path for each in special):
        yield replace(rest, path=path, value=node)
    elif isinstance(node, Mapping):
        for key, value in node.items():
            yield from _covered(value, (*path, key), special, rest)
    elif all(isinstance(each, Mapping) for each in node):
        for entry in node:
            inner = {key: value for key, value in entry.items() if key != LISTS[path[-1]]}
            yield from _covered(inner, (*path, entry[LISTS[path[-1]]]), special, rest)
    else:
        yield from (origin for at, origin in special.items() if at[:-1] == path)


def spelled(path: Path) -> str:
    """A path as a person reads it: `spec.containers[main].env[NAME]`, a key that is no plain name in brackets."""
    text, above = "", ""
    for step in path:
        plain = above not in (*LISTS, ARGV, "args") and step.replace("-", "").replace("_", "").isalnum()
        text += f"{'.' if text else ''}{step}" if plain else f"[{step}]"
        above = step
    return text


def first_sentence(docstring: str | None) -> str:
    """The first sentence of a docstring on one line, without its full stop."""
    words = " ".join((docstring or "").split("\n\n")[0].split())
    return words.partition(". ")[0].removesuffix(".")


def _rules(parts: Iterable[Part]) -> dict[str, str]:
    return {part.__name__: first_sentence(part.__doc__) for part in parts}


def _at(body: Mapping[str, Any], path: Path) -> Any:
    """What stands at a path of the assembled object; in a list the entry of that name."""
    found: Any = body
    for above, step in zip(("", *path), path, strict=False):
        found = _named(found, LISTS[above], step) if isinstance(found, list) else found[step]
    return found


def _named(entries: list[dict[str, Any]], key: str, name: str) -> dict[str, Any]:
    return next(entry for entry in entries if entry[key] == name)
