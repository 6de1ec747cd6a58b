"""What a pass found out of the rendering of its roles, and of replicas beside their spec."""

from dataclasses import dataclass
from enum import Enum, auto


class Held(Enum):
    """What the next turn of a rollout waits for."""

    NOT = auto()
    FOR_ADMISSION = auto()
    FOR_READINESS = auto()


@dataclass(frozen=True, slots=True)
class Rendered:
    """Every role could be rendered."""


@dataclass(frozen=True, slots=True)
class RenderRefused:
    """A role cannot be rendered; `message` is the renderer's own (decisions D19)."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class UpToDate:
    """Every replica matches this pass's render."""


@dataclass(frozen=True, slots=True)
class RolloutInProgress:
    """Replicas differ from the render; at most one a role turns over at a time."""

    differing: int
    total: int
    held: Held = Held.NOT


@dataclass(frozen=True, slots=True)
class ReplacementInProgress:
    """The survivors match, and the count is short; while weights are `blocked` it stays so."""

    have: int
    want: int
    blocked: bool = False


@dataclass(frozen=True, slots=True)
class RolloutNotObserved:
    """The pass accounted for no replica."""


@dataclass(frozen=True, slots=True)
class AllKindsReady:
    """Every declared kind has a ready replica."""


@dataclass(frozen=True, slots=True)
class KindsNotReady:
    """These kinds have none."""

    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RolloutHeldByCache:
    """Replicas differ from the render and stay, since no connection to their cache can be rendered now."""

    differing: int
    total: int


@dataclass(frozen=True, slots=True)
class RolloutHeldByWeights:
    """Replicas differ from the render and stay, since a replacement could not load the weights now."""

    differing: int
    total: int


@dataclass(frozen=True, slots=True)
class EligibilityObserved:
    """Of every role it is known which replicas may be sent requests."""


@dataclass(frozen=True, slots=True)
class EligibilityNotObserved:
    """Of these roles it is not."""

    roles: tuple[str, ...]
