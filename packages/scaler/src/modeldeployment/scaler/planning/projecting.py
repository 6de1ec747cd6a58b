"""From ranges to one vector: each component of the ratio graph by itself, in one direction, as near as it gets.

Source: spec 3 §Bounds and ratios, facts scaler §4, decisions D17.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from modeldeployment.scaler.planning import judging, ratios, searching
from modeldeployment.scaler.planning.box import Box
from modeldeployment.scaler.planning.causes import Cause, Stage
from modeldeployment.scaler.planning.plain import Vector
from modeldeployment.scaler.planning.policy import Band
from modeldeployment.scaler.planning.trail import Step


@dataclass(frozen=True, slots=True)
class Projection:
    """The vector, the ratios that shaped it, and the components that stay because nothing was found for them."""

    vector: Vector
    steps: tuple[Step, ...]
    stuck: Mapping[tuple[str, ...], Step]
    """By the roles of a component the reason, once."""


def project(boxes: Mapping[str, Box], bands: Sequence[Band], limit: int = searching.LIMIT) -> Projection:
    """Take ranges to the nearest vector that keeps every band.

    `limit` is the work that all components share. A component of which a role should grow moves up: no role of it
    falls. Otherwise none of it rises. The counts that are declared keep the bands, so there always is a vector; one of
    which no role can go where it would is stuck all the same.
    """
    vector: Vector = {role: box.current for role, box in boxes.items()}
    steps: list[Step] = []
    stuck: dict[tuple[str, ...], Step] = {}
    components = ratios.components(tuple(boxes), bands)
    share = limit // max(1, sum(len(roles) > 1 for roles in components))
    for roles in components:
        members = [boxes[role] for role in roles]
        if len(roles) == 1:
            vector |= {box.role: box.current if box.wanted is None else box.wanted for box in members}
            continue
        joined = [band for band in bands if band.numerator in roles]
        rising = any(box.rising for box in members)
        straight = _straight(members, joined, rising=rising)
        if straight is not None:
            vector |= straight
            continue
        found = searching.nearest(_question(members, joined, rising=rising), share)
        if isinstance(found, searching.Failure) or _stuck(members, found, rising=rising):
            held = [_held(box, joined, found, share) for box in members]
            steps += held
            stuck[roles] = held[0]
            continue
        for box, count in zip(members, found.counts, strict=True):
            vector[box.role] = count
            if count != (box.current if box.wanted is None else box.wanted):
                steps.append(_moved(box, count, joined))
    return Projection(vector, tuple(steps), stuck)


def _straight(members: Sequence[Box], bands: Sequence[Band], *, rising: bool) -> Vector | None:
    """What is recommended, where every role has a wish and all of them fit together: nothing is nearer to that."""
    wishes: Vector = {}
    for box in members:
        low, high = (box.current, box.ceiling) if rising else (box.floor, box.current)
        if box.wanted is None or not low <= box.wanted <= high:
            return None
        wishes[box.role] = box.wanted
    return wishes if all(ratios.kept(band, wishes) for band in bands) else None


def _question(members: Sequence[Box], bands: Sequence[Band], *, rising: bool) -> searching.Question:
    place = {box.role: index for index, box in enumerate(members)}
    return searching.Question(
        floors=tuple(box.current if rising else box.floor for box in members),
        ceilings=tuple(box.ceiling if rising else box.current for box in members),
        wanted=tuple(box.wanted for box in members),
        pushes=tuple(
            searching.Push(place[demand.source], place[demand.held], demand.times, demand.over)
            for demand in ratios.demands(bands)
        ),
        aims=tuple(
            searching.Aim(place[band.numerator], place[band.denominator], Fraction(band.target.nanos, ratios.ONE))
            for band in bands
            if band.target is not None
        ),
    )


def _stuck(members: Sequence[Box], found: searching.Nearest, *, rising: bool) -> bool:
    """Whether roles would go ahead, and no vector lets any of them."""
    ahead = [
        (box.current, (found.most if rising else found.least)[place])
        for place, box in enumerate(members)
        if box.wanted is not None and (box.wanted > box.current if rising else box.wanted < box.current)
    ]
    return bool(ahead) and all(current == furthest for current, furthest in ahead)


def _moved(box: Box, count: int, bands: Sequence[Band]) -> Step:
    """The first ratio of the role tells of all: which of several it was, only the whole search knows."""
    first = next(band for band in bands if box.role in (band.numerator, band.denominator))
    return Step(
        stage=Stage.RATIOS,
        role=box.role,
        before=box.current if box.wanted is None else box.wanted,
        after=count,
        cause=Cause.RATIO,
        wanted=box.wanted,
        numbers=judging.told(first),
    )


def _held(box: Box, bands: Sequence[Band], answer: searching.Answer, limit: int) -> Step:
    given_up = answer is searching.Failure.GIVEN_UP
    alone = judging.told(bands[0]) if len(bands) == 1 else {}
    return Step(
        stage=Stage.RATIOS,
        role=box.role,
        before=box.current if box.wanted is None else box.wanted,
        after=box.current,
        cause=Cause.SEARCH_EXHAUSTED if given_up else Cause.RATIO_INFEASIBLE,
        wanted=box.wanted,
        numbers={"visited": limit} if given_up else alone,
    )
