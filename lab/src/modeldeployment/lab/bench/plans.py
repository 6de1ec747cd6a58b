"""How long one pass of planning takes: a usual deployment of three roles, and the slowest of many of ten."""

import gc
import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from modeldeployment.api import Quantity, RoleKind
from modeldeployment.api.scaler import ScalerSpec
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.lab.bench import goals
from modeldeployment.lab.bench.rows import Value
from modeldeployment.scaler.planning import plan, policy_of
from modeldeployment.scaler.planning.memory import Demanded, Memory, Recommended, RoleMemory
from modeldeployment.scaler.planning.observed import Reading, RoleReading, Seat, Target, TargetRole
from modeldeployment.scaler.planning.outcome import Plan
from modeldeployment.scaler.planning.policy import Policy

HISTORY: Final = 256
"""Entries that are remembered of each role, the most there are."""
INTERVAL: Final = 5
QUESTIONS: Final = 200
"""Deployments of ten roles that are looked at."""
ROLES: Final = 10
TURNS: Final = 5
SHORT_TURNS: Final = 50
_NOW: Final = datetime(2026, 1, 5, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Question:
    """Everything that one pass plans from."""

    policy: Policy
    target: Target
    reading: Reading
    memory: Memory

    def plan(self) -> Plan:
        """Plan once."""
        return plan(self.memory, self.reading, self.target, self.policy, now=_NOW, decision_id="bench", term=1)


def measure(questions: int = QUESTIONS) -> tuple[Value, ...]:
    """Plan for three roles, and for many deployments of ten; the best of several turns of each."""
    usual = _best(three_roles(), SHORT_TURNS)
    taken = sorted((_best(ten_roles(seed), TURNS), seed) for seed in range(questions))
    worst, seed = taken[-1]
    middle = taken[len(taken) // 2][0] * 1000
    return (
        Value(
            goals.PLAN_THREE,
            usual * 1000,
            f"Encode, Prefill and Decode with {HISTORY} samples each, best of {SHORT_TURNS}",
        ),
        Value(
            goals.PLAN_WORST,
            worst * 1000,
            f"the slowest of {questions}, number {seed}: {ROLES} roles, {ROLES + 2} ratios; median {middle:.1f} ms",
        ),
    )


def three_roles() -> Question:
    """The example of spec 3: Prefill and Decode by token rates, and Encode coupled to Prefill."""
    spec = {
        "targetRef": {"name": "chat"},
        "roles": [{"name": name, "minReplicas": 1, "maxReplicas": 64} for name in ("encode", "prefill", "decode")],
        "ratios": [
            {"numeratorRole": "prefill", "denominatorRole": "decode", "target": "1", "min": "0.5", "max": "2"},
            {"numeratorRole": "encode", "denominatorRole": "prefill", "target": "0.5"},
        ],
        "algorithm": {
            "type": "TokenThroughput",
            "tokenThroughput": {
                "prefillTargetTokensPerSecond": "2000",
                "decodeTargetTokensPerSecond": "800",
                "stableWindowSeconds": 600,
                "panicWindowSeconds": 300,
            },
        },
    }
    roles = (("encode", RoleKind.ENCODE, 4), ("prefill", RoleKind.PREFILL, 8), ("decode", RoleKind.DECODE, 8))
    return _question(spec, roles, random.Random(0), busy=1.1)


def ten_roles(seed: int) -> Question:
    """Ten roles in a circle of ratios and a few across it, far from where each should be, with room to go anywhere."""
    chance = random.Random(seed)
    names = [f"role-{number}" for number in range(ROLES)]
    pairs = [(number, (number + 1) % ROLES) for number in range(ROLES)] + [(0, ROLES // 2), (2, 7)]
    ratios = []
    for numerator, denominator in pairs:
        low = chance.randrange(200, 700)
        ratios.append(
            {
                "numeratorRole": names[numerator],
                "denominatorRole": names[denominator],
                "min": f"0.{low:03d}",
                "target": f"1.{chance.randrange(1000):03d}",
                "max": f"{chance.randrange(2, 4)}.{chance.randrange(1000):03d}",
            }
        )
    spec = {
        "targetRef": {"name": "chat"},
        "roles": [{"name": name, "minReplicas": 1, "maxReplicas": 1024} for name in names],
        "ratios": ratios,
        "algorithm": {
            "type": "Proportional",
            "proportional": {"metric": "QueueDepth", "roleTargets": [{"name": name, "target": "1"} for name in names]},
        },
        "behavior": {"scaleUp": {"maxStepReplicas": 1024, "maxStepPercent": 1000}},
    }
    roles = tuple((name, RoleKind.SERVER, 100) for name in names)
    return _question(spec, roles, chance, busy=4.0)


def _question(
    spec: dict[str, Any], roles: tuple[tuple[str, RoleKind, int], ...], chance: random.Random, *, busy: float
) -> Question:
    """Roles that have run for as long as anything is remembered, and are asked for up to `busy` times what they do."""
    readings: dict[str, RoleReading] = {}
    remembered: dict[str, RoleMemory] = {}
    for name, kind, count in roles:
        rate = 800 if kind is RoleKind.DECODE else 2000
        demand = round(count * rate * chance.uniform(0.5, busy))
        waiting = round(count * chance.uniform(0.25, busy))
        instants = [_NOW - timedelta(seconds=INTERVAL * ago) for ago in range(HISTORY, 0, -1)]
        readings[name] = RoleReading(
            state=SignalState.FRESH,
            ready=count,
            complete=True,
            at=_NOW,
            running_requests=0,
            waiting_requests=waiting,
            prompt_tokens_per_second=Quantity.parse(str(demand)),
            generation_tokens_per_second=Quantity.parse(str(demand)),
            ttft_milliseconds=Quantity.parse("250"),
            itl_milliseconds=Quantity.parse("20"),
        )
        remembered[name] = RoleMemory(
            recommended=tuple(Recommended(at=at, replicas=count) for at in instants),
            demanded=tuple(
                Demanded(at=at, tokens_per_second=Quantity.parse(str(round(demand * chance.uniform(0.9, 1.1)))))
                for at in instants
            ),
        )
    target = Target(
        name="chat",
        uid="target",
        generation=1,
        roles=tuple(
            TargetRole(
                name=name,
                kind=kind,
                replicas=count,
                instance_type="h100",
                seats=tuple(Seat(ordinal=each, admitted=True, ready=True) for each in range(count)),
            )
            for name, kind, count in roles
        ),
    )
    memory = Memory(roles=remembered, policy_generation=1, target_generation=1)
    policy = policy_of(ScalerSpec.model_validate(spec), 1)
    return Question(policy, target, Reading(roles=readings), memory)


def _best(question: Question, turns: int) -> float:
    """Seconds of the fastest turn."""
    taken = []
    gc.collect()
    for _ in range(turns):
        began = time.perf_counter()
        question.plan()
        taken.append(time.perf_counter() - began)
    return min(taken)
