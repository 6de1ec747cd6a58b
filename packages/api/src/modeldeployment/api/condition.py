"""One entry of `status.conditions`, the same on every kind of ours."""

from typing import Annotated

from pydantic import Field

from modeldeployment.api.conditions import ConditionStatus
from modeldeployment.api.document import Document, Int64, Timestamp


class Condition(Document):
    """One observed aspect of the object."""

    type: Annotated[str, Field(max_length=316)]
    """Which aspect."""
    status: ConditionStatus
    """Whether it holds."""
    reason: Annotated[str, Field(max_length=1024)] = ""
    """Word for programs."""
    message: Annotated[str, Field(max_length=32768)] = ""
    """Sentence for people."""
    last_transition_time: Timestamp | None = None
    """When the status last changed."""
    observed_generation: Int64 | None = None
    """Generation of the object the observation is about."""
