"""Walk through every state, breadth first: a world and a bond, side by side.

Worlds and bonds are numbered as they come up, and what may follow one of them is worked out once. The same bound gives
the same states in the same order, whenever and wherever.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from modeldeployment.lab.exploring import moves
from modeldeployment.lab.exploring.bindings import UID, Bond, Ruled, ruled
from modeldeployment.lab.exploring.worlds import STARTS, World

SETTLES: Final = "When the cluster does what is asked of it, nothing stays under way."


@dataclass(frozen=True, slots=True)
class Explored:
    """What a walk came by."""

    states: int
    steps: int
    worlds: int
    bonds: int
    complete: bool
    """Whether there was nothing left to see."""
    broken: tuple[str, ...]
    """Promises that were broken, each with the first world or bond that it was in."""


@dataclass(frozen=True, slots=True)
class _Next:
    """What may follow a world, by number."""

    always: tuple[int, ...]
    unbound: tuple[int, ...]
    written: tuple[int, ...]
    unwritten: tuple[int, ...]


class _Walk:
    def __init__(self) -> None:
        self.worlds: dict[World, int] = {}
        self.listed: list[World] = []
        self.followed: list[_Next | None] = []
        self.bonds: dict[Bond, int] = {}
        self.ruled: list[Ruled] = []
        self.broken: dict[str, str] = {}
        self.resting: set[World] = set()

    def number(self, world: World) -> int:
        found = self.worlds.setdefault(world, len(self.listed))
        if found == len(self.listed):
            self.listed.append(world)
            self.followed.append(None)
        return found

    def bond(self, bond: Bond) -> int:
        found = self.bonds.setdefault(bond, len(self.ruled))
        if found == len(self.ruled):
            self.ruled.append(ruled(bond))
            for sentence in self.ruled[found].broken:
                self.broken.setdefault(sentence, f"{sentence} {bond}")
        return found

    def follow(self, place: int) -> _Next:
        known = self.followed[place]
        if known is not None:
            return known
        world = self.listed[place]
        found = moves.nexts(world)
        for where, sentence in found.broken:
            self.broken.setdefault(sentence, f"{sentence} {where}")
        if not moves.settles(world, self.resting):
            self.broken.setdefault(SETTLES, f"{SETTLES} {world}")
        made = _Next(
            tuple(self.number(each) for each in found.always),
            tuple(self.number(each) for each in found.unbound),
            tuple(self.number(each) for each in found.written),
            tuple(self.number(each) for each in found.unwritten),
        )
        self.followed[place] = made
        return made


def explore(bound: int, progress: Callable[[int], None] | None = None) -> Explored:
    """Walk through at most `bound` states; stops at the first layer in which a promise is broken."""
    walk = _Walk()
    unbound, bound_once = walk.bond(Bond()), walk.bond(Bond(owner=UID, term=1, known=1))
    waiting = deque((walk.number(start), bond) for start in STARTS for bond in (unbound, bound_once))
    seen, steps = set(waiting), 0
    while waiting and not walk.broken:
        state = waiting.popleft()
        for following in _following(walk, *state):
            steps += 1
            if following not in seen:
                if len(seen) >= bound:
                    return _explored(walk, len(seen), steps, complete=False)
                seen.add(following)
                waiting.append(following)
                if progress is not None and len(seen) % 100_000 == 0:
                    progress(len(seen))
    return _explored(walk, len(seen), steps, complete=not waiting)


def _following(walk: _Walk, world: int, bond: int) -> list[tuple[int, int]]:
    rule, follow = walk.ruled[bond], walk.follow(world)
    found = [(each, bond) for each in follow.always]
    for other, spec in rule.nexts:
        found.append((walk.number(walk.listed[world]._replace(respecified=True)) if spec else world, walk.bond(other)))
    if rule.unbound:
        found += [(each, bond) for each in follow.unbound]
    if rule.plans:
        found += [(each, bond) for each in follow.unwritten]
    if rule.writes:
        after = walk.bond(rule.after_write)
        found += [(each, after) for each in follow.written]
    return found


def _explored(walk: _Walk, states: int, steps: int, *, complete: bool) -> Explored:
    return Explored(states, steps, len(walk.listed), len(walk.ruled), complete, tuple(walk.broken.values()))
