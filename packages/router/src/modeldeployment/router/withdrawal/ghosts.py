"""Workers that a router keeps although no Pod of ours answers there any more.

A Pod that is deleted while a router does not see the API server stays listed for ever, and its address may be given to
somebody else. Source: facts routers-measured §1 and §7.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from modeldeployment.router.withdrawal import listing
from modeldeployment.router.withdrawal.asking import Ask, Heard
from modeldeployment.router.withdrawal.listing import Strange

HAUNTS: Final = timedelta(seconds=90)
"""How long a listed worker may have no Pod before it is taken out: a router that was blind looks again after 60 s."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Since when each listed worker has had no Pod, by URL."""

    since: Mapping[str, datetime] = field(default_factory=dict)


def lay(seen: Seen, heard: Heard, live: Collection[str], now: datetime, *, by_id: bool) -> tuple[Seen, tuple[Ask, ...]]:
    """Say which workers to take out of a router's list; `live` are the addresses of Pods that are there.

    What cannot be read says nothing, and what was seen before is kept.
    """
    try:
        workers = listing.workers(heard, by_id=by_id)
        present = {listing.address_of(each) for each in live}
    except Strange:
        return seen, ()
    since = {each.url: seen.since.get(each.url, now) for each in workers if each.address not in present}
    gone = (each for each in workers if each.url in since and now - since[each.url] >= HAUNTS)
    return Seen(since), tuple(Ask("DELETE", f"/workers/{each.key}") for each in gone)
