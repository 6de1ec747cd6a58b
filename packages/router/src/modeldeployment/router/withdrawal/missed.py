"""Pods that a router does not list although nothing keeps them from it: it gave up on those that were slow to answer.

`vllm-router` looks at such a Pod again once anything of it changes, and not before.
Source: facts routers-measured §1, `tests/conformance/test_routers_discovery.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from modeldeployment.router.withdrawal import listing
from modeldeployment.router.withdrawal.asking import Heard
from modeldeployment.router.withdrawal.listing import Strange

PATIENCE: Final = timedelta(seconds=30)
"""How long a Pod may be missed before it is shown anew: one that is sick holds up all others for ten seconds."""
LONGEST: Final = timedelta(minutes=10)
"""How long at the most it then has, which doubles each time: a worker that somebody removed never comes back so."""


@dataclass(frozen=True, slots=True)
class Missed:
    """Since when each Pod is missed, or when it was shown last, and how often it was; by address."""

    pods: Mapping[str, tuple[datetime, int]] = field(default_factory=dict)


def due(
    seen: Missed, heard: Heard, ready: Collection[str], now: datetime, *, by_id: bool
) -> tuple[Missed, tuple[str, ...]]:
    """Say which Pods to show anew to a router; `ready` are the addresses of those that it should list.

    What cannot be read says nothing, and what was seen before is kept.
    """
    try:
        present = {each.address for each in listing.workers(heard, by_id=by_id)}
        absent = {each: listing.address_of(each) for each in ready}
    except Strange:
        return seen, ()
    pods = {each: seen.pods.get(each, (now, 0)) for each, address in absent.items() if address not in present}
    shown = tuple(each for each, (since, times) in pods.items() if now - since >= min(PATIENCE * 2**times, LONGEST))
    return Missed(pods | {each: (now, pods[each][1] + 1) for each in shown}), shown
