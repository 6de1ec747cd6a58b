"""What one engine did between two readings of it, from what it counted; pure.

Sources: spec 3 §Engine signals, facts scaler §2.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from modeldeployment.render import Signals
from modeldeployment.scaler.sampling.tallies import BUCKET, COUNT, SUM, Part, Tally, part


@dataclass(frozen=True, slots=True)
class Waits:
    """How long requests waited for something: observations, the seconds of all of them, and how many by upper bound.

    `buckets` is empty where the engine publishes none, or not the one that holds everything above the others.
    """

    count: float = 0
    seconds: float = 0
    buckets: Mapping[float, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Growth:
    """Tokens that an engine worked on, and how long its requests waited; None where it does not count them."""

    prompt: float | None
    """Without those that a prefix cache answered."""
    generation: float | None
    first: Waits
    between: Waits


def between(before: Tally, now: Tally, signals: Signals) -> Growth | None:
    """Answer what was counted between two readings; None where a counter went back or went away.

    Then nothing is known of any of them: the engine started anew (spec 3 §Engine signals).
    """
    if any(now.counts.get(series, -1) < count for series, count in before.counts.items()):
        return None
    known = {part(series, signals) for series in before.counts}
    grown: dict[Part, float] = {}
    for series, count in now.counts.items():
        of = part(series, signals)
        if of in known:
            grown[of] = grown.get(of, 0) + count - before.counts.get(series, 0)
    return Growth(
        prompt=_prompt(grown, signals),
        generation=grown.get(Part(signals.generation)),
        first=_waits(grown, signals.first),
        between=_waits(grown, signals.between),
    )


def _prompt(grown: Mapping[Part, float], signals: Signals) -> float | None:
    """Answer the prompt tokens that were computed: as counted, else all of them without those a cache is said to hold.

    How often a cache was asked caps nothing; what it held beyond what was asked for leaves nothing, and not less.
    """
    computed = grown.get(Part(signals.effective, signals.computed)) if signals.effective else None
    if computed is not None:
        return computed
    asked = grown.get(Part(signals.prompt))
    return None if asked is None else max(0.0, asked - sum(_held(grown, signals)))


def _held(grown: Mapping[Part, float], signals: Signals) -> Iterator[float]:
    held = (Part(signals.hits), *(Part(signals.effective, mode) for mode in signals.cached))
    return (grown[each] for each in held if each in grown)


def _waits(grown: Mapping[Part, float], histogram: str) -> Waits:
    name = histogram + BUCKET
    buckets = {each.bound: count for each, count in grown.items() if each.name == name and each.bound is not None}
    return Waits(
        count=grown.get(Part(histogram + COUNT), 0),
        seconds=grown.get(Part(histogram + SUM), 0),
        buckets=buckets if math.inf in buckets else {},
    )
