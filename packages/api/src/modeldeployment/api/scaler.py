"""The ModelDeploymentScaler kind: how the replica counts of one deployment follow its load.

Defaults of this file are also what a stored zero reads as where spec 3 says so (decisions D43).
Sources: spec 3 §Resource to §Resource rebalancing, facts api-scaler §1 and §2.
"""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from modeldeployment.api.algorithms import Algorithm
from modeldeployment.api.cel import Rule
from modeldeployment.api.document import ATOMIC, DEFAULTED, Document, Int32, Mark, absent, guarded, guarding, list_map
from modeldeployment.api.frozen import ROLES
from modeldeployment.api.keys import API_VERSION
from modeldeployment.api.metadata import ObjectMeta
from modeldeployment.api.quantity import Quantity
from modeldeployment.api.roles import ROLE_NAME
from modeldeployment.api.scalerstatus import ScalerStatus

RoleName = Annotated[str, Field(min_length=1, max_length=63, pattern=ROLE_NAME)]

TARGET_FIXED: Final = Rule(
    code="MD160",
    kind="ModelDeploymentScaler",
    field="spec.targetRef",
    why="is fixed when the scaler is created, since its binding and its history are the target's",
    way_out="create another scaler for the other deployment",
)
BOUNDS_ORDERED: Final = Rule(
    code="MD102",
    kind="ModelDeploymentScaler",
    field="spec.roles[].minReplicas",
    why="is above maxReplicas, so no count fits",
    way_out="lower minReplicas or raise maxReplicas",
    holds="self.minReplicas <= self.maxReplicas",
    at=".minReplicas",
)
TWO_ROLES: Final = Rule(
    code="MD111",
    kind="ModelDeploymentScaler",
    field="spec.ratios[].denominatorRole",
    why="is numeratorRole again, and the ratio of a role to itself is always 1",
    way_out="name another scaled role, or take the ratio out",
    holds="self.numeratorRole != self.denominatorRole",
    at=".denominatorRole",
)


class ScalerMode(StrEnum):
    """Whether a scaler only says what it would do or does it."""

    SHADOW = "Shadow"
    ACTIVE = "Active"


class TargetRef(Document):
    """The ModelDeployment whose replicas are counted."""

    name: Annotated[str, Field(min_length=1, max_length=253)]
    """ModelDeployment in the scaler's namespace; it may be created later."""


class Sampling(Document):
    """When engines are read."""

    interval_seconds: Annotated[Int32, Field(ge=5, le=300)] = 15
    """Seconds between two readings."""
    pending_timeout_seconds: Annotated[Int32, Field(ge=60, le=1200)] = 300
    """Seconds added replicas may wait for admission before the counts from before are restored."""


class ScaledRole(Document):
    """Bounds of one role's replicas."""

    model_config = guarding(BOUNDS_ORDERED)

    name: RoleName
    """Role of the target."""
    min_replicas: Annotated[Int32, Field(ge=1, le=1024)] = 1
    """Fewest replicas."""
    max_replicas: Annotated[Int32, Field(ge=1, le=1024)]
    """Most replicas."""


class Ratio(Document):
    """How the replicas of two roles relate; a target alone is a preference, bounds are constraints."""

    model_config = guarding(TWO_ROLES)

    numerator_role: RoleName
    """Scaled role whose replicas are divided."""
    denominator_role: RoleName
    """Scaled role whose replicas divide."""
    target: Quantity | None = None
    """Preferred ratio, positive and within the bounds."""
    min: Quantity | None = None
    """Lowest ratio, positive."""
    max: Quantity | None = None
    """Highest ratio, positive."""


class StepType(StrEnum):
    """What a step is counted in."""

    PODS = "Pods"
    PERCENT = "Percent"


class StepPolicy(Document):
    """Most that one pass may move a role in one direction."""

    type: StepType
    """Pods counts serving replicas, however many Pods each has; Percent is of the current count, rounded up."""
    value: Annotated[Int32, Field(ge=0)]
    """How many; 0 prevents movement in this direction."""


class ScaleUp(Document):
    """Pacing of growth."""

    stabilization_window_seconds: Annotated[Int32, Field(ge=0, le=600), Mark(default=0)] = 0
    """Seconds of recommendations that must agree before growth; 0 waits for none."""
    max_step_replicas: Annotated[Int32, Field(ge=0)] = 4
    """Replicas one pass may add; the larger of this and maxStepPercent counts. 0 is stored as 4."""
    max_step_percent: Annotated[Int32, Field(ge=0, le=1000)] = 100
    """Percent of the current count one pass may add, rounded up. 0 is stored as 100."""
    step_policy: StepPolicy | None = None
    """Replaces both bounds by one."""


class ScaleDown(Document):
    """Pacing of shrinkage; a zero reads as the default, and does not switch a guard off."""

    stabilization_window_seconds: Annotated[Int32, Field(ge=0, le=1800)] = 300
    """Seconds whose highest recommendation is the floor."""
    cooldown_after_abort_seconds: Annotated[Int32, Field(ge=0, le=3600)] = 300
    """Seconds without shrinkage anywhere in the target after a retirement was aborted."""
    decode_post_scale_up_grace_seconds: Annotated[Int32, Field(ge=0, le=3600)] = 120
    """Seconds a Decode role is not shrunk after it grew."""
    step_policy: StepPolicy | None = None
    """Replaces the bound of one replica per role and pass."""


class Behavior(Document):
    """Pacing of both directions."""

    scale_up: Annotated[ScaleUp, DEFAULTED] = Field(default_factory=ScaleUp)
    """Pacing of growth."""
    scale_down: Annotated[ScaleDown, DEFAULTED] = Field(default_factory=ScaleDown)
    """Pacing of shrinkage."""


class RebalancePolicy(StrEnum):
    """Which role may give capacity to one that could not grow."""

    OPPOSING = "Opposing"
    PRIORITY = "Priority"
    DISABLED = "Disabled"


class Rebalance(Document):
    """Moving capacity between roles on one InstanceType after growth found no quota."""

    policy: RebalancePolicy = RebalancePolicy.OPPOSING
    """Opposing takes from roles that shrink anyway, Priority from roles further down the list, Disabled from none."""
    priority: Annotated[tuple[RoleName, ...], Field(max_length=ROLES, exclude_if=absent), ATOMIC] = ()
    """Scaled roles, highest first; read under Priority only. A role that is not listed neither gives nor takes."""


class ScalerSpec(Document):
    """What the user declares."""

    target_ref: Annotated[TargetRef, guarded(TARGET_FIXED)]
    """Deployment that is scaled; frozen."""
    mode: ScalerMode = ScalerMode.SHADOW
    """Shadow recommends only; Active owns the target's counts and commits them."""
    suspend: Annotated[bool, Mark(default=False)] = False
    """Whether planning stops and an owned binding is released."""
    sampling: Annotated[Sampling, DEFAULTED] = Field(default_factory=Sampling)
    """When engines are read."""
    roles: Annotated[tuple[ScaledRole, ...], Field(min_length=1, max_length=ROLES), list_map("name")]
    """Bounds of every role of the target."""
    ratios: Annotated[
        tuple[Ratio, ...],
        Field(max_length=ROLES * ROLES, exclude_if=absent),
        list_map("numeratorRole", "denominatorRole"),
    ] = ()
    """How the replicas of roles relate."""
    algorithm: Annotated[Algorithm, DEFAULTED] = Field(default_factory=Algorithm)
    """How a recommendation is made."""
    behavior: Annotated[Behavior, DEFAULTED] = Field(default_factory=Behavior)
    """How fast counts may move."""
    rebalance: Annotated[Rebalance, DEFAULTED] = Field(default_factory=Rebalance)
    """Whether roles give each other capacity."""

    def role(self, name: str) -> ScaledRole:
        """Return the bounds of that role; raises KeyError when the scaler has none."""
        for role in self.roles:
            if role.name == name:
                return role
        raise KeyError(name)


class ModelDeploymentScaler(Document):
    """Plans the replica counts of one ModelDeployment from what its engines report."""

    api_version: str = API_VERSION
    kind: str = "ModelDeploymentScaler"
    metadata: ObjectMeta = Field(default_factory=ObjectMeta)
    spec: ScalerSpec
    """What the user declares."""
    status: ScalerStatus = Field(default_factory=ScalerStatus)
    """What the operator observed, recommended and did."""
