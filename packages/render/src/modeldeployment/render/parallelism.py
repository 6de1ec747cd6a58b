"""The flags by which one engine is told its parallel degrees, as data.

Sources: facts rendering §9, facts admission §6, facts status §5.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

LONG: Final = len("--x")
SHORT: Final = len("-x")
"""How many characters tell that an argument is none of a table's long flags, and none of its short ones."""


class Degree(StrEnum):
    """A parallel degree, spelled as `status.roles[].parallelism.declared` spells it."""

    TENSOR = "tensorParallel"
    PIPELINE = "pipelineParallel"
    DATA = "dataParallel"
    DATA_LOCAL = "dataParallelLocal"
    PREFILL_CONTEXT = "prefillContextParallel"
    DECODE_CONTEXT = "decodeContextParallel"
    EXPERT = "expertParallel"
    ATTENTION_CONTEXT = "attentionContextParallel"
    MOE_DATA = "moeDpSize"
    DWDP = "dwdpSize"

    __hash__ = str.__hash__  # Enum's own is written in Python, and every command line asks for it dozens of times


class LoadBalance(StrEnum):
    """Who spreads requests over the data-parallel ranks of a replica."""

    INTERNAL = "Internal"
    EXTERNAL = "External"
    HYBRID = "Hybrid"
    MULTI_PORT = "MultiPort"
    UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True)
class DegreeFlag:
    """A flag that takes a degree. The first spelling is the one messages name."""

    degree: Degree
    spellings: tuple[str, ...]
    abbreviations: tuple[str, ...] = ()
    minimum: int = 1


@dataclass(frozen=True, slots=True)
class ModeFlag:
    """A switch that changes what a degree means; `negations` switch it off again, `mode` is its name in status."""

    mode: str
    spellings: tuple[str, ...]
    abbreviations: tuple[str, ...] = ()
    negations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WiringFlag:
    """A flag that ties several members together, after which part of a width may live off this member.

    `balance` is the shape of load balancing it asks for, INTERNAL where it asks for none.
    """

    spellings: tuple[str, ...]
    takes_value: bool = True
    negations: tuple[str, ...] = ()
    balance: LoadBalance = LoadBalance.INTERNAL


Flag: TypeAlias = DegreeFlag | ModeFlag | WiringFlag
Factors: TypeAlias = Callable[[Mapping[Degree, int], Mapping[str, bool]], tuple[Degree, ...]]
"""From the degrees in force and the modes to the degrees whose product is the width of one member."""


@dataclass(frozen=True, slots=True)
class DegreeTable:
    """Every such flag of one engine, the variable that may give its data degree, and what makes up its width.

    `underscores` says whether a long flag may be written with underscores.
    """

    flags: tuple[Flag, ...]
    factors: Factors
    underscores: bool = False
    variable: str = ""
    exact: Mapping[str, tuple[Flag, bool]] = field(init=False, repr=False)
    prefixes: Mapping[str, tuple[Flag, bool]] = field(init=False, repr=False)
    abbreviated: Mapping[str, Flag] = field(init=False, repr=False)
    openings: frozenset[str] = field(init=False, repr=False)
    modes: Mapping[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Index the spellings: whole ones, what only one long one starts with, abbreviations, all beginnings."""
        exact = {spelling: (flag, on) for flag in self.flags for spelling, on in _spellings(flag)}
        starting: dict[str, list[str]] = {}
        for spelling in exact:
            for end in range(LONG, len(spelling) if spelling.startswith("--") else 0):
                starting.setdefault(spelling[:end], []).append(spelling)
        unique = {said: exact[spellings[0]] for said, spellings in starting.items() if len(spellings) == 1}
        short = {
            abbreviation: flag
            for flag in self.flags
            if not isinstance(flag, WiringFlag)
            for abbreviation in flag.abbreviations
        }
        object.__setattr__(self, "exact", exact)
        object.__setattr__(self, "prefixes", {said: unique[said] for said in unique if said not in exact})
        object.__setattr__(self, "abbreviated", short)
        openings = frozenset(said[: LONG if said.startswith("--") else SHORT] for said in (*exact, *short))
        object.__setattr__(self, "openings", openings)
        modes = {flag.spellings[0]: flag.mode for flag in self.flags if isinstance(flag, ModeFlag)}
        object.__setattr__(self, "modes", modes)


def _spellings(flag: Flag) -> Iterator[tuple[str, bool]]:
    yield from ((spelling, True) for spelling in flag.spellings)
    if not isinstance(flag, DegreeFlag):
        yield from ((spelling, False) for spelling in flag.negations)
