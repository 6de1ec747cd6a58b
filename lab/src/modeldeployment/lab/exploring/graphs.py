"""Ratio graphs of ten roles that projection has most trouble with, for benchmarks and for the tests of its limits.

Every one of them is let in by admission, since the counts that are declared keep all of it. They were looked for among
trees, stars, chains and graphs that are all joints, with bands from none wide to several times as wide as they are
high, ranges of all that bounds and steps allow, and recommendations that contradict each other.
"""

import random
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from modeldeployment.api import Quantity
from modeldeployment.scaler.planning.box import Box
from modeldeployment.scaler.planning.policy import Band
from modeldeployment.scaler.planning.projecting import Projection, project

ROLES: Final = 10
MOST: Final = 1024
_NANO: Final = 10**9
_WORST: Final = (
    ("chain", 1, 26),
    ("tree", 4, 43),
    ("tree", 10, 88),
    ("star", 4, 114),
    ("dense", 4, 108),
    ("all", 4, 67),
)


@dataclass(frozen=True, slots=True)
class Graph:
    """Ranges and bands of one pass."""

    name: str
    boxes: dict[str, Box]
    bands: tuple[Band, ...]

    def project(self) -> Projection:
        """What a pass would do with it."""
        return project(self.boxes, self.bands)


def worst() -> tuple[Graph, ...]:
    """The slowest ones known, of each shape."""
    return tuple(graph(shape, growth, seed) for shape, growth, seed in _WORST)


SHAPES: Final = ("tree", "star", "chain", "dense", "all")


def graph(shape: str, growth: int, seed: int, roles: int = ROLES) -> Graph:
    """One graph: its shape, how many times its counts a pass may add, and what is drawn."""
    chance = random.Random(f"{shape} {growth} {seed}")
    counts = [chance.randint(1, MOST // (1 + growth)) for _ in range(roles)]
    own = chance.choice((1.0, 0.7, 0.3))
    boxes: dict[str, Box] = {}
    for place, count in enumerate(counts):
        ceiling = min(MOST, count * (1 + growth) + 4)
        wanted = chance.randint(count, ceiling) if place == 0 or chance.random() < own else None
        rising = wanted is not None and wanted > count
        name = f"role-{place}"
        boxes[name] = Box(role=name, current=count, floor=count, ceiling=ceiling, wanted=wanted, rising=rising)
    width = chance.choice((0.0, 0.01, 0.1, 0.5, 3.0))
    bands = tuple(_band(one, other, counts, width, chance) for one, other in _joints(shape, roles, chance))
    return Graph(f"{shape}, growth {growth}, {seed}", boxes, bands)


def _joints(shape: str, roles: int, chance: random.Random) -> list[tuple[int, int]]:
    match shape:
        case "tree":
            return [_either(place, chance.randrange(place), chance) for place in range(1, roles)]
        case "star":
            return [_either(place, 0, chance) for place in range(1, roles)]
        case "chain":
            return [(place, place - 1) for place in range(1, roles)]
        case _:
            share = 1.0 if shape == "all" else 0.5
            every = [(one, other) for one in range(roles) for other in range(roles) if one != other]
            return [each for each in every if chance.random() < share]


def _either(one: int, other: int, chance: random.Random) -> tuple[int, int]:
    return (one, other) if chance.random() < 0.5 else (other, one)


def _band(one: int, other: int, counts: list[int], width: float, chance: random.Random) -> Band:
    """A band around the ratio that is declared."""
    ratio = Fraction(counts[one], counts[other])
    low = ratio / Fraction(1000 + round(1000 * width * chance.random()), 1000)
    high = ratio * Fraction(1000 + round(1000 * width * chance.random()), 1000)
    ends = chance.random()
    target = low + (high - low) * Fraction(chance.randint(1, 99), 100)
    return Band(
        numerator=f"role-{one}",
        denominator=f"role-{other}",
        target=Quantity(round(target * _NANO)) if chance.random() < 0.6 else None,
        low=Quantity(int(low * _NANO)) if ends < 0.85 else None,
        high=Quantity(int(high * _NANO) + 1) if ends > 0.15 else None,
    )
