"""What a range can at best come to: estimates from below that let a search leave most of it out.

Source: decisions D17.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Final

_SLACK: Final = 1e-6


class Conflicts:
    """How far recommendations are at least from keeping the demands between them."""

    def __init__(self, own: Sequence[int], up: Sequence[Sequence[tuple[int, int, int]]]) -> None:
        """Take the places that have recommendations, and by source who is pushed from there, and by how much."""
        mine = set(own)
        self.pushes = [
            (source, held, times, over, times / over)
            for source in own
            for held, times, over in up[source]
            if held in mine
        ]
        self.star: list[int] = [-1] * len(up)
        """By place the star that it is part of, after `stars`."""
        self.work = 0

    def stars(self, near: Sequence[int], wanted: Sequence[int | None]) -> dict[int, int]:
        """Answer by centre what it costs at least to end the conflicts around it; no place is part of two stars.

        A centre pushes, or is pushed: either it moves to meet the others, or they move, or both do by half. A place
        that is away from its recommendation already pays from where it is, so only moving further away counts.
        """
        self.star = [-1] * len(near)
        self.work = len(self.pushes)
        outward: dict[int, list[tuple[int, float]]] = {}
        inward: dict[int, list[tuple[int, float]]] = {}
        for source, held, times, over, ratio in self.pushes:
            if (
                near[source] * times > near[held] * over
                and near[source] <= _of(wanted, source)
                and near[held] >= _of(wanted, held)
            ):
                outward.setdefault(source, []).append((held, ratio))
                inward.setdefault(held, []).append((source, ratio))
        if not outward:
            return {}
        found: dict[int, int] = {}
        offers = [(_out(near, centre, ends), centre, True) for centre, ends in outward.items()]
        offers += [(_in(near, centre, ends), centre, False) for centre, ends in inward.items()]
        for _, centre, pushes in sorted(offers, reverse=True):
            if self.star[centre] >= 0:
                continue
            ends = [end for end in (outward if pushes else inward)[centre] if self.star[end[0]] < 0]
            self.work += len(ends) ** 2
            cost = (_out if pushes else _in)(near, centre, ends) if ends else 0
            if cost > 0:
                found[centre] = cost
                self.star[centre] = centre
                for end, _ in ends:
                    self.star[end] = centre
        return found


def _of(wanted: Sequence[int | None], place: int) -> int:
    count = wanted[place]
    assert count is not None, "only places with a recommendation are in conflict"
    return count


def _out(near: Sequence[int], centre: int, ends: Sequence[tuple[int, float]]) -> int:
    """The centre goes down to x, and each of those it pushes goes up to what x asks for."""
    top = near[centre]
    least = min(
        (top - x) + sum(max(0.0, ratio * x - near[end]) for end, ratio in ends)
        for x in (float(top), *(near[end] / ratio for end, ratio in ends))
    )
    return ceil(least - _SLACK)


def _in(near: Sequence[int], centre: int, ends: Sequence[tuple[int, float]]) -> int:
    """The centre goes up to y, and each of those that push it goes down to what y allows."""
    bottom = near[centre]
    least = min(
        (y - bottom) + sum(max(0.0, near[end] - y / ratio) for end, ratio in ends)
        for y in (float(bottom), *(near[end] * ratio for end, ratio in ends))
    )
    return ceil(least - _SLACK)


def estimate(aims: Sequence[tuple[int, int, Fraction, float]], lows: Sequence[int], highs: Sequence[int]) -> float:
    """Sum of how far each ratio stays at least from its target within the range, in floating point."""
    return sum(_away(lows[n], highs[n], lows[d], highs[d], target) for n, d, _, target in aims)


def exactly(aims: Sequence[tuple[int, int, Fraction, float]], lows: Sequence[int], highs: Sequence[int]) -> Fraction:
    """Sum of how far each ratio stays at least from its target within the range."""
    return sum((_precisely(lows[n], highs[n], lows[d], highs[d], target) for n, d, target, _ in aims), Fraction())


def _away(n_low: int, n_high: int, d_low: int, d_high: int, target: float) -> float:
    if d_low == d_high:
        if n_low == n_high:
            return abs(n_low / d_low - target)
        middle = min(max(target * d_low, n_low), n_high)
        return min(abs(floor(middle) / d_low - target), abs(ceil(middle) / d_low - target))
    if n_low / d_high > target:
        return n_low / d_high - target
    if n_high / d_low < target:
        return target - n_high / d_low
    if n_low == n_high:
        middle = min(max(n_low / target, d_low), d_high)
        return min(abs(n_low / floor(middle) - target), abs(n_low / ceil(middle) - target))
    return 0.0


def _precisely(n_low: int, n_high: int, d_low: int, d_high: int, target: Fraction) -> Fraction:
    if d_low == d_high:
        middle = min(max(target * d_low, Fraction(n_low)), Fraction(n_high))
        return min(abs(Fraction(floor(middle), d_low) - target), abs(Fraction(ceil(middle), d_low) - target))
    if Fraction(n_low, d_high) > target:
        return Fraction(n_low, d_high) - target
    if Fraction(n_high, d_low) < target:
        return target - Fraction(n_high, d_low)
    if n_low == n_high:
        middle = min(max(n_low / target, Fraction(d_low)), Fraction(d_high))
        return min(abs(Fraction(n_low, floor(middle)) - target), abs(Fraction(n_low, ceil(middle)) - target))
    return Fraction()
