"""What an algorithm says about one role: what constraints then work on."""

from modeldeployment.api.scalerconditions import RoleReason
from modeldeployment.scaler.planning.memory import RoleMemory
from modeldeployment.scaler.planning.plain import Plain
from modeldeployment.scaler.planning.trail import Step


class Advice(Plain, frozen=True, kw_only=True):
    """A recommendation for one role, the word for it, and what it may be used for."""

    role: str
    replicas: int
    """What the algorithm recommends; the declared count where it holds, and where the role is coupled."""
    reason: RoleReason
    shrinks: bool
    """Whether the role may shrink as far as the algorithm is concerned; growth is never forbidden by it."""
    own: bool = True
    """Whether it is the role's own recommendation; a coupled role follows its ratios and has none."""
    measured: bool = True
    """Whether every signal that the algorithm requires was there."""
    steps: tuple[Step, ...] = ()
    """How it came about."""
    memory: RoleMemory
    """What is remembered of the role from now on: its windows, its filter, its recommendations."""
