"""Spec 3 §Bounds and ratios, sentence by sentence; facts scaler §4 and example 10."""

from modeldeployment.api.scaler import StepPolicy, StepType
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.observed import Reading
from modeldeployment.scaler.planning.ratios import allows, components, join, kept, meet
from planning_passes import PAIR, agreed, asking, counted, held, paced, passed, read, words
from planning_worlds import band, memory, policy, proportional, role, target

HALF_TO_TWO = band("prefill", "decode", low="0.5", high=2)
THIRD = band("prefill", "decode", low="0.333333333", target="0.333333333", high="0.333333333")


def test_every_target_role_needs_bounds() -> None:
    plan = passed(read(prefill=4), counted(prefill=2, decode=2), paced({"prefill": (1, 16)}))
    assert (plan.vector, plan.move) == ({"prefill": 2, "decode": 2}, None)
    assert words(plan) == {
        "prefill": "BoundsConflict",
        "MetricsReady": "BoundsConflict",
        "Blocked": "BoundsConflict",
    }
    assert plan.findings[1].cause is Cause.BOUNDS_MISSING
    assert plan.findings[1].roles == ("decode",)


def test_bounds_that_exclude_the_current_vector_stop_planning() -> None:
    plan = passed(read(prefill=9, decode=9), counted(prefill=5, decode=2), paced({"prefill": (1, 4), "decode": (1, 9)}))
    assert (plan.vector, plan.move) == ({"prefill": 5, "decode": 2}, None)
    blocked = plan.findings[1]
    assert (blocked.cause, blocked.roles) == (Cause.OUTSIDE_BOUNDS, ("prefill",))
    assert blocked.numbers == {"replicas": 5, "minimum": 1, "maximum": 4}


def test_a_scaled_role_that_the_deployment_lacks_counts_as_none() -> None:
    plan = passed(read(prefill=9), counted(prefill=2), paced())
    assert plan.findings[1].numbers == {"replicas": 0, "minimum": 1, "maximum": 16}


def test_a_vector_outside_a_ratio_band_stops_planning() -> None:
    plan = passed(read(prefill=9, decode=9), counted(prefill=5, decode=2), paced(bands=(HALF_TO_TWO,)))
    assert (plan.vector, plan.move) == ({"prefill": 5, "decode": 2}, None)
    blocked = plan.findings[1]
    assert (blocked.cause, blocked.roles) == (Cause.OUTSIDE_RATIO, ("prefill", "decode"))
    assert blocked.numbers == {"numerator": "prefill", "denominator": "decode", "low": "500m", "high": "2"}
    assert words(plan)["decode"] == "RatioConflict"


def test_history_goes_on_while_nothing_is_planned() -> None:
    plan = passed(read(prefill=9, decode=9), counted(prefill=5, decode=2), paced(bands=(HALF_TO_TWO,)))
    assert [entry.replicas for entry in plan.memory.roles["prefill"].recommended] == [9]


def test_both_ends_of_a_band_are_inside() -> None:
    assert kept(HALF_TO_TWO, {"prefill": 4, "decode": 2})
    assert kept(HALF_TO_TWO, {"prefill": 2, "decode": 4})
    assert not kept(HALF_TO_TWO, {"prefill": 5, "decode": 2})
    assert not kept(HALF_TO_TWO, {"prefill": 2, "decode": 5})


def test_the_comparison_tolerates_the_rounding_of_a_written_ratio() -> None:
    assert kept(THIRD, {"prefill": 1, "decode": 3})
    assert kept(THIRD, {"prefill": 341, "decode": 1023})
    assert not kept(THIRD, {"prefill": 341, "decode": 1024})
    assert not kept(THIRD, {"prefill": 342, "decode": 1023})


def test_a_target_without_bounds_is_a_preference() -> None:
    assert kept(band("prefill", "decode", target=1), {"prefill": 1, "decode": 1024})


def test_facts_example_10_the_nearest_feasible_vector() -> None:
    plan = passed(
        Reading(roles={"prefill": asking(6), "decode": asking(2)}),
        counted(prefill=2, decode=2),
        paced(bands=(HALF_TO_TWO,)),
    )
    assert plan.vector == {"prefill": 6, "decode": 3}
    ratio = next(step for step in plan.trail if step.cause is Cause.RATIO)
    assert (ratio.role, ratio.before, ratio.after) == ("decode", 2, 3)


def test_the_whole_vector_is_committed_in_one_write() -> None:
    plan = passed(read(prefill=4, decode=3), counted(prefill=2, decode=2), paced())
    assert plan.committed is not None
    assert plan.committed.last_commit is not None
    assert plan.committed.last_commit.vector == {"prefill": 4, "decode": 3}
    assert plan.committed.last_commit.baseline == {"prefill": 2, "decode": 2}
    assert plan.committed.last_commit.target_generation == plan.committed.target_generation == 2


def test_an_upward_recommendation_gives_its_component_an_upward_direction() -> None:
    seen, standing, before = (
        read(prefill=3, decode=1),
        counted(prefill=2, decode=3),
        memory(roles=agreed(prefill=3, decode=1)),
    )
    assert passed(seen, standing, paced(), before).vector == {"prefill": 3, "decode": 2}
    joined = paced(bands=(band("prefill", "decode", low="0.1", high=10),))
    assert passed(seen, standing, joined, before).vector == {"prefill": 3, "decode": 3}


def test_without_one_no_role_of_the_component_grows() -> None:
    # prefill alone would go to 1 and pull nothing; a preference for three decodes each does not make decode grow
    preferring = paced(bands=(band("prefill", "decode", target="0.2"),))
    plan = passed(
        read(prefill=1, decode=2), counted(prefill=2, decode=2), preferring, memory(roles=agreed(prefill=1, decode=2))
    )
    assert plan.vector == {"prefill": 1, "decode": 2}


def test_ratio_targets_break_ties() -> None:
    # encode has no recommendation: of 1 to 5 the count nearest to half of six is taken
    coupled = policy(
        proportional({"prefill": 8}),
        bounds={"encode": (1, 8), "prefill": (1, 16)},
        bands=(band("encode", "prefill", target="0.5"),),
    )
    plan = passed(read(encode=0, prefill=6), counted(encode=1, prefill=2), coupled)
    assert plan.vector == {"encode": 3, "prefill": 6}
    assert words(plan)["encode"] == "RatioCoupled"


def test_a_component_that_fits_nowhere_keeps_its_counts_and_others_go_on() -> None:
    fixed = band("prefill", "decode", low=1, target=1, high=1)
    bounds = {"prefill": (1, 16), "decode": (1, 2), "server": (1, 16)}
    plan = passed(
        read(prefill=4, decode=2, server=4), counted(prefill=2, decode=2, server=2), paced(bounds, bands=(fixed,))
    )
    assert plan.vector == {"prefill": 2, "decode": 2, "server": 4}
    assert words(plan) == {
        "prefill": "RatioConflict",
        "decode": "RatioConflict",
        "server": "Proportional",
        "MetricsReady": "Observed",
        "Blocked": "RatioConflict",
    }
    assert plan.findings[1].cause is Cause.RATIO_INFEASIBLE
    assert plan.findings[1].roles == ("prefill", "decode")


def test_a_fixed_ratio_moves_whole_steps_of_it() -> None:
    fixed = band("prefill", "decode", low="0.5", target="0.5", high="0.5")
    down = StepPolicy(type=StepType.PODS, value=2)
    up = passed(read(prefill=3, decode=6), counted(prefill=2, decode=4), paced(bands=(fixed,)))
    assert up.vector == {"prefill": 3, "decode": 6}
    settled = memory(roles=agreed(prefill=1, decode=2))
    less = Reading(roles={"prefill": asking(1), "decode": asking(2, ready=4)})
    lower = passed(less, counted(prefill=2, decode=4), paced(bands=(fixed,), down_step=down), settled)
    assert lower.vector == {"prefill": 1, "decode": 2}
    stuck = passed(less, counted(prefill=2, decode=4), paced(bands=(fixed,)), settled)
    assert stuck.vector == {"prefill": 2, "decode": 4}
    assert words(stuck)["Blocked"] == "RatioConflict"


def test_a_role_alone_does_not_drag_another_further_than_it_goes_itself() -> None:
    # (3, 6) would be two away from what is recommended, what is declared is one away
    fixed = band("prefill", "decode", low="0.5", target="0.5", high="0.5")
    plan = passed(read(prefill=3, decode=4), counted(prefill=2, decode=4), paced(bands=(fixed,)))
    assert (plan.vector, words(plan)["Blocked"]) == ({"prefill": 2, "decode": 4}, "Ready")
    assert held(plan, "prefill") == [Cause.RATIO]


def test_the_scaler_stays_inside_its_bounds() -> None:
    bounded = paced({"prefill": (1, 3), "decode": (2, 4)})
    settled = memory(roles=agreed(prefill=9, decode=1))
    plan = passed(read(prefill=9, decode=0), counted(prefill=2, decode=2), bounded, settled)
    assert plan.vector == {"prefill": 3, "decode": 2}
    assert held(plan, "prefill") == [Cause.MAXIMUM, Cause.UP_STEP]
    assert held(plan, "decode") == [Cause.MINIMUM]


def test_the_vector_stands_in_the_order_of_the_scaler() -> None:
    reversed_target = target(role("decode", 2), role("prefill", 2))
    assert list(passed(read(prefill=2, decode=2), reversed_target, paced()).vector) == ["prefill", "decode"]


def test_components_are_what_bands_join() -> None:
    bands = (band("a", "c", low=1), band("c", "d", target=1))
    assert components(("a", "b", "c", "d", "e"), bands) == (("a", "c", "d"), ("b",), ("e",))


def test_the_larger_and_the_smaller_of_two_allowed_vectors_are_allowed() -> None:
    bound = paced(bands=(HALF_TO_TWO,))
    one, other = {"prefill": 6, "decode": 3}, {"prefill": 4, "decode": 7}
    assert join(one, other) == {"prefill": 6, "decode": 7}
    assert meet(one, other) == {"prefill": 4, "decode": 3}
    assert all(allows(bound, each) for each in (one, other, join(one, other), meet(one, other)))


def test_a_vector_of_other_roles_is_not_allowed() -> None:
    assert not allows(paced(), {"prefill": 2})
    assert not allows(paced(), {"prefill": 2, "decode": 2, "encode": 1})
    assert allows(paced(PAIR), {"prefill": 2, "decode": 2})
