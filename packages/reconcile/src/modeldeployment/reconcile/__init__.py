"""What is observed, turned into what should be written next.

In causal order: `Watched` keeps the stores, `Gauging` asks engines what no store says, `observing` reduces objects,
`decide` turns a `Snapshot` into a `Decision`, and `DeploymentController` carries it out. A `Witness` asks routers and
engines for those replicas that a decision wants gone.
"""

from modeldeployment.reconcile import acting, answering, checks, joining, responding, watching, witnessing
from modeldeployment.reconcile.checks import CheckKeeper
from modeldeployment.reconcile.deciding.passing import decide
from modeldeployment.reconcile.deciding.seen import (
    Account,
    Answers,
    Attachment,
    Member,
    Names,
    OwnedKind,
    PodPhase,
    Queue,
    SeenObject,
    Snapshot,
    Weights,
    Workload,
)
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
from modeldeployment.reconcile.errors import CreateFailed, ObjectRefused, ReconcileError, Unreadable
from modeldeployment.reconcile.gauging import Gauging
from modeldeployment.reconcile.joining import Joint, SetController, SetTally, Single
from modeldeployment.reconcile.kinds import DEPLOYMENTS, INSTANCE_TYPES, OWNED
from modeldeployment.reconcile.retiring.accounting import Tally as RetirementTally
from modeldeployment.reconcile.snapshots import Snapshots
from modeldeployment.reconcile.watching import Key, Watched
from modeldeployment.reconcile.witnessing import Tally as WitnessTally
from modeldeployment.reconcile.witnessing import Witness

GRANTS = (
    *watching.GRANTS,
    *answering.GRANTS,
    *acting.GRANTS,
    *responding.GRANTS,
    *joining.GRANTS,
    *checks.GRANTS,
    *witnessing.GRANTS,
)
"""What reconciling asks of the API server."""

__all__ = [
    "DEPLOYMENTS",
    "GRANTS",
    "INSTANCE_TYPES",
    "OWNED",
    "Account",
    "Advance",
    "Announcement",
    "Answers",
    "Ask",
    "Attachment",
    "Blocked",
    "CheckKeeper",
    "CreateFailed",
    "Decision",
    "DeploymentController",
    "Done",
    "Fact",
    "Gauging",
    "Joint",
    "Key",
    "Member",
    "Names",
    "ObjectRefused",
    "OwnedKind",
    "PodPhase",
    "Queue",
    "ReconcileError",
    "RetirementTally",
    "RoleSlots",
    "SeenObject",
    "SetController",
    "SetTally",
    "Single",
    "Slot",
    "SlotState",
    "Snapshot",
    "Snapshots",
    "Step",
    "Tally",
    "Unreadable",
    "Wait",
    "Watched",
    "Weights",
    "Witness",
    "WitnessTally",
    "Workload",
    "decide",
    "utc_now",
]
