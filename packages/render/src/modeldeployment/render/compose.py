"""Values at paths: how Parts that do not see each other make one object.

A Part answers with a mapping of paths to values. `place` puts the answers of an ordered list of Parts side by side and
refuses two values for one path; `assemble` turns what was placed into the tree of the object.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

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


class Placed(NamedTuple):
    """One value, the Part it came from and whose it is. A Pod has a hundred, so it is the cheapest record there is."""

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
            if isinstance(answer, Defaulted):
                entry = Placed(answer.value, name, Standing.DEFAULTED)
            elif isinstance(answer, FromUser):
                entry = Placed(answer.value, name, Standing.USER)
            else:
                entry = Placed(answer, name, Standing.OWNED)
            there = placed.setdefault(path, entry)
            if there is entry:
                continue
            if (there.standing, entry.standing) != (Standing.DEFAULTED, Standing.USER):
                raise Clash(path, there.part, name)
            placed[path] = entry
    return placed


def assemble(placed: Mapping[Path, Placed]) -> Tree:
    """Build the object tree; raises `Clash` when one placed path lies below another."""
    tree = _Branch()
    for path, entry in placed.items():
        branch: Tree = tree
        for segment in path[:-1]:
            below = branch.get(segment, _NOTHING)
            if below is _NOTHING:
                below = branch[segment] = _Branch()
            elif type(below) is not _Branch:
                raise _below(path, placed)
            branch = below
        if path[-1] in branch:
            raise _below(path, placed)
        branch[path[-1]] = entry.value
    return _listed(tree)


class _Branch(Tree):
    """A branch that paths made, told from a table that was placed as a value."""


_NOTHING: Final = object()


def _below(path: Path, placed: Mapping[Path, Placed]) -> Clash:
    """The clash of a path with one above it, or below it."""
    other = next(each for each in placed if each != path and (each == path[: len(each)] or path == each[: len(path)]))
    return Clash(max(path, other, key=len), placed[other].part, placed[path].part)


def _listed(branch: Tree) -> Tree:
    """Turn the branches that stand for lists into lists; a placed value is left as it is."""
    done: Tree = {}
    for name, value in branch.items():
        if type(value) is not _Branch:
            done[name] = value
            continue
        entries = _listed(value)
        if name == ARGV:
            done[name] = [token for run in entries.values() for token in run]
        elif name in LISTS:
            key_field = LISTS[name]
            done[name] = [{key_field: key, **entry} for key, entry in entries.items()]
        else:
            done[name] = entries
    return done
