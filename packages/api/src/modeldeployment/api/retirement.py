"""The retirement of one replica, as status remembers it between passes.

Sources: facts api-modeldeployment §3, facts status §7.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from modeldeployment.api.document import ATOMIC, Document, Int32, Int64, Timestamp, absent, words


class RetirementState(StrEnum):
    """How far a retirement is; COMPLETED is never seen stored, the pass that completes also clears the field."""

    ADMITTED = "Admitted"
    DISQUALIFIED = "Disqualified"
    WITHDRAWING = "Withdrawing"
    DRAINING = "Draining"
    DELETING = "Deleting"
    SETTLING = "Settling"
    ABORTED = "Aborted"
    COMPLETED = "Completed"


class Retirement(Document):
    """A replica on its way out."""

    role_name: Annotated[str, Field(max_length=63)]
    """Role it belongs to."""
    replica_ordinal: Int32
    """Its ordinal; 0 is written."""
    observed_generation: Int64 | None = None
    """Generation of the deployment that asked for it."""
    target_member_uids: Annotated[tuple[str, ...], Field(alias="targetMemberUIDs", exclude_if=absent), ATOMIC] = ()
    """UIDs of the Pods that leave."""
    target_workload_uid: Annotated[str | None, Field(alias="targetWorkloadUID")] = None
    """UID of the Workload that leaves."""
    state: Annotated[str, words(RetirementState)]
    """How far it is."""
    reason: str | None = None
    """What it waits for, or why it was given up and what is kept."""
    started_at: Timestamp | None = None
    """When it was admitted."""
    deadline: Timestamp | None = None
    """When its time is spent; of an aborted one, when it was aborted."""
    phase_started_at: Timestamp | None = None
    """When the time of its state began."""
    last_consumed_retry_token: str | None = None
    """The last request to retry that was heeded."""
