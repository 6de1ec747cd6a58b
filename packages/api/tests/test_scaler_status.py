from typing import Any

import pytest
from modeldeployment.api import ConditionStatus
from modeldeployment.api.scalerconditions import REASONS, RoleReason, ScalerCondition, ScalerReason
from modeldeployment.api.scalerstatus import HISTORY, ScalerStatus
from pydantic import ValidationError

AT = "2026-03-01T12:00:00Z"
STATUS: dict[str, Any] = {
    "observedGeneration": 1,
    "binding": {"targetUID": "6e1c", "targetName": "llm-serving", "term": 1},
    "roles": [
        {
            "name": "prefill",
            "currentReplicas": 2,
            "readyReplicas": 2,
            "signalState": "Fresh",
            "promptTokensPerSecond": "2400",
            "generationTokensPerSecond": "0",
            "runningRequests": 8,
            "waitingRequests": 2,
            "kvCacheUsage": "500m",
            "ttftMilliseconds": "400",
            "itlMilliseconds": "0",
            "rawRecommendedReplicas": 2,
            "constrainedReplicas": 2,
            "reason": "TokenThroughput",
            "lastScaleUpTime": AT,
            "lastScaleUpFrom": 1,
            "stabilizationHistory": [{"timestamp": AT, "replicas": 2}],
        }
    ],
    "lastCommit": {
        "decisionID": "d-1",
        "term": 1,
        "vector": {"prefill": 3, "decode": 2},
        "baselineVector": {"prefill": 2, "decode": 2},
        "timestamp": AT,
        "targetGeneration": 2,
    },
    "pendingCohort": {
        "decisionID": "d-1",
        "term": 1,
        "baselineVector": {"prefill": 2, "decode": 2},
        "targetVector": {"prefill": 3, "decode": 2},
        "startedAt": AT,
    },
    "rebalance": {
        "receiverRole": "prefill",
        "donorRole": "decode",
        "donorTargetReplicas": 2,
        "receiverTargetReplicas": 3,
        "startedAt": AT,
        "exhaustionEpisodeGeneration": 1,
        "donationAttempted": True,
        "reason": "ReceiverAcquire",
    },
    "lastScaleDown": {
        "role": "decode",
        "ordinal": 2,
        "preScaleDownVector": {"prefill": 2, "decode": 3},
        "outcome": "Aborted",
        "abortedAt": AT,
        "cooldownUntil": AT,
    },
    "exhaustion": {
        "roles": ["prefill"],
        "baselineVector": {"prefill": 2, "decode": 2},
        "until": AT,
        "rollbacks": 1,
    },
    "predictors": [
        {
            "name": "prefill",
            "level": "2400",
            "trend": "10",
            "covariance": {"p00": "1", "p01": "0", "p10": "0", "p11": "1"},
            "sampleCount": 6,
            "observedAt": AT,
            "history": [{"timestamp": AT, "tokensPerSecond": "2400"}],
        }
    ],
    "conditions": [
        {
            "type": "MetricsReady",
            "status": "True",
            "reason": "Observed",
            "message": "all required role signals are available",
            "lastTransitionTime": AT,
            "observedGeneration": 1,
        }
    ],
}


def test_every_field_of_the_documents_is_read_and_written_back() -> None:
    status = ScalerStatus.model_validate(STATUS)
    assert status.body() == STATUS


def test_a_scaler_that_has_seen_nothing_says_nothing() -> None:
    assert ScalerStatus().body() == {}


def test_a_condition_is_found_by_its_type() -> None:
    status = ScalerStatus.model_validate(STATUS)
    found = status.condition(ScalerCondition.METRICS_READY)
    assert found is not None
    assert found.status is ConditionStatus.TRUE
    assert status.condition(ScalerCondition.BOUND) is None


def test_a_shadow_scaler_may_have_no_term() -> None:
    shadow = ScalerStatus.model_validate({"binding": {"targetUID": "6e1c", "targetName": "llm-serving"}})
    assert shadow.body() == {"binding": {"targetUID": "6e1c", "targetName": "llm-serving"}}


def test_a_history_keeps_256_entries() -> None:
    entries = [{"timestamp": AT, "replicas": 2}] * (HISTORY + 1)
    ScalerStatus.model_validate({"roles": [{"name": "a", "stabilizationHistory": entries[1:]}]})
    with pytest.raises(ValidationError, match="at most 256"):
        ScalerStatus.model_validate({"roles": [{"name": "a", "stabilizationHistory": entries}]})


def test_every_reason_of_a_condition_stands_beside_one() -> None:
    told = {reason for by_status in REASONS.values() for reasons in by_status.values() for reason in reasons}
    assert told == set(ScalerReason)
    assert REASONS[ScalerCondition.BLOCKED][ConditionStatus.FALSE] == (ScalerReason.READY,)
    assert ScalerReason.SHADOW_MODE not in REASONS[ScalerCondition.BOUND][ConditionStatus.FALSE]


def test_a_role_names_its_algorithm_when_nothing_else_shaped_its_count() -> None:
    assert {"Proportional", "TokenThroughput", "Predictive"} <= {reason.value for reason in RoleReason}
