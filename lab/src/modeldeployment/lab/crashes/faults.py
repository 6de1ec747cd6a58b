"""What goes wrong in one run: at most one thing, at one write or one event of the first process."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias, assert_never

from modeldeployment.kube import errors
from modeldeployment.lab.model import Event, Fate, Killed, Process, World, Write, door


class Refusal(StrEnum):
    """What a write is answered with although nothing is wrong with it."""

    CONFLICT = "409"
    FAILURE = "500"


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """Nothing goes wrong; with a seed, whatever can happen next happens in an order drawn from it."""

    seed: int = 0

    def __str__(self) -> str:
        return f"in the order of seed {self.seed}" if self.seed else "undisturbed"


@dataclass(frozen=True, slots=True)
class Kill:
    """The process ends just before a write, or just after it and before its answer."""

    write: int
    after: bool

    def __str__(self) -> str:
        return f"killed {'after' if self.after else 'before'} write {self.write}"


@dataclass(frozen=True, slots=True)
class Lose:
    """A write is done and its answer lost."""

    write: int

    def __str__(self) -> str:
        return f"answer of write {self.write} lost"


@dataclass(frozen=True, slots=True)
class Refuse:
    """A write is refused once."""

    write: int
    how: Refusal

    def __str__(self) -> str:
        return f"write {self.write} answered {self.how}"


@dataclass(frozen=True, slots=True)
class Disturb:
    """An event of a watch comes late, merged with the next, or not at all, and a list follows."""

    event: int
    fate: Fate

    def __str__(self) -> str:
        return f"event {self.event} {_FATES[self.fate]}"


@dataclass(frozen=True, slots=True)
class Hurry:
    """The user's second act happens at a write of the controller instead of when all is still."""

    write: int

    def __str__(self) -> str:
        return f"the user acts at write {self.write}"


Fault: TypeAlias = Undisturbed | Kill | Lose | Refuse | Disturb | Hurry

_FATES = {Fate.NOW: "in time", Fate.LATE: "late", Fate.MERGED: "merged", Fate.DROPPED: "dropped"}


@dataclass(slots=True)
class Armed:
    """A fault laid into a process; `hit` is the write or event that it met."""

    hit: Write | Event | None = None
    events: list[Event] = field(default_factory=list)


def arm(fault: Fault, world: World, process: Process, act: Callable[[], object]) -> Armed:
    """Lay a fault into the first process of a run; `act` is what a hurried user does."""
    armed = Armed()
    match fault:
        case Undisturbed():
            _listen(process, armed, 0, Fate.NOW)
        case Kill(write, after):
            _meet(process, armed, write, _die, after=after)
        case Lose(write):
            _meet(process, armed, write, lambda lost: _lose(world, process, lost), after=True)
        case Refuse(write, how):
            _meet(process, armed, write, _REFUSALS[how], after=False)
        case Hurry(write):
            _meet(process, armed, write, lambda _: act(), after=False)
        case Disturb(event, fate):
            _listen(process, armed, event, fate)
        case other:
            assert_never(other)
    return armed


def _meet(process: Process, armed: Armed, number: int, what: Callable[[Write], object], *, after: bool) -> None:
    def hook(write: Write) -> None:
        if write.number == number:
            armed.hit = write
            what(write)

    if after:
        process.client.after = hook
    else:
        process.client.before = hook


def _listen(process: Process, armed: Armed, number: int, fate: Fate) -> None:
    def fated(event: Event) -> Fate:
        if event.number == number:
            armed.hit = event
            return fate
        return Fate.NOW

    process.wire.fate = fated


def _die(write: Write) -> None:
    raise Killed(str(write))


def _lose(world: World, process: Process, write: Write) -> None:
    """What the client makes of a lost answer: it asks again where that is safe, and says so where it is not."""
    if not write.request.repeatable:
        raise errors.Uncertain(f"{write}: answer lost: connection reset")
    door.answer(world.server, write.request, by=process.name)


def _conflict(write: Write) -> None:
    if write.request.method == "DELETE":
        return  # ours name a UID, so that a conflict says that the very object is gone: that is no lie to tell
    create = write.request.method == "POST"
    leaf = errors.AlreadyExists if create else errors.Conflict
    raise leaf(409, "AlreadyExists" if create else "Conflict", f"{write}: refused once", errors.Details())


def _fail(write: Write) -> None:
    raise errors.ServerFailure(500, "InternalError", f"{write}: refused once", errors.Details())


_REFUSALS = {Refusal.CONFLICT: _conflict, Refusal.FAILURE: _fail}
