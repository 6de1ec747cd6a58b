"""A known bug as an edit of the present source."""

from dataclasses import dataclass
from typing import Final

RECONCILE: Final = "packages/reconcile/src/modeldeployment/reconcile"
KUBE: Final = "packages/kube/src/modeldeployment/kube"


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `old`, which occurs exactly once in a file of the repository, by `new`."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Bug:
    """What it is in a sentence, where bugs like it are known from, and how it is put into the source."""

    name: str
    what: str
    known: str
    edits: tuple[Edit, ...]


def bug(name: str, what: str, known: str, *edits: tuple[str, str, str]) -> Bug:
    """Make a bug; files are named below the reconcile package, unless they begin with `kube/`."""
    return Bug(name, what, known, tuple(Edit(_file(file), old, new) for file, old, new in edits))


def _file(short: str) -> str:
    return f"{KUBE}/{short.removeprefix('kube/')}" if short.startswith("kube/") else f"{RECONCILE}/{short}"
