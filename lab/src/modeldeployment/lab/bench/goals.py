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
    PLAN = "plan"
    PARSE = "parse"
    SCALE = "scale"
    SHADOW = "shadow"
    STORM = "storm"
    SHRINK = "shrink"
    WEBHOOK = "webhook"
    IDLE = "idle"
    CREATE = "create"
    GANG = "gang"
    TEARDOWN = "teardown"
    LEADER = "leader"
    LIFT = "lift"
    SETS = "sets"
    RETIRE = "retire"
    RESTART = "restart"
    STORE = "store"
    WRITES = "writes"
    FLEET = "fleet"


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


CREATE_RATIO: Final = Measurement("create-1000-ratio", "ratio", Bound.AT_LEAST, 0.8, Scenario.CREATE)
CREATE_PEER: Final = Measurement("create-1000-peer-ratio", "ratio", Bound.AT_LEAST, 1, Scenario.CREATE)
GANG_RATIO: Final = Measurement("gang-64x16-ratio", "ratio", Bound.AT_LEAST, 0.75, Scenario.GANG)
GANG_PEER: Final = Measurement("gang-64x16-peer-ratio", "ratio", Bound.AT_LEAST, 1, Scenario.GANG)
TEARDOWN_RATIO: Final = Measurement("teardown-1024-ratio", "ratio", Bound.AT_LEAST, 0.75, Scenario.TEARDOWN)
GATE_LIFT: Final = Measurement("gate-lift-seconds", "s", Bound.AT_MOST, 2, Scenario.LIFT)
SET_ADMISSION: Final = Measurement("set-admission-ratio", "ratio", Bound.AT_LEAST, 0.9, Scenario.SETS)
STATUS_WRITES: Final = Measurement("status-writes-per-replica", "requests", Bound.AT_MOST, 1.2, Scenario.WRITES)
NOOP_WRITES: Final = Measurement("noop-writes", "requests", Bound.EXACTLY, 0, Scenario.WRITES)
RESTART_RATIO: Final = Measurement("restart-1000-ratio", "lists", Bound.AT_MOST, 1.5, Scenario.RESTART)
RESTART_WRITES: Final = Measurement("restart-1000-writes", "requests", Bound.EXACTLY, 0, Scenario.RESTART)
FLEET_RESTART_RATIO: Final = Measurement("restart-10000-ratio", "lists", Bound.AT_MOST, 1.5, Scenario.FLEET)
FLEET_RESTART_WRITES: Final = Measurement("restart-10000-writes", "requests", Bound.EXACTLY, 0, Scenario.FLEET)
STORM_P99: Final = Measurement("storm-decision-p99-ms", "ms", Bound.AT_MOST, 100, Scenario.STORM)
FLEET_MEMORY: Final = Measurement("fleet-1000x3-mib", "MiB", Bound.AT_MOST, 1024, Scenario.STORM)
FLEET_CORES: Final = Measurement("fleet-1000x3-cores", "cores", Bound.AT_MOST, 2, Scenario.STORM)
LEADER_GAP: Final = Measurement("leader-gap-seconds", "s", Bound.AT_MOST, 17, Scenario.LEADER)
LEADER_DOUBLES: Final = Measurement("leader-double-creates", "Pods", Bound.EXACTLY, 0, Scenario.LEADER)
IDLE_REQUESTS: Final = Measurement("idle-200-writes", "requests", Bound.EXACTLY, 0, Scenario.IDLE)
IDLE_SHARE: Final = Measurement("idle-200-core-share", "cores", Bound.AT_MOST, 0.01, Scenario.IDLE)
RETIRE_LOST: Final = Measurement("retire-1000-lost-requests", "requests", Bound.EXACTLY, 0, Scenario.RETIRE)
RETIRE_IDLE: Final = Measurement("retire-idle-own-seconds", "s", Bound.AT_MOST, 3, Scenario.RETIRE)
RETIRE_PASS: Final = Measurement("retire-pass-ms", "ms", Bound.AT_MOST, 5, Scenario.SHRINK)
RETIRE_SHARE: Final = Measurement("retire-200-core-share", "cores", Bound.AT_MOST, 0.5, Scenario.SHRINK)
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
SCALER_SHARE: Final = Measurement("scaler-200-core-share", "cores", Bound.AT_MOST, 0.5, Scenario.SCALE)
SCALER_LAG: Final = Measurement("scaler-200-lag-p99-seconds", "s", Bound.AT_MOST, 15, Scenario.SCALE)
SCALER_SHADOW: Final = Measurement("scaler-1000-shadow-cores", "cores", Bound.AT_MOST, 1, Scenario.SHADOW)
PLAN_THREE: Final = Measurement("plan-3-roles-ms", "ms", Bound.AT_MOST, 1, Scenario.PLAN)
PLAN_WORST: Final = Measurement("plan-worst-10-roles-ms", "ms", Bound.AT_MOST, 50, Scenario.PLAN)
PARSER_RATIO: Final = Measurement("parser-ratio", "ratio", Bound.AT_LEAST, 20, Scenario.PARSE)

MEASUREMENTS: Final = (
    CREATE_RATIO,
    CREATE_PEER,
    GANG_RATIO,
    GANG_PEER,
    TEARDOWN_RATIO,
    GATE_LIFT,
    SET_ADMISSION,
    STATUS_WRITES,
    NOOP_WRITES,
    RESTART_RATIO,
    RESTART_WRITES,
    FLEET_RESTART_RATIO,
    FLEET_RESTART_WRITES,
    STORM_P99,
    FLEET_MEMORY,
    FLEET_CORES,
    LEADER_GAP,
    LEADER_DOUBLES,
    IDLE_REQUESTS,
    IDLE_SHARE,
    RETIRE_LOST,
    RETIRE_IDLE,
    RETIRE_PASS,
    RETIRE_SHARE,
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
    SCALER_SHARE,
    SCALER_LAG,
    SCALER_SHADOW,
    PLAN_THREE,
    PLAN_WORST,
    PARSER_RATIO,
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
