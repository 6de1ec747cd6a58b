"""Values at paths: how Parts that do not see each other make one object.

A Part answers with a mapping of paths to values. `place` puts the answers of an ordered list of Parts side by side and
refuses two values for one path; `assemble` turns what was placed into the tree of the object.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from modeldeployment.render.errors import RenderError
from modeldeployment.router import Standing

Path: TypeAlias = tuple[str, ...]
Tree: TypeAlias = dict[str, Any]

LISTS: Final[Mapping[str, str]] = {
    "containers": "name",
    "initContainers": "name",
    "env": "name",
    "ports": "name",
    "volumes": "name",
    "volumeMounts": "name",
}
"""Lists whose entries Parts place one by one: the last path segment becomes the entry's key field."""

ARGV: Final = "command"
"""The one list that Parts fill with runs of tokens: the last path segment names the run, in the order of Parts."""


@dataclass(frozen=True, slots=True)
class Defaulted:
    """A value the user may replace by placing another one at the same path."""

    value: Any


@dataclass(frozen=True, slots=True)
class FromUser:
    """A value the user wrote; it replaces a defaulted one in its place."""

    value: Any


Fragment: TypeAlias = Mapping[Path, Any]
"""What one Part answers: plain values are owned, `Defaulted` and `FromUser` say otherwise."""


@dataclass(frozen=True, slots=True)
class Placed:
    """One value, the Part it came from and whose it is."""

    value: Any
    part: str
    standing: Standing


class Clash(RenderError):
    """Two Parts placed a value at one path, or one below the other's: a defect of the Parts, not of a user's object."""

    def __init__(self, path: Path, first: str, second: str) -> None:
        super().__init__(f"{'/'.join(path)} is placed by {first} and by {second}")
        self.path = path


C = TypeVar("C")


def place(parts: Iterable[Callable[[C], Fragment]], context: C) -> dict[Path, Placed]:
    """Ask every Part in order and remember who placed what.

    Raises `Clash` for a second value at one path, unless the user's meets a defaulted one.
    """
    placed: dict[Path, Placed] = {}
    for part in parts:
        name = part.__name__
        for path, answer in part(context).items():
            match answer:
                case Defaulted(value):
                    entry = Placed(value, name, Standing.DEFAULTED)
                case FromUser(value):
                    entry = Placed(value, name, Standing.USER)
                case value:
                    entry = Placed(value, name, Standing.OWNED)
            there = placed.get(path)
            if there is not None and (there.standing, entry.standing) != (Standing.DEFAULTED, Standing.USER):
                raise Clash(path, there.part, name)
            placed[path] = entry
    return placed


def assemble(placed: Mapping[Path, Placed]) -> Tree:
    """Build the object tree; raises `Clash` when one placed path lies below another."""
    tree: Tree = {}
    for path, entry in placed.items():
        branch = tree
        for depth, segment in enumerate(path[:-1], start=1):
            if path[:depth] in placed:
                raise Clash(path, placed[path[:depth]].part, entry.part)
            branch = branch.setdefault(segment, {})
        branch[path[-1]] = entry.value
    return _listed(tree, placed, ())


def _listed(branch: Tree, placed: Mapping[Path, Placed], path: Path) -> Tree:
    """Turn the branches that stand for lists into lists; a placed value is left as it is."""
    done: Tree = {}
    for name, value in branch.items():
        here = (*path, name)
        if here in placed:
            done[name] = value
            continue
        entries = _listed(value, placed, here)
        if name == ARGV:
            done[name] = [token for run in entries.values() for token in run]
        elif name in LISTS:
            done[name] = [{LISTS[name]: key, **entry} for key, entry in entries.items()]
        else:
            done[name] = entries
    return done
