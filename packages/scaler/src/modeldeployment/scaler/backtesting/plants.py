"""What is scaled in a back-test, as a planner sees it: a model of fluid, or one day a model of single requests."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from modeldeployment.scaler.planning.observed import Reading, Target
from modeldeployment.scaler.planning.plain import Vector


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a trace."""

    requests: int
    in_time: int
    """Requests that waited no longer than the limit before every role."""
    replica_seconds: int
    """Of every replica that was there, serving or not."""


class Plant(Protocol):
    """Something that serves a trace with the replicas it is told to have."""

    def advance(self, seconds: int) -> None:
        """Let time pass."""

    def declare(self, vector: Vector) -> None:
        """Have these replicas from now on."""

    def target(self) -> Target:
        """The deployment as it stands."""

    def reading(self, now: datetime) -> Reading:
        """What its engines report, with rates since the reading before."""

    def finish(self) -> Outcome:
        """Serve what is left, and say what came of it."""
