"""How an engine's own parser reads the spelling of a flag.

Both engines use argparse: a long flag may be cut short as long as exactly one registered spelling starts with it.
vLLM's parser also reads underscores as dashes. Source: facts rendering §7.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from modeldeployment.render import data

_NEGATIVE_NUMBER: Final = re.compile(r"-(\d+|\d*\.\d+)")


@dataclass(frozen=True, slots=True)
class Given:
    """One flag found on a command line: its full spelling, and its value where one can be read."""

    flag: str
    value: str | None


@dataclass(frozen=True, slots=True)
class Flags:
    """The long spellings one parser registers, sorted."""

    spellings: tuple[str, ...]
    underscores: bool

    def resolve(self, name: str) -> str | None:
        """Answer the full spelling that `name` (without a value) stands for; None when it is unknown or ambiguous."""
        if not name.startswith("--") or name == "--":
            return None
        if self.underscores:
            name = name.replace("_", "-")
        first = bisect_left(self.spellings, name)
        matches = self.spellings[first : first + 2]
        if matches and matches[0] == name:
            return name
        starting = [spelling for spelling in matches if spelling.startswith(name)]
        return starting[0] if len(starting) == 1 else None

    def find(self, arguments: Sequence[str], wanted: Iterable[str]) -> Iterator[Given]:
        """Walk a command line left to right and yield each wanted flag in any spelling; a bare `--` ends it."""
        looked_for = frozenset(wanted)
        for index, argument in enumerate(arguments):
            if argument == "--":
                return
            name, equals, inline = argument.partition("=")
            flag = self.resolve(name)
            if flag in looked_for and flag is not None:
                yield Given(flag, inline if equals else _following(arguments, index))


def read(filename: str, *, underscores: bool) -> Flags:
    """Load the spellings kept beside the engines; `#` starts a comment line."""
    lines = data.text(f"engines/{filename}").splitlines()
    return Flags(tuple(sorted(line for line in lines if line.startswith("--"))), underscores)


def _following(arguments: Sequence[str], index: int) -> str | None:
    """Answer the token a flag without `=` takes as its value."""
    value = arguments[index + 1] if index + 1 < len(arguments) else None
    if value is None or (value.startswith("-") and not _NEGATIVE_NUMBER.fullmatch(value)):
        return None
    return value
