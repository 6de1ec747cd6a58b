"""What one pass may make of a role: the seam between pacing and projection."""

from modeldeployment.scaler.planning.plain import Plain
from modeldeployment.scaler.planning.trail import Step


class Box(Plain, frozen=True, kw_only=True):
    """How far one role may go in this pass, and where it would go by itself. `floor <= current <= ceiling`."""

    role: str
    current: int
    floor: int
    ceiling: int
    wanted: int | None
    """What is recommended, between floor and ceiling; None where the role is coupled and follows its ratios."""
    rising: bool = False
    """Whether more is recommended than is declared, whatever stands in the way: its component moves up, or stays."""
    steps: tuple[Step, ...] = ()
    """What made it so small."""
