"""What the process remembers of one scaler between two passes: a restart reads it back from status."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from pydantic import ValidationError

from modeldeployment.api.scaler import ScalerMode, ScalerSpec
from modeldeployment.api.scalerconditions import ScalerCondition, ScalerReason
from modeldeployment.api.scalerstatus import ScalerStatus
from modeldeployment.kube import shapes
from modeldeployment.scaler import remembering, reporting
from modeldeployment.scaler.binding import Known, Owner
from modeldeployment.scaler.errors import Unreadable
from modeldeployment.scaler.journal import Line
from modeldeployment.scaler.observing import Declared
from modeldeployment.scaler.planning import policies
from modeldeployment.scaler.planning.memory import Memory
from modeldeployment.scaler.planning.policy import Policy
from modeldeployment.scaler.reporting import Outline


@dataclass(frozen=True, slots=True)
class Wanted:
    """A scaler's spec of one generation, read."""

    generation: int
    spec: ScalerSpec
    policy: Policy
    body: Mapping[str, Any]
    """The spec as JSON."""


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A commit whose answer was lost, and the pass that it came from."""

    sent: Declared
    line: Line


@dataclass(slots=True)
class Standing:
    """One scaler, told by its UID."""

    uid: str
    memory: Memory
    status: ScalerStatus
    """What status says, or is to say once it can be written."""
    outline: Outline
    due: datetime | None = None
    """When it plans next; None: at once."""
    planned: int = 0
    """Generation of the spec that was planned for last."""
    wanted: Wanted | None = None
    unsettled: Unsettled | None = None
    untold: bool = False
    """Whether the write of its status failed."""
    told: int = 0
    """Version of the scaler after the last write of its status."""
    refused: str = ""
    """Why counts that are wanted are not written."""
    reverted: str = ""
    """Who else writes counts, since the last commit."""
    wrote: int = 0
    """Version of the last write to the target: a store that is older tells nothing."""

    @property
    def trouble(self) -> str:
        """What keeps counts from being what they are planned to be, although the binding is held."""
        return self.refused or self.reverted

    def read(self, stored: shapes.Custom) -> Wanted:
        """Read the spec, once a generation. Raises Unreadable."""
        generation = stored.metadata.generation
        if self.wanted is None or self.wanted.generation != generation:
            try:
                spec = ScalerSpec.model_validate(msgspec.json.decode(stored.spec))
            except (ValidationError, msgspec.DecodeError) as error:
                raise Unreadable(f"the spec of the scaler cannot be read: {error}") from error
            self.wanted = Wanted(generation, spec, policies.of(spec, generation), spec.body())
        return self.wanted

    def owner(self, stored: shapes.Custom, wanted: Wanted) -> Owner:
        """What a ruling reads of the scaler."""
        bound, last = self.status.binding, self.memory.last_commit
        said = self.status.condition(ScalerCondition.BOUND)
        replaced = said is not None and said.reason == ScalerReason.TARGET_REPLACED
        terms = (bound.term if bound is not None else 0, last.term if last is not None else 0)
        return Owner(
            name=stored.metadata.name,
            uid=self.uid,
            generation=wanted.generation,
            active=wanted.spec.mode is ScalerMode.ACTIVE,
            suspended=wanted.spec.suspend,
            leaving=stored.metadata.deletion_timestamp is not None,
            known=None if bound is None else Known(bound.target_uid, max(term or 0 for term in terms)),
            replaced_at=said.observed_generation if said is not None and replaced else None,
        )


def of(stored: shapes.Custom) -> Standing:
    """Resume from what status says; one that cannot be read says nothing."""
    try:
        status = ScalerStatus.model_validate(msgspec.json.decode(stored.status) if bytes(stored.status) else {})
    except (ValidationError, msgspec.DecodeError):
        status = ScalerStatus()
    memory = remembering.memory_of(status)
    return Standing(
        stored.metadata.uid, memory, status, reporting.outline(status, memory), planned=memory.policy_generation
    )


def first_due(uid: str, interval_seconds: int, now: datetime) -> datetime:
    """When a scaler that was there at the start plans first: all of them do not at once."""
    return now + timedelta(seconds=interval_seconds * zlib.crc32(uid.encode()) / 2**32)
