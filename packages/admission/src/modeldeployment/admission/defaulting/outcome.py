"""What defaulting answers: operations to apply, or why there is nothing to default from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from modeldeployment.admission import patching
from modeldeployment.admission.patching import Operation
from modeldeployment.admission.verdict import Refusal


@dataclass(frozen=True, slots=True)
class Defaulted:
    """A JSON patch that only adds members, and the refusals that made a default unknowable."""

    operations: tuple[Operation, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    def applied_to(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of `body` with the operations applied; what they do not touch is shared with it."""
        return patching.with_members(body, self.operations)
