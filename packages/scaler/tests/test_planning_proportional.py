"""Proportional: one measurement over a target per ready replica (spec 3 §Proportional)."""

import pytest
from modeldeployment.api.algorithms import Metric
from modeldeployment.api.scalerconditions import RoleReason
from modeldeployment.scaler.planning.causes import Cause
from planning_advice import advised, causes
from planning_worlds import band, proportional, reading, role


def test_facts_example_1_a_load_of_ten_over_a_target_of_eight_makes_five_of_four() -> None:
    advice = advised(proportional(), reading(ready=4, running=30, waiting=10), of=role(replicas=4))
    assert (advice.replicas, advice.reason, advice.shrinks) == (5, RoleReason.PROPORTIONAL, True)
    assert causes(advice) == [Cause.LOAD]
    assert advice.steps[0].numbers == {
        "metric": "QueueDepth",
        "total": "40",
        "load": "10",
        "ready": 4,
        "target": "8",
        "tolerance": "100m",
    }


def test_facts_example_2_inside_the_tolerance_the_count_holds() -> None:
    advice = advised(proportional(), reading(ready=4, running=30, waiting=5), of=role(replicas=4))
    assert (advice.replicas, advice.reason, advice.shrinks) == (4, RoleReason.WITHIN_TOLERANCE, True)
    assert causes(advice) == [Cause.WITHIN_TOLERANCE]


def test_facts_example_3_no_load_at_all_makes_one() -> None:
    advice = advised(proportional(), reading(ready=3), of=role(replicas=3))
    assert (advice.replicas, advice.shrinks) == (1, True)


@pytest.mark.parametrize(
    ("total", "replicas"),
    [
        pytest.param(88, 10, id="110 % of the target is within"),
        pytest.param(89, 12, id="above it is not"),
        pytest.param(72, 10, id="90 % of the target is within"),
        pytest.param(71, 9, id="below it is not"),
    ],
)
def test_a_distance_of_exactly_the_tolerance_holds(total: int, replicas: int) -> None:
    assert advised(proportional(), reading(ready=10, running=total), of=role(replicas=10)).replicas == replicas


def test_a_tolerance_of_one_holds_down_to_no_load_and_up_to_twice_the_target() -> None:
    wide = proportional(tolerance=1)
    assert advised(wide, reading(running=0), of=role(replicas=2)).replicas == 2
    assert advised(wide, reading(running=32), of=role(replicas=2)).replicas == 2
    assert advised(wide, reading(running=33), of=role(replicas=2)).replicas == 5


@pytest.mark.parametrize(
    ("metric", "replicas"),
    [
        (Metric.RUNNING_REQUESTS, 3),
        (Metric.WAITING_REQUESTS, 4),
        (Metric.QUEUE_DEPTH, 7),
        (Metric.PROMPT_TOKENS_PER_SECOND, 5),
        (Metric.GENERATION_TOKENS_PER_SECOND, 6),
        (Metric.TOTAL_TOKENS_PER_SECOND, 11),
    ],
)
def test_a_metric_adds_up_what_its_name_says(metric: Metric, replicas: int) -> None:
    seen = reading(running=30, waiting=40, prompt=50, generation=60)
    assert advised(proportional({"server": 10}, metric=metric), seen).replicas == replicas


def test_load_is_divided_by_ready_replicas_and_the_count_is_not() -> None:
    """Eight of sixteen are ready: their load is on target, although the declared ones' would not be."""
    assert advised(proportional(), reading(ready=8, running=64), of=role(replicas=16)).replicas == 16
    assert advised(proportional(), reading(ready=8, running=80), of=role(replicas=16)).replicas == 10


def test_a_target_may_be_a_fraction_and_nothing_is_lost_on_the_way() -> None:
    third = proportional({"server": "0.3"})
    assert advised(third, reading(ready=1, running=3), of=role(replicas=1)).replicas == 10
    assert advised(proportional({"server": "0.1"}), reading(ready=1, running=1), of=role(replicas=1)).replicas == 10


def test_without_a_ready_replica_the_count_holds() -> None:
    advice = advised(proportional(), reading(ready=0, running=500), of=role(replicas=3))
    assert (advice.replicas, advice.reason, advice.shrinks) == (3, RoleReason.NO_READY_REPLICAS, False)


@pytest.mark.parametrize(("running", "waiting", "signal"), [(None, 4, "runningRequests"), (4, None, "waitingRequests")])
def test_half_of_a_sum_is_no_measurement(running: int | None, waiting: int | None, signal: str) -> None:
    advice = advised(proportional(), reading(running=running, waiting=waiting), of=role(replicas=3))
    assert (advice.replicas, advice.shrinks, advice.measured) == (3, False, False)
    assert (causes(advice), advice.steps[0].numbers) == ([Cause.SIGNAL_MISSING], {"signal": signal})


def test_what_other_metrics_lack_is_not_missed() -> None:
    seen = reading(ready=1, running=16, prompt=None, generation=None, ttft=None, itl=None)
    advice = advised(proportional(), seen, of=role(replicas=1))
    assert (advice.replicas, advice.measured) == (2, True)


def test_a_role_without_a_target_follows_the_ratio_to_one_that_has_one() -> None:
    targets = proportional({"prefill": 8})
    for ratio in (band("prefill", "decode", target=1), band("decode", "prefill", target=1)):
        advice = advised(targets, reading(running=500), of=role("decode", 3), bands=(ratio,))
        assert (advice.replicas, advice.reason, advice.own, advice.shrinks) == (
            3,
            RoleReason.RATIO_COUPLED,
            False,
            True,
        )
        assert advice.steps[0].numbers == {"with": "prefill"}


def test_a_role_with_a_target_is_its_own_master_whatever_its_ratios() -> None:
    advice = advised(
        proportional({"encode": 8, "prefill": 8}),
        reading(running=40),
        of=role("encode", 2),
        bands=(band("encode", "prefill", target=1),),
    )
    assert (advice.replicas, advice.own) == (5, True)


def test_a_ratio_to_a_role_without_a_target_leads_nowhere() -> None:
    advice = advised(
        proportional({"prefill": 8}), reading(running=500), of=role("decode", 3), bands=(band("encode", "decode"),)
    )
    assert (advice.replicas, advice.shrinks, advice.own, advice.measured) == (3, False, True, True)
    assert causes(advice) == [Cause.UNDECLARED]
    assert advice.steps[0].numbers == {"field": "spec.algorithm.proportional.roleTargets"}
