"""What each Workload of a set is answered: `Ready`, `Pending`, or parked (facts atomic-admission §2 to §6 and §8).

No other state is ever written: `Retry` would drop the reservation, and siblings would trade quota for ever.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from modeldeployment.api.kueue import CheckState
from modeldeployment.reconcile.deciding.pacing import LONGEST_HOLD
from modeldeployment.reconcile.sets import markers, messages
from modeldeployment.reconcile.sets.counting import Count
from modeldeployment.reconcile.sets.seen import Entry, Set, Shared, Stranger, Workload

GLANCE: Final = timedelta(seconds=15)
"""How soon a Workload is looked at again that no set answers for."""

CALM: Final = timedelta(seconds=5)
"""How long a set must stand still before a Pending is put into words.

Kueue writes the entry as Pending itself. A set that gets its quota as it comes is thus written to once a Workload.
"""

LONGEST_SILENCE: Final = timedelta(seconds=10)
"""How long a set that stands still is told nothing at the most, while others open: quota is then on its way."""

EACH: Final = timedelta(milliseconds=50)
"""What each held Workload adds to the pause between two sentences, so that a large set writes no more than a small."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Write our entries of a Workload."""

    workload: Workload
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Shelve:
    """Write why into the entries first, where it does not stand there yet, then deactivate the Workload."""

    workload: Workload
    entries: tuple[Entry, ...]
    parked: bool

    @property
    def said(self) -> bool:
        """Whether the reason stands there already: a pass before ended between the two writes."""
        return self.entries == self.workload.entries


@dataclass(frozen=True, slots=True)
class Activate:
    """Let a Workload that gave way queue again."""

    workload: Workload


Move = Answer | Shelve | Activate


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What is written now, and when the set must be looked at again although nothing happens to it."""

    moves: tuple[Move, ...] = ()
    again: datetime | None = None


Spoken = Callable[[Workload], datetime | None]
"""When this process last changed the sentence of a Workload, if it did."""


def alone(workload: Workload, whose: Stranger | Shared, now: datetime) -> Verdicts:
    """Answer a Workload of no set: one that is not ours at once, one that is nobody's or several sets' by and by."""
    if not workload.open:
        return Verdicts()
    if whose is Stranger.FOREIGN:
        return Verdicts(tuple(_ready((workload,), messages.FOREIGN, now)))
    message = messages.shared(whose.sets) if isinstance(whose, Shared) else messages.UNDECIDED
    return Verdicts(tuple(_answers(workload, CheckState.PENDING, message, now)), now + GLANCE)


def exempt(workloads: Iterable[Workload], now: datetime) -> Verdicts:
    """Answer Workloads of a deployment of one role."""
    return Verdicts(tuple(_ready(workloads, messages.EXEMPT, now)))


def joint(of: Set, count: Count, now: datetime, spoken: Spoken, opened: datetime | None = None) -> Verdicts:
    """Answer the Workloads of a set: all of them `Ready`, or each held, or parked once it was held for too long.

    `opened` is when the last Workload of any set was let go.
    """
    if of.exempt:
        return exempt(of.workloads, now)
    if count.complete:
        return Verdicts(tuple(_ready(of.workloads, messages.READY, now)))
    held = [each for each in of.workloads if each.open]
    message = messages.held(count) if count.settled else messages.assembling(count)
    moves: list[Move] = []
    again: list[datetime] = []
    pause = CALM + EACH * len(held)
    still = max((each.since for each in of.workloads), default=now)
    calm = min(max(still, opened or still) + CALM, still + LONGEST_SILENCE)
    rest_is_parked = any(not each.active and _parked(each) for each in of.workloads)
    for each in held:
        if count.settled:
            since = _queued_since(each) if rest_is_parked and not _parked(each) else _waiting_since(each)
            if since is not None and now - since > LONGEST_HOLD:
                moves.append(Shelve(each, _said(each, messages.parked(count), now), parked=True))
                continue
            if since is not None:
                again.append(since + LONGEST_HOLD + _TICK)
        last = spoken(each)
        due = calm if last is None else max(calm, last + pause)
        # That a sibling lost its reservation is no matter of words: Kueue must not start this one.
        if due <= now or any(entry.state != CheckState.PENDING for entry in each.entries):
            moves += _answers(each, CheckState.PENDING, message, now)
        else:
            again.append(due)
    return Verdicts(tuple(moves), min(again, default=None))


_TICK: Final = timedelta(seconds=1)
"""Stamps have whole seconds, and the bound must be passed, not met."""


def _ready(workloads: Iterable[Workload], message: str, now: datetime) -> Iterator[Answer]:
    for each in workloads:
        if each.open:
            yield from _answers(each, CheckState.READY, message, now)


def _answers(workload: Workload, state: CheckState, message: str, now: datetime) -> Iterator[Answer]:
    entries = entries_saying(workload, state, message, now)
    if entries != workload.entries:
        yield Answer(workload, entries)


def entries_saying(workload: Workload, state: CheckState, message: str, now: datetime) -> tuple[Entry, ...]:
    """Our entries of a Workload with a verdict; those that say it already stay, and only a new state has a new time."""
    return tuple(
        each
        if each.state == state and each.message == message
        else replace(each, state=state.value, message=message, since=_stamp(each, state, now))
        for each in workload.entries
    )


def _stamp(entry: Entry, state: CheckState, now: datetime) -> datetime:
    """When an entry came into a state: as it says itself, unless somebody let a parked Workload queue anew."""
    stands = entry.state == state and not markers.parked(entry.message)
    return entry.since if stands and entry.since is not None else now


def _parked(workload: Workload) -> bool:
    return any(markers.parked(each.message) for each in workload.entries)


def _queued_since(workload: Workload) -> datetime | None:
    """Since when a Workload has been in its queue; None where a time is missing.

    The last of a set that parks takes the quota that the others gave back. It waited as long as they did, and alone it
    would only keep that quota from everybody for another turn.
    """
    stamps = [each.since for each in workload.entries if each.state == CheckState.PENDING]
    known = [each for each in stamps if each is not None]
    return max(known) if known and len(known) == len(stamps) else None


def _said(workload: Workload, message: str, now: datetime) -> tuple[Entry, ...]:
    return entries_saying(workload, CheckState.PENDING, message, now)


def _waiting_since(workload: Workload) -> datetime | None:
    """Since when a Workload has been held, by its own clock; None where a time is missing: nothing has elapsed then.

    Kueue stamps the entry when a Workload enters the queue. One that queued for hours without quota was held by nobody
    and kept nothing from others, so the clock starts with its reservation at the earliest.
    """
    queued = _queued_since(workload)
    return max(workload.since, queued) if queued is not None else None
