"""Lines of a journal with settled defaults, for tests that are about journals and not about what they hold."""

from datetime import UTC, datetime, timedelta
from typing import Any

from modeldeployment.api import Quantity, RoleKind
from modeldeployment.api.scalerconditions import RoleReason, ScalerCondition, ScalerReason
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.scaler.journal import Line
from modeldeployment.scaler.planning.causes import Cause, Stage
from modeldeployment.scaler.planning.memory import Memory
from modeldeployment.scaler.planning.observed import Reading, RoleReading, Seat, Target, TargetRole
from modeldeployment.scaler.planning.outcome import Finding, Move, Plan, RolePlan
from modeldeployment.scaler.planning.trail import Step

AT = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)

SPEC: dict[str, Any] = {
    "targetRef": {"name": "chat"},
    "roles": [{"name": "server", "minReplicas": 1, "maxReplicas": 8}],
    "algorithm": {
        "type": "Proportional",
        "proportional": {"metric": "QueueDepth", "roleTargets": [{"name": "server", "target": "8"}]},
    },
}

PLAN = Plan(
    vector={"server": 5},
    move=Move.PLANNED,
    roles=(RolePlan(name="server", raw=5, constrained=5, reason=RoleReason.PROPORTIONAL),),
    findings=(Finding(condition=ScalerCondition.METRICS_READY, reason=ScalerReason.OBSERVED),),
    memory=Memory(policy_generation=1, target_generation=7),
    trail=(
        Step(
            stage=Stage.ALGORITHM,
            role="server",
            before=4,
            after=5,
            cause=Cause.LOAD,
            numbers={"total": "40", "target": "8", "ready": 4},
        ),
    ),
)


def line(seconds: int = 0, *, name: str = "chat", plan: Plan | None = PLAN, **changed: Any) -> Line:
    """The pass so many seconds after ten: four servers with 40 requests, of which each should have 8."""
    at = AT + timedelta(seconds=seconds)
    fields: dict[str, Any] = {
        "at": at,
        "namespace": "default",
        "name": name,
        "scaler_uid": "scaler-1",
        "generation": 1,
        "spec": SPEC,
        "target": Target(
            name="chat",
            uid="target-1",
            generation=7,
            roles=(
                TargetRole(
                    name="server",
                    kind=RoleKind.SERVER,
                    replicas=4,
                    seats=tuple(Seat(ordinal=each, admitted=True, ready=True) for each in range(4)),
                ),
            ),
        ),
        "reading": Reading(
            roles={
                "server": RoleReading(
                    state=SignalState.FRESH,
                    ready=4,
                    complete=True,
                    at=at,
                    running_requests=32,
                    waiting_requests=8,
                    prompt_tokens_per_second=Quantity.parse("2400.5"),
                    generation_tokens_per_second=Quantity.parse("800"),
                )
            }
        ),
        "decision_id": "decision-1",
        "term": 1,
        "plan": plan,
    }
    return Line(**(fields | changed))
