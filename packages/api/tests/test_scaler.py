"""The scaler's fields, defaults and bounds, as spec 3 §Resource to §Resource rebalancing say them."""

from typing import Any

import pytest
from modeldeployment.api import ModelDeploymentScaler, Quantity
from modeldeployment.api.algorithms import Algorithm, AlgorithmType, Metric, Predictive, TokenThroughput
from modeldeployment.api.scaler import RebalancePolicy, ScalerMode, StepPolicy, StepType
from modeldeployment.api.schema import structural
from pydantic import ValidationError

ROLES = [{"name": "server", "maxReplicas": 16}]


def read(**spec: Any) -> ModelDeploymentScaler:
    return ModelDeploymentScaler.model_validate(
        {
            "apiVersion": "worker.gpustack.ai/v1",
            "kind": "ModelDeploymentScaler",
            "metadata": {"name": "llm-serving", "namespace": "team-a"},
            "spec": {"targetRef": {"name": "llm-serving"}, "roles": ROLES, **spec},
        }
    )


def amount(text: str) -> Quantity:
    return Quantity.parse(text)


def test_what_a_scaler_leaves_out_reads_as_its_default() -> None:
    spec = read().spec
    assert (spec.mode, spec.suspend) == (ScalerMode.SHADOW, False)
    assert (spec.sampling.interval_seconds, spec.sampling.pending_timeout_seconds) == (15, 300)
    assert (spec.role("server").min_replicas, spec.role("server").max_replicas) == (1, 16)
    assert spec.ratios == ()
    assert spec.algorithm == Algorithm()
    assert spec.algorithm.type is None
    up, down = spec.behavior.scale_up, spec.behavior.scale_down
    assert (up.stabilization_window_seconds, up.max_step_replicas, up.max_step_percent) == (0, 4, 100)
    assert (down.stabilization_window_seconds, down.cooldown_after_abort_seconds) == (300, 300)
    assert down.decode_post_scale_up_grace_seconds == 120
    assert (up.step_policy, down.step_policy) == (None, None)
    assert (spec.rebalance.policy, spec.rebalance.priority) == (RebalancePolicy.OPPOSING, ())


def test_what_an_algorithm_leaves_out_reads_as_its_default() -> None:
    throughput = TokenThroughput()
    assert (throughput.stable_window_seconds, throughput.panic_window_seconds) == (180, 60)
    assert throughput.panic_threshold == amount("2")
    assert (throughput.ttft_target_milliseconds, throughput.itl_target_milliseconds) == (amount("500"), amount("50"))
    assert throughput.server_target_tokens_per_second is None
    forecast = Predictive()
    assert (forecast.horizon_seconds, forecast.min_points, forecast.token_throughput) == (300, 6, None)
    assert (forecast.q_level, forecast.q_trend, forecast.measurement_noise) == (
        amount("1"),
        amount("0.1"),
        amount("10"),
    )
    proportional = read(algorithm={"proportional": {"metric": "QueueDepth"}}).spec.algorithm.proportional
    assert proportional is not None
    assert (proportional.metric, proportional.tolerance) == (Metric.QUEUE_DEPTH, amount("0.1"))
    assert proportional.role_targets == ()


def test_the_zeros_that_spec_3_calls_defaults_are_stored() -> None:
    properties = structural(ModelDeploymentScaler, {})["properties"]["spec"]["properties"]
    assert properties["suspend"]["default"] is False
    window = properties["behavior"]["properties"]["scaleUp"]["properties"]["stabilizationWindowSeconds"]
    assert window["default"] == 0
    assert "x-stated" not in window


def test_zeros_are_read_as_they_were_written() -> None:
    behavior = read(
        behavior={
            "scaleUp": {"maxStepReplicas": 0, "stepPolicy": {"type": "Pods", "value": 0}},
            "scaleDown": {"stabilizationWindowSeconds": 0},
        }
    ).spec.behavior
    assert behavior.scale_up.max_step_replicas == 0
    assert behavior.scale_up.step_policy == StepPolicy(type=StepType.PODS, value=0)
    assert behavior.scale_down.stabilization_window_seconds == 0


def test_a_role_that_is_not_scaled_is_not_found() -> None:
    with pytest.raises(KeyError, match="decode"):
        read().spec.role("decode")


def test_an_algorithm_is_one_of_three() -> None:
    assert [each.value for each in AlgorithmType] == ["Proportional", "TokenThroughput", "Predictive"]
    assert read(algorithm={"type": "Predictive"}).spec.algorithm.type is AlgorithmType.PREDICTIVE


BOUNDS = [
    ("sampling.intervalSeconds", 5, 300),
    ("sampling.pendingTimeoutSeconds", 60, 1200),
    ("roles.0.minReplicas", 1, 1024),
    ("roles.0.maxReplicas", 1, 1024),
    ("algorithm.tokenThroughput.stableWindowSeconds", 30, 600),
    ("algorithm.tokenThroughput.panicWindowSeconds", 10, 300),
    ("algorithm.predictive.horizonSeconds", 30, 600),
    ("algorithm.predictive.minPoints", 1, 64),
    ("algorithm.predictive.tokenThroughput.stableWindowSeconds", 30, 600),
    ("behavior.scaleUp.stabilizationWindowSeconds", 0, 600),
    ("behavior.scaleUp.maxStepPercent", 0, 1000),
    ("behavior.scaleDown.stabilizationWindowSeconds", 0, 1800),
    ("behavior.scaleDown.cooldownAfterAbortSeconds", 0, 3600),
    ("behavior.scaleDown.decodePostScaleUpGraceSeconds", 0, 3600),
]


def at(path: str, value: int) -> dict[str, Any]:
    first, *rest = path.split(".")
    if first == "roles":
        return {"roles": [ROLES[0] | {rest[-1]: value}]}
    nested: Any = value
    for step in reversed(rest):
        nested = {step: nested}
    return {first: nested}


@pytest.mark.parametrize(("path", "least", "most"), BOUNDS)
def test_a_number_is_taken_up_to_its_bounds_and_refused_beyond(path: str, least: int, most: int) -> None:
    read(**at(path, least))
    read(**at(path, most))
    for beyond in (least - 1, most + 1):
        with pytest.raises(ValidationError):
            read(**at(path, beyond))


@pytest.mark.parametrize("field", ["behavior.scaleUp.maxStepReplicas", "behavior.scaleDown.stepPolicy.value"])
def test_a_step_is_not_negative(field: str) -> None:
    with pytest.raises(ValidationError):
        read(**at(field, -1))


@pytest.mark.parametrize(
    "spec",
    [
        {"targetRef": {}},
        {"targetRef": {"name": ""}},
        {"mode": "Dry"},
        {"roles": []},
        {"roles": [{"name": "server"}]},
        {"roles": [{"name": "Server", "maxReplicas": 1}]},
        {"ratios": [{"numeratorRole": "prefill"}]},
        {"algorithm": {"type": "Random"}},
        {"algorithm": {"proportional": {}}},
        {"algorithm": {"proportional": {"metric": "Luck"}}},
        {"algorithm": {"proportional": {"metric": "QueueDepth", "roleTargets": [{"name": "server"}]}}},
        {"behavior": {"scaleUp": {"stepPolicy": {"type": "Pods"}}}},
        {"behavior": {"scaleUp": {"stepPolicy": {"value": 1}}}},
        {"behavior": {"scaleUp": {"stepPolicy": {"type": "Cards", "value": 1}}}},
        {"rebalance": {"policy": "Never"}},
    ],
)
def test_what_is_missing_or_no_choice_is_refused(spec: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        read(**spec)
