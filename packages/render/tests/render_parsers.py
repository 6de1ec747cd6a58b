"""The engines' own way of reading a command line: argparse with every recorded flag, as an oracle."""

import argparse
from collections.abc import Iterator, Sequence
from typing import NoReturn

from modeldeployment.render import Degree, Engine, data
from modeldeployment.render.parallelism import DegreeFlag, ModeFlag, WiringFlag


class Refused(Exception):
    """The engine would not start with this command line."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Refused(message)


def recorded(engine: Engine) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield how many values each recorded flag takes, its spellings, and its negation or nothing."""
    for line in data.text(f"engines/{engine.tag}.flags").splitlines():
        if not line.startswith("#"):
            arity, *words = line.split()
            negation = next((word[1:] for word in words if word.startswith("!")), "")
            yield arity, tuple(word for word in words if not word.startswith("!")), negation


def parse(engine: Engine, arguments: Sequence[str]) -> tuple[dict[Degree, int], dict[str, bool], frozenset[str]]:
    """Answer the degrees, the modes and the wiring flags that argparse finds; raises Refused."""
    table = {spelling: flag for flag in engine.degrees.flags for spelling in flag.spellings}
    parser = _Parser(add_help=False)
    for arity, spellings, negation in recorded(engine):
        flag = next((table[spelling] for spelling in spellings if spelling in table), None)
        keywords: dict[str, object] = {"dest": flag.spellings[0] if flag else spellings[0], "default": None}
        if arity == "0":
            keywords |= {"action": argparse.BooleanOptionalAction if negation else "store_true"}
        elif arity != "1":
            keywords |= {"nargs": arity}
        if isinstance(flag, DegreeFlag):
            keywords |= {"type": int}
        if spellings != ("-h", "--help") and spellings != ("--help", "-h"):
            parser.add_argument(*spellings, **keywords)  # type: ignore[arg-type]
    found = vars(parser.parse_known_args(list(_rewritten(engine, arguments)))[0])
    degrees, modes, wired = {}, {}, set()
    for flag in engine.degrees.flags:
        value = found[flag.spellings[0]]
        if value is None:
            continue
        match flag:
            case DegreeFlag(degree=degree):
                degrees[degree] = value
            case ModeFlag():
                modes[flag.spellings[0]] = value
            case WiringFlag():
                wired |= {flag.spellings[0]} if value is not False else set()
    return degrees, modes, frozenset(wired)


def _rewritten(engine: Engine, arguments: Sequence[str]) -> Iterator[str]:
    """Turn underscores of long flags into dashes, where the engine does so before it parses."""
    for argument in arguments:
        name, equals, value = argument.partition("=")
        dashed = engine.degrees.underscores and name.startswith("--")
        yield (name.replace("_", "-") if dashed else name) + equals + value
