"""One rule's say about how far a role may go in this pass."""

from dataclasses import dataclass, field

from modeldeployment.scaler.planning.causes import Cause, Stage


@dataclass(frozen=True, slots=True)
class Limit:
    """A range that a rule leaves; an end that is None is none of its business."""

    stage: Stage
    cause: Cause
    floor: int | None = None
    ceiling: int | None = None
    numbers: dict[str, int | str] = field(default_factory=dict)

    def clamp(self, count: int) -> int:
        """The nearest count that the rule allows."""
        if self.floor is not None and count < self.floor:
            return self.floor
        if self.ceiling is not None and count > self.ceiling:
            return self.ceiling
        return count
