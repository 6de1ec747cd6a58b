"""Ratio bands as whole-number demands: each end of a band says that one count is at least so many times another.

That makes the vectors which keep bounds and bands a lattice: of two of them, the larger count of each role is one more,
and so is the smaller. Restores lean on it (`join`, `meet`), and the search does.

Source: spec 3 §Bounds and ratios, facts scaler §4.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from modeldeployment.scaler.planning.plain import Vector
from modeldeployment.scaler.planning.policy import Band, Policy

ONE: Final = 10**9
EDGE: Final = 1
"""How far a ratio may be past the end of its band, in nano-units: a band written as 0.333333333 means a third."""


class Demand(NamedTuple):
    """`held` has at least `times / over` replicas for each of `source`."""

    source: str
    held: str
    times: int
    over: int

    def least(self, replicas: int) -> int:
        """Fewest replicas of `held` beside so many of `source`."""
        return -(-replicas * self.times // self.over)


def demands(bands: Sequence[Band]) -> tuple[Demand, ...]:
    """What the ends of bands ask for; a target asks for nothing."""
    found: list[Demand] = []
    for band in bands:
        if band.low is not None and band.low.nanos > EDGE:
            found.append(Demand(band.denominator, band.numerator, band.low.nanos - EDGE, ONE))
        if band.high is not None:
            found.append(Demand(band.numerator, band.denominator, ONE, band.high.nanos + EDGE))
    return tuple(found)


def kept(band: Band, vector: Vector) -> bool:
    """Whether a vector keeps a band; one of whose roles it has none is not kept."""
    if band.numerator not in vector or band.denominator not in vector:
        return False
    return all(vector[demand.held] >= demand.least(vector[demand.source]) for demand in demands((band,)))


def allows(policy: Policy, vector: Vector) -> bool:
    """Whether a vector keeps every bound and band, and is of exactly the scaled roles."""
    return (
        vector.keys() == policy.bounds.keys()
        and all(bounds.minimum <= vector[role] <= bounds.maximum for role, bounds in policy.bounds.items())
        and all(kept(band, vector) for band in policy.bands)
    )


def join(one: Vector, other: Mapping[str, int]) -> Vector:
    """The larger count of each role; it keeps the bands that both keep."""
    return {role: max(count, other.get(role, count)) for role, count in one.items()}


def meet(one: Vector, other: Mapping[str, int]) -> Vector:
    """The smaller count of each role; it keeps the bands that both keep."""
    return {role: min(count, other.get(role, count)) for role, count in one.items()}


def components(roles: Sequence[str], bands: Sequence[Band]) -> tuple[tuple[str, ...], ...]:
    """Roles that bands join, however loosely, in the order of the roles; a role without a band is one by itself."""
    group = {role: role for role in roles}

    def head(role: str) -> str:
        while group[role] != role:
            role = group[role]
        return role

    for band in bands:
        if band.numerator in group and band.denominator in group:
            group[head(band.numerator)] = head(band.denominator)
    found: dict[str, list[str]] = {}
    for role in roles:
        found.setdefault(head(role), []).append(role)
    return tuple(tuple(members) for members in found.values())
