"""The parallel degrees a role's command line declares, read as its engine reads them.

Only what is written on the line is seen, and vLLM's one variable: never an image's entry point, a configuration file or
a string a shell parses. Sources: facts admission §6, facts rendering §9, spec 2 §Pair connections.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import prod
from types import MappingProxyType
from typing import Final, assert_never

from modeldeployment.render.engine import Engine
from modeldeployment.render.flags import is_value
from modeldeployment.render.parallelism import (
    LONG,
    SHORT,
    Degree,
    DegreeFlag,
    DegreeTable,
    Flag,
    LoadBalance,
    ModeFlag,
    WiringFlag,
)

_INTEGER: Final = re.compile(r"\s*[+-]?\d+(?:_\d+)*\s*")
_LARGEST: Final = 2**31 - 1
"""What a degree may measure: `status.roles[].parallelism` holds 32-bit integers."""
_UNDECLARED: Final = {degree: 0 if degree is Degree.DATA_LOCAL else 1 for degree in Degree}
_LONGEST: Final = 4096
"""Characters of the longest number that is worked out; Python itself reads none of more than 4,300 digits."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A degree that cannot be told from what is written: its flag or variable, what was written for it, and why.

    `value` is empty where nothing was, and the whole argument where a value hangs on an abbreviation. `why` completes
    "--tensor-parallel-size 'two' …".
    """

    flag: str
    value: str
    why: str


@dataclass(frozen=True, slots=True)
class Degrees:
    """What a command line says about the parallel shape of one replica.

    `declared` holds only what is written on the line, an explicit 1 and local 0 included. `modes` says which switches
    were set and which were set back. `wired` are the flags that tie members together, `balancing` those among them that
    ask for a shape of load balancing: both by their first spelling, in order. `load_balance` is UNKNOWN where they ask
    for different ones. `in_force` holds every degree, `VLLM_DP_SIZE` considered: 1 where nothing says otherwise, and 0
    for an undeclared local data degree. `factors` are the degrees whose product is `width`.
    """

    declared: Mapping[Degree, int]
    modes: Mapping[str, bool]
    wired: tuple[str, ...]
    balancing: tuple[str, ...]
    load_balance: LoadBalance
    in_force: Mapping[Degree, int] = field(repr=False)
    factors: tuple[Degree, ...] = field(repr=False)

    def value(self, degree: Degree) -> int:
        """Answer a degree as it is in force."""
        return self.in_force[degree]

    @property
    def data_parallel(self) -> int:
        """The data degree in force."""
        return self.in_force[Degree.DATA]

    @property
    def wiring(self) -> bool:
        """Whether part of the width may live off this member, so that its own request cannot be judged by it."""
        return bool(self.wired)

    @property
    def width(self) -> int:
        """Accelerators one member of the replica needs, as long as nothing is wired."""
        return prod(self.in_force[factor] for factor in self.factors)


def read(engine: Engine, arguments: Sequence[str], env: Mapping[str, str]) -> Degrees | Unreadable:
    """Read one command line, left to right and once, together with the literal variables beside it.

    Answers the first known degree that cannot be read. What the engine's table does not know passes.
    """
    table = engine.degrees
    declared: dict[Degree, int] = {}
    modes: dict[str, bool] = {}
    wired: dict[str, WiringFlag] = {}
    for index, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument[:LONG] not in table.openings and argument[:SHORT] not in table.openings:
            continue
        found = _recognise(table, argument)
        if found is None:
            continue
        if isinstance(found, Unreadable):
            return found
        match found.flag:
            case DegreeFlag() as flag:
                value = _degree(flag, _following(arguments, index) if found.inline is None else found.inline)
                if isinstance(value, Unreadable):
                    return value
                declared[flag.degree] = value
            case ModeFlag() as flag:
                if found.inline is None:
                    modes[flag.spellings[0]] = found.on
            case WiringFlag() as flag:
                if found.inline is not None and not flag.takes_value:
                    continue
                if found.on:
                    wired.setdefault(flag.spellings[0], flag)
                else:
                    wired.pop(flag.spellings[0], None)
            case other:
                assert_never(other)
    data = _data_degree(table, declared, env)
    if isinstance(data, Unreadable):
        return data
    if not (declared or modes or wired) and data == 1:
        return _plain(engine)
    return _worked_out(table, declared, modes, wired, data)


@cache
def _plain(engine: Engine) -> Degrees:
    """Answer what a command line says that mentions no degree, as most do."""
    return _worked_out(engine.degrees, {}, {}, {}, 1)


def _worked_out(
    table: DegreeTable,
    declared: Mapping[Degree, int],
    modes: Mapping[str, bool],
    wired: Mapping[str, WiringFlag],
    data: int,
) -> Degrees:
    in_force = MappingProxyType({**_UNDECLARED, **declared, Degree.DATA: data})
    balancing = tuple(name for name, flag in wired.items() if flag.balance is not LoadBalance.INTERNAL)
    shapes = frozenset(wired[name].balance for name in balancing) or (LoadBalance.INTERNAL,)
    return Degrees(
        declared=MappingProxyType(declared),
        modes=MappingProxyType(modes),
        wired=tuple(wired),
        balancing=balancing,
        load_balance=LoadBalance.UNKNOWN if len(shapes) > 1 else next(iter(shapes)),
        in_force=in_force,
        factors=table.factors(in_force, modes),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """A flag of the table, whether this spelling switches it on, and the value that hangs on it."""

    flag: Flag
    on: bool = True
    inline: str | None = None


def _recognise(table: DegreeTable, argument: str) -> _Found | Unreadable | None:
    """Say which flag of the table one argument is (facts rendering §9 §Matching rules)."""
    key, equals, value = argument.partition("=")
    inline = value if equals else None
    long = key.startswith("--")
    if long and table.underscores:
        key = key.replace("_", "-")
    spelled = table.exact.get(key) or (table.prefixes.get(key) if long else None)
    if spelled:
        return _Found(*spelled, inline)
    if long:
        return None
    short = argument[:2]
    if short in table.exact:
        return _Found(*table.exact[short], argument[2:])
    return _abbreviated(table, key, argument, short)


def _abbreviated(table: DegreeTable, key: str, argument: str, short: str) -> _Found | Unreadable | None:
    """Read the abbreviations of short flags, which an engine takes alone and no two Python versions alike otherwise."""
    flag = table.abbreviated.get(key)
    if flag:
        if key == argument:
            return _Found(flag)
        if isinstance(flag, DegreeFlag):
            return Unreadable(flag.spellings[0], argument, f"hangs on {key} by =, which depends on the image's Python")
        return None
    flag = table.abbreviated.get(short)
    # A taken-over command line may run a shell: its -ec or -euxo is no expert parallelism.
    if flag is None or (isinstance(flag, ModeFlag) and argument[2:].isalpha()):
        return None
    return Unreadable(flag.spellings[0], argument, f"carries a glued value: no engine reads it behind {short}")


def _following(arguments: Sequence[str], index: int) -> str | None:
    value = arguments[index + 1] if index + 1 < len(arguments) else None
    return value if value is not None and is_value(value) else None


def _degree(flag: DegreeFlag, text: str | None) -> int | Unreadable:
    if text is None:
        return Unreadable(flag.spellings[0], "", "has no value")
    return _integer(flag.spellings[0], text, flag.minimum)


def _integer(name: str, text: str, minimum: int) -> int | Unreadable:
    """Read what `int` reads, without working out a number of a thousand digits."""
    if not _INTEGER.fullmatch(text):
        return Unreadable(name, text, "is not an integer")
    value = int(text) if len(text.strip()) <= _LONGEST else None
    if value is None or abs(value) > _LARGEST:
        return Unreadable(name, text, f"is out of range: at most {_LARGEST}")
    return value if value >= minimum else Unreadable(name, text, f"is below {minimum}")


def _data_degree(table: DegreeTable, declared: Mapping[Degree, int], env: Mapping[str, str]) -> int | Unreadable:
    """Answer the data degree in force: the engine looks at its variable only where the line leaves it at 1."""
    text = env.get(table.variable) if table.variable else None
    if text is None or not asks_variable(declared):
        return declared.get(Degree.DATA, 1)
    return _integer(table.variable, text, 1)


def asks_variable(declared: Mapping[Degree, int]) -> bool:
    """Whether a line that declares these degrees leaves the data degree to the engine's variable."""
    return declared.get(Degree.DATA, 1) <= 1 and declared.get(Degree.DATA_LOCAL) != 0
