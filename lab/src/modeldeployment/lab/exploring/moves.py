"""What can happen next to a world: the cluster goes on, people edit, the scaler passes."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.lab.exploring import worlds
from modeldeployment.lab.exploring.promises import Pass, breaches, by_priority
from modeldeployment.lab.exploring.worlds import LOAD, NOW, POLICIES, ROLES, Pair, World
from modeldeployment.scaler.planning import Reading, plan
from modeldeployment.scaler.planning.observed import RoleReading

UP, SAME, DOWN = 1, 0, -1
ASKED: Final = ((UP, DOWN), (DOWN, UP), (UP, UP), (DOWN, DOWN), (SAME, SAME))


class Nexts(NamedTuple):
    """Worlds that may follow, by who may bring them about, and promises that a pass broke on the way."""

    always: tuple[World, ...]
    unbound: tuple[World, ...]
    """Where nobody owns the counts, people write them."""
    written: tuple[World, ...]
    """A pass whose write was made."""
    unwritten: tuple[World, ...]
    """A pass that wrote nothing: in Shadow, or since somebody was faster."""
    broken: tuple[tuple[World, str], ...]


def nexts(world: World) -> Nexts:
    """Everything that may happen to a world next."""
    written, unwritten, broken, late = [], [], [], False
    for asked in ASKED:
        for complete in (True, False) if asked == (DOWN, DOWN) else (True,):
            wrote, kept, wrong = passed(world, asked, complete=complete, late=late)
            late = late or wrote != kept
            written.append(wrote)
            unwritten.append(kept)
            broken += [(world, sentence) for sentence in wrong]
    return Nexts(
        tuple(dict.fromkeys(_cluster(world))) + tuple(_people(world)),
        tuple(_counts(world)),
        tuple(dict.fromkeys(written)),
        tuple(dict.fromkeys(unwritten)),
        tuple(broken),
    )


def passed(
    world: World, asked: Pair, *, complete: bool = True, late: bool = True
) -> tuple[World, World, tuple[str, ...]]:
    """One pass: the world where its write was made, the one where it was not, and what it broke.

    A pass that does not see that write yet has to plan nothing; `late` says that this was looked at.
    """
    policy, target = POLICIES[world.policy], worlds.target(world)
    reading, wishes = read(world, asked, complete=complete)
    made = plan(worlds.memory(world, wishes), reading, target, policy, now=NOW, decision_id="d-2", term=1)
    this = Pass(world, target, reading, made)
    wrong = breaches(this)
    donated = world.donated and not (world.edited or world.respecified)
    kept = worlds.after(world, made.memory, world.counts)._replace(donated=donated)
    if made.committed is None:
        return kept, kept, wrong
    if not late and plan(made.committed, reading, target, policy, now=NOW, decision_id="d-3", term=1).move is not None:
        wrong = (*wrong, LATE)
    wrote = worlds.after(world, made.committed, worlds.pair(made.vector))
    return wrote._replace(donated=donated or by_priority(this)), kept, wrong


LATE: Final = "A target of before our own last write is not planned from."


def settles(world: World, known: set[World]) -> bool:
    """Whether a world comes to rest when the cluster does all that is asked of it; `known` are those that do."""
    passed_by: list[World] = []
    while world not in known:
        if _rests(world):
            break
        if len(passed_by) > 40:
            return False
        passed_by.append(world)
        world = _obliging(world)
    known.update(passed_by, (world,))
    return True


def _rests(world: World) -> bool:
    still = world.retiring is None and world.there == world.counts and world.admitted == world.counts
    return still and world.cohort is None and (world.gift is None or world.gift.receiver is None)


def _obliging(world: World) -> World:
    if world.retiring is not None and world.retiring[2]:
        wrote, _, _ = passed(world, (SAME, SAME))
        role, ordinal, _ = wrote.retiring or world.retiring
        if ordinal < wrote.counts[role]:
            return wrote._replace(retiring=None)
        return wrote._replace(retiring=(role, ordinal, False))
    if world.retiring is not None or world.there != world.counts:
        return next(iter(_leaving(world)))
    if world.admitted != world.counts:
        return next(iter(_admitting(world)))
    wrote, _, _ = passed(world, (SAME, SAME))
    return _ticked(wrote)


def read(world: World, asked: Pair, *, complete: bool) -> tuple[Reading, Pair]:
    """What engines report, and the recommendations that have been made all along."""
    roles, wishes = {}, []
    for index, name in enumerate(ROLES):
        count, ready = world.counts[index], min(world.admitted[index], world.counts[index])
        wish = {UP: count + 2, SAME: count, DOWN: 1}[asked[index]]
        running = {UP: LOAD * (count + 2), SAME: LOAD * ready, DOWN: 0}[asked[index]]
        wishes.append(wish)
        roles[name] = RoleReading(
            state=SignalState.FRESH,
            ready=ready,
            complete=complete,
            at=NOW,
            running_requests=running,
            waiting_requests=0,
        )
    return Reading(roles=roles), (wishes[0], wishes[1])


# --- the cluster -----------------------------------------------------------------------------------------------------


def _cluster(world: World) -> Iterator[World]:
    yield _ticked(world)
    yield from _admitting(world)
    yield from _leaving(world)


def _ticked(world: World) -> World:
    cohort, spent, taken = world.cohort, world.spent, world.taken
    return world._replace(
        cohort=cohort and cohort._replace(age=min(worlds.LATE, cohort.age + 1)),
        spent=spent and spent._replace(left=max(0, spent.left - 1)),
        taken=None if taken is None or taken.cooling else taken,
        grown=False,
    )


def _admitting(world: World) -> Iterator[World]:
    for index in (0, 1):
        if world.admitted[index] < min(world.there[index], world.counts[index]):
            yield world._replace(admitted=_changed(world.admitted, index, world.admitted[index] + 1))


def _leaving(world: World) -> Iterator[World]:
    """One replica at a time, the highest first; one that is declared again is kept."""
    if world.retiring is None:
        for index in (0, 1):
            if world.there[index] > world.counts[index]:
                yield world._replace(retiring=(index, world.there[index] - 1, False))
                return
        return
    index, ordinal, given_up = world.retiring
    if ordinal < world.counts[index]:
        yield world._replace(retiring=None)
    elif not given_up:
        there = _changed(world.there, index, ordinal)
        admitted = _changed(world.admitted, index, min(world.admitted[index], ordinal))
        yield world._replace(retiring=None, there=there, admitted=admitted)
        yield world._replace(retiring=(index, ordinal, True))


# --- people ----------------------------------------------------------------------------------------------------------


def _people(world: World) -> Iterator[World]:
    if not world.edited:
        yield world._replace(edited=True)
        yield world._replace(edited=True, retiring=_retried(world))
    if not world.respecified:
        for policy in range(len(POLICIES)):
            yield world._replace(respecified=True, policy=policy)


def _retried(world: World) -> tuple[int, int, bool] | None:
    """An edit asks anew for a retirement that was given up."""
    return world.retiring and (*world.retiring[:2], False)


def _counts(world: World) -> Iterator[World]:
    for index in (0, 1):
        for count in (world.counts[index] - 1, world.counts[index] + 1):
            if 1 <= count <= 3:
                counts = _changed(world.counts, index, count)
                there = _changed(world.there, index, max(world.there[index], count))
                yield world._replace(counts=counts, there=there, edited=True, rewritten=True, retiring=_retried(world))


def _changed(pair: Pair, index: int, value: int) -> Pair:
    return (value, pair[1]) if index == 0 else (pair[0], value)
