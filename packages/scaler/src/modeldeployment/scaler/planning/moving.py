"""A write that a transaction asks for, and what is remembered once it was made."""

from dataclasses import dataclass, field

from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.memory import Memory
from modeldeployment.scaler.planning.outcome import Move
from modeldeployment.scaler.planning.plain import Vector


@dataclass(frozen=True, slots=True)
class Moved:
    """A vector to be written; the pass says which roles it changes."""

    move: Move
    vector: Vector
    cause: Cause
    """Why each role that it changes has its count."""
    memory: Memory
    """What is remembered once it was written, but for the write itself."""
    numbers: dict[str, int | str] = field(default_factory=dict)
