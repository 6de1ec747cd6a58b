"""How an engine's own parser reads the spelling of a flag.

Both engines use argparse: a long flag may be cut short as long as exactly one registered spelling starts with it.
vLLM's parser also reads underscores as dashes. Source: facts rendering §7.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from modeldeployment.render import data

SHORTEST: Final = len("--x")
"""Characters of the shortest long flag."""
_REMEMBERED: Final = 2048
"""Spellings whose meaning is kept: command lines repeat a few dozen, and every review and render asks for each."""
_NEGATIVE_NUMBER: Final = re.compile(r"-(\d+|\d*\.\d+)")


@dataclass(frozen=True, slots=True)
class Given:
    """One flag found on a command line: its full spelling, and its value where one can be read."""

    flag: str
    value: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Flags:
    """The spellings one parser registers: the long ones sorted, and for each its flag's spellings, first one first.

    One row of a closed catalogue, so that it is the same only as itself.
    """

    spellings: tuple[str, ...] = field(repr=False)
    flag_of: Mapping[str, tuple[str, ...]] = field(repr=False)
    underscores: bool

    def same(self, spelling: str) -> tuple[str, ...]:
        """Answer every long spelling of the flag that has exactly this one, its negation included; empty for none."""
        return self.flag_of.get(spelling, ())

    def stem(self, argument: str) -> str:
        """Answer the flag an argument names, as it is written but for what this parser rewrites first.

        The text before ``=``; where underscores count as dashes they become those up to the first dot, and from there
        on it is a member of the flag's document (facts admission §5).
        """
        name = argument.partition("=")[0]
        return name.partition(".")[0].replace("_", "-") if self.underscores and name.startswith("--") else name

    def resolve(self, name: str) -> str | None:
        """Answer the full spelling that `name` (without a value) stands for; None when it is unknown or ambiguous."""
        return _resolved(self, name)

    def find(self, arguments: Sequence[str], wanted: Iterable[str]) -> Iterator[Given]:
        """Walk a command line left to right and yield each wanted flag in any spelling; a bare `--` ends it."""
        looked_for, openings = _sought(tuple(wanted))
        for index, argument in enumerate(arguments):
            if argument == "--":
                return
            if argument[:SHORTEST] not in openings:
                continue
            name, equals, inline = argument.partition("=")
            flag = self.resolve(name)
            if flag in looked_for and flag is not None:
                yield Given(flag, inline if equals else _following(arguments, index))

    def values(self, arguments: Sequence[str], flag: str, *, several: bool) -> tuple[str, ...] | None:
        """Answer every value a command line gives `flag`, over all repetitions; None where it does not name it.

        With `several` a flag without ``=`` takes all that follows up to the next flag, otherwise one.
        """
        found: list[str] | None = None
        opening = flag[:SHORTEST]
        for index, argument in enumerate(arguments):
            if argument == "--":
                break
            if argument[:SHORTEST] != opening:
                continue
            name, equals, inline = argument.partition("=")
            if self.resolve(name) != flag:
                continue
            found = [] if found is None else found
            if equals:
                found.append(inline)
                continue
            last = len(arguments) if several else min(index + 2, len(arguments))
            for position in range(index + 1, last):
                if not is_value(arguments[position]):
                    break
                found.append(arguments[position])
        return None if found is None else tuple(found)


@lru_cache(maxsize=64)
def _sought(wanted: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Answer the flags looked for, and how they begin: most arguments are told apart by that."""
    return frozenset(wanted), frozenset(flag[:SHORTEST] for flag in wanted)


@lru_cache(maxsize=_REMEMBERED)
def _resolved(flags: Flags, name: str) -> str | None:
    if not name.startswith("--") or name == "--":
        return None
    if flags.underscores:
        name = name.replace("_", "-")
    first = bisect_left(flags.spellings, name)
    matches = flags.spellings[first : first + 2]
    if matches and matches[0] == name:
        return name
    starting = [spelling for spelling in matches if spelling.startswith(name)]
    return starting[0] if len(starting) == 1 else None


def is_value(token: str) -> bool:
    """Whether a flag without ``=`` takes the token after it: anything but a flag, and a negative number is none."""
    return not token.startswith("-") or _NEGATIVE_NUMBER.fullmatch(token) is not None


def read(filename: str, *, underscores: bool) -> Flags:
    """Load the flags kept beside the engines; `#` starts a comment line."""
    flag_of: dict[str, tuple[str, ...]] = {}
    for line in data.text(f"engines/{filename}").splitlines():
        if line.startswith("#"):
            continue
        long = tuple(word.lstrip("!") for word in line.split() if word.startswith(("--", "!--")))
        flag_of |= dict.fromkeys(long, long)
    return Flags(tuple(sorted(flag_of)), flag_of, underscores)


def _following(arguments: Sequence[str], index: int) -> str | None:
    """Answer the token a flag without `=` takes as its value."""
    value = arguments[index + 1] if index + 1 < len(arguments) else None
    return value if value is not None and is_value(value) else None
