"""The sentence of each verdict, as it stands in a Workload's check: what is waited for, and the way out."""

from collections.abc import Sequence
from typing import Final

from modeldeployment.reconcile.deciding.pacing import LONGEST_HOLD, LONGEST_YIELD, MINUTE
from modeldeployment.reconcile.sets.counting import Count
from modeldeployment.reconcile.sets.markers import PARKED, Yield

READY: Final = "every replica of the set holds its quota"
EXEMPT: Final = "a deployment of one role is not held together; its replicas start as they get quota"
FOREIGN: Final = "not part of a ModelDeployment; nothing is waited for"
UNDECIDED: Final = (
    "whose Workload this is cannot be told yet: its Pod or deployment was not found; it is read again every 15 s"
)


def assembling(count: Count) -> str:
    """Groups have no Pods yet."""
    return f"the set is not complete yet: {_roles(count.assembling)} still gets Pods; nothing starts before"


def held(count: Count) -> str:
    """Groups wait for quota."""
    return (
        f"{count.present} of {count.total} replicas of the set hold quota; waiting for {_roles(count.waiting)}, "
        "and all start together"
    )


def parked(count: Count) -> str:
    """The set did not fit for too long."""
    return (
        f"{PARKED}: the set did not get its quota within {LONGEST_HOLD // MINUTE} minutes, {_roles(count.waiting)} is "
        "still waiting; free capacity and set spec.active=true on the Workload, or delete the deployment and create it "
        "again; "
        "applying the same manifest changes nothing"
    )


def yielding(to: Yield) -> str:
    """The set gives way to an older one."""
    return (
        f"{to.marker()}: each of the two sets held quota that the other waits for, and the older goes first; this "
        "Workload is made active again when the older set is admitted, gone or edited, or after "
        f"{LONGEST_YIELD // MINUTE} minutes"
    )


def shared(sets: Sequence[str]) -> str:
    """Pods of several deployments are in one group."""
    return (
        f"Pods of the deployments {' and '.join(sets)} are part of this one Workload, so no set answers for it and "
        "nothing of it starts; delete the Pods of one of them, and then the Workload: Kueue makes it anew of what stays"
    )


def _roles(names: Sequence[str]) -> str:
    return f"role {names[0]}" if len(names) == 1 else f"roles {', '.join(names)}"
