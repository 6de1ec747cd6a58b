"""The one retirement of a deployment for people: how far it is, until when, who waits behind it, and when all are gone.

Replicas leave one at a time, so what many of them take is the sum of what each takes. Source: facts reconcile §7.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from pydantic import ValidationError

from modeldeployment.api import Retirement, RetirementState
from modeldeployment.reconcile.deciding import retirement
from modeldeployment.reconcile.deciding.seen import Snapshot
from modeldeployment.reconcile.deciding.slots import RoleSlots
from modeldeployment.reconcile.explaining.links import Link, Why
from modeldeployment.reconcile.retiring import machine, reservation, wording
from modeldeployment.reconcile.retiring.intents import Held, Intent
from modeldeployment.reconcile.retiring.reservation import Reservation
from modeldeployment.reconcile.retiring.retrying import Refused

IDLE: Final = timedelta(seconds=14)
"""What the retirement of an idle replica takes: 5 s of settling, its drain hook's 6 s, and 3 s of our own."""

SOURCE: Final = "status.retirement"


@dataclass(frozen=True, slots=True)
class Leaving:
    """What leaves by the spec: the operation under way or retained, and the replicas that wait, with what holds each.

    `intents` is all that the spec wants gone, the operation's own replica among them.
    """

    operation: Reservation | None = None
    intents: tuple[Intent, ...] = ()
    held: tuple[tuple[Intent, Held], ...] = ()

    @property
    def waiting(self) -> int:
        """How many wait behind the operation, or for the first to begin."""
        mine = self.operation.members if self.operation is not None else frozenset()
        return sum(1 for intent in self.intents if not intent.uids & mine)

    @property
    def until(self) -> datetime | None:
        """When the operation's state is over at the latest; None where it has no end."""
        return machine.spent_at(self.operation) if self.operation is not None else None

    @property
    def expected(self) -> tuple[datetime, datetime] | None:
        """When the last of them is gone: at the earliest, each idle, and at the latest, each taking all of its time.

        None where nothing goes on by itself.
        """
        mine = self.operation
        if mine is None or not mine.under_way:
            return None
        stays = {(each.role, each.ordinal) for each, why in self.held if why is not Held.OTHER_UNDER_WAY}
        others = (each for each in self.intents if not each.uids & mine.members)
        behind = [each for each in others if (each.role, each.ordinal) not in stays]
        own = next((each for each in self.intents if each.uids & mine.members), None)
        soonest = sum((_idle(each) for each in behind), _idle(own))
        return mine.started + soonest, mine.deadline + machine.OVERALL * len(behind)


def of(snapshot: Snapshot, roles: Iterable[RoleSlots]) -> Leaving:
    """What leaves of a deployment, from its slots and what status holds."""
    mine = operation(snapshot.status)
    scene = retirement.scene(snapshot, tuple(roles), mine, whole=True)
    return Leaving(mine, scene.intents, machine.advance(mine, scene, reservation.LONG_AGO).held)


def refused(snapshot: Snapshot, roles: Iterable[RoleSlots], annotation: str) -> Refused | None:
    """Why a request to retry would not be heeded, as the deployment stands; None where it would be."""
    mine = operation(snapshot.status)
    scene = retirement.scene(snapshot, tuple(roles), mine, annotation)
    return machine.advance(mine, scene, reservation.LONG_AGO).refused


def operation(status: Mapping[str, object]) -> Reservation | None:
    """Read what status holds; None where nothing is there, or nothing that can be read."""
    try:
        return reservation.read(Retirement.model_validate(status["retirement"])) if status.get("retirement") else None
    except ValidationError:
        return None


def links(leaving: Leaving) -> Iterator[tuple[str, int, Link]]:
    """What is so of each replica that leaves, by role and ordinal; the operation's own comes first."""
    mine = leaving.operation
    if mine is not None and (mine.under_way or any(each.uids & mine.members for each in leaving.intents)):
        yield mine.role, mine.ordinal, _of(mine, leaving)
    for intent, why in leaving.held:
        name = wording.seat(intent.role, intent.ordinal)
        said = wording.held(intent, why, mine).removeprefix(f"replica {name} ")
        yield intent.role, intent.ordinal, Link(Why.RETIREMENT_HELD, name, SOURCE, said)


def instant(at: datetime) -> str:
    """An instant as people and programs read it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _of(mine: Reservation, leaving: Leaving) -> Link:
    name = wording.seat(mine.role, mine.ordinal)
    if mine.state is RetirementState.ABORTED:
        return Link(Why.RETIREMENT_ABORTED, name, SOURCE, mine.reason)
    until = f" until {instant(leaving.until)} at the latest" if leaving.until is not None else ""
    return Link(Why.RETIRING, name, SOURCE, mine.reason, mine.state.value, until)


def _idle(intent: Intent | None) -> timedelta:
    return IDLE + (intent.window if intent is not None and intent.window is not None else timedelta())
