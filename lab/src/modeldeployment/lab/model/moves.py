"""What can happen next, and who makes it happen."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from modeldeployment.lab.model.clock import Clock


@dataclass(frozen=True, slots=True)
class Move:
    """One thing that can happen from `at` on (seconds of the world's clock): who does what, and how."""

    at: float
    who: str
    what: str
    run: Callable[[], object]


class Actor(Protocol):
    """Somebody whose next moves follow from what the API server holds."""

    def moves(self) -> Iterator[Move]:
        """Everything he may do next; one that was made may make others impossible."""
        ...


class Pace:
    """How long an actor takes to begin with something, counted from when it first could.

    `at(what, delay)` names a piece of work; once it is done or no longer possible, `drop` forgets it.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: dict[object, float] = {}
        self._asked: set[object] = set()

    def at(self, what: object, delay: float) -> float:
        """When a piece of work may begin."""
        self._asked.add(what)
        return self._since.setdefault(what, self._clock.seconds) + delay

    def round(self) -> None:
        """Begin a new round of questions: work that the last one did not ask for is forgotten."""
        for what in [what for what in self._since if what not in self._asked]:
            del self._since[what]
        self._asked.clear()
