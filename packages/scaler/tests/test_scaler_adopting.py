"""A commit that nobody lived to tell is remembered as what it was for."""

from datetime import UTC, datetime, timedelta

from modeldeployment.api.binding import Decision
from modeldeployment.api.scalerstatus import Outcome, ScaledRoleStatus, ScalerStatus
from modeldeployment.scaler import adopting
from modeldeployment.scaler.planning.memory import Cohort, Commit, Exhaustion, Memory, ScaleDown
from modeldeployment.scaler.planning.observed import Target
from planning_worlds import policy, role, target

NOW = datetime(2030, 1, 1, tzinfo=UTC)
EARLIER = NOW - timedelta(seconds=400)


def decision(term: int = 3, **vector: int) -> Decision:
    return Decision(decision_id="d-9", term=term, vector=vector)


def told(**counts: int) -> ScalerStatus:
    """A status that says what was declared."""
    return ScalerStatus(
        roles=tuple(ScaledRoleStatus(name=name, current_replicas=each) for name, each in counts.items())
    )


def there(**counts: int) -> Target:
    """The deployment as it is declared now."""
    return target(*(role(name, count) for name, count in counts.items()), generation=8)


def test_a_decision_of_the_term_that_is_held_is_unknown_until_it_is_the_last_commit() -> None:
    known = Commit(decision_id="d-9", term=3, vector={}, baseline={}, at=NOW, target_generation=2)
    assert adopting.unknown(Memory(), decision(), 3)
    assert not adopting.unknown(Memory(last_commit=known), decision(), 3)
    assert not adopting.unknown(Memory(), decision(term=2), 3)
    assert not adopting.unknown(Memory(), None, 3)


def test_growth_becomes_a_cohort_from_the_counts_that_status_tells() -> None:
    found = adopting.adopt(
        Memory(), decision(prefill=4, decode=2), told(prefill=2, decode=2), there(prefill=4, decode=2), policy(), NOW
    )
    vector, baseline = {"prefill": 4, "decode": 2}, {"prefill": 2, "decode": 2}
    assert found.last_commit == Commit(
        decision_id="d-9", term=3, vector=vector, baseline=baseline, at=NOW, target_generation=8
    )
    assert found.cohort == Cohort(decision_id="d-9", term=3, baseline=baseline, target=vector, started_at=NOW)
    assert (found.roles["prefill"].grown_at, found.roles["prefill"].grown_from) == (NOW, 2)
    assert found.target_generation == 8


def test_shrinkage_names_the_replica_that_retires() -> None:
    found = adopting.adopt(Memory(), decision(server=2), told(server=3), there(server=2), policy(), NOW)
    assert found.last_scale_down == ScaleDown(role="server", ordinal=2, before={"server": 3}, outcome=Outcome.COMMITTED)
    assert found.cohort is None


def test_a_cohort_whose_baseline_stands_again_was_taken_back() -> None:
    pending = Cohort(decision_id="d-8", term=3, baseline={"server": 2}, target={"server": 4}, started_at=EARLIER)
    found = adopting.adopt(Memory(cohort=pending), decision(server=2), told(server=4), there(server=2), policy(), NOW)
    assert found.cohort is None
    assert found.exhaustion == Exhaustion(
        roles=("server",), baseline={"server": 2}, until=NOW + timedelta(seconds=600), rollbacks=1
    )


def test_a_scale_down_whose_counts_stand_again_was_restored() -> None:
    last = ScaleDown(role="server", ordinal=2, before={"server": 3}, outcome=Outcome.COMMITTED)
    found = adopting.adopt(
        Memory(last_scale_down=last), decision(server=3), told(server=2), there(server=3), policy(), NOW
    )
    assert found.last_scale_down == ScaleDown(
        role="server",
        ordinal=2,
        before={"server": 3},
        outcome=Outcome.ABORTED,
        aborted_at=NOW,
        cooldown_until=NOW + timedelta(seconds=300),
    )
    assert found.cohort is None


def test_a_role_that_status_does_not_tell_did_not_move() -> None:
    found = adopting.adopt(Memory(), decision(server=3), ScalerStatus(), there(server=3), policy(), NOW)
    assert found.last_commit is not None
    assert found.last_commit.baseline == {"server": 3}
    assert found.cohort is None
