from datetime import UTC, datetime, timedelta, timezone

import pytest
from modeldeployment.api import (
    Condition,
    ConditionStatus,
    ConditionType,
    ModelDeploymentStatus,
    Phase,
    Reason,
    RoleKind,
    RoleStatus,
)
from pydantic import ValidationError


def test_status_is_written_in_kubernetes_spelling() -> None:
    status = ModelDeploymentStatus(
        phase=Phase.READY,
        conditions=(
            Condition(
                type=ConditionType.QUOTA_RESERVED,
                status=ConditionStatus.TRUE,
                reason=Reason.RESERVED,
                message="every replica holds quota in gpustack-nvidia-a10g-linux-amd64",
                last_transition_time=datetime(2026, 3, 1, 12, 0, 0, 999999, tzinfo=UTC),
                observed_generation=3,
            ),
        ),
        endpoint="http://qwen.team-a.svc:8000",
        roles=(RoleStatus(name="server", kind=RoleKind.SERVER, desired=2, ready=2, quota_reserved=0, unmanaged=False),),
        role_summary="2S",
    )
    assert status.body() == {
        "phase": "Ready",
        "conditions": [
            {
                "type": "QuotaReserved",
                "status": "True",
                "reason": "Reserved",
                "message": "every replica holds quota in gpustack-nvidia-a10g-linux-amd64",
                "lastTransitionTime": "2026-03-01T12:00:00Z",
                "observedGeneration": 3,
            }
        ],
        "endpoint": "http://qwen.team-a.svc:8000",
        "roles": [
            {
                "name": "server",
                "kind": "Server",
                "desired": 2,
                "ready": 2,
                "quotaReserved": 0,
                "unmanaged": False,
            }
        ],
        "roleSummary": "2S",
    }
    assert ModelDeploymentStatus.model_validate(status.body()).roles == status.roles


def test_a_status_with_nothing_observed_is_written_empty() -> None:
    assert ModelDeploymentStatus().body() == {}


def test_flavors_are_written_only_when_there_are_some() -> None:
    role = RoleStatus(
        name="server",
        kind=RoleKind.SERVER,
        desired=1,
        ready=1,
        quota_reserved=1,
        unmanaged=False,
        assigned_flavors=("a10g",),
    )
    assert role.body()["assignedFlavors"] == ["a10g"]


def test_an_older_operator_reads_the_words_of_a_newer_one() -> None:
    status = ModelDeploymentStatus.model_validate(
        {
            "phase": "Hibernating",
            "conditions": [{"type": "Warm", "status": "Unknown", "reason": "Sleeping"}],
            "retirement": {"roleName": "server", "replicaOrdinal": 0, "state": "Mourning"},
            "speculation": {"state": "Warm"},
        }
    )
    assert status.phase == "Hibernating"
    assert status.retirement is not None
    assert status.retirement.state == "Mourning"
    assert status.condition("Warm") == Condition(type="Warm", status=ConditionStatus.UNKNOWN, reason="Sleeping")
    assert status.condition(ConditionType.RENDERED) is None


def test_times_are_written_in_utc_to_the_second() -> None:
    east = timezone(timedelta(hours=8))
    condition = Condition(
        type="Warm", status=ConditionStatus.TRUE, last_transition_time=datetime(2026, 3, 1, 20, 0, tzinfo=east)
    )
    assert condition.body()["lastTransitionTime"] == "2026-03-01T12:00:00Z"


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValidationError, match="timezone"):
        Condition(type="Warm", status=ConditionStatus.TRUE, last_transition_time=datetime(2026, 3, 1))
