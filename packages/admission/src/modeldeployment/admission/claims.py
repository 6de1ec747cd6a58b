"""What the two ownership annotations of a deployment say: who owns its counts, and what was committed last.

Source: spec 3 §Binding fence, facts api-scaler §4.
"""

from dataclasses import dataclass
from typing import Final, Self

from modeldeployment.api import ModelDeployment, keys
from modeldeployment.api.binding import Binding, Decision

BINDING: Final = f"metadata.annotations[{keys.SCALER_BINDING}]"
DECISION: Final = f"metadata.annotations[{keys.SCALER_DECISION}]"


@dataclass(frozen=True, slots=True)
class Claim:
    """Both annotations as written, None where there is none, and as read, None where they cannot be."""

    binding_text: str | None = None
    decision_text: str | None = None
    binding: Binding | None = None
    decision: Decision | None = None

    @classmethod
    def of(cls, deployment: ModelDeployment | None) -> Self:
        """What a deployment claims; one that is not there claims nothing."""
        if deployment is None:
            return cls()
        annotations = deployment.metadata.annotations
        binding, decision = annotations.get(keys.SCALER_BINDING), annotations.get(keys.SCALER_DECISION)
        return cls(
            binding,
            decision,
            None if binding is None else Binding.parse(binding),
            None if decision is None else Decision.parse(decision),
        )

    @property
    def term(self) -> int:
        """The highest term either says, 0 where neither says one."""
        return max((said.term for said in (self.binding, self.decision) if said is not None), default=0)
