"""One planner, or one schedule, against a plant: pass by pass, and what came of it."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Final, TypeAlias

from modeldeployment.scaler.backtesting.plants import Outcome, Plant
from modeldeployment.scaler.planning.memory import Memory
from modeldeployment.scaler.planning.observed import Reading, Target
from modeldeployment.scaler.planning.outcome import Plan
from modeldeployment.scaler.planning.plain import Vector

START: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""The instant of a trace's first second; only differences count."""

Planner: TypeAlias = Callable[[Memory, Reading, Target, datetime, str], Plan]
"""Plans one pass from what is remembered, read and declared, the instant and the decision's id."""


@dataclass(frozen=True, slots=True)
class Pass:
    """What was declared after a pass."""

    second: int
    vector: Vector


@dataclass(frozen=True, slots=True)
class Score:
    """What came of a trace, and at which price."""

    requests: int
    in_time: int
    replica_seconds: int
    changes: int
    """Passes that changed the vector."""
    most: int
    """Replicas declared at once, at the most, of all roles."""
    passes: tuple[Pass, ...]

    @property
    def attainment(self) -> Fraction:
        """Share of requests that were served in time; 1 where there are none."""
        return Fraction(self.in_time, self.requests) if self.requests else Fraction(1)

    @property
    def replica_hours(self) -> Fraction:
        """Hours of all replicas together."""
        return Fraction(self.replica_seconds, 3600)


def play(plant: Plant, planner: Planner, seconds: int, interval: int) -> Score:
    """Let the planner decide every so many seconds of a trace that lasts that long."""
    memory = Memory()
    passes: list[Pass] = []
    declared = plant.target().vector
    for second in range(0, seconds, interval):
        now = START + timedelta(seconds=second)
        plan = planner(memory, plant.reading(now), plant.target(), now, f"pass-{second}")
        memory = plan.memory
        if plan.move is not None and plan.vector != declared:
            plant.declare(plan.vector)
            declared = plan.vector
            memory = plan.committed or plan.memory
        passes.append(Pass(second, declared))
        plant.advance(min(interval, seconds - second))
    return _score(plant.finish(), passes)


def follow(plant: Plant, vectors: Sequence[Vector], seconds: int, interval: int) -> Score:
    """Declare what a schedule says, one vector for every so many seconds."""
    passes: list[Pass] = []
    declared = plant.target().vector
    for second, vector in zip(range(0, seconds, interval), vectors, strict=True):
        if vector != declared:
            plant.declare(vector)
            declared = vector
        passes.append(Pass(second, declared))
        plant.advance(min(interval, seconds - second))
    return _score(plant.finish(), passes)


def _score(outcome: Outcome, passes: Sequence[Pass]) -> Score:
    vectors = [each.vector for each in passes]
    return Score(
        requests=outcome.requests,
        in_time=outcome.in_time,
        replica_seconds=outcome.replica_seconds,
        changes=sum(one != other for one, other in itertools.pairwise(vectors)),
        most=max((sum(vector.values()) for vector in vectors), default=0),
        passes=tuple(passes),
    )
