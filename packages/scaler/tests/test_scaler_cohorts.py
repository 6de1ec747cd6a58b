"""Spec 3 §Pacing and guards: a scale-up until it is admitted or taken back whole; decisions D36, D39, D41."""

from datetime import timedelta
from typing import Any

import pytest
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.memory import Memory
from modeldeployment.scaler.planning.outcome import Move, Plan
from planning_passes import (
    aborted,
    agreed,
    committed,
    counted,
    growing,
    paced,
    passed,
    read,
    short,
    shrinking,
    spent,
    words,
)
from planning_worlds import NOON, at, memory, role, target

BEFORE, AFTER = {"prefill": 2, "decode": 2}, {"prefill": 3, "decode": 4}


def _late(seconds: int = 301, **fields: Any) -> Plan:
    before = growing(BEFORE, AFTER, seconds=-seconds, **fields)
    return passed(read(prefill=3, decode=4), target(role("prefill", 3), short("decode", 4, 3)), paced(), before)


def test_growth_is_remembered_as_a_cohort_of_the_whole_vector() -> None:
    plan = passed(read(prefill=3, decode=4), counted(**BEFORE), paced())
    assert plan.move is Move.PLANNED
    assert plan.committed is not None
    cohort = plan.committed.cohort
    assert cohort is not None
    assert (cohort.decision_id, cohort.term, cohort.started_at) == ("d-2", 1, NOON)
    assert (cohort.baseline, cohort.target) == (BEFORE, AFTER)
    assert plan.memory.cohort is None
    grown = plan.committed.roles["decode"]
    assert (grown.grown_at, grown.grown_from) == (NOON, 2)


def test_shrinking_makes_no_cohort() -> None:
    plan = passed(read(prefill=2, decode=1), counted(**BEFORE), paced(), memory(roles=agreed(prefill=2, decode=1)))
    assert plan.committed is not None
    assert plan.committed.cohort is None
    assert plan.committed.roles["decode"].grown_at is None


def test_a_cohort_is_over_when_every_added_ordinal_is_admitted() -> None:
    before = growing(BEFORE, AFTER, exhaustion=spent("decode", baseline=BEFORE, until=-1))
    plan = passed(read(prefill=3, decode=4), counted(**AFTER), paced(), before)
    assert (plan.move, plan.memory.cohort, plan.memory.exhaustion) == (None, None, None)


def test_it_is_not_over_while_one_of_them_is_not() -> None:
    plan = _late(60)
    assert (plan.move, plan.memory.cohort) == (None, growing(BEFORE, AFTER).cohort)


def test_at_the_very_end_of_its_time_it_waits_yet() -> None:
    assert _late(300).move is None


def test_after_its_time_the_whole_baseline_is_restored_in_one_write() -> None:
    plan = _late(301)
    assert (plan.move, plan.vector) == (Move.ROLLBACK, BEFORE)
    assert words(plan)["Blocked"] == "ResourceExhausted"
    assert plan.findings[1].cause is Cause.COHORT_TIMED_OUT
    assert plan.findings[1].numbers == {
        "since": "2026-01-05T11:54:59+00:00",
        "timeout": 300,
        "rebalance": "ResourceExhausted",
    }
    assert plan.committed is not None
    assert plan.committed.cohort is None
    assert plan.committed.last_commit is not None
    assert plan.committed.last_commit.vector == BEFORE
    assert plan.memory.cohort is not None


def test_the_roles_that_found_no_quota_are_the_exhausted_ones() -> None:
    exhaustion = _committed(_late()).exhaustion
    assert exhaustion is not None
    assert (exhaustion.roles, exhaustion.baseline, exhaustion.rollbacks) == (("decode",), BEFORE, 1)


@pytest.mark.parametrize(
    ("pending", "rollbacks", "seconds"),
    [(300, 0, 600), (300, 1, 1200), (300, 2, 1800), (300, 60, 1800), (60, 0, 120), (60, 3, 960), (1200, 0, 1800)],
)
def test_the_next_try_waits_twice_as_long_after_each_rollback_up_to_half_an_hour(
    pending: int, rollbacks: int, seconds: int
) -> None:
    known = spent("decode", baseline=BEFORE, until=-1, rollbacks=rollbacks) if rollbacks else None
    before = growing(BEFORE, AFTER, seconds=-1201, exhaustion=known)
    standing = target(role("prefill", 3), short("decode", 4, 3))
    plan = passed(read(prefill=3, decode=4), standing, paced(pending=pending), before)
    exhaustion = _committed(plan).exhaustion
    assert exhaustion is not None
    assert (exhaustion.until - NOON, exhaustion.rollbacks) == (timedelta(seconds=seconds), rollbacks + 1)


def test_a_rollback_begins_an_episode_named_by_the_generation_of_the_target() -> None:
    episode = _committed(_late()).rebalance
    assert episode is not None
    assert (episode.reason.value, episode.episode, episode.attempted) == ("ResourceExhausted", 1, False)


def test_a_rollback_is_written_whatever_forbids_to_shrink() -> None:
    assert _late(last_scale_down=aborted(until=60)).move is Move.ROLLBACK


def test_growth_that_landed_in_the_same_pool_ends_the_wait_of_exhausted_roles() -> None:
    grown = {"prefill": 3, "decode": 2}
    before = growing(BEFORE, grown, exhaustion=spent("decode", baseline=BEFORE))
    plan = passed(read(prefill=3, decode=2), counted(**grown), paced(), before)
    assert plan.memory.exhaustion is None
    apart = target(role("prefill", 3, instance_type="a10"), role("decode", 2))
    assert passed(read(prefill=3, decode=2), apart, paced(), before).memory.exhaustion is not None


def test_a_cohort_that_shrank_away_has_not_landed() -> None:
    before = growing(BEFORE, BEFORE, exhaustion=spent("decode", baseline=BEFORE))
    plan = passed(read(prefill=2, decode=2), counted(**BEFORE), paced(), before)
    assert plan.memory.cohort is None
    assert plan.memory.exhaustion is not None


def test_an_aborted_scale_down_does_not_bring_back_what_a_rollback_took() -> None:
    # decode shrank from 3 to 2 while prefill's third replica was pending, and then that was taken back
    before = shrinking(
        {"prefill": 3, "decode": 3},
        {"prefill": 3, "decode": 2},
        cohort=growing({"prefill": 2, "decode": 2}, {"prefill": 3, "decode": 2}, seconds=-301).cohort,
    )
    plan = passed(read(prefill=3, decode=2), target(short("prefill", 3, 2), role("decode", 2)), paced(), before)
    assert (plan.move, plan.vector) == (Move.ROLLBACK, {"prefill": 2, "decode": 2})
    last = _committed(plan).last_scale_down
    assert last is not None
    assert last.before == {"prefill": 2, "decode": 3}


def test_nothing_is_planned_from_a_target_of_before_our_own_write() -> None:
    before = memory(target_generation=3, last_commit=committed(AFTER, BEFORE, generation=3))
    plan = passed(read(prefill=9, decode=9), counted(2, **BEFORE), paced(), before)
    assert (plan.move, plan.vector, plan.memory.target_generation) == (None, BEFORE, 3)


def test_growth_that_is_asked_for_again_is_another_cohort() -> None:
    before = memory(exhaustion=spent("decode", baseline=BEFORE, until=0))
    plan = passed(read(prefill=2, decode=4), counted(**BEFORE), paced(), before, now=at(0))
    assert plan.vector == {"prefill": 2, "decode": 4}
    assert _committed(plan).exhaustion is not None


def _committed(plan: Plan) -> Memory:
    assert plan.committed is not None
    return plan.committed
