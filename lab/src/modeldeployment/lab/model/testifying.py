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
    """Answers the inquiries of one process. `proves` says whether anything is ever proven now."""

    def __init__(self, clock: Clock, queue: ModelQueue[Key], proves: Callable[[], bool]) -> None:
        self._clock = clock
        self._queue = queue
        self._proves = proves
        self._asked: dict[Key, tuple[Inquiry, float]] = {}
        self._untold: set[Key] = set()

    def moves(self) -> Iterator[Move]:
        """The answers that are still to come."""
        for key in self._untold:
            yield Move(self._asked[key][1] + MOMENT, "engines", f"answer of {key}", partial(self._tell, key))

    def _tell(self, key: Key) -> None:
        self._untold.discard(key)
        self._queue.add(key)

    def inquire(self, key: Key, inquiry: Inquiry | None, /) -> None:
        """Find something out from now on, or nothing more."""
        known = self._asked.pop(key, None)
        if inquiry is None:
            self._untold.discard(key)
            return
        since = self._clock.seconds
        if known is not None and _same(known[0], inquiry):
            since = known[1]
        else:
            self._untold.add(key)
        self._asked[key] = (inquiry, since)

    def evidence(self, key: Key, /) -> Evidence | None:
        """Answer what is known."""
        if key not in self._asked:
            return None
        inquiry, since = self._asked[key]
        said = _PROVEN if self._proves() and self._clock.seconds >= since + MOMENT else _WAITING
        return Evidence(inquiry.members, said, said, in_flight=0 if said is _PROVEN else 1, restored=_PROVEN)


def _same(one: Inquiry, other: Inquiry) -> bool:
    """Whether what was heard for one is what the other asks for: draining goes on from withdrawing."""
    stages = {one.stage, other.stage}
    kept = len(stages) == 1 or Stage.RESTORING not in stages
    return kept and replace(one, stage=other.stage, since=other.since) == other
