"""Spec 3 §Pacing and guards: what growth and shrinkage wait for, row by row; decisions D39 and D41."""

from datetime import datetime

import pytest
from modeldeployment.api import RetirementState
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.observed import Reading, Seat
from modeldeployment.scaler.planning.outcome import Plan
from planning_passes import (
    aborted,
    agreed,
    asking,
    counted,
    growing,
    held,
    leaving,
    paced,
    passed,
    read,
    retiring,
    short,
    spent,
    words,
)
from planning_worlds import at, flowing, memory, policy, reading, remembered, role, steady, target, token

IDLE = agreed(prefill=1, decode=1)


def test_nothing_keeps_a_quiet_role_from_shrinking() -> None:
    plan = passed(read(prefill=2, decode=1), counted(prefill=2, decode=3), paced(), memory(roles=IDLE))
    assert plan.vector == {"prefill": 2, "decode": 2}
    assert held(plan, "decode") == [Cause.DOWN_STEP]


def test_shrinking_waits_while_no_replica_of_the_role_is_ready() -> None:
    seen = Reading(roles={"prefill": asking(2), "decode": asking(1, ready=0)})
    plan = passed(seen, counted(prefill=2, decode=3), paced(), memory(roles=IDLE))
    assert plan.vector == {"prefill": 2, "decode": 3}
    assert words(plan)["decode"] == "NoReadyReplicas"


def test_shrinking_waits_while_coverage_is_incomplete_and_growing_does_not() -> None:
    seen = Reading(roles={"prefill": asking(4, complete=False), "decode": asking(1, complete=False)})
    plan = passed(seen, counted(prefill=2, decode=3), paced(), memory(roles=IDLE))
    assert plan.vector == {"prefill": 4, "decode": 3}
    assert Cause.COVERAGE_INCOMPLETE in held(plan, "decode")
    assert words(plan) == {
        "prefill": "Proportional",
        "decode": "PacingBounded",
        "MetricsReady": "WaitingForMetrics",
        "Blocked": "PacingBounded",
    }


def test_a_role_that_was_not_read_does_not_shrink() -> None:
    plan = passed(read(prefill=2), counted(prefill=2, decode=3), paced(), memory(roles=IDLE))
    assert plan.vector == {"prefill": 2, "decode": 3}
    assert words(plan)["MetricsReady"] == "WaitingForMetrics"


def test_shrinking_waits_while_the_algorithm_holds_it() -> None:
    # nothing was ever served, so no latency is known
    settled = memory(roles={"server": remembered(recommended=steady(1, until=-15))})
    seen = Reading(roles={"server": reading(state=SignalState.IDLE, ttft=None, itl=None)})
    plan = passed(seen, target(role("server", 2)), policy(token()), settled)
    assert plan.vector == {"server": 2}


@pytest.mark.parametrize("state", [each for each in RetirementState if each is not RetirementState.COMPLETED])
def test_shrinking_waits_while_a_retirement_is_active_anywhere(state: RetirementState) -> None:
    standing = counted(1, retiring("prefill", 2, state), prefill=2, decode=3)
    plan = passed(read(prefill=2, decode=1), standing, paced(), memory(roles=IDLE))
    assert plan.vector == {"prefill": 2, "decode": 3}
    assert held(plan, "decode") == [Cause.DOWN_STEP, Cause.RETIREMENT_ACTIVE]


def test_shrinking_waits_until_replicas_beyond_the_count_have_left_with_their_workloads() -> None:
    standing = target(leaving("prefill", 2), role("decode", 3))
    plan = passed(read(prefill=2, decode=1), standing, paced(), memory(roles=IDLE))
    assert plan.vector == {"prefill": 2, "decode": 3}
    assert plan.trail[-1].numbers == {"role": "prefill", "ordinal": 2, "state": "Surplus"}


@pytest.mark.parametrize(("until", "count"), [(1, 3), (0, 2)])
def test_shrinking_waits_out_the_cooldown_after_an_abort_which_has_ended_at_its_end(until: int, count: int) -> None:
    before = memory(roles=IDLE, last_scale_down=aborted(until=until, role="prefill"))
    plan = passed(read(prefill=2, decode=1), counted(prefill=2, decode=3), paced(), before)
    assert plan.vector == {"prefill": 2, "decode": count}
    assert words(plan)["Blocked"] == ("ScaleDownAborted" if count == 3 else "PacingBounded")


@pytest.mark.parametrize(("ago", "count"), [(119, 3), (120, 2)])
def test_a_decode_role_keeps_what_it_has_for_its_grace_which_has_ended_at_its_end(ago: int, count: int) -> None:
    plan = _after_growth("decode", ago)
    assert plan.vector["decode"] == count


def test_the_grace_is_for_decode_roles_only() -> None:
    assert _after_growth("prefill", 1).vector == {"prefill": 2, "decode": 3}


def test_a_pending_unadmitted_workload_prevents_further_growth_of_its_role() -> None:
    standing = target(short("prefill", 3, 2, waiting=True), role("decode", 2))
    plan = passed(read(prefill=9, decode=4), standing, paced())
    assert plan.vector == {"prefill": 3, "decode": 4}
    assert held(plan, "prefill") == [Cause.UP_STEP, Cause.WORKLOAD_PENDING]
    assert words(plan)["prefill"] == "PacingBounded"


def test_while_a_cohort_is_pending_no_role_grows() -> None:
    before = growing({"prefill": 2, "decode": 2}, {"prefill": 3, "decode": 2})
    plan = passed(read(prefill=3, decode=9), target(short("prefill", 3, 2), role("decode", 2)), paced(), before)
    assert plan.vector == {"prefill": 3, "decode": 2}
    assert held(plan, "decode") == [Cause.UP_STEP, Cause.COHORT_PENDING]


def test_while_a_cohort_is_pending_roles_shrink() -> None:
    before = growing({"prefill": 2, "decode": 3}, {"prefill": 3, "decode": 3}, roles=agreed(prefill=3, decode=1))
    plan = passed(read(prefill=3, decode=1), target(short("prefill", 3, 2), role("decode", 3)), paced(), before)
    assert plan.vector == {"prefill": 3, "decode": 2}
    assert plan.committed is not None
    assert plan.committed.cohort is not None
    assert plan.committed.cohort.baseline == {"prefill": 2, "decode": 2}
    assert plan.committed.cohort.target == {"prefill": 3, "decode": 2}


@pytest.mark.parametrize(("until", "count"), [(1, 3), (0, 6)])
def test_exhausted_roles_grow_back_to_their_baseline_and_no_further(until: int, count: int) -> None:
    before = memory(exhaustion=spent("prefill", baseline={"prefill": 3, "decode": 2}, until=until))
    plan = passed(read(prefill=9, decode=2), counted(prefill=2, decode=2), paced(), before)
    assert plan.vector == {"prefill": count, "decode": 2}


def test_roles_that_are_not_exhausted_grow() -> None:
    before = memory(exhaustion=spent("prefill", baseline={"prefill": 2, "decode": 2}))
    plan = passed(read(prefill=9, decode=4), counted(prefill=2, decode=2), paced(), before)
    assert plan.vector == {"prefill": 2, "decode": 4}
    assert words(plan) == {
        "prefill": "ResourceExhausted",
        "decode": "Proportional",
        "MetricsReady": "Observed",
        "Blocked": "ResourceExhausted",
    }


def test_exhaustion_is_told_while_it_lasts_though_nobody_asks_for_more() -> None:
    before = memory(exhaustion=spent("prefill", baseline={"prefill": 2, "decode": 2}))
    plan = passed(read(prefill=2, decode=2), counted(prefill=2, decode=2), paced(), before)
    assert words(plan)["Blocked"] == "ResourceExhausted"
    assert words(plan)["prefill"] == "WithinTolerance"
    assert plan.findings[1].roles == ("prefill",)


def test_growth_is_asked_for_again_only_where_the_last_has_landed() -> None:
    # decisions D16 and D36: a p95 far above its target asks for one more, but not while replicas are on their way
    assert _slow(2, ready=2).vector == {"server": 3}
    assert _slow(3, ready=2, grown_at=at(-599), grown_from=2).vector == {"server": 3}
    assert _slow(3, ready=3, grown_at=at(-599), grown_from=2).vector == {"server": 4}
    assert _slow(3, ready=2, grown_at=at(-600), grown_from=2).vector == {"server": 4}


def _slow(replicas: int, *, ready: int, grown_at: datetime | None = None, grown_from: int | None = None) -> Plan:
    seats = tuple(Seat(ordinal=each, admitted=True, ready=each < ready) for each in range(replicas))
    seen = Reading(roles={"server": reading(ready=ready, ttft=900, prompt=10)})
    known = remembered(
        recommended=steady(replicas, until=-15), demanded=flowing(10), grown_at=grown_at, grown_from=grown_from
    )
    before = memory(roles={"server": known})
    return passed(seen, target(role("server", replicas, seats=seats)), policy(token()), before)


def _after_growth(name: str, ago: int) -> Plan:
    known = remembered(recommended=steady(1, until=-15), grown_at=at(-ago), grown_from=2)
    before = memory(roles={**IDLE, name: known})
    seen = read(**{"prefill": 3, "decode": 3, name: 1})
    return passed(seen, counted(prefill=3, decode=3), paced(), before)
