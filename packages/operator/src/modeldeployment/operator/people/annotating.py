"""Rendered objects with the origin of every value beside it: YAML with a column of comments, or a list for programs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import yaml

from modeldeployment.api import ModelDeployment
from modeldeployment.operator.people.emitting import Selection, dumped
from modeldeployment.render import ENGINES, Rendering, RouterRendering, explaining
from modeldeployment.render.compose import LISTS
from modeldeployment.render.explaining import Origin

COLUMN: Final = 72
"""Where the comments begin, as long as a line leaves room for it."""

Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explained:
    """One object, what it is called, and the origins of its values."""

    name: str
    body: Mapping[str, Any]
    origins: tuple[Origin, ...]


def explained(deployment: ModelDeployment, rendering: Rendering, selection: Selection) -> Iterator[Explained]:
    """Every object that was asked for; of a role whose replica nobody picked out, the first stands for all.

    Between two Pods of a role only names, numbers and the fingerprint differ.
    """
    engine = ENGINES[deployment.spec.engine.name]
    if selection.everything:
        router = rendering.router
        if isinstance(router, RouterRendering) and deployment.spec.router:
            for body in router.objects:
                yield Explained(_name(body), body, explaining.router(body, router, deployment.spec.router))
        for body in rendering.services:
            yield Explained(_name(body), body, (explaining.service(body),))
    one = Selection(selection.role, selection.replica or 0, selection.member)
    for role in one.roles(rendering):
        for seat in one.seats(role):
            if selection.member is None and selection.replica is None and seat.member:
                continue
            body = role.template.pod(seat)
            yield Explained(f"Pod {role.name}/{seat.ordinal}/{seat.member}", body, explaining.pod(role, seat, engine))


def for_programs(objects: Iterator[Explained]) -> list[dict[str, Any]]:
    """A flat list: object, path, value, part, standing, rule."""
    return [
        {
            "object": each.name,
            "path": explaining.spelled(origin.path),
            "value": origin.value,
            "part": origin.part,
            "standing": origin.standing.value,
            "rule": origin.rule,
        }
        for each in objects
        for origin in each.origins
    ]


def for_people(objects: Iterator[Explained]) -> Iterator[str]:
    """YAML, line by line, that loads to the objects themselves: the origins are comments."""
    separator = ""
    for each in objects:
        yield f"{separator}# {each.name}: value  # whose · which Part · why"
        origins = {origin.path: origin for origin in each.origins}
        whole = origins.get(())
        yield from _commented(each.body, whole, "") if whole else _mapping(each.body, (), origins, "")
        separator = "---\n"


def _mapping(node: Mapping[str, Any], path: Path, origins: Mapping[Path, Origin], indent: str) -> Iterator[str]:
    for key, value in node.items():
        here = (*path, key)
        if here in origins:
            yield from _commented({key: value}, origins[here], indent)
        elif isinstance(value, list) and all(isinstance(each, str) for each in value):
            yield from _runs(key, [origin for at, origin in origins.items() if at[:-1] == here], indent)
        elif isinstance(value, Mapping):
            yield f"{indent}{_key(key)}:"
            yield from _mapping(value, here, origins, f"{indent}  ")
        else:
            yield f"{indent}{_key(key)}:"
            yield from _entries(value, here, origins, indent)


def _entries(node: list[dict[str, Any]], path: Path, origins: Mapping[Path, Origin], indent: str) -> Iterator[str]:
    """The entries of a list that Parts fill one by one; each begins with its name."""
    for entry in node:
        name = LISTS[path[-1]]
        here = (*path, entry[name])
        if here in origins:
            yield from _commented([entry], origins[here], indent)
        else:
            yield f"{indent}- {dumped({name: entry[name]}).rstrip()}"
            rest = {key: value for key, value in entry.items() if key != name}
            yield from _mapping(rest, here, origins, f"{indent}  ")


def _runs(key: str, runs: list[Origin], indent: str) -> Iterator[str]:
    """A command line, one line a run of arguments."""
    yield f"{indent}{_key(key)}: ["
    for run in runs:
        if run.value:
            tokens = "".join(f"{_quoted(token)}, " for token in run.value).rstrip()
            yield _line(f"{indent}  {tokens}", run)
    yield f"{indent}]"


def _commented(value: Any, origin: Origin, indent: str) -> Iterator[str]:
    """A value that came from one place: the rule stands on its first line, whose it is on all that can bear a comment.

    Inside a text of several lines a comment would be part of the text.
    """
    text = dumped(value)
    inside = _inside_texts(text)
    for number, line in enumerate(text.rstrip("\n").split("\n")):
        if number in inside:
            yield f"{indent}{line}" if line else ""
        else:
            yield _line(f"{indent}{line}", origin, ruled=not number)


def _inside_texts(text: str) -> set[int]:
    """Numbers of the lines that continue a text begun on a line above."""
    inside: set[int] = set()
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        if isinstance(token, yaml.ScalarToken) and token.style == "|":
            inside.update(range(token.start_mark.line + 1, token.end_mark.line + (token.end_mark.column > 0)))
    return inside


def _line(text: str, origin: Origin, *, ruled: bool = True) -> str:
    rule = f" · {origin.rule}" if ruled else ""
    return f"{text.ljust(COLUMN)}  # {origin.standing.value} · {origin.part}{rule}"


def _key(key: str) -> str:
    return dumped({key: None}).rpartition(":")[0]


def _quoted(token: str) -> str:
    text: str = yaml.dump(token, default_style='"', width=1_000_000_000, allow_unicode=True)
    return text.rstrip()


def _name(body: Mapping[str, Any]) -> str:
    return f"{body['kind']} {body['metadata']['name']}"
