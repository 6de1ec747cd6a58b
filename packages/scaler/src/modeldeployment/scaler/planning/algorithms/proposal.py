"""What one algorithm makes of one role, and how it says so."""

from typing import Final

import msgspec

from modeldeployment.api import Quantity
from modeldeployment.api.scalerconditions import RoleReason
from modeldeployment.scaler.planning.causes import Cause, Stage
from modeldeployment.scaler.planning.trail import Step

LARGEST: Final = 2**31 - 1
"""Most replicas that status can speak of; bounds end far below."""
NANO: Final = 10**9

_MICRO: Final = 10**6

Numbers = dict[str, int | str]


class Proposal(msgspec.Struct, frozen=True, gc=False):
    """A count for one role, and everything that is in force for it."""

    role: str
    current: int
    """What is declared."""
    replicas: int
    shrinks: bool = True
    """Whether the role may shrink; one that may not is proposed no fewer than are declared."""
    measured: bool = True
    """Whether every reading that is needed was there."""
    reasons: tuple[RoleReason, ...] = ()
    """Words that apply, in no order; the algorithm's own name is never among them."""
    steps: tuple[Step, ...] = ()

    def told(
        self, cause: Cause, numbers: Numbers, *reasons: RoleReason, least: int = 0, shrinks: bool = True
    ) -> "Proposal":
        """Go on with a rule that asks for at least so many, and may forbid shrinkage."""
        shrinks = shrinks and self.shrinks
        floor = least if shrinks else max(least, self.current)
        after = min(LARGEST, max(self.replicas, floor))
        step = Step(
            stage=Stage.ALGORITHM,
            role=self.role,
            before=self.current,
            after=after,
            wanted=self.replicas if self.replicas != after else None,
            cause=cause,
            numbers=numbers,
        )
        return Proposal(
            self.role, self.current, after, shrinks, self.measured, (*self.reasons, *reasons), (*self.steps, step)
        )

    def held(self, cause: Cause, numbers: Numbers, *reasons: RoleReason, measured: bool = True) -> "Proposal":
        """Go on with a rule that forbids shrinkage and nothing else; its word is not that of a role that grows."""
        words = reasons if self.replicas <= self.current else ()
        proposal = self.told(cause, numbers, *words, shrinks=False)
        return proposal if measured else msgspec.structs.replace(proposal, measured=False)


def count(demand: int, capacity: int) -> int:
    """Replicas that carry a demand, at least one: both in nano-units, rounded up."""
    return min(LARGEST, max(1, -(-demand // capacity)))


def shown(nanos: int, over: int = 1) -> str:
    """An amount of nano-units, divided, as a quantity to the thousandth."""
    return str(Quantity(nanos if over == 1 else (2 * nanos + over * _MICRO) // (2 * over * _MICRO) * _MICRO))
