"""The one operation of a deployment, as status keeps it between passes. Source: facts status §7, facts reconcile §7."""

from dataclasses import dataclass
from datetime import UTC, datetime

from modeldeployment.api import Retirement, RetirementState

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
"""What an instant that nobody wrote reads as: its budget is spent, and the capacity stays."""

BEFORE_DELETE = (
    RetirementState.ADMITTED,
    RetirementState.DISQUALIFIED,
    RetirementState.WITHDRAWING,
    RetirementState.DRAINING,
)
"""States that an operation can be aborted from."""

COMMITTED = (RetirementState.DELETING, RetirementState.SETTLING)
"""States from which there is no way back."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """A replica on its way out. `members` and `workload` are the UIDs that were there when it was admitted.

    `deadline` is when all of it must be over; of an aborted one, when it was aborted. `token` is the last request to
    retry that was heeded.
    """

    role: str
    ordinal: int
    generation: int
    members: frozenset[str]
    workload: str
    state: RetirementState
    reason: str
    started: datetime
    deadline: datetime
    phase_started: datetime
    token: str = ""

    @property
    def under_way(self) -> bool:
        """Whether it goes on by itself."""
        return self.state in BEFORE_DELETE or self.state in COMMITTED

    def body(self) -> dict[str, object]:
        """Answer it as `status.retirement`, in Kubernetes' own JSON spelling."""
        return {
            "roleName": self.role,
            "replicaOrdinal": self.ordinal,
            "observedGeneration": self.generation,
            "targetMemberUIDs": sorted(self.members),
            "targetWorkloadUID": self.workload,
            "state": self.state.value,
            "reason": self.reason,
            "startedAt": _stamp(self.started),
            "deadline": _stamp(self.deadline),
            "phaseStartedAt": _stamp(self.phase_started),
            **({"lastConsumedRetryToken": self.token} if self.token else {}),
        }


def read(stored: Retirement | None) -> Reservation | None:
    """Read what status holds; None where no operation is under way.

    A state that this release does not know reads as aborted: whatever it meant, nothing is deleted by it.
    """
    if stored is None or stored.state == RetirementState.COMPLETED:
        return None
    known = stored.state in frozenset(RetirementState)
    return Reservation(
        role=stored.role_name,
        ordinal=stored.replica_ordinal,
        generation=stored.observed_generation or 0,
        members=frozenset(stored.target_member_uids),
        workload=stored.target_workload_uid or "",
        state=RetirementState(stored.state) if known else RetirementState.ABORTED,
        reason=stored.reason or "",
        started=stored.started_at or LONG_AGO,
        deadline=stored.deadline or LONG_AGO,
        phase_started=stored.phase_started_at or LONG_AGO,
        token=stored.last_consumed_retry_token or "",
    )


def second(now: datetime) -> datetime:
    """The instant as status can hold it: to the second."""
    return now.replace(microsecond=0)


def _stamp(instant: datetime) -> str:
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
