"""One pass over one scaler: what it rules on."""

from dataclasses import dataclass, replace

from modeldeployment.kube import shapes
from modeldeployment.scaler.binding import Hold, Ruling
from modeldeployment.scaler.observing import Declared
from modeldeployment.scaler.standing import Standing, Wanted
from modeldeployment.scaler.watching import Key


@dataclass(frozen=True, slots=True)
class Case:
    """A scaler as it is stored, what is remembered of it, what it wants, its target, and what was ruled."""

    key: Key
    stored: shapes.Custom
    standing: Standing
    wanted: Wanted
    target: Declared | None
    ruling: Ruling

    @property
    def name(self) -> str:
        """The target's name, whether it is there or not."""
        return self.wanted.spec.target_ref.name

    @property
    def term(self) -> int:
        """The term that is held; 0 where nothing may be written."""
        return self.ruling.next.term if isinstance(self.ruling.next, Hold) else 0

    def of(self, target: Declared) -> "Case":
        """The same case with a target as it is now."""
        return replace(self, target=target)
