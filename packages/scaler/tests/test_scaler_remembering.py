"""What planning remembers outlives the process: status says all of it, and says it the way it was."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.api import Condition, ConditionStatus, Quantity
from modeldeployment.api.scalerconditions import RebalanceReason, ScalerReason
from modeldeployment.api.scalerstatus import Outcome, ScaledRoleStatus, ScalerStatus
from modeldeployment.scaler import remembering
from modeldeployment.scaler.planning.memory import (
    Cohort,
    Commit,
    Demanded,
    Exhaustion,
    Filter,
    Memory,
    Rebalance,
    Recommended,
    RoleMemory,
    ScaleDown,
)

START = datetime(2030, 1, 1, tzinfo=UTC)
ROLES = ("prefill", "decode", "encode")

instants = st.integers(0, 10**6).map(lambda seconds: START + timedelta(seconds=seconds))
counts = st.integers(1, 1024)
names = st.sampled_from(ROLES)
vectors = st.dictionaries(names, counts)
amounts = st.integers(0, 10**18).map(Quantity)
numbers = st.integers(-(10**17), 10**17).map(lambda nanos: nanos / 10**9)
filters = st.builds(
    Filter,
    level=numbers,
    trend=numbers,
    p00=numbers,
    p01=numbers,
    p10=numbers,
    p11=numbers,
    count=st.integers(0, 10**6),
    at=instants,
)
roles = st.builds(
    RoleMemory,
    recommended=st.lists(st.builds(Recommended, at=instants, replicas=counts), max_size=4).map(tuple),
    demanded=st.lists(st.builds(Demanded, at=instants, tokens_per_second=amounts), max_size=4).map(tuple),
    filter=st.none() | filters,
    grown_at=st.none() | instants,
    grown_from=st.none() | counts,
)
commits = st.builds(
    Commit,
    decision_id=st.text("abc-123", min_size=1),
    term=counts,
    vector=vectors,
    baseline=vectors,
    at=instants,
    target_generation=counts,
)
memories = st.builds(
    Memory,
    roles=st.fixed_dictionaries(dict.fromkeys(ROLES, roles)),
    last_commit=st.none() | commits,
    cohort=st.none()
    | st.builds(Cohort, decision_id=st.just("d"), term=counts, baseline=vectors, target=vectors, started_at=instants),
    rebalance=st.none()
    | st.builds(
        Rebalance,
        reason=st.sampled_from(
            (*RebalanceReason, ScalerReason.REBALANCE_BLOCKED, ScalerReason.REBALANCE_NOT_APPLICABLE)
        ),
        episode=counts,
        receiver=st.none() | names,
        donor=st.none() | names,
        donor_replicas=st.none() | counts,
        receiver_replicas=st.none() | counts,
        started_at=st.none() | instants,
        attempted=st.booleans(),
    ),
    last_scale_down=st.none()
    | st.builds(
        ScaleDown,
        role=names,
        ordinal=st.integers(0, 1023),
        before=vectors,
        outcome=st.sampled_from(Outcome),
        aborted_at=st.none() | instants,
        cooldown_until=st.none() | instants,
    ),
    exhaustion=st.none()
    | st.builds(Exhaustion, roles=st.lists(names).map(tuple), baseline=vectors, until=instants, rollbacks=counts),
    policy_generation=counts,
).map(lambda each: each if each.last_commit is None else _after(each, each.last_commit))


def _after(memory: Memory, commit: Commit) -> Memory:
    fields: dict[str, Any] = {name: getattr(memory, name) for name in Memory.__struct_fields__}
    return Memory(**{**fields, "target_generation": commit.target_generation})


def written(memory: Memory) -> ScalerStatus:
    """A status that keeps this memory, as it comes back from the API server."""
    status = ScalerStatus(
        roles=tuple(
            ScaledRoleStatus(name=name, **remembering.kept_of_role(role)) for name, role in memory.roles.items()
        ),
        conditions=(
            Condition(type="Bound", status=ConditionStatus.TRUE, observed_generation=5000),
            Condition(type="Blocked", status=ConditionStatus.FALSE, observed_generation=memory.policy_generation),
        ),
        **remembering.kept(memory),
    )
    return ScalerStatus.model_validate(json.loads(json.dumps(status.body())))


@given(memories)
def test_status_gives_back_what_was_remembered(memory: Memory) -> None:
    assert remembering.memory_of(written(memory)) == memory


@given(st.floats(-1e29, 1e29))
def test_a_filter_is_kept_to_a_nano_unit_and_then_never_changes(level: float) -> None:
    kept = Filter(level=level, trend=0, p00=1, p01=0, p10=0, p11=1, count=1, at=START)
    memory = Memory(roles={"server": RoleMemory(filter=kept)})
    once = remembering.memory_of(written(memory))
    found = once.roles["server"].filter
    assert found is not None
    assert abs(found.level - level) <= 1e-9
    assert remembering.memory_of(written(once)) == once


@pytest.mark.parametrize("level", [float("inf"), float("nan"), 1e300])
def test_a_filter_that_ran_away_is_forgotten_and_its_history_is_not(level: float) -> None:
    lost = Filter(level=level, trend=0, p00=1, p01=0, p10=0, p11=1, count=9, at=START)
    history = (Demanded(at=START, tokens_per_second=Quantity.whole(7)),)
    memory = Memory(roles={"server": RoleMemory(filter=lost, demanded=history)})
    assert remembering.memory_of(written(memory)).roles["server"] == RoleMemory(demanded=history)


def test_a_fresh_scaler_remembers_nothing() -> None:
    assert remembering.memory_of(ScalerStatus()) == Memory()


def test_the_generation_that_was_planned_for_is_that_of_the_conditions_that_planning_writes() -> None:
    left = Condition(type="MetricsReady", status=ConditionStatus.TRUE, observed_generation=3)
    early = Condition(type="Bound", status=ConditionStatus.FALSE, observed_generation=4)
    status = ScalerStatus(observed_generation=4, conditions=(early, left))
    assert remembering.memory_of(status).policy_generation == 3


def test_a_word_that_a_later_release_wrote_is_forgotten() -> None:
    status = ScalerStatus.model_validate(
        {
            "rebalance": {"reason": "Negotiating"},
            "lastScaleDown": {"role": "decode", "ordinal": 1, "preScaleDownVector": {}, "outcome": "Vanished"},
        }
    )
    assert remembering.memory_of(status) == Memory()


def test_a_filter_that_an_earlier_release_kept_was_last_fed_by_the_newest_of_its_history() -> None:
    status = ScalerStatus.model_validate(
        {
            "predictors": [
                {
                    "name": "prefill",
                    "level": "2400",
                    "trend": "10",
                    "covariance": {"p00": "1", "p01": "0", "p10": "0", "p11": "1"},
                    "sampleCount": 6,
                    "history": [{"timestamp": "2030-01-01T00:00:00Z", "tokensPerSecond": "2400"}],
                }
            ]
        }
    )
    kept = remembering.memory_of(status).roles["prefill"].filter
    assert kept == Filter(level=2400, trend=10, p00=1, p01=0, p10=0, p11=1, count=6, at=START)
