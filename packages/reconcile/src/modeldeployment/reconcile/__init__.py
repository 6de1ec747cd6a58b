"""What is observed, turned into what should be written next.

In causal order: `Watched` keeps the stores, `observing` reduces objects, `decide` turns a `Snapshot` into a
`Decision`, and `DeploymentController` carries it out.
"""

from modeldeployment.reconcile import acting, watching
from modeldeployment.reconcile.deciding.passing import decide
from modeldeployment.reconcile.deciding.seen import Answers, Member, PodPhase, SeenService, Snapshot, Workload
from modeldeployment.reconcile.deciding.slots import RoleSlots, Slot, SlotState
from modeldeployment.reconcile.deciding.steps import (
    Advance,
    Announcement,
    Ask,
    Blocked,
    Decision,
    Done,
    Fact,
    Step,
    Wait,
)
from modeldeployment.reconcile.deploying import DeploymentController, Tally, utc_now
from modeldeployment.reconcile.errors import CreateFailed, ReconcileError, Unreadable
from modeldeployment.reconcile.watching import DEPLOYMENTS, INSTANCE_TYPES, SERVICES, Key, Watched

GRANTS = (*watching.GRANTS, *acting.GRANTS)
"""What reconciling asks of the API server; the rare reads of `answering` list what is watched anyway."""

__all__ = [
    "DEPLOYMENTS",
    "GRANTS",
    "INSTANCE_TYPES",
    "SERVICES",
    "Advance",
    "Announcement",
    "Answers",
    "Ask",
    "Blocked",
    "CreateFailed",
    "Decision",
    "DeploymentController",
    "Done",
    "Fact",
    "Key",
    "Member",
    "PodPhase",
    "ReconcileError",
    "RoleSlots",
    "SeenService",
    "Slot",
    "SlotState",
    "Snapshot",
    "Step",
    "Tally",
    "Unreadable",
    "Wait",
    "Watched",
    "Workload",
    "decide",
    "utc_now",
]
