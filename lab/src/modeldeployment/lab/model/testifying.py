"""What routers and engines say in the fake world, where there are none: proven a moment after it is asked, or never."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from modeldeployment.lab.model.agendas import ModelQueue
from modeldeployment.lab.model.clock import Clock
from modeldeployment.lab.model.moves import Move
from modeldeployment.reconcile import Key
from modeldeployment.reconcile.retiring.evidence import Evidence, Inquiry, Leg, Stage
from modeldeployment.router.withdrawal import Verdict

MOMENT: Final = 2.0
"""Virtual seconds from a question to its answer."""
_PROVEN: Final = Leg(Verdict.PROVEN, "proven")
_WAITING: Final = Leg(Verdict.WAITING, "engine runs 1 request")


class Testifying:
    """Answers the inquiries of one process.

    `proves` says whether anything is ever proven now, `busy` whether engines are; a change of either is told at once.
    """

    def __init__(
        self, clock: Clock, queue: ModelQueue[Key], proves: Callable[[], bool], busy: Callable[[], bool]
    ) -> None:
        self._clock = clock
        self._queue = queue
        self._proves = proves
        self._busy = busy
        self._asked: dict[Key, tuple[Inquiry, float]] = {}
        self._told: dict[Key, Evidence] = {}

    def moves(self) -> Iterator[Move]:
        """The answers that are still to come."""
        for key, (_, since) in self._asked.items():
            at = max(self._clock.seconds, since + MOMENT)
            if self._told.get(key) != self._witnessed(key, at):
                yield Move(since + MOMENT, "engines", f"answer of {key}", partial(self._tell, key))

    def _tell(self, key: Key) -> None:
        self._told[key] = self._witnessed(key, self._clock.seconds)
        self._queue.add(key)

    def inquire(self, key: Key, inquiry: Inquiry | None, /) -> None:
        """Find something out from now on, or nothing more."""
        known = self._asked.pop(key, None)
        if inquiry is not None and known is not None and _same(known[0], inquiry):
            self._asked[key] = (inquiry, known[1])
            return
        self._told.pop(key, None)
        if inquiry is not None:
            self._asked[key] = (inquiry, self._clock.seconds)

    def evidence(self, key: Key, /) -> Evidence | None:
        """Answer what is known."""
        return self._witnessed(key, self._clock.seconds) if key in self._asked else None

    def views(self, key: Key, /) -> None:
        """Answer that nobody looked at routers: there are none."""

    def _witnessed(self, key: Key, at: float) -> Evidence:
        inquiry, since = self._asked[key]
        proves = self._proves() and at >= since + MOMENT
        idle = proves and not self._busy()
        withdrawal = _PROVEN if proves else _WAITING
        said = _PROVEN if idle else _WAITING
        return Evidence(inquiry.members, withdrawal, said, in_flight=0 if idle else 1, restored=_PROVEN)


def _same(one: Inquiry, other: Inquiry) -> bool:
    """Whether what was heard for one is what the other asks for: draining goes on from withdrawing."""
    stages = {one.stage, other.stage}
    kept = len(stages) == 1 or Stage.RESTORING not in stages
    return kept and replace(one, stage=other.stage, since=other.since) == other
