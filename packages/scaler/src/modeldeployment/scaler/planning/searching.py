"""The nearest vector within ranges that keeps ratio bands: exact, or given up after so much work.

Branch and bound over ranges. Bands only push lower ends up and upper ends down, so after pushing both ends are vectors
that keep the bands themselves, and nothing is outside of them. What is nearest: decisions D17, in its order. Estimates
of ratio deviations are floating-point and only ever leave more to look at; what decides is whole numbers and fractions.

Source: spec 3 §Bounds and ratios, decisions D17.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from modeldeployment.scaler.planning.bounding import Conflicts, estimate, exactly

LIMIT: Final = 20_000
"""Work before a search gives up, in demands and targets looked at; what that takes is a matter of milliseconds."""

_SLACK: Final = 1e-9


class Push(NamedTuple):
    """The count at `held` is at least `times / over` times the count at `source`."""

    source: int
    held: int
    times: int
    over: int


class Aim(NamedTuple):
    """The preferred ratio of the counts at two places."""

    numerator: int
    denominator: int
    target: Fraction


@dataclass(frozen=True, slots=True)
class Question:
    """Ranges by place, what is recommended there (None: nothing), and what joins places."""

    floors: tuple[int, ...]
    ceilings: tuple[int, ...]
    wanted: tuple[int | None, ...]
    pushes: tuple[Push, ...]
    aims: tuple[Aim, ...] = ()


@dataclass(frozen=True, slots=True)
class Nearest:
    """The vector, how far it is from what is recommended, and what it took to find it."""

    counts: tuple[int, ...]
    distance: int
    work: int
    least: tuple[int, ...] = ()
    """The smallest counts that fit; every vector that fits is at or above."""
    most: tuple[int, ...] = ()
    """The largest counts that fit."""
    proven: bool = True
    """Whether no other one of the same distance comes before it; that none is nearer is proven always."""


class Failure(Enum):
    """Why there is no vector."""

    NONE_FITS = "none fits"
    GIVEN_UP = "given up"


Answer: TypeAlias = Nearest | Failure


def nearest(question: Question, limit: int = LIMIT) -> Answer:
    """Find the nearest vector that fits.

    Where the work runs out among vectors of one distance, the best of them so far is the answer, as long as what is
    kept back for it proves that none is nearer.
    """
    kept_back = limit // 4 if question.aims else 0
    search = _Search(question, limit - kept_back)
    if search.through():
        return search.answer()
    if search.best is None or not kept_back:
        return Failure.GIVEN_UP
    plain = _Search(replace(question, aims=()), kept_back)
    if not plain.through() or plain.distance < search.distance:
        return Failure.GIVEN_UP
    return search.answer(proven=False, work=plain.work)


class _GivenUp(Exception):
    pass


class _Search:
    def __init__(self, question: Question, limit: int) -> None:
        size = len(question.floors)
        self.question = question
        self.limit = limit
        self.work = 0
        self.ends_of_all: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
        self.wanted = question.wanted
        self.own = [place for place in range(size) if question.wanted[place] is not None]
        self.aims = [(*aim, float(aim.target)) for aim in question.aims]
        self.up: list[list[tuple[int, int, int]]] = [[] for _ in range(size)]
        self.down: list[list[tuple[int, int, int]]] = [[] for _ in range(size)]
        for source, held, times, over in strongest(question.pushes):
            self.up[source].append((held, times, over))
            self.down[held].append((source, times, over))
        self.conflicts = Conflicts(self.own, self.up)
        self.joined = [0] * size
        for aim in question.aims:
            self.joined[aim.numerator] += 1
            self.joined[aim.denominator] += 1
        self.best: list[int] | None = None
        self.distance = 0
        self.deviation = 0.0
        self.total = 0

    def through(self) -> bool:
        """Look at everything; False where the work ran out before."""
        lows, highs = list(self.question.floors), list(self.question.ceilings)
        places = range(len(lows))
        try:
            if all(low <= high for low, high in zip(lows, highs, strict=True)) and (
                self.raised(lows, highs, list(places)) and self.lowered(lows, highs, list(places))
            ):
                self.ends_of_all = (tuple(lows), tuple(highs))
                self.visit(lows, highs)
        except _GivenUp:
            return False
        return True

    def answer(self, *, proven: bool = True, work: int = 0) -> Answer:
        """What was found."""
        if self.best is None:
            return Failure.NONE_FITS
        least, most = self.ends_of_all
        return Nearest(tuple(self.best), self.distance, self.work + work, least, most, proven)

    def spend(self, work: int) -> None:
        self.work += work
        if self.work > self.limit:
            raise _GivenUp

    def raised(self, lows: list[int], highs: list[int], waiting: list[int]) -> bool:
        """Push lower ends up from the places that moved; False where one passes its upper end."""
        while waiting:
            source = waiting.pop()
            given = lows[source]
            pushes = self.up[source]
            self.spend(len(pushes))
            for held, times, over in pushes:
                needed = -(-given * times // over)
                if needed > lows[held]:
                    if needed > highs[held]:
                        return False
                    lows[held] = needed
                    waiting.append(held)
        return True

    def lowered(self, lows: list[int], highs: list[int], waiting: list[int]) -> bool:
        """Push upper ends down from the places that moved; False where one passes its lower end."""
        while waiting:
            held = waiting.pop()
            given = highs[held]
            pushes = self.down[held]
            self.spend(len(pushes))
            for source, times, over in pushes:
                most = given * over // times
                if most < highs[source]:
                    if most < lows[source]:
                        return False
                    highs[source] = most
                    waiting.append(source)
        return True

    def visit(self, lows: list[int], highs: list[int]) -> None:
        """Look at a range whose ends are vectors that fit."""
        while True:
            self.spend(8 * len(lows))
            near, least, above, below = self.ends(lows, highs)
            stars = self.conflicts.stars(near, self.wanted)
            self.spend(self.conflicts.work)
            least += sum(stars.values())
            if self.best is not None and least > self.distance:
                return
            self.consider(lows)
            self.consider(above)
            self.consider(below)
            if self.beaten(lows, highs, least):
                return
            if not self.narrow(lows, highs, near, least, stars):
                break
            if any(low > high for low, high in zip(lows, highs, strict=True)):
                return
            places = list(range(len(lows)))
            if not self.raised(lows, highs, places) or not self.lowered(lows, highs, list(range(len(lows)))):
                return
        place, most = self.split(lows, highs, near, above, below)
        if place < 0:
            return
        assert self.best is not None, "considered above"
        sides = (False, True) if self.best[place] <= most else (True, False)
        for upper in sides:
            low_side, high_side = list(lows), list(highs)
            if upper:
                low_side[place] = most + 1
                fits = self.raised(low_side, high_side, [place])
            else:
                high_side[place] = most
                fits = self.lowered(low_side, high_side, [place])
            if fits:
                self.visit(low_side, high_side)

    def ends(self, lows: list[int], highs: list[int]) -> tuple[list[int], int, list[int], list[int]]:
        """What is recommended within the range, how far that is, and the least above and the most below it."""
        near, above, below, least = list(lows), list(lows), list(highs), 0
        for place in self.own:
            wanted = self.wanted[place]
            assert wanted is not None, "its own"
            count = min(max(wanted, lows[place]), highs[place])
            near[place] = above[place] = below[place] = count
            least += abs(count - wanted)
        self.raised(above, highs, list(self.own))
        self.lowered(lows, below, list(self.own))
        return near, least, above, below

    def consider(self, counts: list[int]) -> None:
        distance = sum(abs(counts[place] - (self.wanted[place] or 0)) for place in self.own)
        if self.best is not None and distance > self.distance:
            return
        self.spend(len(self.aims))
        deviation = sum(abs(counts[n] / counts[d] - target) for n, d, _, target in self.aims)
        if self.best is not None and distance == self.distance:
            difference = deviation - self.deviation
            margin = _SLACK * (1 + self.deviation)
            if difference > margin or counts == self.best:
                return
            if difference >= -margin and not self.closer(counts, self.best):
                return
        self.best, self.distance, self.deviation, self.total = list(counts), distance, deviation, sum(counts)

    def closer(self, counts: list[int], best: list[int]) -> bool:
        """Whether one of two vectors at the same distance comes first."""
        ours, theirs = self.exactly(counts, counts), self.exactly(best, best)
        return (ours, sum(counts), counts) < (theirs, sum(best), best)

    def exactly(self, lows: list[int], highs: list[int]) -> Fraction:
        self.spend(20 * len(self.aims))
        return exactly(self.aims, lows, highs)

    def beaten(self, lows: list[int], highs: list[int], least: int) -> bool:
        """Whether nothing in the range can come before the best."""
        if self.best is None or least < self.distance:
            return False
        self.spend(len(self.aims))
        deviation = estimate(self.aims, lows, highs)
        margin = _SLACK * (1 + self.deviation)
        if deviation > self.deviation + margin:
            return True
        if deviation < self.deviation - margin:
            return False
        return (self.exactly(lows, highs), sum(lows), lows) >= (
            self.exactly(self.best, self.best),
            self.total,
            self.best,
        )

    def narrow(self, lows: list[int], highs: list[int], near: list[int], least: int, stars: dict[int, int]) -> bool:
        """Take off the ends of ranges what is further away than the best; answer whether there was any."""
        assert self.best is not None, "considered before"
        moved = False
        for place in self.own:
            wanted = self.wanted[place]
            assert wanted is not None, "its own"
            room = self.distance - least + abs(near[place] - wanted) + stars.get(self.conflicts.star[place], 0)
            if lows[place] < wanted - room:
                lows[place], moved = wanted - room, True
            if highs[place] > wanted + room:
                highs[place], moved = wanted + room, True
        return moved

    def split(
        self, lows: list[int], highs: list[int], near: list[int], above: list[int], below: list[int]
    ) -> tuple[int, int]:
        """Where to divide the range, and the most of its lower part; place -1 where it is one vector."""
        place, gap = -1, 0
        for own in self.own:
            if near[own] - below[own] > gap:
                place, gap = own, near[own] - below[own]
        if place >= 0 and any(above[own] > near[own] for own in self.own):
            return place, (below[place] + near[place] - 1) // 2 if gap > 1 else below[place]
        width = (-1, -1)
        for role in range(len(lows)):
            if lows[role] < highs[role] and (self.joined[role], highs[role] - lows[role]) > width:
                place, width = role, (self.joined[role], highs[role] - lows[role])
        if place < 0 or width[0] < 0:
            return -1, 0
        assert self.best is not None, "considered before"
        best = self.best[place]
        if lows[place] < best < highs[place]:
            return place, best if best - lows[place] > highs[place] - best else best - 1
        return place, (lows[place] + highs[place]) // 2


def strongest(pushes: Sequence[Push]) -> list[Push]:
    """Of pushes between the same places only the one that asks for most."""
    found: dict[tuple[int, int], Push] = {}
    for push in pushes:
        before = found.get((push.source, push.held))
        if before is None or push.times * before.over > before.times * push.over:
            found[push.source, push.held] = push
    return list(found.values())
