"""Every run there is: scenarios times faults, in an order in which any first part of them is a fair sample."""

import zlib
from collections.abc import Iterator, Sequence
from typing import Final

from modeldeployment.lab.crashes.faults import Disturb, Fault, Hurry, Kill, Lose, Refusal, Refuse, Undisturbed
from modeldeployment.lab.crashes.playing import Run
from modeldeployment.lab.model import Fate

SEEDS: Final = 8
"""Orders of moves in which every scenario is played."""


def faults_of(plain: Run) -> list[Fault]:
    """Everything that can go wrong once in a scenario, by what its undisturbed run wrote and was told."""
    return sorted(_all(plain), key=lambda fault: (zlib.crc32(f"{plain.scenario.name} {fault}".encode()), str(fault)))


def _all(plain: Run) -> Iterator[Fault]:
    for seed in range(1, SEEDS + 1):
        yield Undisturbed(seed)
    for write in range(1, plain.writes + 1):
        yield Kill(write, after=False)
        yield Kill(write, after=True)
        yield Lose(write)
        yield Refuse(write, Refusal.CONFLICT)
        yield Refuse(write, Refusal.FAILURE)
    for event in range(1, plain.events + 1):
        yield Disturb(event, Fate.LATE)
        yield Disturb(event, Fate.MERGED)
        yield Disturb(event, Fate.DROPPED)
    if plain.scenario.hurries and len(plain.scenario.acts) > 1:
        for write in range(1, plain.marks[0] + 1):
            yield Hurry(write)


def sampled(faults: Sequence[Fault], most: int) -> list[Fault]:
    """At most so many of them, the same every time: the first of each kind, then whatever comes first."""
    firsts = {type(each): each for each in reversed(faults)}
    rest = [each for each in faults if each not in firsts.values()]
    return [*firsts.values(), *rest][: max(most, len(firsts))]
