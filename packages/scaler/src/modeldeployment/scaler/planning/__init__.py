"""Planning, pure: `plan` takes what is remembered, read and declared, and answers a vector with its reasons.

`policies.of` reads a spec once; a `Target` and a `Reading` say how things stand; `Memory` is what the last pass left.
A `Plan` is what should be declared, what to remember where that was written and where not, and every rule at work.
"""

from modeldeployment.scaler.planning.causes import Cause, Stage
from modeldeployment.scaler.planning.memory import Memory, RoleMemory
from modeldeployment.scaler.planning.observed import Reading, RetirementSeen, RoleReading, Seat, Target, TargetRole
from modeldeployment.scaler.planning.outcome import Finding, Move, Plan, RolePlan
from modeldeployment.scaler.planning.passing import plan
from modeldeployment.scaler.planning.plain import Vector
from modeldeployment.scaler.planning.policies import of as policy_of
from modeldeployment.scaler.planning.policy import Policy
from modeldeployment.scaler.planning.trail import Step

__all__ = [
    "Cause",
    "Finding",
    "Memory",
    "Move",
    "Plan",
    "Policy",
    "Reading",
    "RetirementSeen",
    "RoleMemory",
    "RolePlan",
    "RoleReading",
    "Seat",
    "Stage",
    "Step",
    "Target",
    "TargetRole",
    "Vector",
    "plan",
    "policy_of",
]
