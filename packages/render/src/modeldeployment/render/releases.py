"""What is known of an engine's releases: the oldest ones this operator's rendering was run on, and what fails at them.

Sources: facts engine-versions §1 and §3, facts encode §2, spec 2 §Counting engine tokens. The tables are in
`engines/releases.py`, the rows of `Backend.floors` and `Backend.failures`.
"""

from dataclasses import dataclass
from enum import Enum, auto


class Use(Enum):
    """What an engine is put to, as far as that changes which releases do."""

    ANY = auto()
    COUNTING = auto()
    """A router has it count tokens."""
    ENCODING = auto()
    """The deployment declares an Encode role."""
    PAIRED_OVER_TCP = auto()
    """Halves of a pair hand blocks over TCP."""
    STORED = auto()
    """It reads and writes a shared store."""
    PAIRED_AND_STORED = auto()
    """It does both a direct leg and a shared store."""


@dataclass(frozen=True, slots=True)
class Floor:
    """The oldest release that a use of an engine asks for, as engines write versions, and what an older one does."""

    use: Use
    version: str
    below: str


@dataclass(frozen=True, slots=True)
class Failure:
    """What is known to fail at the oldest release in a use of it, and the way out."""

    use: Use
    what: str
    way_out: str
