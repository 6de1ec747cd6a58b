"""Whether whole replica counts exist that keep every bound and every ratio band.

Every band says that one count is at least so many times another: its least holds up the numerator, its most holds up
the denominator. Such demands only ever push counts up, so pushing from the floors until nothing moves gives the one
vector that every other vector keeping the bands is at or above: where it passes a ceiling, nothing fits and nothing has
to be tried out. Whole numbers throughout.

Source: spec 3 §Bounds and ratios, facts api-scaler §3, decisions D17.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

LIMIT: Final = 20_000
"""Demands looked at before giving up; ten roles joined by nine bands never need as many."""


@dataclass(frozen=True, slots=True)
class Span:
    """The counts one role may have, both ends included; the floor is at least 1."""

    floor: int
    ceiling: int


@dataclass(frozen=True, slots=True)
class Band:
    """Ends of numerator count over denominator count; each is positive, or None where that side is open."""

    numerator: str
    denominator: str
    least: Fraction | None = None
    most: Fraction | None = None


class Push(NamedTuple):
    """One demand that moved a count: `band` (by index) asks for `replicas` of `role`, as `source` has at least `given`.

    `upper` tells which end of the band asks. `because` is what had moved the source; None where its floor did.
    A search makes thousands, so this is the one record here that is a tuple.
    """

    band: int
    upper: bool
    source: str
    given: int
    role: str
    replicas: int
    because: "Push | None"

    @property
    def chain(self) -> tuple["Push", ...]:
        """Every push that led here, from a floor to this one."""
        links: list[Push] = []
        link: Push | None = self
        while link is not None:
            links.append(link)
            link = link.because
        return tuple(reversed(links))


@dataclass(frozen=True, slots=True)
class Possible:
    """The least counts that keep every bound and band."""

    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Impossible:
    """No counts keep them: the last push takes a role past its ceiling."""

    last: Push


@dataclass(frozen=True, slots=True)
class Undecided:
    """The limit came first."""


Outcome: TypeAlias = Possible | Impossible | Undecided

# A demand as (band, upper end, role held up, times, over): the role's count is at least source * times / over.
_Demand: TypeAlias = tuple[int, bool, str, int, int]


def solve(spans: Mapping[str, Span], bands: Sequence[Band], limit: int = LIMIT) -> Outcome:
    """Find the least counts within `spans` that keep `bands`, looking at no more than `limit` demands.

    Raises KeyError for a band whose role has no span.
    """
    demands = _demands(spans, bands)
    counts = {role: span.floor for role, span in spans.items()}
    ceilings = {role: span.ceiling for role, span in spans.items()}
    moved_by: dict[str, Push] = {}
    waiting = deque(role for role in spans if demands[role])
    queued = set(waiting)
    while waiting:
        source = waiting.popleft()
        queued.discard(source)
        given = counts[source]
        limit -= len(demands[source])
        if limit < 0:
            return Undecided()
        for band, upper, role, times, over in demands[source]:
            needed = -(-given * times // over)
            if needed <= counts[role]:
                continue
            push = Push(band, upper, source, given, role, needed, moved_by.get(source))
            if needed > ceilings[role]:
                return Impossible(push)
            counts[role], moved_by[role] = needed, push
            if role not in queued:
                waiting.append(role)
                queued.add(role)
    return Possible(counts)


def _demands(spans: Mapping[str, Span], bands: Sequence[Band]) -> dict[str, list[_Demand]]:
    demands: dict[str, list[_Demand]] = {role: [] for role in spans}
    for index, band in enumerate(bands):
        if band.least is not None:
            held_up = (index, False, band.numerator, band.least.numerator, band.least.denominator)
            demands[band.denominator].append(held_up)
        if band.most is not None:
            held_up = (index, True, band.denominator, band.most.denominator, band.most.numerator)
            demands[band.numerator].append(held_up)
    return demands


def components(bands: Sequence[Band]) -> Iterator[tuple[frozenset[str], tuple[int, ...]]]:
    """Yield each group of roles that bands join, with the indices of those bands, in the order of their first band."""
    groups: list[tuple[set[str], list[int]]] = []
    for index, band in enumerate(bands):
        ends = {band.numerator, band.denominator}
        joined = [group for group in groups if group[0] & ends]
        roles = ends.union(*(group[0] for group in joined))
        indices = sorted([index, *(other for group in joined for other in group[1])])
        groups = [group for group in groups if group not in joined] + [(roles, indices)]
    for roles, indices in sorted(groups, key=lambda group: group[1]):
        yield frozenset(roles), tuple(indices)
