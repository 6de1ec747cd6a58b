"""One pass of one scaler, with everything that it was decided from: a line of the journal."""

from typing import Any

import msgspec

from modeldeployment.scaler.planning import coding
from modeldeployment.scaler.planning.memory import Memory
from modeldeployment.scaler.planning.observed import Reading, Target
from modeldeployment.scaler.planning.outcome import Plan
from modeldeployment.scaler.planning.plain import Count, Instant, Plain


class Line(Plain, frozen=True, kw_only=True):
    """What a pass saw, what it remembered, what it was told to do, and what it planned."""

    at: Instant
    namespace: str
    name: str
    """Of the scaler."""
    scaler_uid: str
    generation: Count
    """Of the scaler's spec."""
    spec: dict[str, Any]
    """The scaler's spec as JSON."""
    target: Target
    reading: Reading
    memory: Memory = msgspec.field(default_factory=Memory)
    decision_id: str
    """The id that a write of this pass has."""
    term: Count
    """Of the binding; 0 where nothing is bound."""
    plan: Plan | None = None
    """What was planned; None in a document that is only an input."""
    committed: bool = False
    """Whether the vector was written."""


def encode(line: Line) -> bytes:
    """The line as JSON, without an end of line."""
    return coding.encode(line)


def decode(data: bytes) -> Line:
    """Read a line; raises Undecodable naming the field, the value, why, and the way out."""
    return coding.decode(data, Line)
