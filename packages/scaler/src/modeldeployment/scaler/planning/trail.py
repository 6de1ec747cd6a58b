"""What a pass did to the vector, stage by stage."""

import msgspec

from modeldeployment.scaler.planning.causes import Cause, Stage
from modeldeployment.scaler.planning.plain import Count, Plain


class Step(Plain, frozen=True, kw_only=True):
    """One rule at work on one role: it changed the count, or (`before` equals `after`) kept it from changing."""

    stage: Stage
    role: str
    before: Count
    """What the stage was given; what is declared, where the stage is the algorithm."""
    after: Count
    cause: Cause
    wanted: Count | None = None
    """What it would have been without the rule, where the rule held it."""
    numbers: dict[str, int | str] = msgspec.field(default_factory=dict)
    """What the rule went by, by name: counts, amounts as quantities, instants; what sentences are made of."""
