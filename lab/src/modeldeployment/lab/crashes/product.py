"""Every run there is: scenarios times faults, in an order in which any first part of them is a fair sample."""

import zlib
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from modeldeployment.lab.crashes.faults import Disturb, Fault, Hurry, Kill, Lose, Refusal, Refuse, Undisturbed
from modeldeployment.lab.crashes.playing import Run
from modeldeployment.lab.model import Fate

SEEDS: Final = 8
"""Orders of moves in which every scenario is played."""


def faults_of(plain: Run) -> list[Fault]:
    """Everything that can go wrong once in a scenario, by what its undisturbed run wrote and was told.

    The kinds of faults take turns, each in a shuffled order that is always the same.
    """
    name = plain.scenario.name
    kinds = [sorted(kind, key=lambda fault: zlib.crc32(f"{name} {fault}".encode())) for kind in _kinds(plain)]
    return [fault for turn in zip_longest(*kinds) for fault in turn if fault is not None]


def _kinds(plain: Run) -> Iterator[list[Fault]]:
    writes, events = range(1, plain.writes + 1), range(1, plain.events + 1)
    yield [Kill(write, after=False) for write in writes]
    yield [Disturb(event, Fate.LATE) for event in events]
    yield [Lose(write) for write in writes]
    yield [Undisturbed(seed) for seed in range(1, SEEDS + 1)]
    yield [Kill(write, after=True) for write in writes]
    yield [Disturb(event, Fate.DROPPED) for event in events]
    yield [Refuse(write, Refusal.CONFLICT) for write in writes]
    yield [Disturb(event, Fate.MERGED) for event in events]
    yield [Refuse(write, Refusal.FAILURE) for write in writes]
    if plain.scenario.hurries and len(plain.scenario.acts) > 1:
        yield [Hurry(write) for write in range(1, plain.marks[0] + 1)]
