"""What became of retirements, counted from what status holds of them: from one reservation that was stored to the next.

Only what was written counts: a write whose answer was lost once it is seen, one that was refused never. Instants are
those that status holds, to the second. Source: facts reconcile §7, facts shutdown §2.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from modeldeployment.api import RetirementState
from modeldeployment.reconcile.retiring import wording
from modeldeployment.reconcile.retiring.reservation import BEFORE_DELETE, COMMITTED, Reservation
from modeldeployment.reconcile.retiring.wording import Abort

BOUNDS: Final = (1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0, 180.0, 240.0, 300.0)
"""Upper bounds of the histograms of durations, in seconds; the budgets are among them."""

UNKNOWN: Final = "Unknown"
"""The cause of an abort whose reason this release did not write."""

_MARK: Final = "\0"


class Phase(StrEnum):
    """What an operation spends its time on."""

    WITHDRAWAL = "Withdrawal"
    DRAIN = "Drain"
    DELETE = "Delete"
    SETTLE = "Settle"


class Outcome(StrEnum):
    """What became of an operation. An aborted one may be adopted later, which is told too."""

    COMPLETED = "Completed"
    ABORTED = "Aborted"
    TERMINATED = "Terminated"
    ADOPTED = "Adopted"


class Read(StrEnum):
    """What was read last of a replica that was deleted: idle, busy, or nothing, as no request can have reached it."""

    IDLE = "Idle"
    BUSY = "Busy"
    UNREAD = "Unread"


PHASES: Final[Mapping[RetirementState, Phase]] = MappingProxyType(
    {
        RetirementState.ADMITTED: Phase.WITHDRAWAL,
        RetirementState.DISQUALIFIED: Phase.WITHDRAWAL,
        RetirementState.WITHDRAWING: Phase.WITHDRAWAL,
        RetirementState.DRAINING: Phase.DRAIN,
        RetirementState.DELETING: Phase.DELETE,
        RetirementState.SETTLING: Phase.SETTLE,
    }
)
"""Which phase each state belongs to; an aborted operation is in none."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What one transition counts; each field is what it is of most: nothing.

    `abort` is the state that was given up and the cause, as words. `phase` is one that has ended and the seconds that
    it took; `seconds` is what an operation that ended took in all. `deletes` is what was read last of a replica whose
    delete was committed, and `in_flight` how many requests that were.
    """

    began: bool = False
    retried: bool = False
    outcome: Outcome | None = None
    abort: tuple[str, str] | None = None
    phase: tuple[Phase, float] | None = None
    seconds: float | None = None
    deletes: Read | None = None
    in_flight: int = 0


NOTHING: Final = Counted()


def counted(
    before: Reservation | None,
    after: Reservation | None,
    now: datetime,
    *,
    standing: frozenset[str] = frozenset(),
    in_flight: int | None = None,
) -> Counted:
    """Answer what a stored transition counts.

    `now` is when it was seen, for what status keeps no instant of. `standing` are the UIDs of Pods that are there and
    not leaving, `in_flight` the requests that were read last of the target.
    """
    counts = NOTHING
    if after is not None and after.under_way and not _same(before, after):
        retried = after.token != (before.token if before is not None else "")
        counts = replace(counts, began=True, retried=retried)
    if before is None:
        return counts
    if after is not None and _same(before, after):
        return replace(_within(before, after, in_flight), began=counts.began, retried=counts.retried)
    if before.state is RetirementState.SETTLING:
        return replace(
            counts, outcome=Outcome.COMPLETED, seconds=_seconds(before.started, now), phase=_phase(before, now)
        )
    kept = before.state is RetirementState.ABORTED and after is None
    if kept and before.members and before.members <= standing:
        return replace(counts, outcome=Outcome.ADOPTED)
    return counts


def cause(before: Reservation, after: Reservation) -> str:
    """The word for why an operation was given up: that of the sentence which its reason is."""
    for why in Abort:
        head, _, tail = wording.aborted(why, before, _MARK).partition(_MARK)
        if after.reason.startswith(head) and after.reason.endswith(tail):
            return "".join(part.capitalize() for part in why.name.split("_"))
    return UNKNOWN


def _within(before: Reservation, after: Reservation, in_flight: int | None) -> Counted:
    """What a step of one operation counts."""
    if after.state is before.state:
        return NOTHING
    if after.state is RetirementState.ABORTED:
        ended = after.deadline
        word = cause(before, after)
        return Counted(
            outcome=Outcome.TERMINATED if word == Abort.TERMINATED.name.capitalize() else Outcome.ABORTED,
            abort=(before.state.value, word),
            seconds=_seconds(before.started, ended),
            phase=_phase(before, ended),
        )
    counts = Counted()
    if PHASES.get(after.state) is not PHASES.get(before.state):
        counts = Counted(phase=_phase(before, after.phase_started))
    if before.state in BEFORE_DELETE and after.state in COMMITTED:
        read = Read.UNREAD if in_flight is None else Read.BUSY if in_flight else Read.IDLE
        counts = replace(counts, deletes=read, in_flight=in_flight or 0)
    return counts


def _phase(before: Reservation, ended: datetime) -> tuple[Phase, float] | None:
    phase = PHASES.get(before.state)
    if phase is None:
        return None
    return phase, _seconds(before.started if phase is Phase.WITHDRAWAL else before.phase_started, ended)


def _same(before: Reservation | None, after: Reservation) -> bool:
    """Whether both are one operation: the same Pods, admitted at the same instant, by the same request."""
    return before is not None and (before.members, before.started, before.token) == (
        after.members,
        after.started,
        after.token,
    )


def _seconds(began: datetime, ended: datetime) -> float:
    return max(0.0, (ended - began).total_seconds())


@dataclass(slots=True)
class Durations:
    """Durations per bucket of BOUNDS, the last bucket being everything longer, and their sum in seconds."""

    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds


@dataclass(slots=True)
class Tally:
    """Retirements since this process began to lead, and where each deployment's is now.

    `aborts` are by (state, cause), `durations` of what ended by outcome.
    """

    began: int = 0
    retries: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    aborts: Counter[tuple[str, str]] = field(default_factory=Counter)
    phases: dict[Phase, Durations] = field(default_factory=lambda: {phase: Durations() for phase in Phase})
    durations: dict[Outcome, Durations] = field(
        default_factory=lambda: {each: Durations() for each in Outcome if each is not Outcome.ADOPTED}
    )
    deletes: Counter[Read] = field(default_factory=Counter)
    in_flight: int = 0
    _stored: dict[str, Reservation | None] = field(default_factory=dict)
    _read: dict[str, int] = field(default_factory=dict)

    def seen(
        self,
        deployment: str,
        stored: Reservation | None,
        now: datetime,
        *,
        standing: Iterable[str] = (),
        in_flight: int | None = None,
    ) -> Counted:
        """Take note of what status holds of a deployment; what stood there when it was first seen counts nothing."""
        known = deployment in self._stored
        before = self._stored.get(deployment)
        self._stored[deployment] = stored
        counts = NOTHING
        if known and (before is not stored and before != stored):
            read = self._read.get(deployment)
            kept = before is not None and before.state is RetirementState.ABORTED and stored is None
            stands = frozenset(standing) if kept else frozenset()
            counts = counted(before, stored, now, standing=stands, in_flight=read)
            self._add(counts)
        if stored is None or stored.state not in BEFORE_DELETE or counts.began:
            self._read.pop(deployment, None)
        if in_flight is not None and stored is not None and stored.state in BEFORE_DELETE:
            self._read[deployment] = in_flight
        return counts

    def forget(self, deployment: str) -> None:
        """A deployment is gone, and its operation with it."""
        self._stored.pop(deployment, None)
        self._read.pop(deployment, None)

    def rest(self) -> None:
        """Others lead from now on: what they do is theirs to count."""
        self._stored.clear()
        self._read.clear()

    def states(self) -> Mapping[RetirementState, int]:
        """How many operations are in each state now; COMPLETED is none that stays."""
        counts = Counter(each.state for each in self._stored.values() if each is not None)
        return {state: counts[state] for state in RetirementState if state is not RetirementState.COMPLETED}

    def _add(self, counts: Counted) -> None:
        self.began += counts.began
        self.retries += counts.retried
        if counts.outcome is not None:
            self.outcomes[counts.outcome] += 1
            if counts.seconds is not None:
                self.durations[counts.outcome].add(counts.seconds)
        if counts.abort is not None:
            self.aborts[counts.abort] += 1
        if counts.phase is not None:
            phase, seconds = counts.phase
            self.phases[phase].add(seconds)
        if counts.deletes is not None:
            self.deletes[counts.deletes] += 1
            self.in_flight += counts.in_flight
