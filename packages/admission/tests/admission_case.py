"""One row of a case table: what is submitted, and what must come back.

The same rows run twice: through `review()` here, and through a real API server with the webhook installed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from modeldeployment.admission.examples import Change, Example
from modeldeployment.admission.facts import Actor, Policy


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal that must be there: its code and field, and the words its sentence must hold and must not hold."""

    code: str
    field: str
    names: tuple[str, ...] = ()
    spares: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """Changes to the base of `examples`; no `refused` and no `unready` means that it is accepted.

    `refused` lists every refusal, no more and no less. `unready` holds words of the answer that it cannot be judged
    yet. `defaulted` holds values that must stand at field paths afterwards.
    """

    id: str
    new: Change = field(default_factory=dict)
    old: Change | None = None
    refused: tuple[Refused, ...] = ()
    unready: tuple[str, ...] = ()
    defaulted: Mapping[str, Any] = field(default_factory=dict)
    scaler: bool = False
    actor: Actor = Actor.USER
    policy: Policy = field(default_factory=Policy)
    known: Mapping[str, Change | None] = field(default_factory=dict)

    @property
    def example(self) -> Example:
        """The objects and the cluster of the case."""
        return Example(self.new, self.old, self.scaler, self.actor, self.policy, self.known)
