"""Whole runs of each algorithm, written as a journal and read again, are repeated bit for bit."""

from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from modeldeployment.api import RoleKind
from modeldeployment.api.scaler import ScalerSpec
from modeldeployment.scaler.backtesting import contenders
from modeldeployment.scaler.backtesting.contests import planner
from modeldeployment.scaler.backtesting.fleets import Fleet, Group
from modeldeployment.scaler.backtesting.fluid import Fluid
from modeldeployment.scaler.backtesting.playing import play
from modeldeployment.scaler.backtesting.traces import Arrival, Trace
from modeldeployment.scaler.journal import Line, decode, difference, encode, repeat
from modeldeployment.scaler.planning import Memory, Plan, Reading, Target, policy_of

PAIR = Fleet(
    (
        Group("prefill", RoleKind.PREFILL, peak=900, minimum=1, maximum=12),
        Group("decode", RoleKind.DECODE, peak=110, minimum=1, maximum=12),
    ),
    cold_seconds=45,
)
LEVELS = (1, 5, 2, 8)
UNEVEN = Trace(
    "uneven",
    tuple(Arrival(level, 311 * level + at % 7, 37 * level + at % 11) for level in LEVELS for at in range(300)),
)
SPECS = contenders.of(PAIR, UNEVEN, 15, Fraction(4, 5))


def recorded(spec: Mapping[str, Any]) -> list[Line]:
    """The journal of a whole run."""
    once = planner(policy_of(ScalerSpec.model_validate(spec), 3))
    lines: list[Line] = []

    def noting(memory: Memory, reading: Reading, target: Target, now: datetime, decision_id: str) -> Plan:
        plan = once(memory, reading, target, now, decision_id)
        lines.append(
            Line(
                at=now,
                namespace="default",
                name="chat",
                scaler_uid="scaler-1",
                generation=3,
                spec=dict(spec),
                target=target,
                reading=reading,
                memory=memory,
                decision_id=decision_id,
                term=1,
                plan=plan,
            )
        )
        return plan

    play(Fluid(UNEVEN, PAIR, [2, 2]), noting, len(UNEVEN.seconds), 15)
    return lines


@pytest.mark.parametrize("algorithm", sorted(SPECS))
def test_every_pass_of_a_run_is_repeated_bit_for_bit(algorithm: str) -> None:
    lines = recorded(SPECS[algorithm])
    assert len(lines) == 80
    assert sum(line.plan is not None and line.plan.move is not None for line in lines) > 1
    for line in lines:
        read = decode(encode(line))
        assert read == line
        assert read.plan is not None
        assert difference(read.plan, repeat(read)) is None


@pytest.mark.parametrize("algorithm", sorted(SPECS))
def test_a_pass_over_a_replica_more_is_another_pass(algorithm: str) -> None:
    line = next(each for each in recorded(SPECS[algorithm]) if each.plan is not None and each.plan.move is not None)
    role, *others = line.target.roles
    more = msgspec.structs.replace(role, replicas=role.replicas + 1)
    changed = msgspec.structs.replace(line, target=msgspec.structs.replace(line.target, roles=(more, *others)))
    assert line.plan is not None
    assert difference(line.plan, repeat(changed)) is not None
