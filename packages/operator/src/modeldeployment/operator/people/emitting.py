"""Objects as text: the very bytes the controller sends, or YAML that loads to the same.

YAML is written so that every reader of Kubernetes' takes it the same way: whatever any of them could take for a number,
a boolean or a date stands in quotes.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml

from modeldeployment.kube.requests import encode
from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people import manifests
from modeldeployment.render import Rendering, RoleRendering, RouterRendering, Seat

WIDE: Final = 1_000_000_000
"""Columns of a line of YAML: no text is ever folded."""


class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes plain only what no reader takes for anything but text, and text of several lines as a block."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


Dumper.add_representer(str, _text)
Dumper.yaml_implicit_resolvers = {first: list(rows) for first, rows in yaml.SafeDumper.yaml_implicit_resolvers.items()}
for _first, _rows in manifests.RESOLVERS.items():
    Dumper.yaml_implicit_resolvers.setdefault(_first, []).extend(_rows)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which Pods were asked for; an empty one means every object, not Pods alone."""

    role: str | None = None
    replica: int | None = None
    member: int | None = None

    @property
    def everything(self) -> bool:
        """Whether nothing was picked out."""
        return (self.role, self.replica, self.member) == (None, None, None)

    def seats(self, role: RoleRendering) -> Iterator[Seat]:
        """The seats of a role that were asked for."""
        ordinals = range(role.replicas) if self.replica is None else (self.replica,)
        members = range(role.size) if self.member is None else (self.member,)
        for ordinal in ordinals:
            for member in members:
                if ordinal < role.replicas and member < role.size:
                    yield Seat(ordinal, member)

    def roles(self, rendering: Rendering) -> tuple[RoleRendering, ...]:
        """The roles that were asked for; raises UsageError where nothing is there that was."""
        named = [role for role in rendering.roles if self.role in (None, role.name)]
        if not named:
            names = ", ".join(role.name for role in rendering.roles)
            raise UsageError(f"--role is {self.role}: the deployment has no such role; its roles are {names}")
        chosen = tuple(role for role in named if next(self.seats(role), None) is not None)
        if not chosen:
            there = "; ".join(
                f"role {role.name} has replicas 0 to {role.replicas - 1} of members 0 to {role.size - 1}"
                for role in named
            )
            asked = ", ".join(
                f"--{name} is {value}"
                for name, value in (("replica", self.replica), ("member", self.member))
                if value is not None
            )
            raise UsageError(f"{asked}: there is no such Pod; {there}")
        return chosen


def bodies(rendering: Rendering, selection: Selection) -> Iterator[bytes]:
    """The JSON of every object, one at a time: the router's, the Services, then the Pods, role by role."""
    if selection.everything:
        router = rendering.router
        for body in (*(router.objects if isinstance(router, RouterRendering) else ()), *rendering.services):
            yield encode(body)
    for role in selection.roles(rendering):
        for seat in selection.seats(role):
            yield role.template.body(seat)


def as_json(objects: Iterable[bytes]) -> Iterator[str]:
    """JSON texts for printing: a line each, and one that is alone exactly as it is, without an end of line."""
    several = iter(objects)
    first = next(several, b"")
    second = next(several, None)
    if second is None:
        yield first.decode()
        return
    for body in (first, second):
        yield f"{body.decode()}\n"
    for body in several:
        yield f"{body.decode()}\n"


def as_yaml(objects: Iterable[bytes]) -> Iterator[str]:
    """YAML documents for printing."""
    separator = ""
    for body in objects:
        yield separator + dumped(json.loads(body))
        separator = "---\n"


def dumped(value: Any) -> str:
    """One value as YAML in block style, keys in their order."""
    text: str = yaml.dump(value, Dumper=Dumper, sort_keys=False, width=WIDE, allow_unicode=True)
    return text
