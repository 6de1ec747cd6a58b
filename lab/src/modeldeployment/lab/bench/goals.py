"""What is measured and what is asked of it: the contract of `make bench`."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from modeldeployment.lab.bench.errors import UnknownMeasurement


class Bound(StrEnum):
    """Which side of the limit is good."""

    AT_LEAST = ">="
    AT_MOST = "<="
    EXACTLY = "=="


class Scenario(StrEnum):
    """What is run to measure; one scenario yields one or more values. In the order in which they run."""

    RENDER = "render"
    REVIEW = "review"
    WEBHOOK = "webhook"
    IDLE = "idle"
    CREATE = "create"
    RESTART = "restart"
    STORE = "store"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One value: its id, its unit, its goal, and the scenario that yields it."""

    id: str
    unit: str
    bound: Bound
    limit: float
    scenario: Scenario

    @property
    def goal(self) -> str:
        """The goal as people write it, such as `>= 0.70`."""
        match self.bound:
            case Bound.EXACTLY:
                return f"{self.limit:g}"
            case Bound.AT_LEAST | Bound.AT_MOST:
                return f"{self.bound} {self.limit:.2f}"
            case other:
                assert_never(other)

    def met_by(self, value: float) -> bool:
        """Whether a value reaches the goal."""
        match self.bound:
            case Bound.AT_LEAST:
                return value >= self.limit
            case Bound.AT_MOST:
                return value <= self.limit
            case Bound.EXACTLY:
                return value == self.limit
            case other:
                assert_never(other)


CREATE_RATIO: Final = Measurement("create-1000-ratio", "ratio", Bound.AT_LEAST, 0.70, Scenario.CREATE)
RESTART_RATIO: Final = Measurement("restart-1000-ratio", "lists", Bound.AT_MOST, 1.5, Scenario.RESTART)
RESTART_WRITES: Final = Measurement("restart-1000-writes", "requests", Bound.EXACTLY, 0, Scenario.RESTART)
IDLE_REQUESTS: Final = Measurement("idle-200-writes", "requests", Bound.EXACTLY, 0, Scenario.IDLE)
IDLE_SHARE: Final = Measurement("idle-200-core-share", "cores", Bound.AT_MOST, 0.01, Scenario.IDLE)
STORE_MEMORY: Final = Measurement("store-mib-per-1000-pods", "MiB", Bound.AT_MOST, 5, Scenario.STORE)
RENDER_SECONDS: Final = Measurement("render-65536-seconds", "s", Bound.AT_MOST, 1, Scenario.RENDER)
RENDER_MEMORY: Final = Measurement("render-65536-mib", "MiB", Bound.AT_MOST, 200, Scenario.RENDER)
RENDER_PAIR: Final = Measurement("render-pair-ms", "ms", Bound.AT_MOST, 5, Scenario.RENDER)
RENDER_IMPORT: Final = Measurement("render-import-ms", "ms", Bound.AT_MOST, 150, Scenario.RENDER)
REVIEW_TIME: Final = Measurement("review-ms", "ms", Bound.AT_MOST, 1, Scenario.REVIEW)
REVIEW_GROWTH: Final = Measurement("review-10000-arguments-growth", "ratio", Bound.AT_MOST, 2, Scenario.REVIEW)
WEBHOOK_RATE: Final = Measurement("webhook-reviews-per-second", "reviews/s", Bound.AT_LEAST, 200, Scenario.WEBHOOK)
WEBHOOK_P99: Final = Measurement("webhook-p99-ms", "ms", Bound.AT_MOST, 25, Scenario.WEBHOOK)
WEBHOOK_CPU: Final = Measurement("webhook-cpu-ms-per-review", "ms", Bound.AT_MOST, 2, Scenario.WEBHOOK)

MEASUREMENTS: Final = (
    CREATE_RATIO,
    RESTART_RATIO,
    RESTART_WRITES,
    IDLE_REQUESTS,
    IDLE_SHARE,
    STORE_MEMORY,
    RENDER_SECONDS,
    RENDER_MEMORY,
    RENDER_PAIR,
    RENDER_IMPORT,
    REVIEW_TIME,
    REVIEW_GROWTH,
    WEBHOOK_RATE,
    WEBHOOK_P99,
    WEBHOOK_CPU,
)


def chosen(only: str) -> tuple[Measurement, ...]:
    """Read `id,id`; nothing is everything. Raises UnknownMeasurement listing the ids."""
    wanted = [name for part in only.split(",") if (name := part.strip())]
    known = {measurement.id: measurement for measurement in MEASUREMENTS}
    for name in wanted:
        if name not in known:
            raise UnknownMeasurement(f"--only names {name!r}, which is not measured; the ids are {', '.join(known)}")
    return tuple(each for each in MEASUREMENTS if not wanted or each.id in wanted)


def scenarios(measurements: Iterable[Measurement]) -> tuple[Scenario, ...]:
    """The scenarios that yield these values, in the order in which they run."""
    wanted = {measurement.scenario for measurement in measurements}
    return tuple(scenario for scenario in Scenario if scenario in wanted)
