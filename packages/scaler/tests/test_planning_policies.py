"""A stored spec read as a policy (spec 3 §Resource and §Algorithms, decisions D43)."""

from typing import Any

import pytest
from modeldeployment.api import Quantity
from modeldeployment.api.algorithms import Metric
from modeldeployment.api.scaler import RebalancePolicy, ScalerSpec, StepPolicy, StepType
from modeldeployment.scaler.planning import policies
from modeldeployment.scaler.planning.policy import (
    Algorithm,
    Band,
    Bounds,
    Down,
    Policy,
    Predictive,
    Proportional,
    Token,
    Up,
)
from planning_worlds import predictive, proportional, token


def of(**fields: Any) -> Policy:
    """The policy of a spec that says this much, as it is stored."""
    stored = {"targetRef": {"name": "llm-serving"}, "roles": [{"name": "server", "maxReplicas": 16}], **fields}
    return policies.of(ScalerSpec.model_validate(stored), 7)


def algorithm(**fields: Any) -> Algorithm:
    """The algorithm of a spec with that block."""
    return of(algorithm=fields).algorithm


PROPORTIONAL = {"metric": "QueueDepth", "roleTargets": [{"name": "server", "target": "8"}]}
TOKENS = {
    "prefillTargetTokensPerSecond": "2000",
    "decodeTargetTokensPerSecond": "800",
    "serverTargetTokensPerSecond": "2000",
}
CAPACITIES = {
    "prefillTokenCapacityPerReplica": "2000",
    "decodeTokenCapacityPerReplica": "800",
    "serverTokenCapacityPerReplica": "2000",
}


def test_a_spec_that_says_nothing_has_every_default() -> None:
    assert of() == Policy(
        generation=7,
        interval_seconds=15,
        pending_seconds=300,
        bounds={"server": Bounds(1, 16)},
        bands=(),
        algorithm=token(prefill=None, decode=None, server=None),
        up=Up(window_seconds=0, replicas=4, percent=100),
        down=Down(window_seconds=300, cooldown_seconds=300, grace_seconds=120),
        rebalance=RebalancePolicy.OPPOSING,
        priority=(),
    )


def test_stored_zeros_read_as_their_defaults_and_an_upward_window_of_zero_stays_one() -> None:
    found = of(
        behavior={
            "scaleUp": {"stabilizationWindowSeconds": 0, "maxStepReplicas": 0, "maxStepPercent": 0},
            "scaleDown": {
                "stabilizationWindowSeconds": 0,
                "cooldownAfterAbortSeconds": 0,
                "decodePostScaleUpGraceSeconds": 0,
            },
        }
    )
    assert found.up == Up(window_seconds=0, replicas=4, percent=100)
    assert found.down == Down(window_seconds=300, cooldown_seconds=300, grace_seconds=120)


def test_what_is_declared_is_what_is_read() -> None:
    found = of(
        sampling={"intervalSeconds": 5, "pendingTimeoutSeconds": 60},
        roles=[{"name": "prefill", "minReplicas": 2, "maxReplicas": 8}, {"name": "decode", "maxReplicas": 4}],
        ratios=[{"numeratorRole": "prefill", "denominatorRole": "decode", "target": "1", "min": "0.5", "max": "2"}],
        behavior={
            "scaleUp": {
                "stabilizationWindowSeconds": 60,
                "maxStepReplicas": 2,
                "maxStepPercent": 50,
                "stepPolicy": {"type": "Pods", "value": 0},
            },
            "scaleDown": {
                "stabilizationWindowSeconds": 1800,
                "cooldownAfterAbortSeconds": 3600,
                "decodePostScaleUpGraceSeconds": 1,
                "stepPolicy": {"type": "Percent", "value": 10},
            },
        },
        rebalance={"policy": "Priority", "priority": ["decode", "prefill"]},
    )
    assert (found.interval_seconds, found.pending_seconds) == (5, 60)
    assert list(found.bounds.items()) == [("prefill", Bounds(2, 8)), ("decode", Bounds(1, 4))]
    one, half, two = Quantity.parse("1"), Quantity.parse("0.5"), Quantity.parse("2")
    assert found.bands == (Band("prefill", "decode", one, half, two),)
    assert found.up == Up(60, 2, 50, StepPolicy(type=StepType.PODS, value=0))
    assert found.down == Down(1800, 3600, 1, StepPolicy(type=StepType.PERCENT, value=10))
    assert (found.rebalance, found.priority) == (RebalancePolicy.PRIORITY, ("decode", "prefill"))


@pytest.mark.parametrize(
    ("blocks", "kind"),
    [
        pytest.param({"proportional": PROPORTIONAL}, Proportional, id="proportional"),
        pytest.param({"predictive": {}}, Predictive, id="predictive"),
        pytest.param({"tokenThroughput": TOKENS}, Token, id="token throughput"),
        pytest.param({}, Token, id="nothing"),
        pytest.param({"proportional": PROPORTIONAL, "predictive": {}}, Proportional, id="proportional before others"),
    ],
)
def test_a_type_that_is_left_out_is_what_admission_would_have_written(blocks: dict[str, Any], kind: type) -> None:
    assert type(algorithm(**blocks)) is kind


def test_only_the_block_of_the_algorithm_in_force_is_read() -> None:
    found = algorithm(type="TokenThroughput", tokenThroughput=TOKENS, proportional=PROPORTIONAL, predictive={})
    assert found == token()
    assert algorithm(type="TokenThroughput", predictive={"tokenThroughput": TOKENS}) == token(
        prefill=None, decode=None, server=None
    )


@pytest.mark.parametrize("kind", ["Proportional", "TokenThroughput", "Predictive"])
def test_an_algorithm_without_its_block_is_read_as_one_that_declares_nothing(kind: str) -> None:
    assert (
        algorithm(type=kind)
        == {
            "Proportional": proportional({}),
            "TokenThroughput": token(prefill=None, decode=None, server=None),
            "Predictive": predictive(
                token(prefill=None, decode=None, server=None), prefill=None, decode=None, server=None
            ),
        }[kind]
    )


def test_proportional_is_read_with_its_tolerance_or_a_tenth() -> None:
    assert algorithm(proportional=PROPORTIONAL) == proportional({"server": 8}, tolerance="0.1")
    found = algorithm(proportional=PROPORTIONAL | {"metric": "WaitingRequests", "tolerance": "0.25"})
    assert found == proportional({"server": 8}, metric=Metric.WAITING_REQUESTS, tolerance="0.25")


@pytest.mark.parametrize("written", ["0", "-1"])
def test_what_has_to_be_positive_and_is_not_was_not_given(written: str) -> None:
    found = algorithm(
        proportional={"metric": "QueueDepth", "tolerance": written, "roleTargets": [{"name": "a", "target": written}]}
    )
    assert found == proportional({}, tolerance="0.1")
    numbers = ("panicThreshold", "ttftTargetMilliseconds", "itlTargetMilliseconds", *TOKENS)
    assert algorithm(tokenThroughput=dict.fromkeys(numbers, written)) == token(prefill=None, decode=None, server=None)
    noise = ("qLevel", "qTrend", "measurementNoise", *CAPACITIES)
    assert algorithm(predictive={"tokenThroughput": TOKENS} | dict.fromkeys(noise, written)) == predictive(
        prefill=None, decode=None, server=None
    )
    band = {"numeratorRole": "a", "denominatorRole": "b", "target": written, "min": written, "max": written}
    assert of(ratios=[band]).bands == (Band("a", "b"),)


def test_token_throughput_is_read_with_its_windows_and_latencies() -> None:
    found = algorithm(
        tokenThroughput=TOKENS
        | {
            "stableWindowSeconds": 30,
            "panicWindowSeconds": 300,
            "panicThreshold": "1.5",
            "ttftTargetMilliseconds": "250",
            "itlTargetMilliseconds": "12.5",
        }
    )
    assert found == token(stable=30, panic=300, threshold="1.5", ttft=250, itl="12.5")


def test_predictive_is_read_with_what_it_falls_back_to() -> None:
    assert algorithm(predictive={"tokenThroughput": TOKENS} | CAPACITIES) == predictive()
    found = algorithm(
        predictive={
            "tokenThroughput": TOKENS | {"stableWindowSeconds": 60},
            "horizonSeconds": 30,
            "qLevel": "2",
            "qTrend": "0.5",
            "measurementNoise": "100",
            "minPoints": 1,
        }
        | CAPACITIES
    )
    assert found == predictive(token(stable=60), horizon=30, q_level=2, q_trend="0.5", noise=100, min_points=1)
