"""Two sets that each hold what the other waits for: who of them gives way, and for how long (decisions D18).

A set waits for another when one of its settled waiting groups queues in a pool where the other holds a reservation that
is not admitted. Ages are read from the objects, so that a restart loses nothing. Waits and holds meet in pools: an edge
between two sets has stood for so long exactly if the wait and the hold that it is made of both have.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from modeldeployment.api.kueue import CheckState
from modeldeployment.reconcile.deciding.pacing import LONGEST_YIELD
from modeldeployment.reconcile.sets import markers, messages
from modeldeployment.reconcile.sets.counting import Count
from modeldeployment.reconcile.sets.markers import Yield
from modeldeployment.reconcile.sets.seen import Set, Workload
from modeldeployment.reconcile.sets.verdicts import Activate, Shelve, entries_saying

PATIENCE: Final = timedelta(seconds=30)
"""A circle that has stood for so long is broken."""

SETTLING: Final = timedelta(seconds=3)
"""How long the quota that a set gave back is given to be assigned, before another set of its circle gives way too."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What the others need to know of a set: pools it waits in and holds quota in, each with the earliest since when.

    A set that is complete, exempt or on its way out waits for nobody.
    """

    namespace: str
    name: str
    created: datetime
    uid: str
    generation: int
    admitted: bool = False
    waits: Mapping[str, datetime] = field(default_factory=dict)
    holds: Mapping[str, datetime] = field(default_factory=dict)
    gives_way: Yield | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name

    @property
    def age(self) -> tuple[datetime, str]:
        """What orders sets from the oldest to the youngest."""
        return self.created, self.uid

    def entangled(self, at: datetime) -> bool:
        """Whether it could be part of a circle that had formed by then."""
        return any(each <= at for each in self.waits.values()) and any(each <= at for each in self.holds.values())


def standing(of: Set, count: Count) -> Standing:
    """Reduce a set to what the others need to know of it."""
    waits: dict[str, datetime] = {}
    holds: dict[str, datetime] = {}
    if not (of.exempt or count.complete or of.deleting):
        for each in count.queued:
            _earliest(waits, of.pools.get(each.queue, ""), each.since)
        for each in of.workloads:
            if each.holds:
                _earliest(holds, of.pools.get(each.queue, ""), each.since)
    return Standing(
        of.namespace,
        of.name,
        of.created,
        of.uid,
        of.generation,
        admitted=count.complete and all(each.admitted or not each.reserved for each in of.workloads),
        waits=waits,
        holds=holds,
        gives_way=given_way(of),
    )


def given_way(of: Set) -> Yield | None:
    """To whom the set is giving way, told by the Workloads that were deactivated for it; the latest one counts."""
    told = [found for each in of.workloads if not each.active and (found := _told(each)) is not None]
    return max(told, key=lambda each: each.since, default=None)


@dataclass(frozen=True, slots=True)
class Turn:
    """Whose turn it is to give way, to whom, and at what time."""

    youngest: Standing
    oldest: Standing
    others: tuple[Standing, ...]
    at: datetime


def turn(mine: Standing, all_of_them: Iterable[Standing], now: datetime) -> Turn | None:
    """Who gives way in the circle that a set is part of; None while there is none that has stood for long enough.

    Every set of one circle gets the same answer, so one of them gives way.
    """
    formed = now - PATIENCE
    if not mine.entangled(formed):
        return None
    standings = [each for each in all_of_them if each.uid != mine.uid]
    circle = _circle(mine, [mine, *(each for each in standings if each.entangled(formed))], formed)
    if len(circle) < 2:
        return None
    circle.sort(key=lambda each: each.age)
    known = {each.key for each in circle}
    # The marker names the oldest set of the circle, so whoever gave way to one of these was one of them.
    recent = [
        each.gives_way.since
        for each in standings
        if each.gives_way is not None and (each.gives_way.namespace, each.gives_way.name) in known
    ]
    at = max(now, max(recent, default=now - SETTLING) + SETTLING)
    return Turn(circle[-1], circle[0], tuple(circle[:-1]), at)


def next_look(mine: Standing, now: datetime) -> datetime | None:
    """When a wait or a hold of this set next comes of age, which is when a circle through it may."""
    if not mine.waits or not mine.holds:
        return None
    ages = (each + PATIENCE for each in (*mine.waits.values(), *mine.holds.values()))
    return min((each for each in ages if each > now), default=None)


def begin(turn: Turn, now: datetime) -> Yield:
    """The yield of the youngest set of a circle."""
    older = turn.oldest
    return Yield(older.namespace, older.name, older.generation, now.replace(microsecond=0))


def ends(to: Yield, older: Standing | None, now: datetime) -> bool:
    """Whether the reason to give way is gone: the older set is admitted, gone, edited, or it has been long enough."""
    return (
        older is None
        or older.created > to.since  # another object of that name
        or older.generation != to.generation
        or older.admitted
        or now - to.since > LONGEST_YIELD
    )


def until(to: Yield) -> datetime:
    """When a set that gives way tries again at the latest."""
    return to.since + LONGEST_YIELD + timedelta(seconds=1)


def shelved(of: Set, to: Yield, now: datetime) -> tuple[Shelve, ...]:
    """Take everything of a set out of the queue that is not admitted, reserved or not.

    With only the reserved ones a pending sibling would take the freed quota (facts control-plane §8). One that carries
    no check of ours has no place for the reason, and nobody could tell later why it is inactive.
    """
    message = messages.yielding(to)
    return tuple(
        Shelve(each, entries_saying(each, CheckState.PENDING, message, now), parked=False)
        for each in of.workloads
        if each.active and not each.admitted and not each.finished and not each.leaving and each.entries
    )


def returning(of: Set) -> tuple[Activate, ...]:
    """Let everything queue again that was taken out to give way; what was parked, or taken out by a person, stays."""
    return tuple(Activate(each) for each in of.workloads if not each.active and _told(each) is not None)


def _told(workload: Workload) -> Yield | None:
    return next((found for each in workload.entries if (found := markers.yielded(each.message)) is not None), None)


def _earliest(found: dict[str, datetime], pool: str, since: datetime) -> None:
    if pool:
        found[pool] = min(found.get(pool, since), since)


def _circle(mine: Standing, standings: list[Standing], formed: datetime) -> list[Standing]:
    """Every set that `mine` waits for and that waits for `mine`, over however many others; `mine` among them."""
    waits = {each.uid: _formed(each.waits, formed) for each in standings}
    holds = {each.uid: _formed(each.holds, formed) for each in standings}
    ahead = _reached(mine.uid, waits, holds)
    behind = _reached(mine.uid, holds, waits)
    return [each for each in standings if each.uid in ahead and each.uid in behind]


def _formed(pools: Mapping[str, datetime], at: datetime) -> tuple[str, ...]:
    return tuple(pool for pool, since in pools.items() if since <= at)


def _reached(start: str, out: Mapping[str, tuple[str, ...]], into: Mapping[str, tuple[str, ...]]) -> set[str]:
    found_in: dict[str, list[str]] = {}
    for uid, pools in into.items():
        for pool in pools:
            found_in.setdefault(pool, []).append(uid)
    reached, seen, ahead = {start}, set[str](), [start]
    while ahead:
        for pool in out[ahead.pop()]:
            if pool not in seen:
                seen.add(pool)
                new = [uid for uid in found_in.get(pool, ()) if uid not in reached]
                reached.update(new)
                ahead += new
    return reached
