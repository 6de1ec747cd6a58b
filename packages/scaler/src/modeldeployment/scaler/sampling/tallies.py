"""What one engine says at one instant, out of the text of its numbers; what it does not say is never a zero.

Sources: spec 3 §Engine signals, facts metrics §3, decisions D10.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from modeldeployment.api import RoleKind
from modeldeployment.render import Signals
from modeldeployment.router import exposition
from modeldeployment.router.exposition import Labels, Series
from modeldeployment.scaler.planning.observed import Silence

MOST: Final = 2048
"""Series of one body that are read: an engine has some hundred of these at most."""
BUCKET: Final = "_bucket"
SUM: Final = "_sum"
COUNT: Final = "_count"
_BOUND: Final = "le"
_LARGEST: Final = 2.0**53
"""Beyond it a double does not count, and no engine gets there."""


class Fault(NamedTuple):
    """Why a body says nothing, and the series that says so."""

    silence: Silence
    series: str = ""


class Part(NamedTuple):
    """What a series counts a share of: processes of one engine count side by side, under labels of their own."""

    name: str
    mode: str = ""
    """Where tokens came from, of a counter that says it."""
    bound: float | None = None
    """Seconds that a bucket reaches to."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What an engine says: requests under way and waiting, the used fraction of its cache, and all it has counted.

    Of a histogram, each bucket counts what fell into it and into none below, so that every count only grows.
    """

    running: int
    waiting: int
    usage: float | None
    counts: Mapping[Series, float]


def tally(body: bytes, signals: Signals, kind: RoleKind) -> Tally | Fault:
    """Read an engine of a role of this kind. Never raises: a Fault where any part of a signal is in doubt."""
    try:
        found = exposition.series(body, _names(signals), MOST)
    except exposition.Repeated:
        return Fault(Silence.REPEATED)
    except exposition.Unreadable:
        return Fault(Silence.GARBLED)
    requests: dict[str, int] = {}
    usages: list[float] = []
    counts: dict[Series, float] = {}
    buckets: dict[Labels, list[tuple[str, float, float, Series]]] = {}
    for series, value in found.items():
        place = _place(series, signals)
        if place is None:
            continue
        name = series.name
        if not 0 <= value <= _LARGEST or not (place.fraction or value.is_integer()):
            return Fault(Silence.ODD, name)
        if place.gauge:
            requests[name] = requests.get(name, 0) + int(value)
        elif name == signals.usage:
            usages.append(value)
        elif place.whole is None:
            counts[series] = value
        elif place.part.bound is None:
            return Fault(Silence.GARBLED, name)
        else:
            buckets.setdefault(place.whole, []).append((name, place.part.bound, value, series))
    queues = (signals.running, *signals.queues(kind))
    missing = next((name for name in queues if name not in requests), None)
    if missing is not None:
        return Fault(Silence.INCOMPLETE, missing)
    for bounded in buckets.values():
        last, below = "", 0.0
        for name, _, value, series in sorted(bounded):
            below = below if name == last else 0.0
            if value < below:
                return Fault(Silence.ODD, name)
            counts[series], last, below = value - below, name, value
    waiting = sum(requests[name] for name in queues[1:])
    return Tally(requests[signals.running], waiting, sum(usages) / len(usages) if usages else None, counts)


def part(series: Series, signals: Signals) -> Part:
    """Answer what one of the counts of a tally is a share of."""
    place = _place(series, signals)
    return place.part if place is not None else Part(series.name)


class _Place(NamedTuple):
    part: Part
    gauge: bool = False
    fraction: bool = False
    whole: Labels | None = None
    """Labels of the histogram that a bucket is of."""


@lru_cache(maxsize=2**14)  # engines of a kind have the same series, and have them again with every reading
def _place(series: Series, signals: Signals) -> _Place | None:
    """Say what a series is; None where it is another process's, or counts a part of another one once more."""
    name, labels = series
    said = dict(labels)
    if any(said.get(rank, "") not in ("", "0") for rank in signals.ranks):
        return None
    if name in (signals.running, *signals.queues(RoleKind.DECODE)):
        return None if signals.share and said.get(signals.share) else _Place(Part(name), gauge=True)
    if name.endswith(BUCKET):
        whole = tuple(pair for pair in labels if pair[0] != _BOUND)
        return _Place(Part(name, bound=_bound(said.get(_BOUND, ""))), whole=whole)
    mode = said.get(signals.mode, "") if name == signals.effective else ""
    return _Place(Part(name, mode), fraction=name == signals.usage or name.endswith(SUM))


def _bound(text: str) -> float | None:
    try:
        bound = float(text)
    except ValueError:
        return None
    return bound if 0 <= bound <= _LARGEST or bound == math.inf else None


@lru_cache(maxsize=64)
def _names(signals: Signals) -> frozenset[str]:
    return frozenset(_read(signals))


def _read(signals: Signals) -> Iterator[str]:
    yield from (signals.running, *signals.queues(RoleKind.DECODE), signals.usage, *signals.tokens)
    for histogram in (signals.first, signals.between):
        yield from (histogram + suffix for suffix in (BUCKET, SUM, COUNT))
